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

// window is the span from the first of some moments to the last, in µs.
type window struct {
	from, to int64
	any      bool
}

func (w *window) add(from, to int64) {
	if !w.any {
		*w = window{from, to, true}
		return
	}
	w.from, w.to = min(w.from, from), max(w.to, to)
}

func (w *window) seconds() float64 { return float64(w.to-w.from) / 1e6 }

// populationSD is the deviation that divides by n, as numpy's default does.
func populationSD(m stat.Moments) float64 {
	if m.N < 2 {
		return 0
	}
	return m.SD * math.Sqrt(float64(m.N-1)/float64(m.N))
}
