package workload

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// given lists the fields of the content that are written.
func given(k *Content) (names []string) {
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Tag.Get("yaml"))
		}
	}
	return names
}

// ofFiles refuses what says how a file is read where there is none.
func (c *compiler) ofFiles(k *Content, at func(string) string) {
	if k.File != "" {
		return
	}
	for _, name := range given(k) {
		c.refuse(slices.Contains([]string{"format", "columns", "time_in", "block", "order", "sessions"}, name), at(name),
			"%s says how a file is read, and none is named: leave it out", name)
	}
}

// idle says which fields have nothing to act on in the records that were read, each with
// the reason. The source's lock is held.
func (c *class) idle(k *Content) (out []string) {
	s := c.source
	add := func(idle bool, text string) {
		if idle {
			out = append(out, text)
		}
	}
	for _, ours := range slices.Sorted(maps.Keys(k.Columns)) {
		off := slices.ContainsFunc(fields[ours], func(name string) bool { return s.unsent.unread[name] }) // and it is by that
		add(!off && !s.unsent.read[k.Columns[ours]], "columns."+ours+": nothing is read from a column "+k.Columns[ours])
	}
	add(k.TimeIn != "" && !s.timed && !s.delayed, "time_in: no record has a time")
	add(k.Block != 0 && !s.has("hash_ids"), "block: no record has hash_ids")
	add(k.Sessions && s.named == 0 && !s.unsent.read["chat_id"], "sessions: no record names one")
	add(k.Turns != "" && s.several == 0, "turns: no record has several")
	add(k.Corpus != "" && !s.lengths && s.sessions == nil, "corpus: the prompts are the file's own")
	add(k.CacheBust == "run" && !s.lengths, "cache_bust: run makes new text, and the file's own is sent (request puts a word in front)")
	return out
}

// has reports whether one of the first records had one of our columns.
func (s *source) has(field string) bool {
	if name, given := s.columns[field]; given {
		return s.unsent.read[name]
	}
	return slices.ContainsFunc(fields[field], func(name string) bool { return s.unsent.read[name] })
}

// AsksOutput reports whether the workload says how long answers should be.
func (l *Loaded) AsksOutput() bool {
	asks := l.Spec.Output != ""
	for i := range l.Spec.Mix {
		asks = asks || l.Spec.Mix[i].Output != ""
	}
	return asks
}

// idleFields is a line about them; empty: each has something to act on.
func (l *Loaded) idleFields(i int) string {
	k := &l.Spec.Content
	if len(l.Spec.Mix) > 0 {
		k = &l.Spec.Mix[i].Content
	}
	idle := l.classes[i].idle(k)
	if len(idle) == 0 {
		return ""
	}
	return "fields of the workload that change nothing here: " + strings.Join(idle, "; ")
}
