package stat

import "math"

// BetaInc returns the regularised incomplete beta function I_x(a, b) for
// a, b > 0 and x in [0, 1]: the probability that a Beta(a, b) variable is at
// most x. Relative accuracy is about 1e-12 up to parameters of 1e9.
func BetaInc(a, b, x float64) float64 {
	switch {
	case !(a > 0) || !(b > 0) || x <= 0 || math.IsNaN(x):
		return 0
	case x >= 1:
		return 1
	}
	return betaInc(a, b, x, 1-x)
}

// BetaQuantile is the inverse of BetaInc: the x in [0, 1] with I_x(a, b) = p.
// Newton's steps, kept inside a bracket that every step narrows.
func BetaQuantile(p, a, b float64) float64 {
	switch {
	case !(a > 0) || !(b > 0) || !(p > 0):
		return 0
	case p >= 1:
		return 1
	}
	lo, hi := 0.0, 1.0
	x := a / (a + b)
	for range 200 {
		miss := BetaInc(a, b, x) - p
		if miss < 0 {
			lo = x
		} else {
			hi = x
		}
		density := binomDensity(a, a+b, x, 1-x) * b / (a + b) * a / (x * (1 - x))
		next := x - miss/density
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-x) <= 1e-14*x || next == lo || next == hi {
			return next
		}
		x = next
	}
	return x
}

// betaInc takes y = 1 − x apart, so that a caller who knows it loses no digits.
func betaInc(a, b, x, y float64) float64 {
	if x > (a+1)/(a+b+2) {
		return 1 - betaBelow(b, a, y, x)
	}
	return betaBelow(a, b, x, y)
}

// betaBelow is for x up to about the mean, where the fraction converges fast. It
// never turns round: at the mean itself rounding could make both sides seem above it.
func betaBelow(a, b, x, y float64) float64 {
	// x^a y^b / (a B(a,b)), through the binomial density, which stays exact
	// where powers and gamma functions of large arguments would not.
	front := binomDensity(a, a+b, x, y) * b / (a + b)
	return front * betaFraction(a, b, x)
}

// betaFraction evaluates the continued fraction of I_x(a, b) by Lentz's method.
func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	f := d
	step := func(coeff float64) {
		d = 1 + coeff*d
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = 1 + coeff/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
	}
	// The number of terms grows like the square root of the parameters.
	limit := 200 + int(20*math.Sqrt(math.Max(a, b)))
	for i := 1; i <= limit; i++ {
		m := float64(i)
		step(m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)))
		f *= d * c
		step(-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)))
		delta := d * c
		f *= delta
		if math.Abs(delta-1) < 1e-16 {
			break
		}
	}
	return f
}

// BinomialSurvival returns P(X ≥ k) without the cancellation of 1 − CDF.
func BinomialSurvival(k, n int64, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	return betaInc(float64(k), float64(n-k+1), p, 1-p)
}

// binomDensity is the binomial density at x of n with success probability p
// (q = 1 − p), for real x: the saddle-point form, in which the large terms
// cancel by algebra and not by subtraction.
func binomDensity(x, n, p, q float64) float64 {
	if x <= 0 {
		return math.Exp(n * math.Log1p(-p))
	}
	if x >= n {
		return math.Exp(n * math.Log(p))
	}
	lc := stirlingError(n) - stirlingError(x) - stirlingError(n-x) -
		deviance(x, n*p) - deviance(n-x, n*q)
	return math.Exp(lc) * math.Sqrt(n/(2*math.Pi*x*(n-x)))
}

// stirlingError is ln Γ(z+1) less Stirling's approximation of it.
func stirlingError(z float64) float64 {
	if z < 16 {
		lg, _ := math.Lgamma(z + 1)
		return lg - (z+0.5)*math.Log(z) + z - 0.5*math.Log(2*math.Pi)
	}
	zz := z * z
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/zz)/zz)/zz)/zz) / z
}

// deviance is x ln(x/m) + m − x, kept exact where x is close to m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s := (x - m) * v
	e := 2 * x * v
	for j := 1; j < 1000; j++ {
		e *= v * v
		next := s + e/float64(2*j+1)
		if next == s {
			break
		}
		s = next
	}
	return s
}
