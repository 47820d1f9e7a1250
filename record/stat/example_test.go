package stat_test

import (
	"fmt"

	"tokenmeter/record/stat"
)

func ExampleQuantile() {
	sample := stat.Sorted{100, 110, 120, 130, 140, 150, 160, 170, 180, 900}
	p50, _ := stat.Quantile(sample, 0.5)
	p99, _ := stat.Quantile(sample, 0.99)
	lo, hi, ok := stat.QuantileInterval(sample, 0.5, 0.95)
	fmt.Println(p50, p99, lo, hi, ok)
	_, _, ok = stat.QuantileInterval(sample, 0.99, 0.95)
	fmt.Println(ok, stat.MinN(0.99, 0.95))
	// Output:
	// 145 835.2 110 180 true
	// false 368
}

func ExampleSketch() {
	var morning, evening stat.Sketch
	for i := range 1000 {
		morning.Add(float64(i))
		evening.Add(float64(1000 + i))
	}
	morning.Merge(&evening)
	p50, _ := morning.Quantile(0.5)
	fmt.Printf("%.0f of %d, to within 0.8 %%\n", p50, morning.Len())
	// Output:
	// 1000 of 2000, to within 0.8 %
}
