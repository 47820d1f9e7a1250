package engine

// Accelerator is one device. Peaks are dense, without sparsity; 0 means that
// the device has no unit for that precision.
type Accelerator struct {
	Name      string
	Memory    float64 // bytes
	Bandwidth float64 // of its memory, bytes/s
	BF16      float64 // FLOP/s
	FP8       float64
	INT8      float64
	FP4       float64
	Link      float64 // to its neighbours, one direction, bytes/s
	Source    string
}

// CriticalBatch is the number of tokens in a step from which on matrix products
// are bound by arithmetic and no longer by reading the weights.
func (a Accelerator) CriticalBatch(weights Precision) float64 {
	return a.Peak(weights) * weights.Bytes() / (2 * a.Bandwidth)
}
