package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tokenmeter/record/timeline"
)

// live reads what the measuring proxy wrote of live requests (--trace): a line a
// request, with hashes of its prompt's blocks of lengthBlock tokens that mean the same in
// all lines.
func live(files []*os.File) ([]*Session, error) {
	var calls []said
	for _, in := range files {
		if _, err := liveLines(in, func(c *said) error {
			calls = append(calls, *c)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	parents := map[string]string{} // of conversations
	for i := range calls {
		c := &calls[i]
		if c.session == "" { // it belongs to nothing
			c.session = fmt.Sprintf("request %d", i+1)
		}
		parents[c.session] = c.parent
	}
	for i := range calls {
		calls[i].place(parents)
	}
	all, err := logged(calls)
	for _, s := range all {
		s.Shared = true
	}
	return all, err
}

// mostLine is how long a line may be: it has some 20 bytes for every 16 tokens.
const mostLine = 64 << 20

// liveLines reads a file of lines. Those that broke off, as where the proxy was killed
// or the disk was full, are left out and counted.
func liveLines(in *os.File, each func(c *said) error) (cut int64, err error) {
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	from := bufio.NewScanner(io.NewSectionReader(in, 0, info.Size()))
	from.Buffer(nil, mostLine)
	s := newScanner(nil)
	n := 1
	for ; err == nil && from.Scan(); n++ {
		line := bytes.TrimSpace(from.Bytes())
		if len(line) == 0 {
			continue
		}
		if begun := []byte(`{"at":`); bytes.HasPrefix(line, begun[:min(len(begun), len(line))]) && !json.Valid(line) {
			cut++
			continue
		}
		*s = scanner{in: bytes.NewReader(line), buf: s.buf}
		c := liveLine(s)
		if s.err == nil && s.peek() != 0 {
			s.fail("more than one object in a line")
		}
		if err = s.err; err == nil {
			err = each(&c)
		}
		if err != nil {
			err = fmt.Errorf("%s: line %d: %w", in.Name(), n, err)
		}
	}
	switch more := from.Err(); {
	case err != nil:
	case errors.Is(more, bufio.ErrTooLong):
		err = fmt.Errorf("%s: line %d has more than %d MiB", in.Name(), n, mostLine>>20)
	case more != nil:
		err = fmt.Errorf("%s: %w", in.Name(), more)
	}
	return cut, err
}

// place says which session a conversation is an agent of, by who began it. In a circle
// nobody began: each stands by itself.
func (c *said) place(parents map[string]string) {
	own, rooted := c.session, false
	for range 100 {
		parent := parents[c.session]
		if _, known := parents[parent]; !known {
			rooted = true
			break
		}
		c.session = parent
	}
	if !rooted {
		c.session = own
	}
	if c.session == own {
		c.parent = ""
		return
	}
	if c.agent = own; c.parent == c.session {
		c.parent = ""
	}
}

func liveLine(s *scanner) (c said) {
	var stamp string
	var took time.Duration
	s.fill(fields{
		"at": &stamp, "session": &c.session, "parent": &c.parent, "model": &c.call.Model, "in": &c.call.Input, "out": &c.call.Output,
		"cached": func() {
			if n, ok := s.whole(); ok {
				c.call.Cached = timeline.Some(n)
			}
		},
		"took_ms": func() {
			if x, ok := s.number(); ok {
				took = time.Duration(x * float64(time.Millisecond))
			}
		},
		"ttft_ms": func() {
			if x, ok := s.number(); ok {
				c.call.TTFT = timeline.Some(x / 1e3)
			}
		},
		"hash_ids": func() { c.ids = s.ids([]uint64{}) },
	})
	at, err := time.Parse(time.RFC3339Nano, stamp)
	switch {
	case s.err != nil:
	case stamp == "":
		s.fail(`no time: a line of a trace has "at"`)
	case err != nil:
		s.fail(`%q is no time, in "at"`, stamp)
	case !c.call.fits() || c.call.Input < int64(len(c.ids))*lengthBlock:
		s.fail("a request of %d tokens with %d hash_ids of %d each, and an answer of %d", c.call.Input, len(c.ids), lengthBlock, c.call.Output)
	case took < 0 || took > maxTime:
		s.fail("an answer that took %v", took)
	}
	c.call.Output = max(c.call.Output, 1)
	c.begin, c.end = at, at.Add(took)
	return c
}
