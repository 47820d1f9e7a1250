package jsonscan

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// str reads the string that starts here.
func (s *Scanner) str() Text {
	from := s.i + 1
	i := from
	var t Text
	for {
		i += PlainRun(s.b[i:])
		if i >= len(s.b) {
			s.fault()
			return Text{}
		}
		switch c := s.b[i]; {
		case c == '"':
			t.Raw = s.b[from:i]
			s.i = i + 1
			return t
		case c >= 0x80:
			t.Wide = true
			i++
		case c == '\\':
			t.Escaped = true
			if i++; !s.escape(&i) {
				s.fault()
				return Text{}
			}
			i++
		default: // a control character
			s.fault()
			return Text{}
		}
	}
}

// PlainRun is the number of bytes at the start of b that need no attention
// within a string: ASCII, no quote, no backslash, no control character. It looks
// at eight bytes at a time.
func PlainRun(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// A byte's top bit is set where it is zero, below 0x20 or above 0x7f.
		// Bits above a true hit may be wrong; the lowest one is right.
		special := ((quote-ones)&^quote | (slash-ones)&^slash | (w - ones*0x20) | w) & tops
		if special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
		n += 8
	}
	for n < len(b) && plain[b[n]] {
		n++
	}
	return n
}

// plain marks the bytes that plainRun passes over.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// escape checks the escape whose letter is at *i and moves to its last byte.
func (s *Scanner) escape(i *int) bool {
	if *i >= len(s.b) {
		return false
	}
	switch s.b[*i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		if *i+4 >= len(s.b) {
			return false
		}
		_, ok := hex4(s.b[*i+1:])
		*i += 4
		return ok
	}
	return false
}

// Text reads a string value. Any other value is skipped; it returns false then.
func (s *Scanner) Text() (Text, bool) {
	if s.Peek() != '"' {
		s.Skip()
		return Text{}, false
	}
	t := s.str()
	return t, !s.bad
}

// number reads the number that starts here.
func (s *Scanner) number() []byte {
	from := s.i
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	switch {
	case s.i < len(s.b) && s.b[s.i] == '0':
		s.i++
	case !s.digits():
		s.fault()
		return nil
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !s.digits() {
			s.fault()
			return nil
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			s.fault()
			return nil
		}
	}
	return s.b[from:s.i]
}

func (s *Scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' < 10 {
		s.i++
	}
	return s.i > from
}

// numeric returns the next value's bytes if it is a number and skips any other.
func (s *Scanner) numeric() []byte {
	if c := s.Peek(); c != '-' && c-'0' >= 10 {
		s.Skip()
		return nil
	}
	return s.number()
}

// Integer reads a whole number below 2^53; false for any other value, which is
// skipped.
func (s *Scanner) Integer() (int64, bool) {
	b := s.numeric()
	if len(b) == 0 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c-'0' >= 10 || len(b) > 15 {
			f, err := strconv.ParseFloat(string(b), 64)
			return int64(f), err == nil && math.Abs(f) < 1<<53 && f == math.Trunc(f)
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// Float reads a number; false for any other value, which is skipped.
func (s *Scanner) Float() (float64, bool) {
	b := s.numeric()
	if len(b) == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil
}

// Boolean reads true or false; false, false for any other value.
func (s *Scanner) Boolean() (value, ok bool) {
	c := s.Peek()
	s.Skip()
	return c == 't', !s.bad && (c == 't' || c == 'f')
}
