package compare

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"tokenmeter/metric"
	"tokenmeter/objective"
	"tokenmeter/run"
	"tokenmeter/stat"
	"tokenmeter/timeline"
)

// Run is one run as a comparison needs it: the values of its requests in the
// order in which they were due, and the facts that must be alike.
type Run struct {
	Facts  Facts
	series map[string]series // by metric key; missing: not measured

	summary metric.Summary
	judged  []objective.Objective // of gates on values
	judge   *objective.Judge      // nil where the records are not known
}

// Facts are what must be alike for two runs to be compared, and their names.
type Facts struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Dir          string            `json:"dir"`
	Tags         map[string]string `json:"tags"`
	Started      time.Time         `json:"started"`
	Finished     *time.Time        `json:"finished"`
	Partial      bool              `json:"partial"`
	Version      string            `json:"version"`
	Target       run.Target        `json:"target"`
	Load         run.Load          `json:"load"`
	Workload     run.Workload      `json:"workload"`
	Tokenizer    *string           `json:"tokenizer"`
	Objectives   []string          `json:"objectives"`
	CPUModel     string            `json:"cpu_model"`
	OS           string            `json:"os"`
	Validity     string            `json:"validity"` // valid | suspect | invalid; empty: not judged
	ValidityWhy  string            `json:"validity_why"`
	Requests     Counts            `json:"requests"`
	Evidence     timeline.Evidence `json:"evidence"` // of the request that is known least
	Clock        timeline.Clock    `json:"clock"`    // user, if any request's was
	TokenSource  string            `json:"token_source"`
	Flags        map[string]int64  `json:"flags"`
	InputTokens  Length            `json:"input_tokens"`
	OutputTokens Length            `json:"output_tokens"`
	AllowDrift   bool              `json:"allow_isl_drift"`
	Prices       metric.Cost       `json:"prices"`
}

// Counts are a run's measured requests.
type Counts struct {
	Total  int64 `json:"total"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"`
}

// Length describes the lengths of prompts or answers, in tokens.
type Length struct {
	Mean timeline.Opt[float64] `json:"mean"`
	P90  timeline.Opt[float64] `json:"p90"`
}

// Load reads a run folder. Gates on values are judged while its records are
// read; they must be those of the comparison.
func Load(path string, gates ...Gate) (*Run, error) {
	f, err := run.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	manifest, err := run.Summarise(f)
	if err != nil {
		return nil, err
	}
	c := NewCollector(manifest, gates...)
	for tl, err := range f.Timelines() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c.Add(tl)
	}
	return c.Run(), nil
}

// FromRecords makes a run of records, for results that came without timelines.
// Their lists of gaps are used where they have them.
func FromRecords(manifest run.Run, records iter.Seq2[metric.Record, error], gates ...Gate) (*Run, error) {
	c := NewCollector(manifest, gates...)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		c.AddRecord(&r)
	}
	return c.Run(), nil
}

// Collector takes the requests of a run one by one. Not safe for concurrent use.
type Collector struct {
	facts      Facts
	summary    metric.Summary
	objectives []objective.Objective
	judged     []objective.Objective
	judge      *objective.Judge
	rows       []taken
	sources    map[string]int64
	flags      map[string]int64
	gapBudget  int
	every      int64 // gaps are kept of every so many requests
}

