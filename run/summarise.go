package run

import (
	"fmt"
	"iter"

	"tokenmeter/metric"
	"tokenmeter/timeline"
)

// judge returns the record of a timeline under the run's own objectives.
func (f *Folder) judge() func(*timeline.Timeline) metric.Record {
	return metric.Of
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
	sum := f.Run()
	collected := metric.NewCollector(collectorOpts(&sum))
	for tl, err := range f.Timelines() {
		if err != nil {
			return sum, fmt.Errorf("%s: %w", f.dir, err)
		}
		collected.Add(tl)
	}
	sum.Summary = collected.Summary()
	return sum, nil
}

// collectorOpts are what the manifest tells a summary beside the records.
func collectorOpts(m *Run) metric.CollectorOpts {
	return metric.CollectorOpts{
		OpenLoop:      m.Load.Kind == "open",
		Concurrency:   m.Load.Concurrency.Or(0),
		OfferedPerS:   m.Client.OfferedPerS,
		PromptsUnique: m.Workload.PromptsUnique,
		UniquePrompts: m.Workload.UniquePrompts,
		AskedInput:    m.Workload.AskedInput,
		OutputIsCap:   m.Workload.OutputIsCap,
		NoKeepAlive:   m.Load.NoKeepAlive,
		Warnings:      m.Noticed,
	}
}
