package schedule

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func collect(o Open, s Share) []Arrival { return slices.Collect(o.Arrivals(s)) }

// A rate is kept by absolute moments: 200/s for 10 s is 2000 requests, the last
// at exactly 9.995 s (B64).
func TestB64ConstantIsAbsolute(t *testing.T) {
	got := collect(Open{Rate: 200, Duration: 10 * time.Second}, Share{})
	if len(got) != 2000 || got[0].At != 0 || got[1].At != 5*time.Millisecond ||
		got[1999].At != 9995*time.Millisecond {
		t.Fatalf("n %d, last %v", len(got), got[len(got)-1])
	}
}

func TestConstantTable(t *testing.T) {
	cases := []struct {
		o    Open
		i    int
		want time.Duration
	}{
		{Open{Rate: 10, Requests: 8}, 7, 700 * time.Millisecond},
		{Open{Rate: 3, Requests: 4}, 1, 333333333},
		{Open{Rate: 3, Requests: 4}, 3, time.Second},
		{Open{Rate: 0.1, Requests: 2}, 1, 10 * time.Second},
		{Open{Rate: 1e6, Requests: 3}, 2, 2 * time.Microsecond},
		{Open{Rate: 500, Duration: 4 * time.Second}, 1999, 3998 * time.Millisecond},
	}
	for _, c := range cases {
		if got := collect(c.o, Share{}); got[c.i].At != c.want || got[c.i].Index != int64(c.i) {
			t.Errorf("%+v: request %d at %v, want %v", c.o, c.i, got[c.i].At, c.want)
		}
	}
}

func TestBounds(t *testing.T) {
	both := Open{Rate: 10, Requests: 5, Duration: time.Minute}
	if n := len(collect(both, Share{})); n != 5 || both.Planned() != 5 {
		t.Errorf("requests first: %d, planned %d", n, both.Planned())
	}
	both.Requests = 5000
	if n := len(collect(both, Share{})); n != 600 || both.Planned() != 600 {
		t.Errorf("duration first: %d, planned %d", n, both.Planned())
	}
	if p := (Open{Rate: 10}).Planned(); p != 0 {
		t.Errorf("without bounds %d are planned", p)
	}
	n := 0
	for range (Open{Rate: 10, Arrival: "poisson"}).Arrivals(Share{}) {
		if n++; n == 1000 {
			break
		}
	}
}

func TestCheck(t *testing.T) {
	good := []Open{{Rate: 1}, {Rate: 0.01, Arrival: "poisson"}, {Rate: 5, Arrival: "gamma", Burstiness: 0.3},
		{Rate: 5, Arrival: "poisson", Burstiness: 1}}
	for _, o := range good {
		if err := o.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	bad := []struct {
		o    Open
		word string
	}{
		{Open{}, "rate"}, {Open{Rate: -1}, "rate"}, {Open{Rate: math.NaN()}, "rate"},
		{Open{Rate: math.Inf(1)}, "rate"}, {Open{Rate: 1e7}, "rate"},
		{Open{Rate: 1, Arrival: "weibull"}, "constant, poisson, gamma"},
		{Open{Rate: 1, Arrival: "gamma", Burstiness: -1}, "burstiness"},
		{Open{Rate: 1, Arrival: "gamma", Burstiness: math.NaN()}, "burstiness"},
		{Open{Rate: 1, Arrival: "gamma", Burstiness: 1e-9}, "burstiness"},
		{Open{Rate: 1, Arrival: "poisson", Burstiness: 2}, "gamma"},
		{Open{Rate: 1, Requests: -1}, "requests"}, {Open{Rate: 1, Duration: -1}, "duration"},
	}
	for _, c := range bad {
		if err := c.o.Check(); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%+v: %v, want a word about %s", c.o, err, c.word)
		}
	}
}

// Workers that compute their shares alone send exactly the schedule of one
// worker, each request once (B72).
func TestB72SharesPartitionTheSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Open{
			Rate:       rapid.Float64Range(0.1, 1e4).Draw(t, "rate"),
			Arrival:    rapid.SampledFrom(Names()).Draw(t, "arrival"),
			Burstiness: 1,
			Seed:       rapid.Uint64().Draw(t, "seed"),
			Requests:   rapid.Int64Range(1, 500).Draw(t, "n"),
		}
		of := rapid.IntRange(1, 9).Draw(t, "workers")
		var union []Arrival
		for w := range of {
			share := Share{w, of}
			part := collect(o, share)
			if int64(len(part)) != share.Count(o.Requests) {
				t.Fatalf("worker %d/%d has %d, Count says %d", w, of, len(part), share.Count(o.Requests))
			}
			union = append(union, part...)
		}
		slices.SortFunc(union, func(a, b Arrival) int { return int(a.Index - b.Index) })
		if whole := collect(o, Share{}); !slices.Equal(union, whole) {
			t.Fatalf("the union of %d shares is not the schedule", of)
		}
	})
}

func TestDueTimesNeverRunBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Open{Rate: rapid.Float64Range(0.01, 1e6).Draw(t, "rate"),
			Arrival: rapid.SampledFrom(Names()).Draw(t, "arrival"),
			Seed:    rapid.Uint64().Draw(t, "seed"), Requests: 300}
		if o.Arrival == "gamma" {
			o.Burstiness = rapid.Float64Range(0.01, 50).Draw(t, "burstiness")
		}
		last := time.Duration(0)
		for a := range o.Arrivals(Share{}) {
			if a.At < last {
				t.Fatalf("request %d at %v after %v", a.Index, a.At, last)
			}
			last = a.At
		}
	})
}

func gaps(o Open) []float64 {
	var out []float64
	last := time.Duration(0)
	for a := range o.Arrivals(Share{}) {
		out = append(out, (a.At-last).Seconds()*o.Rate)
		last = a.At
	}
	return out
}

// Gaps follow the asked distribution: Kolmogorov-Smirnov at a significance of
// 0.001 (critical D·√n = 1.949), with fixed seeds.
func TestGapsFollowTheirDistribution(t *testing.T) {
	const n = 10000
	cases := []struct {
		o   Open
		cdf func(float64) float64
	}{
		{Open{Rate: 50, Arrival: "poisson"}, distuv.Exponential{Rate: 1}.CDF},
		{Open{Rate: 50, Arrival: "gamma"}, distuv.Exponential{Rate: 1}.CDF},
		{Open{Rate: 50, Arrival: "gamma", Burstiness: 0.5}, distuv.Gamma{Alpha: 0.5, Beta: 0.5}.CDF},
		{Open{Rate: 50, Arrival: "gamma", Burstiness: 5}, distuv.Gamma{Alpha: 5, Beta: 5}.CDF},
	}
	for _, c := range cases {
		for seed := range uint64(5) {
			c.o.Seed, c.o.Requests = seed, n
			sample := gaps(c.o)
			slices.Sort(sample)
			d := 0.0
			for i, x := range sample {
				f := c.cdf(x)
				d = max(d, f-float64(i)/n, float64(i+1)/n-f)
			}
			if d*math.Sqrt(n) > 1.949 {
				t.Errorf("%+v: D·√n = %.3f", c.o, d*math.Sqrt(n))
			}
		}
	}
}

// The index of dispersion of counts (variance over mean) in windows of 10 mean
// gaps is 1 for Poisson. Under that hypothesis (m−1)·I follows χ² with m−1
// degrees of freedom; two-sided at 0.001. Gamma of shape k tends to 1/k.
func TestIndexOfDispersion(t *testing.T) {
	const windows, width = 1000, 10.0
	index := func(o Open) float64 {
		var counts [windows]float64
		for a := range o.Arrivals(Share{}) {
			w := int(a.At.Seconds() * o.Rate / width)
			if w >= windows {
				break
			}
			counts[w]++
		}
		mean, ss := 0.0, 0.0
		for _, c := range counts {
			mean += c / windows
		}
		for _, c := range counts {
			ss += (c - mean) * (c - mean)
		}
		return ss / (windows - 1) / mean
	}
	chi := distuv.ChiSquared{K: windows - 1}
	lo, hi := chi.Quantile(0.0005)/(windows-1), chi.Quantile(0.9995)/(windows-1)
	for seed := range uint64(5) {
		if i := index(Open{Rate: 20, Arrival: "poisson", Seed: seed}); i < lo || i > hi {
			t.Errorf("poisson, seed %d: index of dispersion %.3f outside [%.3f, %.3f]", seed, i, lo, hi)
		}
		bursty := index(Open{Rate: 20, Arrival: "gamma", Burstiness: 0.25, Seed: seed})
		smooth := index(Open{Rate: 20, Arrival: "gamma", Burstiness: 10, Seed: seed})
		if bursty < 2.5 || bursty > 5 || smooth > 0.25 {
			t.Errorf("gamma, seed %d: %.3f and %.3f, want near 4 and 0.1", seed, bursty, smooth)
		}
	}
	if i := index(Open{Rate: 20}); i > 1e-9 {
		t.Errorf("constant: index of dispersion %g", i)
	}
}

func TestClosedCheck(t *testing.T) {
	for _, c := range []Closed{{}, {Concurrency: 2e6}, {Concurrency: 1, Requests: -1}, {Concurrency: 1, Duration: -1}} {
		if c.Check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
}

func BenchmarkPoisson(b *testing.B) {
	n := 0
	for range (Open{Rate: 1e4, Arrival: "poisson", Requests: int64(b.N)}).Arrivals(Share{}) {
		n++
	}
}
