package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// fewestRounds is the number of pairs below which a paired test has too few
// degrees of freedom to find anything: with two, Student's t wants a difference
// of 12.7 standard errors.
const fewestRounds = 3

// rounds are the series of runs that were measured in turns, paired: the runs
// of one round stand at one place of both lists. ok is false where the runs do
// not say their round (bench --interleave tags them), or a round is missing on
// a side.
func (p *pairing) rounds(m *measure) (s sides, ok bool) {
	if len(p.a) != len(p.b) || len(p.a) < fewestRounds {
		return sides{}, false
	}
	other := map[string]series{}
	for _, r := range p.b {
		if round := r.Facts.Tags["round"]; round != "" && r.Facts.Tags["side"] != "" && r.series[m.key] != nil {
			other[round] = r.series[m.key]
		}
	}
	for _, r := range p.a {
		a, b := r.series[m.key], other[r.Facts.Tags["round"]]
		if a == nil || b == nil {
			return sides{}, false
		}
		delete(other, r.Facts.Tags["round"]) // so that a round named twice is missing once
		s.a, s.b = append(s.a, a), append(s.b, b)
	}
	return s, true
}

// byRound tests the differences within the rounds: what one round does to both
// sides (a noisy neighbour, a warm machine) is in neither. The unit is the
// round, its value the logarithm of the ratio of both runs' figures (Student's
// t test of pairs), and where there are enough of them the signs of the
// differences are dealt anew, all of them (Fisher's randomisation test).
func (f *finding) byRound(s sides, m *measure, name string) {
	a, okA := logs(s.a, m, name)
	b, okB := logs(s.b, m, name)
	va, vb := f.a.Or(0), f.b.Or(0)
	if !okA || !okB || !(va > 0) || !(vb > 0) {
		f.why = "a value of 0 has no ratio"
		return
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = b[i].Num - a[i].Num
	}
	mean, se := meanError(d)
	if se < indistinct {
		f.alike(mean)
		return
	}
	t := stat.TDifference(mean, se, float64(len(d)-1), Confidence)
	f.p = some(t.P)
	// Around the difference that is shown, which is that of all values of a side.
	shift := math.Log(vb/va) - mean
	f.interval = &[2]float64{math.Exp(t.Lo + shift), math.Exp(t.Hi + shift)}
	if len(d) >= fewestToFlip {
		f.permutation = some(signFlip(d))
	}
}

// alike is the finding of runs that do not differ among themselves, as made
// ones can be: any difference between the sides is real.
func (f *finding) alike(diff float64) {
	ratio := f.b.Or(0) / f.a.Or(1)
	f.interval = &[2]float64{ratio, ratio}
	f.p = some(1)
	if math.Abs(diff) > indistinct {
		f.p = some(0)
	}
}

func meanError(d []float64) (mean, se float64) {
	n := float64(len(d))
	for _, x := range d {
		mean += x / n
	}
	for _, x := range d {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// With fewestToFlip pairs the rarest of all deals of signs is rarer than the
// level (2/64); beyond mostToFlip the t test says the same and is faster.
const (
	fewestToFlip = 6
	mostToFlip   = 16
)

// signFlip is the share of deals of signs to the differences whose sum is at
// least as far from zero as theirs: exact, over all 2^n.
func signFlip(d []float64) float64 {
	d = d[:min(len(d), mostToFlip)]
	total := 0.0
	for _, x := range d {
		total += x
	}
	limit := math.Abs(total) * (1 - indistinct)
	extreme, deals := 0, 1<<len(d)
	for deal := range deals {
		sum := 0.0
		for i, x := range d {
			if deal>>i&1 == 1 {
				x = -x
			}
			sum += x
		}
		if math.Abs(sum) >= limit {
			extreme++
		}
	}
	return float64(extreme) / float64(deals)
}
