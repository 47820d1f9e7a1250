package workload

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// Times yields when the records of a trace, or its sessions, are due, since the
// first. Only for a Timed workload.
func (l *Loaded) Times() iter.Seq2[time.Duration, error] {
	if r := l.classes[0].recording; r != nil {
		return r.times()
	}
	return l.classes[0].source.times()
}

// ReadsAnswers reports whether answers are needed: to be checked, or because
// conversations go on with them.
func (l *Loaded) ReadsAnswers() bool {
	return slices.ContainsFunc(l.classes, func(c *class) bool {
		return c.check != nil || c.extra["echo"] == true || c.live && (c.kind != Request || c.source != nil || c.recording != nil) || c.source != nil && c.source.answers
	})
}

// Waits reports whether requests wait for recorded gaps, which Speed hurries, whatever the
// load is.
func (l *Loaded) Waits() bool {
	return slices.ContainsFunc(l.classes, func(c *class) bool {
		return c != nil && (c.recording != nil || c.source != nil && c.source.sessions != nil)
	})
}

// Sounds are the recordings that a workload sends, of each class; nil: words only.
func (l *Loaded) Sounds() (all []*Sounds) {
	for _, c := range l.classes {
		all = append(all, c.sounds)
	}
	return all
}

// Given calls the workload a file of prompts, whatever form the file has.
func (l *Loaded) Given() { l.info.Kind = "prompts" }

// Len is how many items there are before they repeat: the records of a file
// (which is read to its end for it); 0: without end.
func (l *Loaded) Len() (int64, error) {
	if len(l.classes) == 1 && l.classes[0].recording != nil {
		return l.classes[0].recording.file.Len(), nil
	}
	if len(l.classes) != 1 || l.classes[0].source == nil {
		return 0, nil
	}
	return l.classes[0].source.count()
}

// LeftOut says what of the records that were passed is not sent; empty: nothing.
func (l *Loaded) LeftOut() string {
	systems, unchecked, skips, held := int64(0), int64(0), map[skip]int64{}, map[string]int64{}
	for _, c := range l.classes {
		if c.recording != nil {
			for name, n := range c.recording.file.Unsent() {
				held[name] += n
			}
		}
		if c.source != nil {
			c.source.mu.Lock()
			systems += c.source.systems
			unchecked += c.source.unchecked
			for why, n := range c.source.skips {
				skips[why] += n
			}
			for name, n := range c.source.unsent.held {
				if !c.source.unsent.read[name] {
					held[name] += n
				}
			}
			c.source.mu.Unlock()
		}
	}
	parts := reasons(skips)
	if systems > 0 {
		parts = append(parts, fmt.Sprintf("conversations that begin with a system turn, which is not sent: %d", systems))
	}
	if len(held) > 0 {
		var columns []string
		for _, name := range slices.Sorted(maps.Keys(held)) {
			columns = append(columns, fmt.Sprintf("%s (%d×)", name, held[name]))
		}
		parts = append(parts, "what stands under "+strings.Join(columns, ", ")+" is not sent")
	}
	if unchecked > 0 {
		parts = append(parts, fmt.Sprintf("answers that are no check, as they are of what is not sent, or one letter: %d", unchecked))
	}
	return strings.Join(parts, "; ")
}

// reasons says how many records were left out for what, in a fixed order.
func reasons(skips map[skip]int64) (parts []string) {
	for _, why := range slices.Sorted(maps.Keys(skips)) {
		parts = append(parts, fmt.Sprintf("records that %s: %d", why, skips[why]))
	}
	return parts
}

// Close closes the files.
func (l *Loaded) Close() {
	for _, c := range l.classes {
		if c.source != nil {
			c.source.file.Close()
		}
		if c.recording != nil {
			c.recording.file.Close()
		}
	}
}

// checkClass is the class of requests with known answers that is woven in.
const checkClass = "check"

// checkShare is the part of a load that are requests with known answers.
const checkShare = 0.1

// WithChecks weaves a file of requests with known answers into a specification:
// one request in ten is of it.
func (s Spec) WithChecks(file string) Spec {
	known := Class{Name: checkClass, Content: Content{File: file, CacheBust: "off"}}
	if len(s.Mix) == 0 {
		s.Mix = []Class{{Name: "load", Share: 1 - checkShare, Content: s.Content}}
		s.Content = Content{}
	}
	sum := 0.0
	for _, c := range s.Mix {
		sum += c.Share
	}
	known.Share = sum * checkShare / (1 - checkShare)
	s.Mix = append(slices.Clone(s.Mix), known)
	return s
}
