//go:build !lean

package export

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// each calls do for every request of a run, with its record.
func each(f *run.Folder, do func(*metric.Record, *timeline.Timeline) error) error {
	for tl, err := range f.Timelines() {
		if err != nil {
			return err
		}
		rec := metric.Of(tl)
		if err := do(&rec, tl); err != nil {
			return err
		}
	}
	return nil
}

// populationSD is the deviation that divides by n, as numpy's default does.
func populationSD(m stat.Moments) float64 {
	if m.N < 2 {
		return 0
	}
	return m.SD * math.Sqrt(float64(m.N-1)/float64(m.N))
}
