package compare

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// How long a comparison takes, single runs of so many requests and repeats.
func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct{ repeats, n int }{{1, 200}, {1, 10_000}, {1, 100_000}, {6, 200}, {6, 10_000}} {
		rng := rand.New(rand.NewPCG(1, 2))
		x, y := made.group("A", rng, c.repeats, c.n, 0), made.group("B", rng, c.repeats, c.n, 1)
		b.Run(fmt.Sprintf("%dx%d", c.repeats, c.n), func(b *testing.B) {
			for b.Loop() {
				mustCompare(b, x, y, Options{})
			}
		})
	}
}

func BenchmarkCanary(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	list := made.records(rng, 1000)
	c, err := NewCanary(CanaryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Add(i%2, &list[i%1000])
		i++
	}
}
