// Package sessions reads what agents did, as other programs recorded it: which
// requests a session had, which of them waited for which, how long tools and
// people took between them, and what of a prompt was there before.
package sessions

import (
	"sort"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Session is one recorded session, with the requests of its sub-agents.
type Session struct {
	ID string
	// Block is how many tokens one of the ids stands for; 0: there are no ids.
	Block int64
	// Shared: equal ids mean equal blocks in all sessions of the recording.
	Shared bool
	// At is when the session began, since the first of the recording; 0 where sessions
	// stand by themselves.
	At     time.Duration
	Agents []Agent // the first is the session's own
	Calls  []Call  // in the order in which they began
}

// Agent is a conversation of its own within a session.
type Agent struct {
	Name   string // as it was recorded; of the first empty
	Parent int    // −1: none
}

// Call is one request to the model.
type Call struct {
	Agent int
	Model string
	// Start and End are since the session began. An end that was not recorded is
	// the start.
	Start, End time.Duration
	Input      int64                 // tokens of the whole prompt
	Output     int64                 // tokens that were answered, at least 1
	Cached     timeline.Opt[int64]   // of the input, as the server of then said
	TTFT       timeline.Opt[float64] // seconds, as recorded

	// After are the calls that this one waits for, none for the first ones; Gap is
	// how long after the last of them ended it began: a tool's work, or a person's.
	After []int
	Gap   time.Duration
	// Continues is the call whose whole prompt this one begins with, and whose
	// answer follows in it; −1: it begins otherwise.
	Continues int

	// The ids of the prompt's blocks are the first Keep of call From's, then Own.
	// From is −1 where Keep is 0.
	From, Keep int
	Own        []uint64

	// Unsent names what was recorded of the prompt and is not in Messages.
	Unsent []string
	// Messages are the whole prompt where the recording has its texts; then there
	// are no ids.
	Messages []api.Message
}

// IDs returns the ids of call k's blocks, the beginning of the prompt first.
func (s *Session) IDs(k int) []uint64 {
	n := s.Calls[k].Keep + len(s.Calls[k].Own)
	out := make([]uint64, n)
	for n > 0 {
		c := &s.Calls[k]
		if n > c.Keep {
			copy(out[c.Keep:n], c.Own)
		}
		n = min(n, c.Keep)
		k = c.From
	}
	return out
}

// Blocks is how many ids call k has.
func (s *Session) Blocks(k int) int { return s.Calls[k].Keep + len(s.Calls[k].Own) }

// Ideal returns, of each call, how many of its leading blocks an earlier call of
// the session had: what a prefix cache without a limit would know. Calls count in
// the order in which they began. This is the theoretical prefix hit of AIPerf's
// Weka loader.
func (s *Session) Ideal() []int {
	known := make([]int, len(s.Calls)) // of each call's own ids, how many came before
	hits := make([]int, len(s.Calls))
	var path []int
	for k := range s.Calls {
		path = path[:0]
		for j, n := k, s.Blocks(k); n > 0; n, j = min(n, s.Calls[j].Keep), s.Calls[j].From {
			if n > s.Calls[j].Keep {
				path = append(path, j, n-s.Calls[j].Keep)
			}
		}
		whole := true
		for i := len(path) - 2; i >= 0; i -= 2 {
			j, n := path[i], path[i+1]
			if whole {
				hits[k] += min(known[j], n)
				whole = known[j] >= n
			}
			known[j] = max(known[j], n)
		}
	}
	return hits
}

// Width is how many calls ran at the same moment at most, as recorded.
func (s *Session) Width() int {
	type edge struct {
		at time.Duration
		by int
	}
	var edges []edge
	for _, c := range s.Calls {
		edges = append(edges, edge{c.Start, 1}, edge{max(c.End, c.Start+1), -1})
	}
	sort.Slice(edges, func(i, j int) bool {
		a, b := &edges[i], &edges[j]
		return a.at < b.at || a.at == b.at && a.by < b.by
	})
	now, most := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// Path is how long the session would take if every call took as long as it was
// recorded to take, and the part of it that the longest chain waits for tools and
// people.
func (s *Session) Path() (whole, between time.Duration) {
	end := make([]time.Duration, len(s.Calls))
	waits := make([]time.Duration, len(s.Calls))
	for k, c := range s.Calls {
		var ready, waited time.Duration
		for _, j := range c.After {
			if end[j] >= ready {
				ready, waited = end[j], waits[j]
			}
		}
		end[k], waits[k] = ready+c.Gap+c.End-c.Start, waited+c.Gap
		if end[k] >= whole {
			whole, between = end[k], waits[k]
		}
	}
	return whole, between
}
