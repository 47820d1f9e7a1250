package imports

import (
	"bytes"
	"fmt"
	"io"
)

// What a file may ask for, as memory is many times the text: the fields of a row twenty
// times, a request of a few letters fifty times, numbers of no known form thirty times.
const (
	mostRequests = 2 << 20  // of a file; they are all in memory at once
	mostRow      = 1 << 20  // bytes of a row of a table
	mostFigures  = 16 << 20 // bytes of figures of whole runs
)

var (
	errRow     = fmt.Errorf("a row of more than %d MiB", mostRow>>20)
	errFigures = fmt.Errorf("more than %d MiB of figures of whole runs", mostFigures>>20)
)

// crowded reports whether a JSON text has more objects, lists and numbers than files of
// any tool have for their size: an empty object takes a hundred times its two letters as
// memory, a moment of one digit fifty times.
func crowded(text []byte) bool {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return false
	}
	most, quoted := 3<<20+len(text)/16*3, false
	for i := 0; i < len(text) && most >= 0; i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			most -= 3
		case c == ',':
			most--
		}
	}
	return most < 0
}

// fits is an error where a file has n requests before one, and no room for it.
func (in *Input) fits(at int64, n int) error {
	if n < mostRequests {
		return nil
	}
	return in.at(at, fmt.Errorf("the file has more than %d requests; make several of it", mostRequests))
}

// short reads so many bytes and then fails.
type short struct {
	from io.Reader
	left int
	over error
}

func (s *short) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, s.over
	}
	n, err := s.from.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}
