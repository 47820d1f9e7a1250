package stat

// MeanEffect is what a long-run variance says of the mean of its series.
type MeanEffect struct {
	Design  float64 // widened for the few moments that a series holds
	Moments float64 // independent moments
	DF      float64 // of Student's distribution that goes with it
}

// OfMean is the design effect of the mean, by the series itself alone: for
// series of blocks, which have no requests in flight.
func (l LRV) OfMean() MeanEffect {
	e := widen(l, Worth{N: l.N, Design: 1}, meanClusters, 0.95, false)
	return MeanEffect{Design: e.design, Moments: e.moments, DF: e.df}
}
