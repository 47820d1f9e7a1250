package random

import "math"

// The two functions below follow the published algorithms of FreeBSD's msun
// (error below 1 ulp). Every product that is added to something goes through
// an explicit conversion, which forbids the compiler to fuse the two.

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// Ln is the natural logarithm of a finite x > 0; −Inf for 0, NaN below.
func Ln(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f, exp := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f *= 2
		exp--
	}
	f--
	k := float64(exp)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	t1 := s2 * poly(s4, 6.666666666666735130e-01, 2.857142874366239149e-01,
		1.818357216161805012e-01, 1.479819860511658591e-01)
	t2 := s4 * poly(s4, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
	r := t1 + t2
	half := float64(0.5 * f * f)
	inner := half - (float64(s*(half+r)) + float64(k*ln2Lo))
	return float64(k*ln2Hi) - (inner - f)
}

// Exp is e to the power of x.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019411:
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := r * r
	c := r - float64(t*poly(t, 1.66666666666666657415e-01, -2.77777777770155933842e-03,
		6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, int(k))
}

// poly is c₀ + c₁x + c₂x² + …
func poly(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}
