package hf

import (
	"fmt"
	"slices"
)

// span is a part of a piece: what was looked for, or what lies between.
type span struct {
	from, to int
	match    bool
}

// behavior is what becomes of the parts that were looked for.
type behavior uint8

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

// UnmarshalText reads a behaviour by its name.
func (b *behavior) UnmarshalText(name []byte) error {
	names := []string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}
	i := slices.Index(names, string(name))
	if i < 0 {
		return fmt.Errorf("the behavior %q is not supported", name)
	}
	*b = behavior(i)
	return nil
}

// apply turns the spans of a text, which cover it, into pieces. It works in
// place.
func (b behavior) apply(p piece, spans []span, into []piece) []piece {
	switch b {
	case mergedWithNext:
		// The same as merging with the one before, seen from the end.
		slices.Reverse(spans)
		spans = merge(spans, func(last *span, s span, after bool) bool {
			if s.match && !after {
				last.from = s.from
				return true
			}
			return false
		})
		slices.Reverse(spans)
	case mergedWithPrevious:
		spans = merge(spans, func(last *span, s span, after bool) bool {
			if s.match && !after {
				last.to = s.to
				return true
			}
			return false
		})
	case contiguous:
		spans = merge(spans, func(last *span, s span, after bool) bool {
			if s.match == after {
				last.to = s.to
				return true
			}
			return false
		})
	}
	for _, s := range spans {
		if s.from == s.to || b == removed && s.match {
			continue
		}
		into = append(into, piece{p.text[s.from:s.to], p.first && s.from == 0})
	}
	return into
}

// merge joins spans to the one before where join does so; after says whether
// the span before was a match.
func merge(spans []span, join func(last *span, s span, after bool) bool) []span {
	kept, after := spans[:0], false
	for _, s := range spans {
		if len(kept) == 0 || !join(&kept[len(kept)-1], s, after) {
			kept = append(kept, s)
		}
		after = s.match
	}
	return kept
}
