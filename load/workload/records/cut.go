package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// cut is a file whose records are stretches of its bytes. The index grows as
// records are asked for.
type cut struct {
	in   io.ReaderAt
	size int64
	form Form

	mu    sync.Mutex
	at    []int64  // where each record begins
	len   []uint32 // and how long it is
	line  []uint32 // its line; of JSON arrays its number
	pos   int64    // how far the file was read
	lines uint32   // line breaks so far
	scan  scanner
	over  bool
	err   error // why the file could not be read on

	columns []string // CSV
	ends    []span   // the last records of a file, found from behind
	endAt   int64    // where the first of ends begins
}

type span struct {
	at  int64
	len uint32
}

// scanner is where in a record the reading stands.
type scanner struct {
	begin          int64 // of the record in hand; −1: none
	line           uint32
	quoted, escape bool
	depth          int
	opened, closed bool // the array's brackets
}

const (
	chunk = 256 << 10
	// maxRecord bounds one record, so that a file without line breaks does not
	// fill the memory.
	maxRecord = 64 << 20
)

func (c *cut) row(i int64) (Row, int64, error) {
	c.mu.Lock()
	err := c.grow(i)
	if i >= int64(len(c.at)) {
		if err == nil {
			err = io.EOF
		}
		line := int64(0)
		if err != io.EOF {
			line = int64(c.lines) + 1
		}
		c.mu.Unlock()
		return nil, line, err
	}
	at, n, line := c.at[i], c.len[i], int64(c.line[i])
	c.mu.Unlock()
	row, err := c.read(span{at, n})
	return row, line, err
}

func (c *cut) read(s span) (Row, error) {
	data := make([]byte, s.len)
	if _, err := c.in.ReadAt(data, s.at); err != nil && err != io.EOF {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, badText(data)
	}
	switch c.form {
	case Text:
		return textRow(bytes.TrimRight(data, "\r")), nil
	case CSV:
		return parseCSV(data, c.columns)
	}
	return parseJSON(data)
}

func (c *cut) count() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.grow(1<<62 - 1)
	return int64(len(c.at)), err
}

// grow reads on until record i is known, or the end has come.
func (c *cut) grow(i int64) error {
	var buf []byte
	for int64(len(c.at)) <= i && !c.over && c.err == nil {
		if buf == nil {
			buf = make([]byte, chunk)
			if c.pos == 0 {
				c.scan.begin = -1
			}
		}
		n, err := c.in.ReadAt(buf, c.pos)
		if err != nil && err != io.EOF {
			c.err = err
			break
		}
		data := buf[:n]
		if c.pos == 0 && bytes.HasPrefix(data, bom) {
			data, c.pos = data[len(bom):], int64(len(bom))
		}
		if n == 0 || c.pos >= c.size {
			c.finish()
			break
		}
		if c.form == Array || c.form == Objects {
			c.array(data)
		} else {
			c.byLine(data)
		}
		c.pos += int64(len(data))
		if s := &c.scan; s.begin >= 0 && c.pos-s.begin > maxRecord {
			c.err = fmt.Errorf("a record of more than %d MiB", maxRecord>>20)
		}
	}
	return c.err
}

// finish takes what has no line break behind it.
func (c *cut) finish() {
	c.over = true
	s := &c.scan
	switch {
	case c.form == Array && s.opened && !s.closed:
		c.err = errors.New("the JSON array does not end")
	case c.form == CSV && s.quoted:
		c.err = errors.New("a quoted field does not end")
	case c.form == Objects && s.depth > 0:
		c.err = errors.New("the JSON object does not end")
	case c.form != Array && s.begin >= 0:
		c.add(s.begin, c.pos)
	}
}

func (c *cut) add(from, to int64) {
	c.at, c.len = append(c.at, from), append(c.len, uint32(to-from))
	c.line = append(c.line, c.scan.line)
	c.scan.begin = -1
}

// byLine finds records that end with a line break outside quotes. Lines of
// white space are none.
func (c *cut) byLine(data []byte) {
	s := &c.scan
	for i := 0; i < len(data); {
		if s.begin < 0 {
			// The start of a record is its line's first byte; blank ones are skipped.
			j := i
			for j < len(data) && (data[j] == ' ' || data[j] == '\t' || data[j] == '\r') {
				j++
			}
			if j < len(data) && data[j] == '\n' {
				c.lines++
				i = j + 1
				continue
			}
			s.begin, s.line = c.pos+int64(i), c.lines+1
		}
		end := bytes.IndexByte(data[i:], '\n')
		stretch := data[i:]
		if end >= 0 {
			stretch = data[i : i+end]
		}
		if c.form == CSV && bytes.Count(stretch, []byte{'"'})%2 == 1 {
			s.quoted = !s.quoted
		}
		if end < 0 {
			return
		}
		c.lines++
		i += end + 1
		if !s.quoted {
			from, to := s.begin, c.pos+int64(i-1)
			if c.blank(from, to) {
				s.begin = -1
				continue
			}
			c.add(from, to)
		}
	}
}

