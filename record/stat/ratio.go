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

// TDifference is Student's test of a difference with a known standard error.
func TDifference(diff, se, df, conf float64) Difference {
	t := diff / se
	half := StudentQuantile((1+conf)/2, df) * se
	return Difference{Lo: diff - half, Hi: diff + half, P: 2 * StudentCDF(-math.Abs(t), df)}
}

// RatioError returns the standard error of b − a and its degrees of freedom.
// From three parts a side it is Welch's; with fewer on a side the spread is
// taken to be the same on both (Student's), since two values tell too little
// of a variance. ok is false without a third part to estimate it from; 0 means
// that no part differs from another.
func RatioError(a, b Ratio) (se, df float64, ok bool) {
	na, nb := float64(a.Parts), float64(b.Parts)
	if na < 1 || nb < 1 || na+nb < 3 {
		return 0, 0, false
	}
	va, vb := a.Var, b.Var
	if a.Parts < 3 || b.Parts < 3 {
		df = na + nb - 2
		spread := (a.squares + b.squares) / df
		va, vb = spread/na, spread/nb
	} else if va+vb > 0 {
		df = (va + vb) * (va + vb) / (va*va/(na-1) + vb*vb/(nb-1))
	} else {
		df = na + nb - 2
	}
	se = math.Sqrt(va + vb)
	return se, df, !math.IsInf(se, 0) && !math.IsNaN(se)
}
