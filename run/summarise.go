package run

import (
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
	sum.Requests = emptyRequests()
	for tl, err := range f.Timelines() {
		if err != nil {
			return sum, err
		}
		count(&sum.Requests, tl)
	}
	return sum, nil
}
