package stat

import "math"

// Pair is one part of a ratio: a count or a sum, and of how many. A run whose
// 7 of 200 requests were slow is {7, 200}; one whose TPOTs sum to 4,000 ms over
// 200 requests is {4000, 200}.
type Pair struct{ Num, Den float64 }

// Ratio is ΣNum / ΣDen over independent parts, with its variance from the
// spread between the parts. Parts may differ in size; with equal ones this is
// the mean of the parts and its usual squared standard error.
type Ratio struct {
	Value   float64
	Var     float64 // of Value; 0 with a single part
	Parts   int
	squares float64 // sum of squared residuals of the parts, in units of Value
}

// RatioOf returns the ratio of the parts. ok is false when they hold nothing.
func RatioOf(parts []Pair) (r Ratio, ok bool) {
	var num, den sum
	for _, p := range parts {
		num.add(p.Num)
		den.add(p.Den)
	}
	if !(den.value() > 0) || math.IsInf(num.value(), 0) {
		return Ratio{}, false
	}
	r = Ratio{Value: num.value() / den.value(), Parts: len(parts)}
	size := den.value() / float64(len(parts))
	for _, p := range parts {
		d := (p.Num - r.Value*p.Den) / size
		r.squares += d * d
	}
	if r.Parts > 1 {
		n := float64(r.Parts)
		r.Var = r.squares / (n - 1) / n
	}
	return r, true
}

// Scaled is the ratio with every Num multiplied by k.
func (r Ratio) Scaled(k float64) Ratio {
	r.Value *= k
	r.Var *= k * k
	r.squares *= k * k
	return r
}

// AtLeast returns the ratio with a variance of at least v: what independent
// requests inside the parts would have. A spread between few parts can be
// smaller by chance, never in truth.
func (r Ratio) AtLeast(v float64) Ratio {
	if r.Var < v {
		r.squares = v * float64(r.Parts) * math.Max(1, float64(r.Parts-1))
		r.Var = v
	}
	return r
}

// RatioDifference tests b − a. From three parts a side this is Welch's test;
// with fewer on a side the spread is taken to be the same on both (Student's
// test), since two values tell too little of a variance. ok is false without a
// third part to estimate it from, or when no part differs from another.
func RatioDifference(a, b Ratio, conf float64) (d Difference, ok bool) {
	d, se, ok := ratioTest(a, b)
	if !ok || !(conf > 0 && conf < 1) {
		return Difference{}, false
	}
	half := StudentQuantile((1+conf)/2, d.DF) * se
	d.Lo, d.Hi = d.Diff-half, d.Diff+half
	return d, true
}

// RatioTest is RatioDifference without the interval.
func RatioTest(a, b Ratio) (d Difference, ok bool) {
	d, _, ok = ratioTest(a, b)
	return d, ok
}

func ratioTest(a, b Ratio) (d Difference, se float64, ok bool) {
	na, nb := float64(a.Parts), float64(b.Parts)
	if na < 1 || nb < 1 || na+nb < 3 {
		return Difference{}, 0, false
	}
	va, vb := a.Var, b.Var
	d = Difference{Diff: b.Value - a.Value}
	if a.Parts < 3 || b.Parts < 3 {
		d.DF = na + nb - 2
		spread := (a.squares + b.squares) / d.DF
		va, vb = spread/na, spread/nb
	} else {
		d.DF = (va + vb) * (va + vb) / (va*va/(na-1) + vb*vb/(nb-1))
	}
	se = math.Sqrt(va + vb)
	if !(se > 0) || math.IsInf(se, 0) || !(d.DF > 0) {
		return Difference{}, 0, false
	}
	d.T = d.Diff / se
	d.P = 2 * StudentCDF(-math.Abs(d.T), d.DF)
	return d, se, true
}
