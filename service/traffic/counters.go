package traffic

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"sync"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
)

// Key is what the counters of an objective are known by: a hash of its
// normalised text. An objective that is written in another way keeps its
// counters, one that means something else gets new ones.
func Key(o *objective.Objective) string { return Hash(o.Text) }

// Hash is the name of counters for a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Count is how many requests of one kind an objective found good, of how many
// that it could judge. Both only grow, for as long as the process lives.
type Count struct {
	Key    string // see the function Key
	Text   string // the objective
	Labels Labels
	Counts
	Since time.Time // when counting began
}

// Counters count good and valid requests for each objective, exactly: every
// request is judged when it ends, none is sampled. It is a Sink.
type Counters struct {
	run        string
	mu         sync.Mutex
	objectives []objective.Objective
	keys       []string
	lists      bool
	counts     map[slot]*Count
	order      []*Count
}

type slot struct {
	key    string
	labels Labels
}

// NewCounters returns counters of the objectives. Those that single requests
// do not decide (a throughput, a cost) are left out: see
// objective.Objective.OfRequests.
func NewCounters(objectives []objective.Objective) *Counters {
	c := &Counters{run: NewRun(), counts: map[slot]*Count{}}
	c.Set(objectives)
	return c
}

// NewRun names a life of counters: one in which they begin at zero and never
// fall. Whoever reads them tells lives apart by it.
func NewRun() string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// Run names the life of these counters, which is the process's.
func (c *Counters) Run() string { return c.run }

// Set changes the objectives. What has been counted stays.
func (c *Counters) Set(objectives []objective.Objective) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objectives, c.keys = nil, nil
	for i := range objectives {
		if o := &objectives[i]; o.OfRequests() && !slices.Contains(c.keys, Key(o)) {
			c.objectives = append(c.objectives, *o)
			c.keys = append(c.keys, Key(o))
		}
	}
	c.lists = objective.NeedLists(c.objectives)
}

// Done implements Sink.
func (c *Counters) Done(r *Request) {
	c.mu.Lock()
	objectives, keys, lists := c.objectives, c.keys, c.lists
	c.mu.Unlock()
	if len(objectives) == 0 {
		return
	}
	record := &r.Record
	if lists {
		whole := metric.Of(r.Timeline)
		record = &whole
	}
	verdicts := make([]objective.Verdict, len(objectives))
	for i := range objectives {
		verdicts[i] = check(objectives, i, r, record)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, v := range verdicts {
		n := c.count(keys[i], objectives[i].Text, r.Labels)
		switch v {
		case objective.Good:
			n.Good++
			n.Valid++
		case objective.Bad:
			n.Valid++
		default:
			n.Excluded++
		}
	}
}

// check judges by one objective; goodput asks all the others.
func check(all []objective.Objective, i int, r *Request, record *metric.Record) objective.Verdict {
	of := all[i : i+1]
	if all[i].Metric == "goodput" {
		of = all
	}
	if !r.JudgedBy(of...) {
		return objective.NotEvaluable
	}
	return objective.CheckAmong(all, i, record)
}

func (c *Counters) count(key, text string, labels Labels) *Count {
	at := slot{key, labels}
	n := c.counts[at]
	if n == nil {
		n = &Count{Key: key, Text: text, Labels: labels, Since: time.Now()}
		c.counts[at] = n
		c.order = append(c.order, n)
	}
	return n
}

// Snapshot lists the counts, in a fixed order.
func (c *Counters) Snapshot() []Count {
	c.mu.Lock()
	all := make([]Count, len(c.order))
	for i, n := range c.order {
		all[i] = *n
	}
	c.mu.Unlock()
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Key, b.Key), compare(a.Labels, b.Labels)) < 0
	})
	return all
}

func compare(a, b Labels) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Listener, b.Listener),
		cmp.Compare(a.Route, b.Route), cmp.Compare(a.Upstream, b.Upstream),
		cmp.Compare(a.Model, b.Model), cmp.Compare(a.API, b.API))
}
