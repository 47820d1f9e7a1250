package sessions

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sort"
	"time"
)

// lengthBlock is how many tokens an id stands for where a recording has lengths
// only: a block of vLLM's cache.
const lengthBlock = 16

// grow notes a call of which only lengths are known, after call prev of its agent
// (−1: it is the first). A prompt that is not shorter than the one before begins
// with it; a shorter one, as after a compaction, begins with what the server of
// then found in its cache.
func (r *recorded) grow(s *scanner, c Call, prev int) int {
	n := int(c.Input / lengthBlock)
	keep := 0
	if prev >= 0 {
		before := r.calls[prev].Keep + len(r.calls[prev].Own)
		if keep = before; c.Input < r.calls[prev].Input {
			keep = min(before, int(c.Cached.Or(0)/lengthBlock))
		}
		keep = min(keep, n)
	}
	c.From, c.Keep = -1, keep
	if keep > 0 {
		held := Session{Calls: r.calls}
		c.From = held.owner(prev, keep)
	}
	for range n - keep {
		r.fresh++
		c.Own = append(c.Own, r.fresh)
	}
	r.note(s, c)
	return len(r.calls) - 1
}

// said is one call as a log tells it, before it has its place in a session.
type said struct {
	session, agent string // of the session's own agent empty
	parent         string // the agent that began it; empty: the session's own
	name           string
	begin, end     time.Time
	call           Call
	ids            []uint64 // of the prompt's blocks; nil: lengths are all that is known
}

// logged makes sessions of what logs tell, in the order in which they began.
func logged(calls []said) ([]*Session, error) {
	sort.SliceStable(calls, func(i, j int) bool {
		a, b := &calls[i], &calls[j]
		return a.begin.Compare(b.begin) < 0
	})
	if len(calls) == 0 {
		return nil, nil
	}
	first := calls[0].begin
	var order []string
	of := map[string][]said{}
	for _, c := range calls {
		if of[c.session] == nil {
			order = append(order, c.session)
		}
		of[c.session] = append(of[c.session], c)
	}
	var out []*Session
	for _, id := range order {
		session, err := logSession(id, of[id])
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
		session.At = max(of[id][0].begin.Sub(first), 0)
		out = append(out, session)
	}
	return out, nil
}

func logSession(id string, calls []said) (*Session, error) {
	s := new(scanner) // reads nothing: its error is what has no place in a session
	r := newRecorded(id, lengthBlock)
	zero := calls[0].begin
	agents := map[string]int{"": 0}
	last := map[string]int{}
	for _, c := range calls {
		at := c.begin.Sub(zero).Round(time.Microsecond)
		if at > maxTime {
			return nil, fmt.Errorf("it goes on for more than %v", maxTime)
		}
		a, known := agents[c.agent]
		if !known {
			a = r.begin(cmp.Or(c.name, c.agent), agents[c.parent], at)
			agents[c.agent] = a
		}
		c.call.Agent, c.call.Start = a, at
		c.call.End = max(c.end.Sub(zero).Round(time.Microsecond), at)
		prev := -1
		if k, before := last[c.agent]; before {
			prev = k
		}
		if c.call.Messages != nil {
			c.ids = textIDs(c.call.Messages)
		}
		if c.ids != nil {
			r.add(s, c.call, c.ids)
			last[c.agent] = len(r.calls) - 1
		} else {
			last[c.agent] = r.grow(s, c.call, prev)
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	return r.session()
}

// fits reports whether a call's lengths can be sent.
func (c *Call) fits() bool {
	return c.Input >= 1 && c.Input <= MaxTokens && c.Output >= 0 && c.Output <= MaxTokens
}

// lines reads a file of JSON objects, one after another, each by a function.
func lines(in *os.File, each func(s *scanner)) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	s := newScanner(io.NewSectionReader(in, 0, info.Size()))
	list := s.peek() == '['
	if list {
		s.array(func() { each(s) })
	}
	for !list && s.peek() != 0 && s.err == nil {
		each(s)
	}
	if s.err != nil {
		return fmt.Errorf("%s: %w", in.Name(), s.err)
	}
	return nil
}
