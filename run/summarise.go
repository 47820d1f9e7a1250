package run

import (
	"fmt"
	"iter"

	"tokenmeter/cost"
	"tokenmeter/metric"
	"tokenmeter/objective"
	"tokenmeter/timeline"
	"tokenmeter/validity"
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

// Summarise computes run.json from the records of a folder: the manifest as it
// stands, and a summary that is exact.
func Summarise(f *Folder) (Run, error) {
	return f.summarise(func(*timeline.Timeline) error { return nil })
}

// summarise shows each request to also on the way: reading them is what takes
// long.
func (f *Folder) summarise(also func(*timeline.Timeline) error) (Run, error) {
	sum := f.Run()
	objectives, err := objective.ParseAll(sum.Objectives)
	if err != nil {
		return sum, fmt.Errorf("%s: the objectives in %s: %w", f.dir, manifestFile, err)
	}
	collected := metric.NewCollector(collectorOpts(&sum))
	judge := objective.NewJudge(objectives, sum.AllowLowN)
	var tally *cost.Tally
	if sum.Pricing != nil {
		tally = cost.NewTally(*sum.Pricing)
	}
	for tl, err := range f.Timelines() {
		if err != nil {
			return sum, fmt.Errorf("%s: %w", f.dir, err)
		}
		if err := also(tl); err != nil {
			return sum, err
		}
		collected.Add(tl)
		judge.Add(tl)
		if tally != nil {
			tally.Add(tl)
		}
	}
	sum.Summary = collected.Summary()
	if tally != nil {
		sum.Cost = tally.Cost(&sum.Summary)
	}
	if sum.Goodput = judge.Goodput(&sum.Summary, collected); sum.Goodput != nil {
		cost.Good(sum.Cost, sum.Goodput.Good)
	}
	sum.Validity = validity.Judge(validity.Facts{
		Facts: collected.Facts(), Client: sum.Client, AllowISLDrift: sum.AllowISLDrift,
	})
	return sum, nil
}

// askedOfServer is the input length that the server should count: what was
// asked for, and what its own template is known to add.
func askedOfServer(w *Workload) timeline.Opt[float64] {
	asked, ok := w.AskedInput.Get()
	if !ok || w.TemplateCompensated {
		return w.AskedInput
	}
	return timeline.Some(asked + w.TemplateOverhead.Or(0))
}

// collectorOpts are what the manifest tells a summary beside the records.
func collectorOpts(m *Run) metric.CollectorOpts {
	return metric.CollectorOpts{
		OpenLoop:      m.Load.Kind == "open",
		Concurrency:   m.Load.Concurrency.Or(0),
		OfferedPerS:   m.Client.OfferedPerS,
		PromptsUnique: m.Workload.PromptsUnique,
		UniquePrompts: m.Workload.UniquePrompts,
		AskedInput:    askedOfServer(&m.Workload),
		OutputIsCap:   m.Workload.OutputIsCap,
		TaskDeadlineS: m.Workload.TaskDeadlineS,
		SegmentS:      m.Workload.SegmentS,
		Readers:       m.Workload.Readers,
		NoKeepAlive:   m.Load.NoKeepAlive,
		Warnings:      m.Noticed,
	}
}
