package sweep

import (
	"math"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// PointOf is what a sweep keeps of a finished run.
func PointOf(r *run.Run, value float64) result.Point {
	p := result.Point{
		Value: value, Repeat: 1,
		OfferedPerS: r.Throughput.OfferedPerS, AchievedPerS: r.Throughput.AchievedPerS,
		Requests: r.Requests, Metrics: r.Metrics, Throughput: r.Throughput,
		Goodput: r.Goodput, Cost: r.Cost, Roofline: r.Roofline, Validity: r.Validity,
	}
	if ci, ok := outputInterval(r); ok {
		p.OutputCI95 = &ci
	}
	return p
}

const (
	// bins are into how many pieces a window is cut, and batches how many of
	// them are taken as independent.
	bins    = 100
	batches = 20
)

// outputInterval is the 95 % interval of the output tokens/s of a run: by batch
// means, as what the server does in one second tells of the next.
func outputInterval(r *run.Run) (ci [2]float64, ok bool) {
	tps, has := r.Throughput.SystemOutputTPS.Get()
	window, long := r.Throughput.WindowS.Get()
	if r.Dir == "" || !has || !long || !(window > 0) {
		return ci, false
	}
	series, ok := tokensOverTime(r.Dir, window)
	if !ok {
		return ci, false
	}
	// The start from rest is no part of what the server can do.
	if from, steady := stat.SteadyFrom(series, 1); steady {
		series = series[from:]
	}
	c, ok := stat.BatchMeans(series, min(batches, len(series)/2))
	if !ok || !(c.Mean > 0) {
		return ci, false
	}
	lo, hi, ok := c.Interval(0.95)
	if !ok {
		return ci, false
	}
	// The interval's relative width is that of the steady part.
	return [2]float64{math.Max(tps*lo/c.Mean, 0), tps * hi / c.Mean}, true
}

// tokensOverTime counts the streamed tokens in equal pieces of the window.
func tokensOverTime(dir string, window float64) ([]float64, bool) {
	f, err := run.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	series := make([]float64, bins)
	first, any := int64(0), false
	for tl, err := range f.Timelines() {
		if err != nil {
			return nil, false
		}
		if tl.Phase != timeline.Measure {
			continue
		}
		if !any { // requests are in the order in which they were due
			first, any = tl.DueUS, true
		}
		v := metric.ValuesOf(tl)
		metric.Delivered(tl, &v, func(atUS int64, tokens float64) {
			i := int(float64(tl.DueUS+atUS-first) / 1e6 / window * bins)
			series[min(max(i, 0), bins-1)] += tokens
		})
	}
	return series, any
}