// blank looks at a record that began at the very end of a chunk with white
// space: whether there is anything in it.
func (c *cut) blank(from, to int64) bool {
	if from >= c.pos || to-from > 4096 {
		return false
	}
	data := make([]byte, to-from)
	if _, err := c.in.ReadAt(data, from); err != nil {
		return false
	}
	return len(bytes.TrimSpace(data)) == 0
}

// array finds the elements of a JSON array, or objects that stand behind each other.
func (c *cut) array(data []byte) {
	s := &c.scan
	inner := 1 // how deep the records stand
	if c.form == Objects {
		inner = 0
	}
	for i, b := range data {
		switch {
		case s.escape:
			s.escape = false
		case s.quoted:
			switch b {
			case '\\':
				s.escape = true
			case '"':
				s.quoted = false
			}
		case b == '"':
			s.quoted = true
			if s.begin < 0 && s.depth == inner {
				c.start(i)
			}
		case b == '{' || b == '[':
			if s.depth < inner {
				if s.opened {
					c.err = errors.New("something follows the JSON array")
					return
				}
				s.opened = true
			} else if s.depth == inner && s.begin < 0 {
				c.start(i)
			}
			s.depth++
		case b == '}' || b == ']':
			s.depth--
			switch {
			case s.depth == inner:
				c.add(s.begin, c.pos+int64(i)+1)
			case s.depth == 0:
				c.element(i)
				s.closed = true
			case s.depth < 0:
				c.err = errors.New("a bracket is closed that was never opened")
				return
			}
		case b == ',' && s.depth == inner:
			c.element(i)
		case b == '\n':
			c.lines++
		case s.depth == inner && s.begin < 0 && b != ' ' && b != '\t' && b != '\r':
			c.start(i)
		}
	}
}

func (c *cut) start(i int) { c.scan.begin, c.scan.line = c.pos+int64(i), c.lines+1 }

// element ends one that is a plain value.
func (c *cut) element(i int) {
	if c.scan.begin >= 0 {
		c.add(c.scan.begin, c.pos+int64(i))
	}
}

// last finds the k-th record from the end: of files of lines by reading
// backwards, else by counting.
func (c *cut) last(k int64) (Row, int64, error) {
	if c.form != Array && c.form != Objects {
		s, ok, err := c.backwards(k)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			row, err := c.read(s)
			if err != nil {
				err = fmt.Errorf("record %d from the end: %w", k, err)
			}
			return row, 0, err
		}
	}
	n, err := c.count()
	if err != nil {
		return nil, 0, err
	}
	if k > n {
		return nil, 0, io.EOF
	}
	return c.row(n - k)
}

// backwards finds lines from the file's end. It gives up, with false, at the
// file's beginning and at quotes of CSV, which only mean something when they
// are read from the front.
func (c *cut) backwards(k int64) (span, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return span{}, false, nil
	}
	if c.ends == nil {
		c.endAt = c.size
	}
	for int64(len(c.ends)) < k {
		from := max(c.endAt-chunk, 0)
		if from == 0 || c.endAt-from > maxRecord {
			return span{}, false, nil
		}
		data := make([]byte, c.endAt-from)
		if _, err := c.in.ReadAt(data, from); err != nil && err != io.EOF {
			return span{}, false, err
		}
		if c.form == CSV && bytes.IndexByte(data, '"') >= 0 {
			return span{}, false, nil
		}
		found := false
		for end := len(data); ; {
			begin := bytes.LastIndexByte(data[:end], '\n')
			if begin < 0 {
				break
			}
			if line := data[begin+1 : end]; len(bytes.TrimSpace(line)) > 0 {
				c.ends = append(c.ends, span{from + int64(begin) + 1, uint32(len(line))})
				found = true
			}
			end = begin
			c.endAt = from + int64(begin)
		}
		if !found {
			return span{}, false, nil // a line longer than a chunk: count
		}
	}
	return c.ends[k-1], true, nil
}
