package compare

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"tokenmeter/base/random"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Collector takes the requests of a run one by one. Not safe for concurrent use.
type Collector struct {
	facts      Facts
	summary    metric.Summary
	objectives []objective.Objective
	judged     []objective.Objective
	judge      *objective.Judge
	rows       []taken
	expected   int            // how many rows there will be, where the manifest says so
	lengths    [2]stat.Sample // of prompts and answers, in tokens
	sessions   metric.Joins
	columns    [][]float64 // of each measure that is a figure of a request, by row; NaN, or beyond the end: null
	sources    map[string]int64
	flags      map[string]int64
	gaps       []gapped
	scratch    [2][]gap // of the request that is being added
	gapBudget  int
	thinned    int // how often the requests whose gaps are kept were halved
}

// taken is what is kept of a request.
type taken struct {
	due, end float64 // s
	tokens   float64
	at       uint32 // the place in the columns
	ok       bool
	failed   bool
	good     timeline.Opt[bool]
	check    timeline.Opt[bool]
}

// gapped is the gaps of a request, between tokens and between chunks. Few requests
// have theirs kept in a large run.
type gapped struct {
	due   float64 // s
	at    uint32
	lists [2][]gap
}

type gap struct {
	ms    float64
	times float64
}

// maxGaps bounds the gaps kept of a run, some 60 MB. Beyond it they are kept
// of half the requests, then of a quarter, and so on.
const maxGaps = 2_000_000

// NewCollector returns a collector for the run of the manifest. Summary and
// validity in it are taken as they are.
func NewCollector(manifest run.Run, gates ...Gate) *Collector {
	c := &Collector{facts: factsOf(&manifest), summary: manifest.Summary, judged: objectivesOf(gates),
		expected: int(manifest.Requests.OK + manifest.Requests.Failed),
		sessions: metric.Joins{}, columns: make([][]float64, len(measures)), sources: map[string]int64{}, flags: map[string]int64{}, gapBudget: maxGaps}
	c.facts.ITLLeftOut = map[string]int64{}
	c.judge = objective.NewJudge(c.judged, false)
	c.judge.OpenLoop(manifest.Load.Kind == "open")
	// Objectives that no longer parse judge nothing.
	c.objectives, _ = objective.ParseAll(manifest.Objectives)
	return c
}

// Add takes a request.
func (c *Collector) Add(tl *timeline.Timeline) {
	if !tl.Phase.Counts() {
		return
	}
	c.judge.Add(tl)
	c.scratch[0], c.scratch[1] = c.scratch[0][:0], c.scratch[1][:0]
	var icl func(float64)
	var itl func(float64, int64)
	if tl.Outcome == timeline.OK && c.keepsGaps(len(c.rows)) {
		icl = func(ms float64) { c.scratch[1] = append(c.scratch[1], gap{ms, 1}) }
		itl = func(ms float64, times int64) { c.scratch[0] = append(c.scratch[0], gap{ms, float64(times)}) }
	}
	r, v := metric.ScanRecord(tl, icl, itl)
	if v.LeftOut != "" && tl.Outcome == timeline.OK {
		c.facts.ITLLeftOut[v.LeftOut]++
	}
	c.take(&r)
}

// AddRecord takes a request of which only the record is known.
func (c *Collector) AddRecord(r *metric.Record) {
	if !r.Phase.Counts() {
		return
	}
	c.judge.AddRecord(r)
	c.scratch[0], c.scratch[1] = c.scratch[0][:0], c.scratch[1][:0]
	if r.Outcome == timeline.OK && c.keepsGaps(len(c.rows)) {
		for i, list := range [][]float64{r.ITLMS, r.ICLMS} {
			for _, ms := range list {
				c.scratch[i] = append(c.scratch[i], gap{ms, 1})
			}
		}
	}
	c.take(r)
}

