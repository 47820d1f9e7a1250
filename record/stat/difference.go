package stat

// Difference is a test of whether two samples' means differ, and by how much.
type Difference struct {
	Lo, Hi float64 // interval of mean of b − mean of a, at the asked confidence
	P      float64 // two-sided
}
