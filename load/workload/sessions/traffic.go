package sessions

import (
	"fmt"
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
		if err := lines(in, func(s *scanner) {
			c := liveLine(s)
			if s.err == nil {
				calls = append(calls, c)
			}
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

// place says which session a conversation is an agent of, by who began it.
func (c *said) place(parents map[string]string) {
	own := c.session
	for range 100 { // a circle has no beginning
		parent := parents[c.session]
		if _, known := parents[parent]; !known {
			break
		}
		c.session = parent
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
	s.object(func(name string) {
		switch name {
		case "at":
			stamp = s.text()
		case "session":
			c.session = s.text()
		case "parent":
			c.parent = s.text()
		case "model":
			c.call.Model = s.text()
		case "in":
			c.call.Input, _ = s.whole()
		case "out":
			c.call.Output, _ = s.whole()
		case "cached":
			if n, ok := s.whole(); ok {
				c.call.Cached = timeline.Some(n)
			}
		case "took_ms":
			if x, ok := s.number(); ok {
				took = time.Duration(x * float64(time.Millisecond))
			}
		case "ttft_ms":
			if x, ok := s.number(); ok {
				c.call.TTFT = timeline.Some(x / 1e3)
			}
		case "hash_ids":
			c.ids = s.ids([]uint64{})
		default:
			s.skip()
		}
	})
	at, err := time.Parse(time.RFC3339Nano, stamp)
	switch {
	case s.err != nil:
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
