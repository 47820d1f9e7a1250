package sweep

import (
	"math"
	"sort"

	"tokenmeter/record/stat"
)

// flights watches the number of requests in flight. A server that is offered
// more than it can do falls behind by as much: the number grows without end, at
// the rate of what is not served.
//
// Behind a busy server the number wanders for long even when nothing grows, so a
// fitted slope says little. What is tested is whether the steps between
// distant moments have a mean above 0: in a wandering number they are nearly
// independent, in a steady one they take each other back.
type flights struct {
	at []float64 // seconds
	n  []float64
}

func (f *flights) add(at float64, n int64) {
	if k := len(f.at); k > 0 && at < f.at[k-1] {
		at = f.at[k-1]
	}
	f.at = append(f.at, at)
	f.n = append(f.n, float64(n))
}

// parts is into how many steps the probe is cut.
const parts = 12

// steps are the changes of the number between moments that cut the time from
// the first quarter on into equal parts, of so many seconds each.
func (f *flights) steps() (steps []float64, took float64) {
	k := len(f.at)
	if k < 4*parts {
		return nil, 0
	}
	from, to := f.at[0]+(f.at[k-1]-f.at[0])/4, f.at[k-1]
	if !(to > from) {
		return nil, 0
	}
	last := math.NaN()
	for i := range parts + 1 {
		j := sort.SearchFloat64s(f.at, from+(to-from)*float64(i)/parts)
		now := f.n[min(j, k-1)]
		if i > 0 {
			steps = append(steps, now-last)
		}
		last = now
	}
	return steps, (to - from) / parts
}

// drift is the mean step over its standard error; 0 where it can't be told.
func (f *flights) drift() float64 {
	steps, _ := f.steps()
	if steps == nil {
		return 0
	}
	mean, se := meanStep(steps)
	return mean / se
}

func meanStep(steps []float64) (mean, se float64) {
	squares := 0.0
	for _, s := range steps {
		mean += s / parts
	}
	for _, s := range steps {
		squares += (s - mean) * (s - mean)
	}
	// A step of ±1 is nothing: counts are whole.
	return mean, math.Sqrt((squares/(parts-1) + 1) / parts)
}

// grow reports whether requests pile up, at a level of evidence, and the first
// tokens come later and later.
func (f *flights) grow(level float64, due, ttft []float64) bool {
	d := f.drift()
	if d <= 0 {
		return false
	}
	// The probe is looked at again and again; each doubling of its length is a
	// fresh chance to be fooled.
	looks := math.Max(1, math.Log2(float64(len(f.at))/(4*parts))+1)
	p := 1 - stat.StudentCDF(d, parts-1)
	if p > math.Exp(-level)/(looks*(looks+1)) {
		return false
	}
	k := len(f.n)
	return f.n[k-1] > 2*f.n[k/4]+2 && later(ttft)
}

// later reports whether the last quarter of first tokens took clearly longer
// than the second. Without any there is nothing against it.
func later(ttft []float64) bool {
	n := len(ttft)
	if n < 4 {
		return false
	}
	a, okA := median(ttft[n/4 : n/2])
	b, okB := median(ttft[3*n/4:])
	return !okA || !okB || b > 1.2*a
}

func median(x []float64) (float64, bool) {
	var s stat.Sample
	for _, v := range x {
		s.Add(v)
	}
	return stat.Quantile(s.Sorted(), 0.5)
}
