package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// node is a part of an expression.
type node struct {
	kind     kind
	set      *set
	anchor   anchor
	parts    []*node // of a sequence, of alternatives; one of the others
	min, max int     // of a repetition; max < 0 is no limit
	how      how
	negated  bool // of looking
	behind   bool
}

type kind uint8

const (
	one kind = iota // a character of set
	sequence
	either
	repeat
	look
	atomic
	place // an anchor
)

type how uint8

const (
	greedy how = iota
	lazy
	possessive
)

type anchor uint8

const (
	lineStart anchor = iota
	lineEnd
	textStart
	textEnd
	lastLineEnd // \Z
)

// nullable says whether a part may match nothing.
func (n *node) nullable() bool {
	switch n.kind {
	case one:
		return false
	case sequence:
		return !slices.ContainsFunc(n.parts, func(p *node) bool { return !p.nullable() })
	case either:
		return slices.ContainsFunc(n.parts, (*node).nullable)
	case repeat:
		return n.min == 0 || n.parts[0].nullable()
	case atomic:
		return n.parts[0].nullable()
	}
	return true
}

type parser struct {
	rest  string
	fold  bool // (?i)
	depth int
}

const mostNested = 100

func (p *parser) parse() (*node, error) {
	p.fold = p.take("(?i)")
	n, err := p.alternatives()
	if err == nil && p.rest != "" {
		err = errors.New("a ) has no (")
	}
	return n, err
}

func (p *parser) alternatives() (*node, error) {
	if p.depth++; p.depth > mostNested {
		return nil, errors.New("it is nested too deeply")
	}
	defer func(fold bool) { p.fold, p.depth = fold, p.depth-1 }(p.fold)
	n := &node{kind: either}
	for {
		s, err := p.sequence()
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, s)
		if !p.take("|") {
			break
		}
	}
	if len(n.parts) == 1 {
		return n.parts[0], nil
	}
	return n, nil
}

func (p *parser) sequence() (*node, error) {
	n := &node{kind: sequence}
	var letters strings.Builder // what stands side by side under (?i)
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		before := p.rest
		part, err := p.atom()
		if err != nil {
			return nil, err
		}
		if p.fold && part.kind == one {
			letters.WriteString(before[:1])
		} else {
			letters.WriteByte(' ')
		}
		if part, err = p.quantified(part); err != nil {
			return nil, err
		}
		n.parts = append(n.parts, part)
	}
	for _, pair := range []string{"ss", "ff", "fi", "fl", "st"} {
		if strings.Contains(strings.ToLower(letters.String()), pair) {
			return nil, fmt.Errorf("(?i) with %q, which folds to a single letter, is not supported", pair)
		}
	}
	return n, nil
}

func (p *parser) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) atom() (*node, error) {
	switch p.rest[0] {
	case '(':
		p.rest = p.rest[1:]
		return p.group()
	case '[':
		p.rest = p.rest[1:]
		s, err := p.class()
		if err != nil {
			return nil, err
		}
		return &node{kind: one, set: s.finish()}, nil
	case '.':
		p.rest = p.rest[1:]
		s := &set{negated: true}
		s.add('\n', '\n')
		return &node{kind: one, set: s.finish()}, nil
	case '^':
		p.rest = p.rest[1:]
		return &node{kind: place, anchor: lineStart}, nil
	case '$':
		p.rest = p.rest[1:]
		return &node{kind: place, anchor: lineEnd}, nil
	case '*', '+', '?':
		return nil, fmt.Errorf("%q follows nothing that repeats", p.rest[:1])
	case '\\':
		for name, a := range map[string]anchor{`\A`: textStart, `\z`: textEnd, `\Z`: lastLineEnd} {
			if p.take(name) {
				return &node{kind: place, anchor: a}, nil
			}
		}
	}
	s, err := p.single(false)
	if err != nil {
		return nil, err
	}
	if p.fold {
		if err := s.fold(); err != nil {
			return nil, err
		}
	}
	return &node{kind: one, set: s.finish()}, nil
}

