package metric

import (
	"cmp"
	"maps"
	"slices"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Checks counts answers that were held against known ones.
type Checks struct {
	N      int64                 `json:"n"` // successful requests with a check
	Passed int64                 `json:"passed"`
	Rate   timeline.Opt[float64] `json:"rate"` // passed / n
	CI95   *[2]float64           `json:"ci95"` // Wilson
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
	CI95      *[2]float64           `json:"ci95"`    // Wilson
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
	checked, passed int64
	sessions        map[string][]stepRow
	classes         map[string]*classItems
}

type classItems struct {
	n, ok, failed   int64
	checked, passed int64
	samples         map[string]*stat.Sample
}

var classMetrics = []string{"ttft_ms", "tpot_ms", "e2e_ms", "input_tokens", "output_tokens"}

// item takes a measured request.
func (c *Collector) item(tl *timeline.Timeline, v *Values) {
	passed, checked := tl.CheckPassed.Get()
	if checked {
		c.items.checked++
		if passed {
			c.items.passed++
		}
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
	if tl.Class != "" {
		c.ofClass(tl.Class).add(tl, v, checked, passed)
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
		k = &classItems{samples: map[string]*stat.Sample{}}
		for _, m := range classMetrics {
			k.samples[m] = &stat.Sample{}
		}
		c.items.classes[name] = k
	}
	return k
}

func (k *classItems) add(tl *timeline.Timeline, v *Values, checked, passed bool) {
	k.n++
	if checked {
		k.checked++
		if passed {
			k.passed++
		}
	}
	if tl.Outcome.Failed() {
		k.failed++
	}
	if tl.Outcome != timeline.OK {
		return
	}
	k.ok++
	for name, x := range map[string]timeline.Opt[float64]{"ttft_ms": v.TTFTMS, "tpot_ms": v.TPOTMS, "e2e_ms": v.E2EMS,
		"input_tokens": asFloat(tl.Usage.Input), "output_tokens": asFloat(v.OutputTokens)} {
		if value, ok := x.Get(); ok {
			k.samples[name].Add(value)
		}
	}
}

func asFloat(v timeline.Opt[int64]) timeline.Opt[float64] {
	if n, ok := v.Get(); ok {
		return timeline.Some(float64(n))
	}
	return timeline.Opt[float64]{}
}

func checksOf(n, passed int64) *Checks {
	if n == 0 {
		return nil
	}
	out := &Checks{N: n, Passed: passed, Rate: timeline.Some(float64(passed) / float64(n))}
	if lo, hi, ok := stat.Wilson(passed, n, 0.95); ok {
		out.CI95 = &[2]float64{lo, hi}
	}
	return out
}

func (c *Collector) checks() *Checks { return checksOf(c.items.checked, c.items.passed) }

// taskSummary is nil without tasks.
func (c *Collector) taskSummary() *Tasks {
	if len(c.tasks) == 0 {
		return nil
	}
	out := &Tasks{Total: int64(len(c.tasks)), DeadlineS: c.Opts.TaskDeadlineS}
	var duration, model, steps stat.Sample
	var spent TaskShares
	streamed := true
	for _, name := range slices.Sorted(maps.Keys(c.tasks)) {
		t := c.tasks[name]
		switch {
		case t.failed:
			out.Failed++
			continue
		case t.cancelled:
			out.Cancelled++
			continue
		}
		out.OK++
		whole, waited, path := critical(t.steps)
		streamed = streamed && spent.add(path, whole, waited)
		duration.Add(ms(whole))
		model.Add(ms(waited))
		steps.Add(float64(len(t.steps)))
		if limit, ok := c.Opts.TaskDeadlineS.Get(); !ok || float64(whole)/1e6 <= limit {
			out.InTime++
		}
	}
	if judged := out.OK + out.Failed; judged > 0 {
		out.Success = timeline.Some(float64(out.InTime) / float64(judged))
		if lo, hi, ok := stat.Wilson(out.InTime, judged, 0.95); ok {
			out.CI95 = &[2]float64{lo, hi}
		}
	}
	out.Duration, out.Model, out.Steps = sampleDist(&duration), sampleDist(&model), sampleDist(&steps)
	if streamed {
		out.Shares = spent.shares()
	}
	return out
}

func sampleDist(s *stat.Sample) Dist {
	m, ok := s.Moments()
	return distOf(s.Sorted(), m, ok)
}

// critical returns how long a task took, and how much of that the chain of
// steps that ended last waited for the model, in µs, and those steps. Each step's parent is the
// one that it waited for last.
func critical(steps []stepRow) (whole, waited int64, path []*stepRow) {
	slices.SortFunc(steps, func(a, b stepRow) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id), cmp.Compare(a.parent, b.parent))
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
	var factor stat.Sample
	var inTime, ended int64
	length := c.Opts.SegmentS * 1e6
	for _, name := range slices.Sorted(maps.Keys(c.items.sessions)) {
		rows := c.items.sessions[name]
		slices.SortFunc(rows, func(a, b stepRow) int {
			return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id))
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
				factor.Add(r.service * 1000 / length)
			}
		}
	}
	out.Factor = sampleDist(&factor)
	if ended > 0 {
		out.InTime = timeline.Some(float64(inTime) / float64(ended))
	}
	return out
}

// classSummaries is nil without a mix.
func (c *Collector) classSummaries() (out []ClassSummary) {
	for _, name := range slices.Sorted(maps.Keys(c.items.classes)) {
		k := c.items.classes[name]
		one := ClassSummary{Name: name, Requests: k.n, OK: k.ok, Failed: k.failed,
			Checks: checksOf(k.checked, k.passed), Metrics: map[string]Dist{}}
		for _, m := range classMetrics {
			one.Metrics[m] = sampleDist(k.samples[m])
		}
		out = append(out, one)
	}
	return out
}

func (i *items) merge(o *items) {
	i.checked += o.checked
	i.passed += o.passed
	for name, rows := range o.sessions {
		if i.sessions == nil {
			i.sessions = map[string][]stepRow{}
		}
		i.sessions[name] = append(i.sessions[name], rows...)
	}
}

func (k *classItems) merge(o *classItems) {
	k.n += o.n
	k.ok += o.ok
	k.failed += o.failed
	k.checked += o.checked
	k.passed += o.passed
	for name, s := range o.samples {
		k.samples[name].Merge(s)
	}
}
