package compare

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// meanThroughput is the mean of each rate over several runs; null where a run
// lacks it.
func meanThroughput(runs []*Run) metric.Throughput {
	out := runs[0].summary.Throughput
	for i, f := range out.Rates() {
		sum, known := 0.0, true
		for _, r := range runs {
			v, ok := r.summary.Throughput.Rates()[i].Value.Get()
			sum, known = sum+v, known && ok
		}
		*f.Value = timeline.Maybe(sum/float64(len(runs)), known)
	}
	return out
}
