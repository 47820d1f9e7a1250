package pattern

import (
	"sync"
	"unicode/utf8"
)

// machine runs programs by going on and, where that fails, back.
type machine struct {
	stack []choice
	left  int // steps that may still be taken
}

// choice is a place to go back to: step pc at position at. A run of characters
// that may be shorter has low below at: it can end at any character between.
type choice struct{ pc, at, low int }

var machines = sync.Pool{New: func() any { return new(machine) }}

// run is the end of the match that starts at s[i].
func (m *machine) run(p program, s string, i int) (end int, ok bool) {
	base := len(m.stack) // what lies below belongs to a program around this one
	defer func() { m.stack = m.stack[:base] }()
	for pc := 0; m.left > 0; {
		m.left--
		next, at, ok := m.step(p, s, pc, i)
		if ok && p[pc].op == opMatch {
			return i, true
		}
		if ok {
			pc, i = next, at
			continue
		}
		if len(m.stack) == base {
			return 0, false
		}
		c := &m.stack[len(m.stack)-1]
		pc, i = c.pc, c.at
		if c.low < c.at {
			_, n := utf8.DecodeLastRuneInString(s[:c.at])
			c.at -= n
		} else {
			m.stack = m.stack[:len(m.stack)-1]
		}
	}
	return 0, false
}

func (m *machine) step(p program, s string, pc, i int) (next, at int, ok bool) {
	switch in := &p[pc]; in.op {
	case opOne:
		if i == len(s) {
			return 0, 0, false
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		return pc + 1, i + n, in.set.has(r)
	case opStar, opAll:
		end, last := i, i
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !in.set.has(r) {
				break
			}
			last, end = end, end+n
		}
		m.left -= end - i
		if in.op == opStar && end > i {
			m.stack = append(m.stack, choice{pc + 1, last, i})
		}
		return pc + 1, end, true
	case opSplit:
		m.stack = append(m.stack, choice{in.y, i, i})
		return in.x, i, true
	case opJump:
		return in.x, i, true
	case opLook:
		from := i
		if in.node.behind {
			if i == 0 {
				return pc + 1, i, in.node.negated
			}
			_, n := utf8.DecodeLastRuneInString(s[:i])
			from -= n
		}
		_, found := m.run(in.sub, s, from)
		return pc + 1, i, found != in.node.negated
	case opAtomic:
		end, ok := m.run(in.sub, s, i)
		return pc + 1, end, ok
	case opPlace:
		return pc + 1, i, in.node.anchor.holds(s, i)
	}
	return 0, 0, true // opMatch
}

func (a anchor) holds(s string, i int) bool {
	switch a {
	case lineStart:
		return i == 0 || s[i-1] == '\n' && i < len(s)
	case lineEnd:
		return i == len(s) || s[i] == '\n'
	case textStart:
		return i == 0
	case textEnd:
		return i == len(s)
	}
	return i == len(s) || i == len(s)-1 && s[i] == '\n'
}
