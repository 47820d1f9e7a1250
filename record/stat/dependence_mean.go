package stat

// MeanEffect is how far the mean of a series is known, by its long-run variance: what
// the interval of as many independent values is to be widened by.
type MeanEffect struct {
	Design  float64 // design effect (1: independent values), widened for the few moments that a series holds
	Moments float64 // independent moments
	DF      float64 // of Student's distribution that goes with it
}

// OfMean is the design effect of the mean, by the series itself alone: for
// series of blocks, which have no requests in flight.
func (l LRV) OfMean() MeanEffect {
	e := widen(l, Worth{N: l.N, Design: 1}, meanClusters, 0.95, false)
	return MeanEffect{Design: e.design, Moments: e.moments, DF: e.df}
}
