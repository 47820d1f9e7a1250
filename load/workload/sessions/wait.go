package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"
)

// recorded is a session while it is read: what each agent did, before it is known
// which call waited for which.
type recorded struct {
	id     string
	block  int64
	agents []Agent
	// did is what each agent did: its calls and the agents that it began.
	did   [][]event
	calls []Call
	owner map[uint64]int // the call that first had an id
	fresh uint64         // ids that were made up, where lengths are all that is known
	named map[string]int // agents, by the names that they were recorded by
}

// event is a call, or the beginning of an agent.
type event struct {
	at          time.Duration
	call, agent int // −1: it is the other
}

func newRecorded(id string, block int64) *recorded {
	return &recorded{id: id, block: block, agents: []Agent{{Parent: -1}}, did: make([][]event, 1), owner: map[uint64]int{}, named: map[string]int{"": 1}}
}

// begin notes an agent that another one began.
func (r *recorded) begin(name string, parent int, at time.Duration) int {
	n := len(r.agents)
	for plain := name; r.named[name] > 0; name = fmt.Sprintf("%s-%d", plain, r.named[plain]) {
		r.named[plain]++
	}
	r.named[name]++
	r.agents = append(r.agents, Agent{Name: name, Parent: parent})
	r.did = append(r.did, nil)
	r.did[parent] = append(r.did[parent], event{at, -1, n})
	return n
}

// add notes a call with the ids of its blocks, which are not kept: what an earlier
// call had is told by it.
func (r *recorded) add(s *scanner, c Call, ids []uint64) {
	k := len(r.calls)
	c.From, c.Keep = -1, 0
	n := 0
	for n < len(ids) {
		if _, known := r.owner[ids[n]]; !known {
			break
		}
		n++
	}
	for n > 0 { // ids that are not chained mean less than they should
		from := r.owner[ids[n-1]]
		same := r.common(from, ids[:n])
		if same == n {
			c.From, c.Keep = from, n
			break
		}
		n = same
	}
	c.Own = slices.Clone(ids[n:])
	for _, id := range c.Own {
		if _, known := r.owner[id]; !known {
			r.owner[id] = k
		}
	}
	r.note(s, c)
}

// note notes a call whose ids are settled.
func (r *recorded) note(s *scanner, c Call) {
	k := len(r.calls)
	if k >= maxCalls {
		s.fail("a session of more than %d requests", maxCalls)
		return
	}
	r.calls = append(r.calls, c)
	r.did[c.Agent] = append(r.did[c.Agent], event{c.Start, k, -1})
}

// common is how many leading ids call k and a list share.
func (r *recorded) common(k int, ids []uint64) int {
	s := Session{Calls: r.calls}
	have := s.IDs(k)
	n := min(len(have), len(ids))
	for i := range n {
		if have[i] != ids[i] {
			return i
		}
	}
	return n
}

// session works out which call waits for which; errSkip where there is no call.
func (r *recorded) session() (*Session, error) {
	if len(r.calls) == 0 {
		return nil, errSkip
	}
	order := r.sort()
	s := &Session{ID: r.id, Block: r.block, Agents: r.agents, Calls: r.calls}
	for k := range s.Calls {
		s.Calls[k].Continues = -1
	}
	r.agent(s, 0, -1, order)
	return s, nil
}

// What one session may have.
const (
	maxCalls = 20_000
	// MaxTokens is the longest prompt or answer.
	MaxTokens = 10_000_000
)

// errSkip is a session without a request to the model.
var errSkip = errors.New("the session holds no request")

// sort puts calls in the order in which they began, and returns where each one
// that was added went to.
func (r *recorded) sort() (place []int) {
	by := make([]int, len(r.calls))
	for i := range by {
		by[i] = i
	}
	sort.SliceStable(by, func(a, b int) bool { return r.calls[by[a]].Start < r.calls[by[b]].Start })
	place = make([]int, len(by))
	sorted := make([]Call, len(by))
	for to, from := range by {
		place[from], sorted[to] = to, r.calls[from]
	}
	for i := range sorted {
		if c := &sorted[i]; c.From >= 0 {
			c.From = place[c.From]
		}
	}
	r.calls = sorted
	return place
}

// agent walks through what an agent did, which a call of another began (−1: the
// session). It returns the calls that nothing of the agent waited for.
//
// A call that continues an earlier one waited for it. Else it waited for what had
// ended when it began; what had not runs beside it.
func (r *recorded) agent(s *Session, a, begun int, place []int) (open []int) {
	did := r.did[a]
	sort.SliceStable(did, func(i, j int) bool {
		x, y := &did[i], &did[j]
		return cmp.Compare(x.at, y.at) < 0
	})
	if begun >= 0 {
		open = []int{begun}
	}
	var mine []int // calls of this agent so far
	for _, e := range did {
		if e.agent >= 0 {
			by := begun
			if n := len(mine); n > 0 {
				by = mine[n-1]
			}
			for _, k := range r.agent(s, e.agent, by, place) {
				if k != by {
					open = append(open, k)
				}
			}
			continue
		}
		k := place[e.call]
		c := &s.Calls[k]
		c.Continues = continued(s, mine, k)
		rest := open[:0:0]
		for _, j := range open {
			if s.Calls[j].End <= c.Start || j == c.Continues || len(mine) == 0 && j == begun {
				c.After = append(c.After, j)
			} else {
				rest = append(rest, j)
			}
		}
		if c.Continues >= 0 && !slices.Contains(c.After, c.Continues) {
			c.After = append(c.After, c.Continues)
		}
		if c.After == nil {
			if j := lastEnded(s, mine, begun, c.Start); j >= 0 {
				c.After = []int{j}
			}
		}
		c.Gap = r.gap(c)
		open, mine = append(rest, k), append(mine, k)
	}
	return open
}

// lastEnded is the call of an agent, or the one that began it, that had ended last
// at a moment; −1: none had.
func lastEnded(s *Session, mine []int, begun int, at time.Duration) int {
	last := begun
	for _, j := range mine {
		if s.Calls[j].End <= at && (last < 0 || s.Calls[j].End >= s.Calls[last].End) {
			last = j
		}
	}
	return last
}

// continued is the latest call of the agent whose prompt is the beginning of call
// k's; −1: none is.
func continued(s *Session, mine []int, k int) int {
	for _, j := range slices.Backward(mine) {
		n := s.Blocks(j)
		if n > 0 && n < s.Blocks(k) && s.owner(j, n) == s.owner(k, n) { // whose first n ids are the same
			return j
		}
	}
	return -1
}

// owner is the call whose own ids hold the n-th of call k's.
func (s *Session) owner(k, n int) int {
	for n <= s.Calls[k].Keep {
		k = s.Calls[k].From
	}
	return k
}