// taken is what is kept of a request.
type taken struct {
	due, end float64 // s
	values   []opt   // of the measures that are figures of a request, in their order
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
// of every second request, then of every fourth, and so on.
const maxGaps = 2_000_000

// NewCollector returns a collector for the run of the manifest. Summary and
// validity in it are taken as they are.
func NewCollector(manifest run.Run, gates ...Gate) *Collector {
	c := &Collector{facts: factsOf(&manifest), summary: manifest.Summary, judged: objectivesOf(gates),
		sources: map[string]int64{}, flags: map[string]int64{}, gapBudget: maxGaps, every: 1}
	c.judge = objective.NewJudge(c.judged, false)
	// Objectives that no longer parse judge nothing.
	c.objectives, _ = objective.ParseAll(manifest.Objectives)
	return c
}

func factsOf(m *run.Run) Facts {
	f := Facts{
		ID: m.ID, Name: m.Name, Dir: m.Dir, Tags: m.Tags, Started: m.Started, Finished: m.Finished, Partial: m.Partial,
		Version: m.Version, Target: m.Target, Load: m.Load, Workload: m.Workload, Tokenizer: m.Tokenizer,
		Objectives: m.Objectives, CPUModel: m.Environment.CPUModel, OS: m.Environment.OS,
		Validity: m.Validity.Verdict, Evidence: timeline.Arrivals, Clock: timeline.Kernel, AllowDrift: m.AllowISLDrift,
	}
	for _, check := range m.Validity.Checks {
		if check.Verdict == f.Validity && f.Validity != "valid" {
			f.ValidityWhy = check.Says
			break
		}
	}
	if m.Cost != nil {
		f.Prices = *m.Cost
	}
	return f
}

// Add takes a request.
func (c *Collector) Add(tl *timeline.Timeline) {
	if !tl.Phase.Counts() {
		return
	}
	r := metric.ScalarsOf(tl)
	c.judge.Add(tl)
	var lists [2][]gap
	if tl.Outcome == timeline.OK && tl.Request%c.every == 0 {
		metric.Scan(tl, func(ms float64) { lists[1] = append(lists[1], gap{ms, 1}) },
			func(ms float64, times int64) { lists[0] = append(lists[0], gap{ms, float64(times)}) })
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
	if r.Outcome == timeline.OK && r.Request%c.every == 0 {
		for i, list := range [][]float64{r.ITLMS, r.ICLMS} {
			for _, ms := range list {
				lists[i] = append(lists[i], gap{ms, 1})
			}
		}
	}
	c.take(r, lists)
}

func (c *Collector) take(r *metric.Record, gaps [2][]gap) {
	if r.Outcome.Cancelled() {
		return
	}
	f := &c.facts
	f.Requests.Total++
	t := taken{due: r.DueS, end: r.DueS + r.E2EMS.Or(r.CloseMS.Or(0))/1e3, ok: r.Outcome == timeline.OK, failed: r.Outcome.Failed()}
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
		c.spend(len(gaps[0]) + len(gaps[1]))
	} else {
		f.Requests.Failed++
	}
	c.rows = append(c.rows, t)
}

func (c *Collector) values(t *taken, r *metric.Record) {
	if r.TokenSource != nil {
		c.sources[*r.TokenSource]++
	}
	t.input, t.output = float(r.InputTokens), float(r.OutputTokens)
	if r.Check != nil {
		t.check = timeline.Some(*r.Check == "pass")
	}
	for i := range measures {
		if of := measures[i].value; of != nil {
			t.values = append(t.values, of(r))
		}
	}
}

// spend counts kept gaps and halves them when there are too many.
func (c *Collector) spend(n int) {
	for c.gapBudget -= n; c.gapBudget < 0; {
		c.every *= 2
		c.gapBudget = maxGaps
		for i := range c.rows {
			if int64(i)%c.every != 0 {
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

func float(n timeline.Opt[int64]) opt {
	if v, ok := n.Get(); ok {
		return timeline.Some(float64(v))
	}
	return opt{}
}

// Run returns the run. The collector must not be used afterwards.
func (c *Collector) Run() *Run {
	slices.SortStableFunc(c.rows, func(a, b taken) int { return cmp.Compare(a.due, b.due) })
	r := &Run{Facts: c.facts, series: map[string]series{}, summary: c.summary, judged: c.judged, judge: c.judge}
	r.Facts.Flags = c.flags
	r.Facts.TokenSource = mostOf(c.sources)
	r.Facts.InputTokens = c.length(func(t *taken) opt { return t.input })
	r.Facts.OutputTokens = c.length(func(t *taken) opt { return t.output })
	atOnce := int(c.facts.Load.Concurrency.Or(1))
	put := func(key string, s series) {
		if s != nil && s.count() > 0 {
			r.series[key] = s
		}
	}
	column := 0
	for i := range measures {
		if m := &measures[i]; m.value != nil {
			put(m.key, c.column(column, atOnce))
			column++
		}
	}
	put("itl_ms", c.pooled(0, atOnce))
	put("icl_ms", c.pooled(1, atOnce))
	c.shares(put, atOnce)
	c.rates(put, atOnce)
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

func (c *Collector) length(of func(*taken) opt) Length {
	var s stat.Sample
	for i := range c.rows {
		if v, ok := of(&c.rows[i]).Get(); ok {
			s.Add(v)
		}
	}
	m, ok := s.Moments()
	if !ok {
		return Length{}
	}
	p90, _ := stat.Quantile(s.Sorted(), 0.9)
	return Length{Mean: timeline.Some(m.Mean), P90: timeline.Some(p90)}
}

func (c *Collector) column(i, atOnce int) series {
	var values []float64
	for j := range c.rows {
		if list := c.rows[j].values; i < len(list) {
			if v, ok := list[i].Get(); ok {
				values = append(values, v)
			}
		}
	}
	return newListed(values, nil, nil, atOnce)
}

func (c *Collector) pooled(which, atOnce int) series {
	var values, times []float64
	var cuts []int
	for j := range c.rows {
		list := c.rows[j].gaps[which]
		if len(list) == 0 {
			continue
		}
		for _, g := range list {
			values, times = append(values, g.ms), append(times, g.times)
		}
		cuts = append(cuts, len(values))
	}
	return newListed(values, times, cuts, atOnce)
}

func (c *Collector) shares(put func(string, series), atOnce int) {
	var failed, good, checks []stat.Pair
	for i := range c.rows {
		t := &c.rows[i]
		failed = append(failed, one(t.failed))
		if g, ok := t.good.Get(); ok {
			good = append(good, one(g))
		}
		if passed, ok := t.check.Get(); ok {
			checks = append(checks, one(passed))
		}
	}
	put("error_rate", newFixed(failed, atOnce))
	put("goodput", newFixed(good, atOnce))
	put("check_pass", newFixed(checks, atOnce))
}

func one(yes bool) stat.Pair {
	if yes {
		return stat.Pair{Num: 1, Den: 1}
	}
	return stat.Pair{Num: 0, Den: 1}
}

// rates are tokens and requests over time. In a closed loop every stream is
// always busy, so how the rate varies is told by the requests one by one: what
// each brought over the time it kept its stream. In an open loop the run's time
// is cut where requests ended.
func (c *Collector) rates(put func(string, series), atOnce int) {
	if len(c.rows) == 0 {
		return
	}
	rows := slices.Clone(c.rows)
	closed := c.facts.Load.Kind == "closed"
	if !closed {
		slices.SortStableFunc(rows, func(a, b taken) int { return cmp.Compare(a.end, b.end) })
	}
	last, first := c.rows[0].due, c.rows[0].due
	var tokens, requests []stat.Pair
	var sum, done float64
	for i := range rows {
		t := &rows[i]
		s := max(t.end-last, 0)
		last = max(last, t.end)
		if closed {
			s = max(t.end-t.due, 0)
		}
		ended := 0.0
		if t.ok {
			ended = 1
		}
		tokens = append(tokens, stat.Pair{Num: t.tokens, Den: s})
		requests = append(requests, stat.Pair{Num: ended, Den: s})
		sum, done = sum+t.tokens, done+ended
	}
	rate := func(key string, list []stat.Pair, n float64) {
		if f, ok := newFixed(list, atOnce).(*fixed); ok && n > 0 && last > first {
			f.whole = stat.Pair{Num: n, Den: last - first}
			put(key, f)
		}
	}
	rate("system_output_tps", tokens, sum)
	rate("requests_per_s", requests, done)
}
