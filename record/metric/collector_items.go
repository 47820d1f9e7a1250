package metric

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Checks counts answers that were held against known ones.
type Checks struct {
	N      int64                 `json:"n"` // successful requests with a check
	Passed int64                 `json:"passed"`
	Rate   timeline.Opt[float64] `json:"rate"` // passed / n
	CI95   *[2]float64           `json:"ci95"`
}

// Tasks describes the tasks of agents. One that the run's end cut off is in
// total and cancelled only.
type Tasks struct {
	Total     int64 `json:"total"`
	OK        int64 `json:"ok"`
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"`
	// InTime are tasks that succeeded within the deadline; without a deadline
	// all that succeeded.
	InTime    int64                 `json:"in_time"`
	DeadlineS timeline.Opt[float64] `json:"deadline_s"`
	Success   timeline.Opt[float64] `json:"success"` // in_time / (ok + failed)
	CI95      *[2]float64           `json:"ci95"`
	// Duration is from the first step's due time to the last step's end, Model
	// the part of it that the longest chain of steps waited for the model; the
	// rest is tools. Of tasks that succeeded.
	Duration Dist `json:"duration_ms"`
	Model    Dist `json:"model_ms"`
	Steps    Dist `json:"steps"`
	// Shares says what that time was spent on; null without a task that succeeded
	// with streams in all its steps.
	Shares *TaskShares `json:"shares"`
}

// TaskShares is where the time of tasks went, along their critical paths: waiting
// for first tokens, for reasoning to end, for the rest of the answers, and for
// tools. The shares of all tasks' time together; they add up to 1.
type TaskShares struct {
	TTFT      float64 `json:"ttft"`
	Reasoning float64 `json:"reasoning"`
	Decode    float64 `json:"decode"`
	Tool      float64 `json:"tool"`
}

// add puts a task's critical path to the sums, in µs.
func (s *TaskShares) add(path []*stepRow, whole, waited int64) bool {
	var add TaskShares
	for _, step := range path {
		if step.ttft < 0 || step.ttfo < 0 {
			return false
		}
		add.TTFT += float64(step.ttft)
		add.Reasoning += float64(step.ttfo - step.ttft)
		add.Decode += float64(step.end - step.due - step.ttfo)
	}
	s.TTFT += add.TTFT
	s.Reasoning += add.Reasoning
	s.Decode += add.Decode
	s.Tool += float64(whole - waited)
	return true
}

// shares are the sums as parts of all; nil for none.
func (s *TaskShares) shares() *TaskShares {
	all := s.TTFT + s.Reasoning + s.Decode + s.Tool
	if !(all > 0) {
		return nil
	}
	return &TaskShares{s.TTFT / all, s.Reasoning / all, s.Decode / all, s.Tool / all}
}

// Media describes segments of media that were played while they came.
type Media struct {
	SegmentS float64 `json:"segment_s"`
	N        int64   `json:"n"`
	// Factor is the time to answer a segment over its length, without the wait
	// for earlier ones: above 1 no server keeps up.
	Factor Dist `json:"real_time_factor"`
	// InTime is the share of segments that were answered before the next one
	// had ended.
	InTime timeline.Opt[float64] `json:"in_time"`
	// MaxBacklog is how many earlier segments of its medium were unanswered when
	// a segment was due, at most.
	MaxBacklog int64 `json:"max_backlog"`
}

// ClassSummary describes the requests of one class of a mix.
type ClassSummary struct {
	Name     string          `json:"name"`
	Requests int64           `json:"requests"`
	OK       int64           `json:"ok"`
	Failed   int64           `json:"failed"`
	Checks   *Checks         `json:"checks"`
	Metrics  map[string]Dist `json:"metrics"` // ttft_ms, tpot_ms, e2e_ms, input_tokens, output_tokens
}

// stepRow is what is kept of a task's step or a medium's segment.
type stepRow struct {
	id, parent string
	due, end   int64
	ttft, ttfo int64   // µs since due; negative: unknown
	service    float64 // ms; negative: unknown
	ok         bool
}

// items is what is kept of what requests belong to.
type items struct {
	checks   Ordered // 1: passed
	sessions map[string][]stepRow
	classes  map[string]*classItems
}

type classItems struct {
	n, ok, failed int64
	samples       map[string]*Ordered
	checks        Ordered // 1: passed
}

var classMetrics = []string{"ttft_ms", "tpot_ms", "e2e_ms", "input_tokens", "output_tokens"}

