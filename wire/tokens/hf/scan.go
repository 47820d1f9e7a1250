package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// scanner walks through JSON. A tokenizer.json is mostly two or three long
// lists, which encoding/json reads ten times more slowly.
type scanner struct {
	b []byte
	i int
}

var errJSON = errors.New("the JSON is broken")

func (s *scanner) fail() error { return fmt.Errorf("%w near byte %d", errJSON, s.i) }

// next is the next byte that is no white space; 0 at the end.
func (s *scanner) next() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// take passes over a byte, if it is the next.
func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.i++
	return true
}

// text appends the text of a string.
func (s *scanner) text(into []byte) ([]byte, error) {
	if !s.take('"') {
		return into, s.fail()
	}
	n := bytes.IndexByte(s.b[s.i:], '"')
	if n < 0 {
		return into, s.fail()
	}
	if plain := s.b[s.i : s.i+n]; isPlain(plain) {
		s.i += n + 1
		return append(into, plain...), nil
	}
	s.i--
	raw, err := s.value()
	if err != nil {
		return into, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return into, s.fail()
	}
	return append(into, text...), nil
}

// isPlain says that a string holds no escape and nothing that is wrong in JSON.
func isPlain(b []byte) bool {
	for _, c := range b {
		if c == '\\' || c < 0x20 {
			return false
		}
	}
	return utf8.Valid(b)
}

// number reads a number.
func (s *scanner) number() (string, error) {
	s.next()
	start := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.i++
			continue
		}
		break
	}
	if start == s.i {
		return "", s.fail()
	}
	return string(s.b[start:s.i]), nil
}

// id reads a number that is an id.
func (s *scanner) id() (uint32, error) {
	n, err := s.number()
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(n, 10, 32)
	if err != nil || id >= mostIDs {
		return 0, fmt.Errorf("%s is no id", n)
	}
	return uint32(id), nil
}

// value passes over a value and gives its bytes. What is inside is checked by
// whoever reads it.
func (s *scanner) value() (json.RawMessage, error) {
	s.next()
	start, depth := s.i, 0
	for s.i < len(s.b) {
		c := s.b[s.i]
		s.i++
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				s.i--
				return s.scalar(start)
			}
			if depth == 0 {
				return s.b[start:s.i], nil
			}
		case '"':
			if err := s.closing(); err != nil {
				return nil, err
			}
			if depth == 0 {
				return s.b[start:s.i], nil
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				s.i--
				return s.scalar(start)
			}
		}
	}
	return s.scalar(start)
}

// scalar is a value that is neither string, object nor list and ends here.
func (s *scanner) scalar(start int) (json.RawMessage, error) {
	if raw := s.b[start:s.i]; json.Valid(raw) {
		return raw, nil
	}
	return nil, s.fail()
}

// closing goes behind the quote that ends a string.
func (s *scanner) closing() error {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.i++
			return nil
		case '\\':
			s.i++
		}
		s.i++
	}
	s.i = len(s.b)
	return s.fail()
}

// each calls item before every element of a list, or before every value of an
// object, whose key it gives.
func (s *scanner) each(open byte, item func(key []byte) error) error {
	closing := open + 2 // ] and } come two after [ and {
	if !s.take(open) {
		return s.fail()
	}
	if s.take(closing) {
		return nil
	}
	var key []byte
	for {
		if open == '{' {
			var err error
			if key, err = s.text(key[:0]); err != nil {
				return err
			}
			if !s.take(':') {
				return s.fail()
			}
		}
		if err := item(key); err != nil {
			return err
		}
		if s.take(closing) {
			return nil
		}
		if !s.take(',') {
			return s.fail()
		}
	}
}

// done fails unless nothing is left.
func (s *scanner) done() error {
	if s.next() != 0 || s.i < len(s.b) {
		return s.fail()
	}
	return nil
}

// fields are the values of an object by their keys.
func fields(raw []byte) (map[string]json.RawMessage, error) {
	s, all := scanner{b: raw}, map[string]json.RawMessage{}
	err := s.each('{', func(key []byte) error {
		v, err := s.value()
		all[string(key)] = v
		return err
	})
	if err == nil {
		err = s.done()
	}
	return all, err
}
