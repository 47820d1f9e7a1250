package api

// scan reads one JSON text front to back, without allocating and without
// building values: the caller walks down the paths it knows and skips the rest.
// Everything that is walked or skipped is checked to be JSON, so a text that
// ends well (see end) is exactly one that encoding/json accepts too. After the
// first fault all methods do nothing.
type scan struct {
	b     []byte
	i     int
	depth int
	first bool // the container was just opened: no comma before its next member
	bad   bool
	key   []byte // memory for member names that contain escapes
}

// maxDepth is the nesting that encoding/json allows.
const maxDepth = 10000

func (s *scan) reset(b []byte) {
	s.b, s.i, s.depth, s.first, s.bad = b, 0, 0, false, false
}

// fault marks the text as no JSON and moves to its end.
func (s *scan) fault() {
	s.bad = true
	s.i = len(s.b)
}

// end reports whether the whole text was one JSON value.
func (s *scan) end() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

func (s *scan) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value, 0 when there is none. Most
// JSON on the wire is compact, so the way without white space is short.
func (s *scan) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	return s.peekFar()
}

func (s *scan) peekFar() byte {
	s.space()
	if s.i >= len(s.b) {
		s.fault()
		return 0
	}
	return s.b[s.i]
}

// open enters the next value if it is an object ('{') or array ('['). Otherwise
// it skips the value and returns false.
func (s *scan) open(bracket byte) bool {
	if s.peek() != bracket {
		s.skip()
		return false
	}
	return s.enter()
}

func (s *scan) enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.fault()
		return false
	}
	s.i++
	s.first = true
	return true
}

// more moves to the next part of the open container, or past its end.
func (s *scan) more(closing byte) bool {
	c := s.peek()
	if c == closing {
		s.i++
		s.depth--
		s.first = false
		return false
	}
	if s.bad {
		return false
	}
	if !s.first {
		if c != ',' {
			s.fault()
			return false
		}
		s.i++
	}
	s.first = false
	return true
}

// element moves to the next element of the open array; false at its end.
func (s *scan) element() bool { return s.more(']') }

// member moves to the value of the next member of the open object and returns
// its name; false at the object's end. The name is valid until the next call.
func (s *scan) member() ([]byte, bool) {
	if !s.more('}') {
		return nil, false
	}
	if s.peek() != '"' {
		s.fault()
		return nil, false
	}
	from := s.i + 1
	i := from + plainRun(s.b[from:])
	var name []byte
	if i < len(s.b) && s.b[i] == '"' {
		name, s.i = s.b[from:i], i+1
	} else {
		name = s.oddName()
	}
	if s.peek() != ':' {
		s.fault()
		return nil, false
	}
	s.i++
	return name, true
}

// oddName reads a name with escapes or other characters than ASCII.
func (s *scan) oddName() []byte {
	name := s.str()
	s.key = name.append(s.key[:0])
	return s.key
}

// members walks the next value if it is an object: it yields the name of each
// member, whose value must then be read or skipped. Any other value is skipped.
func (s *scan) members(yield func(name []byte) bool) {
	for ok := s.open('{'); ok; {
		var name []byte
		if name, ok = s.member(); ok && !yield(name) {
			return
		}
	}
}

// elements walks the next value if it is an array, in the same way.
func (s *scan) elements(yield func() bool) {
	for ok := s.open('['); ok && s.element(); {
		if !yield() {
			return
		}
	}
}

// skip checks the next value and passes over it.
func (s *scan) skip() {
	switch c := s.peek(); c {
	case '{':
		for range s.members {
			s.skip()
		}
	case '[':
		for range s.elements {
			s.skip()
		}
	case '"':
		s.str()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}

func (s *scan) word(w string) {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		s.fault()
		return
	}
	s.i += len(w)
}
