package stat

import (
	"math"
	"math/rand/v2"
)

// Permutation asks how often a statistic of two groups comes out as it did, or
// further out, when the members are dealt to the groups anew. It needs no
// distribution, only that under "no difference" the groups are exchangeable.
type Permutation struct {
	Less, Greater float64 // one-sided p-values
	Exact         bool    // every arrangement was tried
}

// TwoSided is twice the smaller one-sided p-value.
func (p Permutation) TwoSided() float64 { return math.Min(1, 2*math.Min(p.Less, p.Greater)) }

// Permute runs the test. Up to limit arrangements all are tried; beyond that
// limit of them are drawn at random, the same ones for the same seed. The
// statistic must not keep or change its arguments; NaN counts for both sides.
func Permute[T any](a, b []T, limit int, seed uint64, statistic func(a, b []T) float64) Permutation {
	all := append(append(make([]T, 0, len(a)+len(b)), a...), b...)
	t := &tally{observed: statistic(a, b)}
	if len(a) == 0 || len(b) == 0 || limit < 1 {
		return Permutation{Less: 1, Greater: 1}
	}
	if count, few := combinations(len(all), len(a), limit); few {
		arrangements(all, len(a), func(a, b []T) { t.see(statistic(a, b)) })
		return Permutation{Less: float64(t.less) / float64(count), Greater: float64(t.greater) / float64(count), Exact: true}
	}
	rng := rand.New(rand.NewPCG(seed, 0x7065726d757465))
	for range limit {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		t.see(statistic(all[:len(a)], all[len(a):]))
	}
	// The arrangement that was observed is one of them.
	n := float64(limit + 1)
	return Permutation{Less: float64(t.less+1) / n, Greater: float64(t.greater+1) / n}
}

type tally struct {
	observed      float64
	less, greater int
}

func (t *tally) see(v float64) {
	// Sums in another order differ in the last digits; these are ties.
	near := 1e-9 * math.Max(math.Abs(t.observed), math.Abs(v))
	if math.IsInf(near, 0) {
		near = 0
	}
	if !(v > t.observed+near) {
		t.less++
	}
	if !(v < t.observed-near) {
		t.greater++
	}
}

// combinations returns n over k while that is at most limit.
func combinations(n, k, limit int) (count int, few bool) {
	k = min(k, n-k)
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
		if c > float64(limit)+0.5 {
			return 0, false
		}
	}
	return int(math.Round(c)), true
}

// arrangements deals all to a group of k and the rest, in every way.
func arrangements[T any](all []T, k int, visit func(a, b []T)) {
	a, b := make([]T, 0, k), make([]T, 0, len(all)-k)
	var deal func(i int)
	deal = func(i int) {
		if i == len(all) {
			visit(a, b)
			return
		}
		if len(a) < k {
			a = append(a, all[i])
			deal(i + 1)
			a = a[:len(a)-1]
		}
		if len(b) < len(all)-k {
			b = append(b, all[i])
			deal(i + 1)
			b = b[:len(b)-1]
		}
	}
	deal(0)
}
