package engine

import "fmt"

// Precision is how a number is stored: as weight, as an entry of the KV cache.
type Precision string

// Precisions by name. The four-bit forms count the scales they carry.
const (
	FP32  Precision = "fp32"
	BF16  Precision = "bf16"
	FP16  Precision = "fp16"
	FP8   Precision = "fp8"
	INT8  Precision = "int8"
	FP4   Precision = "fp4"    // NVFP4: 4 bits and a scale of 8 for each 16
	MXFP4 Precision = "mxfp4"  // 4 bits and a scale of 8 for each 32
	INT4  Precision = "int4"   // 4 bits and a scale of 16 for each 128; computed in 16 bits
	Q8    Precision = "q8_0"   // llama.cpp: 8.5 bits; computed in 16 bits
	Q4    Precision = "q4_k_m" // llama.cpp: about 4.9 bits; computed in 16 bits
)

var bits = map[Precision]float64{
	FP32: 32, BF16: 16, FP16: 16, FP8: 8, INT8: 8, FP4: 4.5, MXFP4: 4.25, INT4: 4.125, Q8: 8.5, Q4: 4.9,
}

// Bytes is what one number takes, or 0 for an unknown precision.
func (p Precision) Bytes() float64 { return bits[p] / 8 }

func (p Precision) validate() error {
	if _, ok := bits[p]; !ok {
		return fmt.Errorf("engine: unknown precision %q: fp32, bf16, fp16, fp8, int8, fp4, mxfp4, int4, q8_0 or q4_k_m", p)
	}
	return nil
}

// Peak is the dense peak of an accelerator for matrix products whose weights
// have a precision, in FLOP/s. Where the device has no unit for it, the weights
// are widened and the product is done in 16 bits.
func (a Accelerator) Peak(weights Precision) float64 {
	switch weights {
	case FP8:
		return firstOf(a.FP8, a.BF16)
	case INT8:
		return firstOf(a.INT8, a.BF16)
	case FP4, MXFP4:
		return firstOf(a.FP4, a.BF16)
	case FP32:
		return a.BF16 / 2
	}
	return a.BF16
}

func firstOf(v ...float64) float64 {
	for _, x := range v {
		if x > 0 {
			return x
		}
	}
	return 0
}
