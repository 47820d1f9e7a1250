package sessions

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"tokenmeter/base/printable"
)

// scanner reads JSON value by value, without holding it: one recorded session may
// have hundreds of megabytes of ids. After the first error all values are empty.
type scanner struct {
	in   io.Reader
	buf  []byte
	i, n int
	at   int64 // of buf[0] in the input
	err  error
}

func newScanner(in io.Reader) *scanner { return &scanner{in: in, buf: make([]byte, 64<<10)} }

// where is how many bytes were read.
func (s *scanner) where() int64 { return s.at + int64(s.i) }

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("byte %d: %s", s.where()+1, fmt.Sprintf(format, args...))
	}
}

// more reads on; false at the end.
func (s *scanner) more() bool {
	if s.err != nil {
		return false
	}
	s.at += int64(s.n)
	s.i, s.n = 0, 0
	for s.n == 0 {
		n, err := s.in.Read(s.buf)
		s.n = n
		switch {
		case err == io.EOF && n == 0:
			return false
		case err != nil && err != io.EOF:
			s.err = err
			return false
		}
	}
	return true
}

// peek returns the next byte that is no white space; 0 at the end.
func (s *scanner) peek() byte {
	for s.err == nil { // behind an error there is nothing
		for ; s.i < s.n; s.i++ {
			if c := s.buf[s.i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c
			}
		}
		if !s.more() {
			return 0
		}
	}
	return 0
}

// next returns the next byte as it is; false at the end.
func (s *scanner) next() (byte, bool) {
	if s.i >= s.n && !s.more() {
		return 0, false
	}
	s.i++
	return s.buf[s.i-1], true
}

// take reads one byte that must come.
func (s *scanner) take(c byte) bool {
	got := s.peek()
	if s.err != nil {
		return false
	}
	if got != c {
		if got == 0 {
			s.fail("the JSON ends where %q should come", c)
		} else {
			s.fail("%q where %q should come", got, c)
		}
		return false
	}
	s.i++
	return true
}

// object reads an object: each is called for every name, and may read its value.
// Anything else is an error, null is an empty one.
func (s *scanner) object(each func(name string)) {
	if s.null() || !s.take('{') {
		return
	}
	if s.peek() == '}' {
		s.i++
		return
	}
	for s.err == nil {
		name := s.text()
		if s.take(':') {
			s.peek()
			from := s.where()
			if each(name); s.where() == from {
				s.skip()
			}
		}
		if s.err == nil && s.peek() == '}' {
			s.i++
			return
		}
		s.take(',')
	}
}

// fields are the names in an object that mean something, and where their values go:
// into a text, a number or a truth, into fields of their own where the value is an
// object, or to a function that reads it.
type fields map[string]any

// loose is a text that may be something else, which is skipped.
type loose string

// fill reads an object into fields. Other names are skipped.
func (s *scanner) fill(into fields) {
	s.object(func(name string) {
		switch to := into[name].(type) {
		case *string:
			*to = s.text()
		case *loose:
			*to = loose(s.ifText())
		case *int64:
			*to, _ = s.whole()
		case *bool:
			*to = s.flag()
		case func():
			to()
		case fields:
			if s.peek() == '{' { // anything else says nothing
				s.fill(to)
			}
		}
	})
}

// array is object for a list.
func (s *scanner) array(each func()) {
	if s.null() || !s.take('[') {
		return
	}
	if s.peek() == ']' {
		s.i++
		return
	}
	for s.err == nil {
		each()
		if s.err == nil && s.peek() == ']' {
			s.i++
			return
		}
		s.take(',')
	}
}

// null reads a null, if that is what comes.
func (s *scanner) null() bool {
	if s.peek() != 'n' {
		return false
	}
	for _, want := range []byte("null") {
		if c, ok := s.next(); !ok || c != want {
			s.fail("a word that is none of JSON's")
			return true
		}
	}
	return true
}

// maxText bounds one text.
const maxText = 64 << 20

// raw reads a text with its quotes and escapes.
func (s *scanner) raw(keep bool) []byte {
	if !s.take('"') {
		return nil
	}
	out := []byte{'"'}
	for n := 0; ; n++ {
		c, ok := s.next()
		switch {
		case !ok:
			s.fail("a text does not end")
			return nil
		case c < ' ':
			s.fail("a control character in a text")
			return nil
		case n > maxText:
			s.fail("a text of more than %d MiB", maxText>>20)
			return nil
		}
		if keep {
			out = append(out, c)
		}
		if c == '"' {
			return out
		}
		if c == '\\' {
			c, ok := s.next()
			if !ok {
				s.fail("a text does not end")
				return nil
			}
			if keep {
				out = append(out, c)
			}
		}
	}
}

