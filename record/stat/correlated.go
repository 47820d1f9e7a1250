package stat

import "math"

// Correlated describes the mean of a series whose values tell of each other:
// latencies behind one queue, tokens a second. The spread of such a mean is
// that of its batches, not of its values.
type Correlated struct {
	N       int
	Mean    float64
	SD      float64 // of single values (n − 1)
	Batches int
	Length  int     // values in a batch
	Error   float64 // standard error of the mean, from the batches
}

// BatchMeans describes the mean of a series by cutting it into so many batches
// of equal length (a rest at the front is left out of the spread). ok is false
// with fewer than two batches of one value.
func BatchMeans(x []float64, batches int) (c Correlated, ok bool) {
	n := len(x)
	if batches < 2 || n < batches {
		return Correlated{}, false
	}
	var total sum
	for _, v := range x {
		total.add(v)
	}
	c = Correlated{N: n, Mean: total.value() / float64(n), Batches: batches, Length: n / batches}
	if math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0) {
		return Correlated{}, false
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - c.Mean) * (v - c.Mean)
	}
	c.SD = math.Sqrt(squares / float64(n-1))
	c.Error = c.spread(x[n-c.Length*batches:])
	return c, true
}

// spread is the standard error of the mean.
func (c *Correlated) spread(x []float64) float64 {
	if c.SD == 0 {
		return 0
	}
	between := 0.0
	for b := range c.Batches {
		m := 0.0
		for _, v := range x[b*c.Length : (b+1)*c.Length] {
			m += v
		}
		d := m/float64(c.Length) - c.Mean
		between += d * d
	}
	between /= float64(c.Batches - 1) // variance of a batch's mean
	return math.Sqrt(between * float64(c.Length) / float64(c.N))
}

// Interval is Student's interval of the mean over the batches.
func (c Correlated) Interval(conf float64) (lo, hi float64, ok bool) {
	if c.Batches < 2 || !(conf > 0 && conf < 1) {
		return 0, 0, false
	}
	half := StudentQuantile((1+conf)/2, float64(c.Batches-1)) * c.Error
	return c.Mean - half, c.Mean + half, true
}
