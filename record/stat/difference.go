package stat

// Difference is a test of whether two samples' means differ, and by how much.
type Difference struct {
	Diff   float64 // mean of b − mean of a
	Lo, Hi float64 // interval of Diff at the asked confidence
	T, DF  float64
	P      float64 // two-sided
}
