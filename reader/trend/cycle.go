package trend

import (
	"math"
	"time"
)

// Harmonics of the day: three shape one with a peak and a trough of different
// lengths. Those of the week up to the sixteenth (which have the day's first two
// among them, each with two at its sides) let each weekday have a day of its own.
const (
	dayHarmonics  = 3
	weekHarmonics = 16
	leastWeeks    = 2 // before, a week's cycle can't be told from a change
)

// withoutCycles takes the cycles of day and week out of levels whose segments
// begin at starts: least squares with a level of its own for each segment (the
// partial structural change model of Bai and Perron, Econometrica 66, 1998). By
// Frisch and Waugh both sides less their segments' means give the same.
func (s *series) withoutCycles(starts []int) []float64 {
	periods := s.periods()
	out := append([]float64(nil), s.level...)
	if len(periods) == 0 {
		return out
	}
	wave := func(i, c int) float64 {
		x := 2 * math.Pi * float64(s.at(i).Unix()) / periods[c/2].Seconds()
		if c%2 == 0 {
			return math.Cos(x)
		}
		return math.Sin(x)
	}
	width := 2 * len(periods)
	normal, right := make([][]float64, width), make([]float64, width)
	for c := range normal {
		normal[c] = make([]float64, width)
	}
	for j, from := range starts {
		to := len(s.level)
		if j+1 < len(starts) {
			to = starts[j+1]
		}
		mean, level, n := make([]float64, width), 0.0, 0.0
		each := func(do func(i int)) {
			for i := from; i < to; i++ {
				if !math.IsNaN(s.level[i]) {
					do(i)
				}
			}
		}
		each(func(i int) {
			n++
			level += s.level[i]
			for c := range mean {
				mean[c] += wave(i, c)
			}
		})
		row := make([]float64, width)
		each(func(i int) {
			y := s.level[i] - level/n
			for c := range row {
				row[c] = wave(i, c) - mean[c]/n
				right[c] += row[c] * y
			}
			for c := range row {
				for d := range row {
					normal[c][d] += row[c] * row[d]
				}
			}
		})
	}
	if !solve(normal, right) {
		return out // too little is there to tell cycles by
	}
	for i := range out {
		for c := range width {
			out[i] -= right[c] * wave(i, c)
		}
	}
	return out
}

// solve solves a·x = b for a symmetric, positive a by Cholesky's factors, in
// place; false where a is not.
func solve(a [][]float64, b []float64) bool {
	for i := range a {
		for j := range i + 1 {
			x := a[i][j]
			for k := range j {
				x -= a[i][k] * a[j][k]
			}
			switch {
			case i > j:
				a[i][j] = x / a[j][j]
			case x <= 1e-9*a[i][i]:
				return false
			default:
				a[i][i] = math.Sqrt(x)
			}
		}
	}
	for i := range b {
		for k := range i {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= a[k][i] * b[k]
		}
		b[i] /= a[i][i]
	}
	return true
}

// unsureCycle is by how much the variance of a stretch's level is larger than what
// is left seems to say, when the cycle that was taken out was fitted to so few
// weeks (or days): the fit took one part of n of the noise with it, and is itself
// wrong by as much: (1 + 1/n) / (1 − 1/n).
func (s *series) unsureCycle() float64 {
	n := float64(len(s.level)) / float64(s.days(1))
	if n >= 7*leastWeeks {
		n /= 7
	}
	return (n + 1) / (n - 1)
}

// periods are those that the series is long enough and fine enough for.
func (s *series) periods() (list []time.Duration) {
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	for h := time.Duration(1); h <= dayHarmonics; h++ {
		if day/h > 2*s.block {
			list = append(list, day/h)
		}
	}
	if time.Duration(len(s.level))*s.block >= leastWeeks*week {
		for h := time.Duration(1); h <= weekHarmonics; h++ {
			if h%7 != 0 && week/h > 2*s.block {
				list = append(list, week/h)
			}
		}
	}
	return list
}
