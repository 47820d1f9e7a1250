package stat_test

import (
	"fmt"

	"tokenmeter/record/stat"
)

func ExampleQuantile() {
	sample := stat.Sorted{100, 110, 120, 130, 140, 150, 160, 170, 180, 900}
	p50, _ := stat.Quantile(sample, 0.5)
	p99, _ := stat.Quantile(sample, 0.99)
	fmt.Println(p50, p99)
	// Output:
	// 145 835.2
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
