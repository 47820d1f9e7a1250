package stat

import "math"

// MixtureBound is how far a sum of unit-variance increments may stray from its
// expectation at any time: with probability 1 − alpha the sum of a process of
// variance v stays within ±MixtureBound(v) for ever (Robbins' normal mixture).
// It may be looked at after every value. kappa sets where it is tightest: at
// about the variance at which a mean of size 1/√kappa can be seen.
func MixtureBound(v, kappa, alpha float64) float64 {
	if !(v >= 0) || !(kappa > 0) || !(alpha > 0 && alpha < 1) {
		return math.Inf(1)
	}
	return math.Sqrt((v + kappa) * (math.Log((v+kappa)/kappa) - 2*math.Log(alpha)))
}

// Bet tests, at any time and as often as one likes, whether the mean of values
// between −1 and 1 is above zero: the capital of a gambler who before each value
// stakes a part of it on "above" (betting martingale: Waudby-Smith and Ramdas,
// Journal of the Royal Statistical Society B 86:1, 2024). Where the mean of each
// value, given those before, is zero or less the capital's expectation never
// exceeds 1, so P(it ever reaches 1/alpha) ≤ alpha, for any stopping rule and any
// number of values. The zero value is ready.
type Bet struct {
	n, sum, squares float64
	log, peak       float64 // of the capital, and its largest
}

// mostStake keeps the worst value from taking all.
const mostStake = 0.9

// Add takes one value.
func (b *Bet) Add(v float64) {
	b.log += math.Log1p(b.stake() * v)
	b.peak = math.Max(b.peak, b.log)
	b.n++
	b.sum += v
	b.squares += v * v
}

// stake is what would have grown the capital fastest on the values so far, to
// second order: their mean over their mean square, with one value of ½² before
// them all.
func (b *Bet) stake() float64 {
	mean, square := b.sum/(b.n+1), (b.squares+0.25)/(b.n+1)
	return math.Min(math.Max(mean/square, 0), mostStake)
}

// P is the always-valid p-value of "the mean is zero or less".
func (b *Bet) P() float64 { return math.Exp(-b.peak) }
