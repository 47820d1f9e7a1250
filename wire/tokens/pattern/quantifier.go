package pattern

import (
	"errors"
	"strconv"
	"strings"
)

// mostRepeats bounds {n,m}, whose body is written out that often.
const mostRepeats = 1000

// quantified reads the quantifiers behind a part.
func (p *parser) quantified(n *node) (*node, error) {
	q := &node{kind: repeat, parts: []*node{n}, max: -1}
	interval := false
	switch {
	case p.take("*"):
	case p.take("+"):
		q.min = 1
	case p.take("?"):
		q.max = 1
	default:
		var ok bool
		if q.min, q.max, ok = p.interval(); !ok {
			return n, nil
		}
		interval = true
	}
	if n.kind == place || n.kind == look || n.kind == sequence && len(n.parts) == 0 {
		return nil, errors.New("what matches nothing cannot repeat")
	}
	if q.max >= 0 && q.min > q.max || max(q.min, q.max) > mostRepeats {
		return nil, errors.New("an interval {n,m} is too large or empty")
	}
	if q.max != 1 && n.nullable() {
		return nil, errors.New("what may match nothing cannot repeat")
	}
	switch {
	case p.take("?"):
		if interval && q.min == q.max {
			return nil, errors.New("{n}? is not supported")
		}
		q.how = lazy
	case strings.HasPrefix(p.rest, "+") && interval:
		// In Oniguruma's default syntax {n,m}+ is not possessive: all of it repeats.
		p.rest = p.rest[1:]
		if q.nullable() {
			return nil, errors.New("what may match nothing cannot repeat")
		}
		q = &node{kind: repeat, parts: []*node{q}, min: 1, max: -1}
	case p.take("+"):
		q.how = possessive
	}
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		return nil, errors.New("quantifiers in a row are not supported")
	}
	if _, _, ok := p.interval(); ok {
		return nil, errors.New("quantifiers in a row are not supported")
	}
	return q, nil
}

// interval reads {n}, {n,}, {,m} or {n,m}; anything else stays, as text.
func (p *parser) interval() (lo, hi int, ok bool) {
	inner, found := strings.CutPrefix(p.rest, "{")
	inner, rest, closed := strings.Cut(inner, "}")
	if !found || !closed {
		return 0, 0, false
	}
	from, to, two := strings.Cut(inner, ",")
	lo, err := strconv.Atoi(from)
	if from == "" && two {
		lo, err = 0, nil
	}
	if err != nil || lo < 0 || from == "" && to == "" || strings.ContainsAny(inner, "+- ") {
		return 0, 0, false
	}
	hi = lo
	if two {
		hi = -1
		if to != "" {
			if hi, err = strconv.Atoi(to); err != nil {
				return 0, 0, false
			}
		}
	}
	p.rest = rest
	return lo, hi, true
}