// item takes a measured request.
func (c *Collector) item(tl *timeline.Timeline, v *Values) {
	passed, checked := tl.CheckPassed.Get()
	if checked {
		c.items.checks.Add(c.now, oneIf(passed))
	}
	row := stepRow{id: tl.ID, parent: tl.Parent, due: tl.DueUS, end: endOf(tl, v), service: v.ServiceE2EMS.Or(-1), ok: tl.Outcome == timeline.OK,
		ttft: microsOr(v.TTFTMS), ttfo: microsOr(v.TTFOMS)}
	if row.ttfo < 0 && row.ttft >= 0 { // nothing but reasoning came
		row.ttfo = row.end - row.due
	}
	if tl.Task != "" {
		t := c.tasks[tl.Task]
		t.failed = t.failed || tl.Outcome.Failed() || checked && !passed
		t.cancelled = t.cancelled || tl.Outcome.Cancelled()
		t.steps = append(t.steps, row)
		c.tasks[tl.Task] = t
	}
	if tl.Session != "" && c.Opts.SegmentS > 0 {
		if c.items.sessions == nil {
			c.items.sessions = map[string][]stepRow{}
		}
		c.items.sessions[tl.Session] = append(c.items.sessions[tl.Session], row)
	}
	if tl.Class != "" && !c.Opts.Outline {
		c.ofClass(tl.Class).add(c.now, tl, v, checked, passed)
	}
}

// microsOr is a time in µs; negative where it is not known.
func microsOr(ms timeline.Opt[float64]) int64 {
	if v, ok := ms.Get(); ok {
		return microseconds(v)
	}
	return -1
}

// endOf is when a request was over for whoever waits for it: with its last
// token, or else when its body ended.
func endOf(tl *timeline.Timeline, v *Values) int64 {
	if e2e, ok := v.E2EMS.Get(); ok {
		return tl.DueUS + microseconds(e2e)
	}
	return tl.DueUS + tl.CloseUS.Or(0)
}

func (c *Collector) ofClass(name string) *classItems {
	if c.items.classes == nil {
		c.items.classes = map[string]*classItems{}
	}
	k := c.items.classes[name]
	if k == nil {
		k = &classItems{samples: map[string]*Ordered{}}
		for _, m := range classMetrics {
			k.samples[m] = &Ordered{}
		}
		c.items.classes[name] = k
	}
	return k
}

