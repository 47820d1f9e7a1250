package jsonscan

// Scanner reads one JSON text front to back, without allocating and without
// building values: the caller walks down the paths it knows and skips the rest.
// Everything that is walked or skipped is checked to be JSON, so a text that
// ends well (see End) is exactly one that encoding/json accepts too. After the
// first fault all methods do nothing.
type Scanner struct {
	b     []byte
	i     int
	depth int
	first bool // the container was just opened: no comma before its next member
	bad   bool
	Key   []byte // memory for member names that contain escapes
}

// maxDepth is the nesting that encoding/json allows.
const maxDepth = 10000

// Reset begins with another text, which must stay as it is while it is read.
func (s *Scanner) Reset(b []byte) {
	s.b, s.i, s.depth, s.first, s.bad = b, 0, 0, false, false
}

// Place is how many bytes were read.
func (s *Scanner) Place() int { return s.i }

// Since is what was read from a place on.
func (s *Scanner) Since(from int) []byte { return s.b[from:s.i] }

// Whole is the text that is read.
func (s *Scanner) Whole() []byte { return s.b }

// Failed reports whether the text is no JSON so far.
func (s *Scanner) Failed() bool { return s.bad }

// fault marks the text as no JSON and moves to its end.
func (s *Scanner) fault() {
	s.bad = true
	s.i = len(s.b)
}

// End reports whether the whole text was one JSON value.
func (s *Scanner) End() bool {
	s.Space()
	return !s.bad && s.i == len(s.b)
}

// Space passes over white space.
func (s *Scanner) Space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// Peek returns the first byte of the next value, 0 when there is none. Most
// JSON on the wire is compact, so the way without white space is short.
func (s *Scanner) Peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	return s.peekFar()
}

func (s *Scanner) peekFar() byte {
	s.Space()
	if s.i >= len(s.b) {
		s.fault()
		return 0
	}
	return s.b[s.i]
}

// open enters the next value if it is an object ('{') or array ('['). Otherwise
// it skips the value and returns false.
func (s *Scanner) open(bracket byte) bool {
	if s.Peek() != bracket {
		s.Skip()
		return false
	}
	return s.Enter()
}

// Enter passes the bracket that Peek showed; false where brackets are nested deeper
// than encoding/json allows.
func (s *Scanner) Enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.fault()
		return false
	}
	s.i++
	s.first = true
	return true
}

// more moves to the next part of the open container, or past its end.
func (s *Scanner) more(closing byte) bool {
	c := s.Peek()
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

// Element moves to the next element of the open array; false at its end.
func (s *Scanner) Element() bool { return s.more(']') }

// member moves to the value of the next member of the open object and returns
// its name; false at the object's end. The name is valid until the next call.
func (s *Scanner) member() ([]byte, bool) {
	if !s.more('}') {
		return nil, false
	}
	if s.Peek() != '"' {
		s.fault()
		return nil, false
	}
	from := s.i + 1
	i := from + PlainRun(s.b[from:])
	var name []byte
	if i < len(s.b) && s.b[i] == '"' {
		name, s.i = s.b[from:i], i+1
	} else {
		name = s.oddName()
	}
	if s.Peek() != ':' {
		s.fault()
		return nil, false
	}
	s.i++
	return name, true
}

// oddName reads a name with escapes or other characters than ASCII.
func (s *Scanner) oddName() []byte {
	name := s.str()
	s.Key = name.Append(s.Key[:0])
	return s.Key
}

// Members walks the next value if it is an object: it yields the name of each
// member, whose value is skipped if it is not read then. Any other value is skipped.
func (s *Scanner) Members(yield func(name []byte) bool) {
	for ok := s.open('{'); ok; {
		var name []byte
		if name, ok = s.member(); !ok {
			return
		}
		s.Peek()
		from := s.i
		if !yield(name) {
			return
		}
		if s.i == from {
			s.Skip()
		}
	}
}

// Elements walks the next value if it is an array, in the same way.
func (s *Scanner) Elements(yield func() bool) {
	for ok := s.open('['); ok && s.Element(); {
		s.Peek()
		from := s.i
		if !yield() {
			return
		}
		if s.i == from {
			s.Skip()
		}
	}
}

// Skip checks the next value and passes over it.
func (s *Scanner) Skip() {
	switch c := s.Peek(); c {
	case '{':
		for range s.Members {
		}
	case '[':
		for range s.Elements {
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

func (s *Scanner) word(w string) {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		s.fault()
		return
	}
	s.i += len(w)
}