// group reads what follows a parenthesis.
func (p *parser) group() (*node, error) {
	n := &node{kind: sequence}
	switch {
	case p.take("?:"):
	case p.take("?i:"):
		defer func(fold bool) { p.fold = fold }(p.fold)
		p.fold = true
	case p.take("?="):
		n.kind = look
	case p.take("?!"):
		n.kind, n.negated = look, true
	case p.take("?<="):
		n.kind, n.behind = look, true
	case p.take("?<!"):
		n.kind, n.behind, n.negated = look, true, true
	case p.take("?>"):
		n.kind = atomic
	case strings.HasPrefix(p.rest, "?") || strings.HasPrefix(p.rest, "*"):
		return nil, fmt.Errorf("the group (%.4s is not supported", p.rest)
	}
	inner, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, errors.New("a ( is not closed")
	}
	n.parts = []*node{inner}
	return n, nil
}

// single reads one character or one class that stands for one.
func (p *parser) single(bracketed bool) (*set, error) {
	if p.rest[0] != '\\' {
		r, n := utf8.DecodeRuneInString(p.rest)
		if r == utf8.RuneError && n == 1 {
			return nil, errors.New("it is not UTF-8")
		}
		p.rest = p.rest[n:]
		s := new(set)
		s.add(r, r)
		return s, nil
	}
	if len(p.rest) < 2 {
		return nil, errors.New(`it ends with a \`)
	}
	c := p.rest[1]
	if s, ok := classSet(c, bracketed); ok {
		p.rest = p.rest[2:]
		return s, nil
	}
	if c == 'p' || c == 'P' {
		inner, ok := strings.CutPrefix(p.rest[2:], "{")
		name, rest, closed := strings.Cut(inner, "}")
		if !ok || !closed {
			return nil, fmt.Errorf(`\%c without {name} is not supported`, c)
		}
		p.rest = rest
		if p.fold {
			return nil, errors.New("(?i) with a property is not supported")
		}
		return property(name, c == 'P')
	}
	r, err := p.escaped()
	if err != nil {
		return nil, err
	}
	s := new(set)
	s.add(r, r)
	return s, nil
}

// escaped reads a backslash and what it makes one character.
func (p *parser) escaped() (rune, error) {
	c := p.rest[1]
	digits := func(skip, n int) (rune, error) {
		if len(p.rest) < skip+n {
			return 0, errors.New("an escape is cut short")
		}
		v, err := strconv.ParseUint(p.rest[skip:skip+n], 16, 32)
		p.rest = p.rest[skip+n:]
		if err != nil || v > utf8.MaxRune {
			return 0, errors.New("an escape holds no code point")
		}
		return rune(v), nil
	}
	if i := strings.IndexByte("tnrfvae", c); i >= 0 {
		p.rest = p.rest[2:]
		return rune("\t\n\r\f\v\a\x1b"[i]), nil
	}
	switch {
	case c == 'u':
		return digits(2, 4)
	case c == 'x' && strings.HasPrefix(p.rest[2:], "{"):
		n := strings.IndexByte(p.rest[3:], '}')
		if n < 1 {
			return 0, errors.New(`a \x{ is not closed`)
		}
		r, err := digits(3, n)
		p.take("}")
		return r, err
	case c == 'x':
		r, err := digits(2, 2)
		if err == nil && r >= 0x80 {
			err = errors.New(`\x of a byte beyond ASCII is not supported`)
		}
		return r, err
	case c >= 0x80 || c == '_' || c < '0' || '9' < c && c < 'A' || 'Z' < c && c < 'a' || 'z' < c:
		r, n := utf8.DecodeRuneInString(p.rest[1:])
		p.rest = p.rest[1+n:]
		return r, nil
	}
	return 0, fmt.Errorf(`\%c is not supported`, c)
}
