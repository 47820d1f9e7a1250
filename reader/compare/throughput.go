package compare

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// meanThroughput is the mean of each rate over several runs; null where a run
// lacks it.
func meanThroughput(runs []*Run) metric.Throughput {
	out := runs[0].summary.Throughput
	for i, field := range rates(&out) {
		sum, known := 0.0, true
		for _, r := range runs {
			v, ok := (*rates(&r.summary.Throughput)[i]).Get()
			sum, known = sum+v, known && ok
		}
		*field = timeline.Opt[float64]{}
		if known {
			*field = timeline.Some(sum / float64(len(runs)))
		}
	}
	return out
}

// rates are the rates that objectives can be made of.
func rates(t *metric.Throughput) []*opt {
	return []*opt{
		&t.WindowS, &t.SystemOutputTPS, &t.DeliveredTPS, &t.SystemInputTPS, &t.CacheHitRate, &t.SystemInOutTPS,
		&t.RequestsPerS, &t.InputsPerS, &t.CharsPerS, &t.AudioPerS, &t.ImagesPerS, &t.TasksPerS, &t.SuccessOutputTPS, &t.Best1sTPS, &t.Worst30sTPS,
		&t.SustainedTPS, &t.OfferedPerS, &t.AchievedPerS,
	}
}
