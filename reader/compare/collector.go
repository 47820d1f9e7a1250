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
	sessions   metric.Joins
	columns    [][]float64 // of each measure that is a figure of a request, by row; NaN, or beyond the end: null
	sources    map[string]int64
	flags      map[string]int64
	gapBudget  int
	thinned    int // how often the requests whose gaps are kept were halved
}

// taken is what is kept of a request.
type taken struct {
	due, end float64 // s
	at       int     // the place in the columns
	gaps     [2][]gap
	tokens   float64
	ok       bool
	failed   bool
	good     timeline.Opt[bool]
	check    timeline.Opt[bool]
	input    opt
	output   opt
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
	var lists [2][]gap
	var icl func(float64)
	var itl func(float64, int64)
	if tl.Outcome == timeline.OK && c.keepsGaps(len(c.rows)) {
		icl = func(ms float64) { lists[1] = append(lists[1], gap{ms, 1}) }
		itl = func(ms float64, times int64) { lists[0] = append(lists[0], gap{ms, float64(times)}) }
	}
	r, v := metric.ScanRecord(tl, icl, itl)
	if v.LeftOut != "" && tl.Outcome == timeline.OK {
		c.facts.ITLLeftOut[v.LeftOut]++
	}
	c.take(&r, lists)
}

// AddRecord takes a request of which only the record is known.
func (c *Collector) AddRecord(r *metric.Record) {
	if !r.Phase.Counts() {
		return
	}
	c.judge.AddRecord(r)
	var lists [2][]gap
	if r.Outcome == timeline.OK && c.keepsGaps(len(c.rows)) {
		for i, list := range [][]float64{r.ITLMS, r.ICLMS} {
			for _, ms := range list {
				lists[i] = append(lists[i], gap{ms, 1})
			}
		}
	}
	c.take(r, lists)
}

func (c *Collector) take(r *metric.Record, gaps [2][]gap) {
	if name := r.SessionName(); name != "" {
		c.sessions.Take(name, r)
	}
	if r.Outcome.Cancelled() {
		return
	}
	f := &c.facts
	f.Requests.Total++
	t := taken{at: len(c.rows), due: r.DueS, end: r.DueS + r.E2EMS.Or(r.CloseMS.Or(0))/1e3, ok: r.Outcome == timeline.OK, failed: r.Outcome.Failed()}
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
		t.gaps = gaps
	} else {
		f.Requests.Failed++
	}
	c.rows = append(c.rows, t)
	c.spend(len(t.gaps[0]) + len(t.gaps[1]))
}

func (c *Collector) values(t *taken, r *metric.Record) {
	if r.TokenSource != nil {
		c.sources[*r.TokenSource]++
	}
	t.input, t.output = timeline.Float(r.InputTokens), timeline.Float(r.OutputTokens)
	if r.Check != nil {
		t.check = timeline.Some(*r.Check == "pass")
	}
	for i, list := range c.columns {
		if of := measures[i].value; of != nil {
			if v, ok := of(r).Get(); ok {
				for len(list) < t.at {
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
		for i := range c.rows {
			if !c.keepsGaps(i) {
				c.rows[i].gaps = [2][]gap{}
			}
			c.gapBudget -= len(c.rows[i].gaps[0]) + len(c.rows[i].gaps[1])
		}
	}
}

// rank orders evidence from best to least.
func rank(e timeline.Evidence) int {
	return slices.Index([]timeline.Evidence{timeline.Arrivals, timeline.RequestOnly, timeline.SummaryOnly}, e)
}

// Run returns the run. The collector must not be used afterwards.
func (c *Collector) Run() *Run {
	sort.SliceStable(c.rows, func(i, j int) bool { return c.rows[i].due < c.rows[j].due })
	r := &Run{Facts: c.facts, series: map[string]series{}, summary: c.summary, judged: c.judged, judge: c.judge}
	r.Facts.Flags = c.flags
	r.Facts.TokenSource = mostOf(c.sources)
	r.Facts.InputTokens = c.length(func(t *taken) opt { return t.input })
	r.Facts.OutputTokens = c.length(func(t *taken) opt { return t.output })
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