// take keeps a request, and the gaps in scratch.
func (c *Collector) take(r *metric.Record) {
	if name := r.SessionName(); name != "" {
		c.sessions.Take(name, r)
	}
	if r.Outcome.Cancelled() {
		return
	}
	f := &c.facts
	f.Requests.Total++
	t := taken{at: uint32(len(c.rows)), due: r.DueS, end: r.DueS + r.E2EMS.Or(r.CloseMS.Or(0))/1e3, ok: r.Outcome == timeline.OK, failed: r.Outcome.Failed()}
	t.good = objective.GoodOf(c.objectives, r)
	if n, known := r.OutputTokens.Get(); known {
		t.tokens = float64(n)
	}
	for _, name := range r.Flags.Names() {
		c.flags[name]++
	}
	if rank(r.Evidence) > rank(f.Evidence) {
		f.Evidence = r.Evidence
	}
	if r.Clock != timeline.Kernel {
		f.Clock = timeline.User
	}
	if t.ok {
		f.Requests.OK++
		c.values(&t, r)
	} else {
		f.Requests.Failed++
	}
	if c.rows == nil {
		c.rows = make([]taken, 0, c.expected)
	}
	c.rows = append(c.rows, t)
	if n := len(c.scratch[0]) + len(c.scratch[1]); n > 0 {
		c.gaps = append(c.gaps, gapped{t.due, t.at, [2][]gap{slices.Clone(c.scratch[0]), slices.Clone(c.scratch[1])}})
		c.spend(n)
	}
}

func (c *Collector) values(t *taken, r *metric.Record) {
	if r.TokenSource != nil {
		c.sources[*r.TokenSource]++
	}
	for i, length := range []timeline.Opt[int64]{r.InputTokens, r.OutputTokens} {
		if n, known := length.Get(); known {
			c.lengths[i].Add(float64(n))
		}
	}
	if r.Check != nil {
		t.check = timeline.Some(*r.Check == "pass")
	}
	for i, list := range c.columns {
		if of := measures[i].value; of != nil {
			if v, ok := of(r).Get(); ok {
				if list == nil {
					list = make([]float64, 0, c.expected)
				}
				for len(list) < int(t.at) {
					list = append(list, math.NaN())
				}
				c.columns[i] = append(list, v)
			}
		}
	}
}

// keepsGaps says whether the gaps of row i are kept: of one row in 2^thinned,
// those that are kept at the next step among them. The number is mixed, for rows
// in step with it are of a kind (the streams of a closed loop, the turns of a
// conversation take turns).
func (c *Collector) keepsGaps(i int) bool {
	return bits.TrailingZeros64(random.Mix(uint64(i))) >= c.thinned
}

// spend counts kept gaps and halves them when there are too many.
func (c *Collector) spend(n int) {
	for c.gapBudget -= n; c.gapBudget < 0; {
		c.thinned++
		c.gapBudget = maxGaps
		kept := c.gaps[:0]
		for _, g := range c.gaps {
			if c.keepsGaps(int(g.at)) {
				kept = append(kept, g)
				c.gapBudget -= len(g.lists[0]) + len(g.lists[1])
			}
		}
		clear(c.gaps[len(kept):])
		c.gaps = kept
	}
}

// rank orders evidence from best to least.
func rank(e timeline.Evidence) int {
	return slices.Index([]timeline.Evidence{timeline.Arrivals, timeline.RequestOnly, timeline.SummaryOnly}, e)
}

// Run returns the run. The collector must not be used afterwards.
func (c *Collector) Run() *Run {
	sort.SliceStable(c.rows, func(i, j int) bool { return c.rows[i].due < c.rows[j].due })
	sort.SliceStable(c.gaps, func(i, j int) bool { return c.gaps[i].due < c.gaps[j].due })
	r := &Run{Facts: c.facts, series: map[string]series{}, summary: c.summary, judged: c.judged, judge: c.judge}
	r.Facts.Flags = c.flags
	r.Facts.TokenSource = mostOf(c.sources)
	r.Facts.InputTokens, r.Facts.OutputTokens = lengthOf(&c.lengths[0]), lengthOf(&c.lengths[1])
	inFlight := c.inFlight()
	put := func(key string, s series) {
		if s != nil {
			r.series[key] = s
		}
	}
	for i, list := range c.columns {
		put(measures[i].key, c.column(list, inFlight))
		c.columns[i] = nil
	}
	put("itl_ms", c.pooled(0, inFlight))
	put("icl_ms", c.pooled(1, inFlight))
	c.gaps = nil
	put("session_e2e_ms", c.wholeSessions())
	c.shares(put, inFlight)
	c.rates(put)
	return r
}

func mostOf(counts map[string]int64) string {
	best := ""
	for name, n := range counts {
		if n > counts[best] || n == counts[best] && name < best {
			best = name
		}
	}
	return best
}
