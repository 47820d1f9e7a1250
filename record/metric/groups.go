package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// GroupKinds are the ways in which requests are put together; by model those too that
// are of no session.
var GroupKinds = []string{"session", "turn", "agent", "depth", "task", "model"}

// Grouped puts the measured requests of conversations, tasks and sessions of agents
// together: by session, by turn, by agent, by the depth of their context, by task, or
// all requests by model.
type Grouped struct {
	by     string
	groups map[string]*group
}

// NewGrouped returns an empty one; by is one of GroupKinds.
func NewGrouped(by string) (*Grouped, error) {
	if !slices.Contains(GroupKinds, by) {
		return nil, fmt.Errorf("%q: want one of %s", by, strings.Join(GroupKinds, ", "))
	}
	return &Grouped{by: by, groups: map[string]*group{}}, nil
}

// GroupRow is what one group has. Durations are those of a session as a whole and
// null in other groups, and where the session did not succeed.
type GroupRow struct {
	Group    string              `json:"group"`
	Requests int64               `json:"requests"`
	OK       int64               `json:"ok"`
	Failed   int64               `json:"failed"`
	Input    timeline.Opt[int64] `json:"input_tokens"` // sums over the requests of which they are known
	Cached   timeline.Opt[int64] `json:"cached_tokens"`
	Output   timeline.Opt[int64] `json:"output_tokens"`
	// CacheHit is cached over input tokens, of the requests of which both are known;
	// IdealHit what a prefix cache without a limit would have had of what was sent.
	CacheHit timeline.Opt[float64] `json:"cache_hit_rate"`
	IdealHit timeline.Opt[float64] `json:"ideal_hit_rate"`
	TTFT50   timeline.Opt[float64] `json:"ttft_p50_ms"`
	TTFT90   timeline.Opt[float64] `json:"ttft_p90_ms"`
	E2E50    timeline.Opt[float64] `json:"e2e_p50_ms"`
	E2E90    timeline.Opt[float64] `json:"e2e_p90_ms"`
	Duration timeline.Opt[float64] `json:"duration_ms"` // from the first due time to the last end
	Model    timeline.Opt[float64] `json:"model_ms"`    // the part of it that the critical path waited for the model
	Tools    timeline.Opt[float64] `json:"tools_ms"`    // and the rest: for tools and people
	CostUSD  timeline.Opt[float64] `json:"cost_usd"`    // null where that of one request is not known
}

// group is what is kept of one.
type group struct {
	row                       GroupRow
	ttft, e2e                 stat.Sample
	hit, ofHit, ideal, ofIdea int64 // tokens
	reads, knows              bool
	steps                     []stepRow
	over                      bool // the end of the run cut it off
	cost                      float64
	unpriced                  bool
}

// Add takes a request. One that was not measured, or that is of no session, is left out.
func (g *Grouped) Add(tl *timeline.Timeline) {
	name := cmp.Or(tl.Session, tl.Task)
	switch g.by {
	case "task":
		name = tl.Task
	case "model":
		name = cmp.Or(tl.Model, "not told")
	}
	if tl.Phase != timeline.Measure || name == "" {
		return
	}
	switch g.by {
	case "turn":
		turn, known := tl.Turn.Get()
		if !known {
			turn = tl.Step.Or(0)
		}
		name = strconv.FormatInt(turn, 10)
	case "agent":
		name = cmp.Or(tl.Agent, "main")
	case "depth":
		n, known := tl.Usage.Input.Get()
		if !known {
			return
		}
		name = depthOf(n)
	}
	k := g.groups[name]
	if k == nil {
		k = &group{row: GroupRow{Group: name}}
		g.groups[name] = k
	}
	k.add(tl)
}

// depthOf names the range of context lengths: powers of two.
func depthOf(tokens int64) string {
	from := int64(1)
	for from*2 <= tokens {
		from *= 2
	}
	return fmt.Sprintf("%d-%d", from, 2*from-1)
}

func (k *group) add(tl *timeline.Timeline) {
	r, v := &k.row, ValuesOf(tl)
	r.Requests++
	input, told := tl.Usage.Input.Get()
	sum(&r.Input, tl.Usage.Input)
	sum(&r.Cached, tl.Usage.Cached)
	sum(&r.Output, v.OutputTokens)
	if n, ok := tl.Usage.Cached.Get(); ok && told {
		k.hit, k.ofHit, k.reads = k.hit+n, k.ofHit+input, true
	}
	if n, ok := tl.Reusable.Get(); ok && told {
		k.ideal, k.ofIdea, k.knows = k.ideal+min(n, input), k.ofIdea+input, true
	}
	if usd, ok := tl.CostUSD.Get(); ok {
		k.cost += usd
	} else {
		k.unpriced = true
	}
	k.over = k.over || tl.Outcome.Cancelled()
	k.steps = append(k.steps, stepRow{id: tl.ID, parent: tl.Parent, due: tl.DueUS, end: endOf(tl, &v)})
	switch {
	case tl.Outcome == timeline.OK:
		r.OK++
		if ms, ok := v.TTFTMS.Get(); ok {
			k.ttft.Add(ms)
		}
		if ms, ok := v.E2EMS.Get(); ok {
			k.e2e.Add(ms)
		}
	case tl.Outcome.Failed():
		r.Failed++
	}
}

func sum(into *timeline.Opt[int64], v timeline.Opt[int64]) {
	if n, ok := v.Get(); ok {
		*into = timeline.Some(into.Or(0) + n)
	}
}

// Rows are the groups: numbers in their order, then names in theirs.
func (g *Grouped) Rows() []GroupRow {
	rows := []GroupRow{}
	for _, k := range g.groups {
		rows = append(rows, k.result(g.by))
	}
	number := func(name string) float64 {
		first, _, _ := strings.Cut(name, "-")
		if n, err := strconv.ParseFloat(first, 64); err == nil {
			return n
		}
		return math.Inf(1)
	}
	sort.Slice(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		return cmp.Or(cmp.Compare(number(a.Group), number(b.Group)), cmp.Compare(a.Group, b.Group)) < 0
	})
	return rows
}

func (k *group) result(by string) GroupRow {
	r := k.row
	r.CacheHit = timeline.Maybe(float64(k.hit)/float64(k.ofHit), k.reads && k.ofHit > 0)
	if k.knows && k.ofIdea > 0 {
		r.IdealHit = timeline.Some(float64(k.ideal) / float64(k.ofIdea))
	}
	r.TTFT50, r.TTFT90 = quantile(&k.ttft, 0.5), quantile(&k.ttft, 0.9)
	r.E2E50, r.E2E90 = quantile(&k.e2e, 0.5), quantile(&k.e2e, 0.9)
	r.CostUSD = timeline.Maybe(k.cost, !k.unpriced)
	if by == "session" && r.Failed == 0 && !k.over {
		whole, waited, _ := critical(k.steps)
		r.Duration, r.Model, r.Tools = timeline.Some(ms(whole)), timeline.Some(ms(waited)), timeline.Some(ms(whole-waited))
	}
	return r
}