// text reads a text; null is an empty one.
func (s *scanner) text() string {
	if s.null() {
		return ""
	}
	raw := s.raw(true)
	if s.err != nil {
		return ""
	}
	var out string
	if err := json.Unmarshal(raw, &out); err != nil || !utf8.Valid(raw) {
		s.fail("%q is no text of JSON", printable.Short(string(raw), longestQuote))
	}
	return out
}

// ifText reads a text, and skips anything else.
func (s *scanner) ifText() string {
	if s.peek() == '"' {
		return s.text()
	}
	s.skip()
	return ""
}

// longestQuote is how many bytes an error quotes of a file.
const longestQuote = 60

// word reads the letters of a number, or of true and false.
func (s *scanner) word() []byte {
	s.peek()
	var out []byte
	for {
		if s.i >= s.n && !s.more() {
			return out
		}
		switch c := s.buf[s.i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '+', c == '.':
			if len(out) > 40 {
				s.fail("a number of more than 40 digits")
				return nil
			}
			out = append(out, c)
			s.i++
		default:
			return out
		}
	}
}

// number reads a number; null has none. A number in quotes counts, as OTLP writes
// whole numbers so.
func (s *scanner) number() (x float64, ok bool) {
	if s.null() {
		return 0, false
	}
	var word string
	if s.peek() == '"' {
		word = s.text()
	} else {
		word = string(s.word())
	}
	if s.err != nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || x != x || x > 1e300 || x < -1e300 {
		s.fail("%q where a number should come", printable.Short(word, longestQuote))
		return 0, false
	}
	return x, true
}

// whole is number for whole numbers that fit.
func (s *scanner) whole() (int64, bool) {
	x, ok := s.number()
	if ok && (x != float64(int64(x)) || x > 1<<53 || x < -1<<53) {
		s.fail("%v where a whole number should come", x)
		return 0, false
	}
	return int64(x), ok
}

// flag reads true or false; anything else is skipped and false.
func (s *scanner) flag() bool {
	if c := s.peek(); c != 't' && c != 'f' {
		s.skip()
		return false
	}
	return string(s.word()) == "true"
}

// ids reads a list of whole numbers from 0 to 2^64 − 1, quickly.
func (s *scanner) ids(into []uint64) []uint64 {
	s.array(func() {
		if c := s.peek(); c < '0' || c > '9' {
			s.fail("an id that is no whole number from 0")
			return
		}
		var id uint64
		for s.i < s.n || s.more() {
			c := s.buf[s.i] - '0'
			if c > 9 {
				if b := s.buf[s.i]; b == '.' || b == 'e' || b == 'E' {
					s.fail("an id that is no whole number")
				}
				break
			}
			if id > (math.MaxUint64-uint64(c))/10 {
				s.fail("an id of more than 2^64 − 1")
				return
			}
			id = id*10 + uint64(c)
			s.i++
		}
		if into = append(into, id); len(into) > maxBlocks {
			s.fail("a prompt of more than %d blocks", maxBlocks)
		}
	})
	return into
}

// maxBlocks bounds the ids of one prompt: 64 million tokens of 16 a block.
const maxBlocks = 1 << 22

// skip reads a value of any kind and forgets it.
func (s *scanner) skip() {
	depth := 0
	for s.err == nil {
		switch c := s.peek(); c {
		case 0:
			s.fail("the JSON ends in the middle")
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			if depth--; depth < 0 {
				s.fail("%q where a value should come", c)
				return
			}
			s.i++
		case ',', ':':
			if depth == 0 {
				s.fail("%q where a value should come", c)
				return
			}
			s.i++
			continue
		case '"':
			s.raw(false)
		default:
			if len(s.word()) == 0 {
				s.fail("%q where a value should come", c)
			}
		}
		if depth == 0 {
			return
		}
	}
}

// value reads a value of any kind as encoding/json would. What is deeper than
// maxDepth is an error.
func (s *scanner) value(depth int) any {
	if depth > maxDepth {
		s.fail("values in values, more than %d deep", maxDepth)
	}
	if s.err != nil {
		return nil
	}
	switch c := s.peek(); c {
	case '{':
		out := map[string]any{}
		s.object(func(name string) { out[name] = s.value(depth + 1) })
		return out
	case '[':
		out := []any{}
		s.array(func() { out = append(out, s.value(depth+1)) })
		return out
	case '"':
		return s.text()
	case 'n':
		s.null()
		return nil
	case 't', 'f':
		return s.flag()
	default:
		x, _ := s.number()
		return x
	}
}

const maxDepth = 100

// seconds reads a time in seconds, to the microsecond; null has none.
func (s *scanner) seconds() (time.Duration, bool) {
	x, ok := s.number()
	if ok && (x < 0 || x > maxTime.Seconds()) {
		s.fail("a time of %v s; want 0 to %v", x, maxTime)
		return 0, false
	}
	return time.Duration(math.Round(float64(x*1e6))) * time.Microsecond, ok
}

// maxTime bounds a session: a year.
const maxTime = 365 * 24 * time.Hour
