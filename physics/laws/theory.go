package laws

import "math"

// Figures of a law at a load, when it has run for long. NaN: not known.
type Figures struct {
	MeanS    float64 // of the latency of requests that did not fail
	Quantile func(p float64) float64
	Beyond   func(limitS float64) float64 // share that fails or takes longer
	Failed   float64                      // share
}

// mmInf is M/M/∞: nobody waits, so latencies are independent and exponential.
func mmInf(serviceS float64) func(float64) Figures {
	return func(float64) Figures {
		return Figures{MeanS: serviceS, Quantile: func(p float64) float64 { return -serviceS * math.Log(1-p) },
			Beyond: func(t float64) float64 { return math.Exp(-t / serviceS) }}
	}
}

// mm is M/M/c (Erlang): a request waits with probability C, then exponentially with the
// rate cμ − λ; its latency is that and its service.
func mm(slots int, serviceS float64) func(float64) Figures {
	return func(rate float64) Figures {
		mu, c := 1/serviceS, float64(slots)
		waits, drain := ErlangC(slots, rate*serviceS), c*mu-rate
		beyond := func(t float64) float64 {
			if slots == 1 {
				return math.Exp(-drain * t)
			}
			if math.Abs(drain-mu) < 1e-9*mu {
				return math.Exp(-mu*t) * (1 + waits*mu*t)
			}
			return (1-waits)*math.Exp(-mu*t) + waits*(drain*math.Exp(-mu*t)-mu*math.Exp(-drain*t))/(drain-mu)
		}
		return Figures{MeanS: serviceS + waits/drain, Beyond: beyond, Quantile: inverse(beyond)}
	}
}

// md1 is M/D/1 (Erlang 1909): P(W ≤ t) = (1 − ρ) Σ (−λ(t − jD))ʲ/j! · exp(λ(t − jD)) over
// j ≤ t/D. The terms alternate: far out the exponential tail goes on instead.
func md1(serviceS float64) func(float64) Figures {
	return func(rate float64) Figures {
		rho := rate * serviceS
		waits := func(t float64) float64 { // P(W > t)
			if t < 0 {
				return 1
			}
			sum := 0.0
			for j := 0; float64(j)*serviceS <= t; j++ {
				x := rate * (t - float64(j)*serviceS)
				lg, _ := math.Lgamma(float64(j) + 1)
				term := math.Exp(x)
				if j > 0 {
					term = math.Exp(float64(j)*math.Log(x) - lg + x)
				}
				if j%2 == 1 {
					term = -term
				}
				sum += term
			}
			return 1 - (1-rho)*sum
		}
		const far = 12.0 // services; there the sum still has ten digits
		decay := math.Log(waits((far-1)*serviceS)/waits(far*serviceS)) / serviceS
		beyond := func(t float64) float64 {
			w := t - serviceS
			if w <= far*serviceS {
				return waits(w)
			}
			return waits(far*serviceS) * math.Exp(-decay*(w-far*serviceS))
		}
		return Figures{MeanS: serviceS + rho*serviceS/2/(1-rho), Beyond: beyond, Quantile: inverse(beyond)}
	}
}

// refusing is M/M/c/c: no latency but the service, and Erlang's B of failures.
func refusing(slots int, serviceS float64) func(float64) Figures {
	return func(rate float64) Figures {
		failed := ErlangB(slots, rate*serviceS)
		f := mmInf(serviceS)(rate)
		return Figures{MeanS: f.MeanS, Quantile: f.Quantile, Failed: failed,
			Beyond: func(t float64) float64 { return failed + (1-failed)*f.Beyond(t) }}
	}
}

// ErlangB is the share of requests that find all slots taken, where they then leave.
// work is the offered load in requests served at once (Erlang).
func ErlangB(slots int, work float64) float64 {
	b := 1.0
	for k := 1; k <= slots; k++ {
		b = work * b / (float64(k) + work*b)
	}
	return b
}

// ErlangC is the share of requests that find all slots taken, where they then wait; 1
// where there is more work than the slots can do.
func ErlangC(slots int, work float64) float64 {
	rho := work / float64(slots)
	if rho >= 1 {
		return 1
	}
	b := ErlangB(slots, work)
	return b / (1 - rho + rho*b)
}

// inverse finds the quantile for a share beyond that falls.
func inverse(beyond func(float64) float64) func(p float64) float64 {
	return func(p float64) float64 {
		hi := 1e-3
		for beyond(hi) > 1-p {
			hi *= 2
		}
		lo := 0.0
		for range 80 {
			mid := (lo + hi) / 2
			if beyond(mid) > 1-p {
				lo = mid
			} else {
				hi = mid
			}
		}
		return hi
	}
}