func (k *classItems) add(now uint32, tl *timeline.Timeline, v *Values, checked, passed bool) {
	k.n++
	if checked {
		k.checks.Add(now, oneIf(passed))
	}
	if tl.Outcome.Failed() {
		k.failed++
	}
	if tl.Outcome != timeline.OK {
		return
	}
	k.ok++
	for name, x := range map[string]timeline.Opt[float64]{"ttft_ms": v.TTFTMS, "tpot_ms": v.TPOTMS, "e2e_ms": v.E2EMS,
		"input_tokens": timeline.Float(tl.Usage.Input), "output_tokens": timeline.Float(v.OutputTokens)} {
		if value, ok := x.Get(); ok {
			k.samples[name].Add(now, value)
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// checksOf is nil where nothing was checked.
func (c *Collector) checksOf(v *Ordered) *Checks {
	if v.Len() == 0 {
		return nil
	}
	out := &Checks{N: v.Len()}
	var ci [2]float64
	out.Passed, ci = shareOf(c.order.Series(v).Values)
	out.Rate, out.CI95 = timeline.Some(float64(out.Passed)/float64(out.N)), &ci
	return out
}

// shareOf counts the ones in a series of 0 and 1 and gives the interval of their share.
func shareOf(series []float64) (ones int64, ci [2]float64) {
	is := make([]bool, len(series))
	for i, v := range series {
		if is[i] = v > 0; is[i] {
			ones++
		}
	}
	iv := stat.Share(is, 0.95)
	return ones, [2]float64{iv.Lo, iv.Hi}
}

// taskSummary is nil without tasks.
func (c *Collector) taskSummary() *Tasks {
	if len(c.tasks) == 0 {
		return nil
	}
	out := &Tasks{Total: int64(len(c.tasks)), DeadlineS: c.Opts.TaskDeadlineS}
	var duration, model, steps stat.Series
	var inTime []float64
	var spent TaskShares
	streamed := true
	for _, t := range c.tasksByDue() {
		switch {
		case t.failed:
			out.Failed++
			inTime = append(inTime, 0)
			continue
		case t.cancelled:
			out.Cancelled++
			continue
		}
		out.OK++
		whole, waited, path := critical(t.steps)
		streamed = streamed && spent.add(path, whole, waited)
		duration.Values = append(duration.Values, ms(whole))
		model.Values = append(model.Values, ms(waited))
		steps.Values = append(steps.Values, float64(len(t.steps)))
		limit, limited := c.Opts.TaskDeadlineS.Get()
		inTime = append(inTime, oneIf(!limited || float64(whole)/1e6 <= limit))
	}
	if judged := out.OK + out.Failed; judged > 0 {
		var ci [2]float64
		out.InTime, ci = shareOf(inTime)
		out.Success, out.CI95 = timeline.Some(float64(out.InTime)/float64(judged)), &ci
	}
	out.Duration, out.Model, out.Steps = seriesDist(&duration), seriesDist(&model), seriesDist(&steps)
	if streamed {
		out.Shares = spent.shares()
	}
	return out
}

// tasksByDue are the tasks by the time their first step was due.
func (c *Collector) tasksByDue() []task {
	first := func(t *task) int64 {
		due := t.steps[0].due
		for i := range t.steps {
			due = min(due, t.steps[i].due)
		}
		return due
	}
	names := slices.Sorted(maps.Keys(c.tasks))
	sort.SliceStable(names, func(i, j int) bool {
		x, y := c.tasks[names[i]], c.tasks[names[j]]
		return first(&x) < first(&y)
	})
	tasks := make([]task, len(names))
	for i, name := range names {
		tasks[i] = c.tasks[name]
	}
	return tasks
}

// critical returns how long a task took, and how much of that the chain of
// steps that ended last waited for the model, in µs, and those steps. Each step's parent is the
// one that it waited for last.
func critical(steps []stepRow) (whole, waited int64, path []*stepRow) {
	sort.Slice(steps, func(i, j int) bool {
		a, b := &steps[i], &steps[j]
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id), cmp.Compare(a.parent, b.parent)) < 0
	})
	byID := make(map[string]*stepRow, len(steps))
	first, last := steps[0].due, &steps[0]
	for i := range steps {
		s := &steps[i]
		byID[s.id] = s
		first = min(first, s.due)
		if s.end > last.end {
			last = s
		}
	}
	whole = last.end - first
	for n := 0; last != nil && n < len(steps); n++ {
		waited += last.end - last.due
		path = append(path, last)
		last = byID[last.parent]
	}
	return whole, waited, path
}

// media is nil where no segments were played.
func (c *Collector) media() *Media {
	if len(c.items.sessions) == 0 {
		return nil
	}
	out := &Media{SegmentS: c.Opts.SegmentS}
	type at struct {
		due    int64
		factor float64
	}
	var factors []at
	var inTime, ended int64
	length := c.Opts.SegmentS * 1e6
	for _, name := range slices.Sorted(maps.Keys(c.items.sessions)) {
		rows := c.items.sessions[name]
		sort.Slice(rows, func(i, j int) bool {
			a, b := &rows[i], &rows[j]
			return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id)) < 0
		})
		for i, r := range rows {
			out.N++
			behind := int64(0)
			for j := i - 1; j >= 0 && rows[j].end > r.due; j-- { // they are sent one by one
				behind++
			}
			out.MaxBacklog = max(out.MaxBacklog, behind)
			if !r.ok {
				continue
			}
			ended++
			if float64(r.end-r.due) <= length {
				inTime++
			}
			if r.service >= 0 {
				factors = append(factors, at{r.due, r.service * 1000 / length})
			}
		}
	}
	sort.SliceStable(factors, func(i, j int) bool { return factors[i].due < factors[j].due })
	var series stat.Series
	for _, f := range factors {
		series.Values = append(series.Values, f.factor)
	}
	out.Factor = seriesDist(&series)
	out.InTime = timeline.Maybe(float64(inTime)/float64(ended), ended > 0)
	return out
}

// classSummaries is nil without a mix.
func (c *Collector) classSummaries() (out []ClassSummary) {
	for _, name := range slices.Sorted(maps.Keys(c.items.classes)) {
		k := c.items.classes[name]
		one := ClassSummary{Name: name, Requests: k.n, OK: k.ok, Failed: k.failed,
			Checks: c.checksOf(&k.checks), Metrics: map[string]Dist{}}
		for _, m := range classMetrics {
			one.Metrics[m] = seriesDist(c.order.Series(k.samples[m]))
		}
		out = append(out, one)
	}
	return out
}

func (i *items) merge(o *items, grown uint32) {
	i.checks.Merge(&o.checks, grown)
	for name, rows := range o.sessions {
		if i.sessions == nil {
			i.sessions = map[string][]stepRow{}
		}
		i.sessions[name] = append(i.sessions[name], rows...)
	}
}

func (k *classItems) merge(o *classItems, grown uint32) {
	k.n += o.n
	k.ok += o.ok
	k.failed += o.failed
	for name, s := range o.samples {
		k.samples[name].Merge(s, grown)
	}
	k.checks.Merge(&o.checks, grown)
}
