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

func (b behavior) apply(p piece, spans []span, into []piece) []piece {
	switch b {
	case mergedWithNext:
		// The same as merging with the one before, seen from the end.
		slices.Reverse(spans)
		spans = merge(spans, func(s span, after bool) bool { return s.match && !after })
		slices.Reverse(spans)
	case mergedWithPrevious:
		spans = merge(spans, func(s span, after bool) bool { return s.match && !after })
	case contiguous:
		spans = merge(spans, func(s span, after bool) bool { return s.match == after })
	}
	for _, s := range spans {
		if s.from == s.to || b == removed && s.match {
			continue
		}
		into = append(into, piece{p.text[s.from:s.to], p.first && s.from == 0})
	}
	return into
}

// merge joins spans to the one before where joins says so; after says whether
// the span before was a match.
func merge(spans []span, joins func(s span, after bool) bool) []span {
	kept, after := spans[:0], false
	for _, s := range spans {
		if n := len(kept); n > 0 && joins(s, after) {
			last := &kept[n-1]
			last.from, last.to = min(last.from, s.from), max(last.to, s.to)
		} else {
			kept = append(kept, s)
		}
		after = s.match
	}
	return kept
}
