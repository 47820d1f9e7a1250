package run

import (
	"fmt"
	"iter"

	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// judge returns the record of a timeline under the run's own objectives.
func (f *Folder) judge() func(*timeline.Timeline) metric.Record {
	objectives, err := objective.ParseAll(f.run.Objectives)
	if err != nil {
		f.note("the objectives in %s can't be read (%v) and were left out", manifestFile, err)
	}
	return func(tl *timeline.Timeline) metric.Record {
		rec := metric.Of(tl)
		rec.Good = objective.GoodOf(objectives, &rec)
		return rec
	}
}

// Records yields the records of a run, as `export --as jsonl` prints them.
func (f *Folder) Records() iter.Seq2[metric.Record, error] {
	judge := f.judge()
	return func(yield func(metric.Record, error) bool) {
		for tl, err := range f.Timelines() {
			var rec metric.Record
			if err == nil {
				rec = judge(tl)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// gathered is what a part of the requests gave.
type gathered struct {
	collected *metric.Collector
	judge     *objective.Judge
}

// Summarise computes run.json from the records of a folder: the manifest as it
// stands, and a summary that is exact.
func Summarise(f *Folder) (Run, error) {
	return f.summarise(nil, false)
}

// Outline is Summarise for those who keep the figures of the requests themselves, in
// half the time and memory: the summary is an outline (metric.CollectorOpts), and the
// verdict, the cost and the goodput are those of the whole.
func Outline(f *Folder) (Run, error) {
	return f.summarise(nil, true)
}

// summarise shows each request to also on the way, if there is such a thing:
// reading them is what takes long. Without it parts are summed up side by side.
func (f *Folder) summarise(also func(*timeline.Timeline) error, outline bool) (Run, error) {
	sum := f.Run()
	objectives, err := objective.ParseAll(sum.Objectives)
	if err != nil {
		return sum, fmt.Errorf("%s: the objectives in %s: %w", f.dir, manifestFile, err)
	}
	opts := collectorOpts(&sum)
	opts.Outline = outline
	begin := func() gathered {
		g := gathered{metric.NewCollector(opts), objective.NewJudge(objectives, sum.AllowLowN)}
		g.judge.OpenLoop(sum.Load.Kind == "open")
		return g
	}
	var tally *cost.Tally
	if sum.Pricing != nil {
		tally = cost.NewTally(*sum.Pricing)
	}
	var got gathered
	done := false
	if t, ok := f.source.(*table); ok && also == nil && tally == nil { // a sum of prices depends on their order
		if got, done, err = t.sideBySide(begin); err != nil {
			return sum, fmt.Errorf("%s: %s: %w", f.dir, f.Table(), err)
		}
	}
	if !done {
		got = begin()
		if err := f.oneByOne(got, tally, also); err != nil {
			return sum, err
		}
	}
	var facts metric.Facts
	sum.Summary, facts = got.collected.Results()
	sum.WithServer(f.run.ServerMetrics)
	sum.WithHardware(sum.Hardware)
	sum.WithRTT(sum.RTT, &facts)
	if sum.Pricing != nil {
		sum.WithEnergyPrice(sum.Pricing.KWh)
	}
	if tally != nil {
		sum.Cost = tally.Cost(&sum.Summary)
	}
	if sum.Goodput = got.judge.Goodput(&sum.Summary, got.collected); sum.Goodput != nil {
		cost.Good(sum.Cost, sum.Goodput.Good)
	}
	sum.Validity = validity.Judge(validity.Facts{
		Facts: facts, Client: sum.Client, AllowISLDrift: sum.AllowISLDrift,
	})
	if sum.Partial && sum.Finished == nil {
		sum.Validity.Unended()
	}
	if sum.Told != nil {
		sum.told()
	}
	if f.damaged != "" {
		sum.Validity.Damaged(f.damaged)
		return sum, nil
	}
	if err := sum.seal(); err != nil {
		return sum, err
	}
	return sum, nil
}

// oneByOne takes the requests in their order.
func (f *Folder) oneByOne(into gathered, tally *cost.Tally, also func(*timeline.Timeline) error) error {
	for tl, err := range f.Timelines() {
		if err != nil {
			return fmt.Errorf("%s: %w", f.dir, err)
		}
		if also != nil {
			if err := also(tl); err != nil {
				return err
			}
		}
		into.collected.Add(tl)
		into.judge.Add(tl)
		if tally != nil {
			tally.Add(tl)
		}
	}
	return nil
}

// templateAdds is what the server's own template is known to add to the input length
// that was asked for.
func templateAdds(w *Workload) float64 {
	if w.TemplateCompensated {
		return 0
	}
	return w.TemplateOverhead.Or(0)
}

// collectorOpts are what the manifest tells a summary beside the records.
func collectorOpts(m *Run) metric.CollectorOpts {
	asked, adds := m.Workload.AskedInput, templateAdds(&m.Workload)
	if x, ok := asked.Get(); ok {
		asked = timeline.Some(x + adds)
	}
	return metric.CollectorOpts{
		OpenLoop:       m.Load.Kind == "open",
		Concurrency:    m.Load.Concurrency.Or(0),
		Prefills:       m.Load.PrefillConcurrency.Or(0),
		OfferedPerS:    m.Client.OfferedPerS,
		PromptsUnique:  m.Workload.PromptsUnique,
		PromptsMade:    m.Workload.PromptsMade || m.Workload.AskedInput.OK(), // as older folders tell it
		UniquePrompts:  m.Workload.UniquePrompts,
		AskedInput:     asked,
		AskedTemplate:  adds,
		TemplateTokens: int64(m.Workload.TemplateOverhead.Or(0)),
		OutputIsCap:    m.Workload.OutputIsCap,
		TaskDeadlineS:  m.Workload.TaskDeadlineS,
		SegmentS:       m.Workload.SegmentS,
		Readers:        m.Workload.Readers,
		ManyConnects:   m.Load.NoKeepAlive || m.Load.PerSession,
		Warnings:       m.Noticed,
	}
}
