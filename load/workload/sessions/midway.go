package sessions

import (
	"slices"
	"time"
)

// Since is what is left of a session at a moment: of each agent that goes on, the last
// request that began before it, and all requests that began at or after it. The former
// come first, and are so many.
//
// Nothing that is left waits for what went before: a request that did is due when it
// was recorded to begin, counted from the moment.
func (s *Session) Since(at time.Duration) (rest *Session, before int) {
	last := map[int]int{} // of each agent, before the moment
	goesOn := map[int]bool{}
	for k, c := range s.Calls {
		if c.Start < at {
			last[c.Agent] = k
		} else {
			goesOn[c.Agent] = true
		}
	}
	left := newRecorded(s.ID, s.Block)
	left.agents, left.did = s.Agents, make([][]event, len(s.Agents))
	place := map[int]int{} // of what is left, by where it was
	take := func(k int) {
		place[k] = len(left.calls)
		c := s.Calls[k]
		c.Start, c.End = max(c.Start-at, 0), max(c.End-at, 0)
		left.add(new(scanner), c, s.IDs(k))
	}
	for k, c := range s.Calls {
		if c.Start < at && last[c.Agent] == k && goesOn[c.Agent] {
			take(k)
		}
	}
	before = len(left.calls)
	for k, c := range s.Calls {
		if c.Start >= at {
			take(k)
		}
	}
	for i := range left.calls {
		c := &left.calls[i]
		after := c.After
		c.After = nil
		if i < before {
			c.Gap, c.Continues = 0, -1
			continue
		}
		for _, k := range after {
			if to, kept := place[k]; kept && to >= before {
				c.After = append(c.After, to)
			}
		}
		if len(c.After) < len(after) {
			c.Gap = left.gap(c)
		}
		if to, kept := place[c.Continues]; kept {
			c.Continues = to
		} else {
			c.Continues = -1
		}
	}
	return &Session{ID: s.ID, Block: s.Block, Shared: s.Shared, At: s.At, Agents: s.Agents, Calls: left.calls}, before
}

// gap is how long after the last of those that a call waits for it began.
func (r *recorded) gap(c *Call) time.Duration {
	ready := time.Duration(0)
	for _, k := range c.After {
		ready = max(ready, r.calls[k].End)
	}
	return max(c.Start-ready, 0)
}

// Idle is when a session counts as idle: it says how long a pause in it may be.
type Idle struct {
	Most time.Duration
	// Starts: a pause lies between the starts of one request and the next of the
	// session, whichever agents they are of. Else it is a time in which none was answered.
	Starts bool
}

// Cut shortens a session's pauses: what follows one comes earlier by what is cut off.
func (s *Session) Cut(idle Idle) *Session {
	cut := recorded{calls: slices.Clone(s.Calls)}
	var since, earlier time.Duration
	for i, c := range s.Calls {
		if over := c.Start - since - idle.Most; over > 0 {
			earlier += over
		}
		if idle.Starts {
			since = c.Start
		} else {
			since = max(since, c.End)
		}
		now := &cut.calls[i]
		now.Start, now.End = c.Start-earlier, c.End-earlier
	}
	for i := range cut.calls {
		cut.calls[i].Gap = cut.gap(&cut.calls[i])
	}
	out := *s
	out.Calls = cut.calls
	return &out
}

// LastStart is when the last request of a session began.
func (s *Session) LastStart() time.Duration { return s.Calls[len(s.Calls)-1].Start }
