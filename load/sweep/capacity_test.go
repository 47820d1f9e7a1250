package sweep

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"tokenmeter/physics/engine"
	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
)

// Without flags a few searches with a wide bracket are made. The full ones take
// minutes; searches.sh runs them.
var (
	searches = flag.Int("searches", 0, "seeded searches a scenario, to a bracket of 5 %")
	truths   = flag.Bool("truth", false, "compute the capacities anew")
	only     = flag.Int("only", -1, "one seed")
	which    = flag.String("scenario", "", "one scenario")
)

// scenario is a server whose capacity is known: the rate at which the share of
// good requests among a million crosses the target.
type scenario struct {
	name       string
	server     virtual
	objectives []string
	good       func(*engine.Request) bool
	target     float64
	capacity   float64 // requests/s
	grid       float64 // requests, see gridOf
}

var scenarios = []scenario{
	{
		name: "pace", capacity: 27.802, grid: 1.1285e+06, objectives: []string{"p95 tpot < 14ms"}, target: 0.95,
		server: virtual{cfg: engine.Config{Law: engine.Linear{Base: 8 * ms, PerSequence: 150 * time.Microsecond, PerPrefillToken: 30 * time.Microsecond},
			MaxSequences: 32, MaxBatchTokens: 2048}, prompt: [2]int64{100, 300}, output: [2]int64{8, 56}},
		good: func(r *engine.Request) bool { return r.TPOT() < 14*ms },
	},
	{
		name: "queue", capacity: 50.066, grid: 1.1418e+06, objectives: []string{"p95 ttft < 400ms"}, target: 0.95,
		server: virtual{cfg: engine.Config{Law: engine.Linear{Base: 8 * ms, PerSequence: 150 * time.Microsecond, PerPrefillToken: 30 * time.Microsecond},
			MaxSequences: 32, MaxBatchTokens: 2048}, prompt: [2]int64{100, 300}, output: [2]int64{8, 56}},
		good: func(r *engine.Request) bool { return r.TTFT() < 400*ms },
	},
	{
		name: "both", capacity: 6.544, grid: 978000, objectives: []string{"ttft:500 tpot:30", "goodput > 90%"}, target: 0.9,
		server: virtual{cfg: engine.Config{Law: engine.Linear{Base: 10 * ms, PerSequence: 400 * time.Microsecond, PerPrefillToken: 50 * time.Microsecond},
			MaxSequences: 16, MaxBatchTokens: 1024, Jitter: 0.2}, prompt: [2]int64{20, 2000}, output: [2]int64{2, 100}},
		good: func(r *engine.Request) bool { return r.TTFT() < 500*ms && r.TPOT() < 30*ms },
	},
}

func (s *scenario) truth() float64 {
	lo, hi := 1.0, 200.0
	for range 6 {
		mid := math.Sqrt(lo * hi)
		if s.server.share(mid, 20000, s.good) >= s.target {
			lo = mid
		} else {
			hi = mid
		}
	}
	lo, hi = lo*0.93, hi*1.07
	for hi/lo > 1.002 {
		mid := math.Sqrt(lo * hi)
		if s.server.share(mid, 1e6, s.good) >= s.target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Sqrt(lo * hi)
}

// grid is how many requests ten points need to give as narrow a bracket as
// surely: at each of ten loads 5 % apart a number fixed beforehand, with which a
// test at 5 % shared among the ten decides a load half a bracket away in 95 of
// 100 cases. (z₀.₉₉₇₅ + z₀.₉₅)² p(1−p) τ / δ² each, from the true shares and the
// true autocorrelation times on both sides.
func (s *scenario) gridOf() float64 {
	total := 0.0
	for _, load := range []float64{s.capacity / math.Sqrt(1.05), s.capacity * math.Sqrt(1.05)} {
		var verdicts []float64
		share := s.server.share(load, 1e6, func(r *engine.Request) bool {
			good := s.good(r)
			v := 0.0
			if good {
				v = 1
			}
			verdicts = append(verdicts, v)
			return good
		})
		c, _ := stat.BatchMeans(verdicts, 200)
		delta := share - s.target
		mid := (share + s.target) / 2
		total += 5 * 19.82 * mid * (1 - mid) * c.Time / (delta * delta)
	}
	return total
}

func TestTruth(t *testing.T) {
	if !*truths {
		t.Skip("takes minutes: give -truth")
	}
	for i := range scenarios {
		s := &scenarios[i]
		c := s.truth()
		s.capacity = c
		t.Logf("%s: capacity %.5g, a grid needs %.0f requests", s.name, c, s.gridOf())
	}
}

func TestCapacity(t *testing.T) {
	all := tally{}
	for i := range scenarios {
		s := &scenarios[i]
		if *which != "" && s.name != *which {
			continue
		}
		n, width := *searches, 0.05
		if n == 0 {
			n, width = 4, 0.4
		}
		one := tally{}
		for seed := range n {
			if *only < 0 || seed == *only {
				s.search(t, seed, width, &one)
			}
		}
		t.Log(one.words(s.name, s.grid))
		if width == 0.05 && one.searches >= 10 && one.requests > 0.5*s.grid*float64(one.searches) {
			t.Errorf("%s: %.2f of the requests of a grid", s.name, one.requests/float64(one.searches)/s.grid)
		}
		all.add(one)
	}
	// 5 % of brackets may miss the truth; of a few, one.
	if allowed := max(1, all.searches/20); all.searches-all.right > allowed || all.narrow < all.searches {
		t.Errorf("of %d brackets %d hold the truth and %d are narrow enough", all.searches, all.right, all.narrow)
	}
}

// tally counts searches.
type tally struct {
	searches, right, narrow int
	requests                float64
}

func (t *tally) add(o tally) {
	t.searches, t.right, t.narrow, t.requests = t.searches+o.searches, t.right+o.right, t.narrow+o.narrow, t.requests+o.requests
}

func (t *tally) words(name string, grid float64) string {
	each := t.requests / float64(t.searches)
	return fmt.Sprintf("%s: the bracket holds the truth in %d of %d searches and is narrow enough in %d; %.0f requests a search, %.2f of a grid of ten points",
		name, t.right, t.searches, t.narrow, each, each/grid)
}

// search makes one search and counts it.
func (s *scenario) search(t *testing.T, seed int, width float64, sum *tally) {
	o, err := objective.ParseAll(s.objectives)
	if err != nil {
		t.Fatal(err)
	}
	v := s.server
	v.seed = uint64(seed + 1)
	found, err := Search{Objectives: o, Width: width}.Run(context.Background(), &v)
	if err != nil {
		t.Fatal(err)
	}
	sum.searches++
	sum.requests += float64(found.Requests)
	ok := found.Holds <= s.capacity && s.capacity <= found.Fails
	if ok {
		sum.right++
	}
	if found.Fails/found.Holds <= 1+width+1e-4 {
		sum.narrow++
	}
	if ok && !testing.Verbose() {
		return
	}
	t.Logf("%s %d: [%.4g, %.4g] truth %.4g, %d probes, %d requests, %.0f s of virtual time; %v %s", s.name, seed, found.Holds, found.Fails,
		s.capacity, len(found.Probes), found.Requests, v.clock.Seconds(), ok, found.Why)
	if ok {
		return
	}
	for _, p := range found.Probes {
		t.Logf("   %.4g %s firm=%v grows=%v n=%d share=%.4f score=%.2f slack=%.1f", p.Load, p.Says, p.Firm, p.Grows, p.Requests, p.Share, p.score, p.slack)
	}
}
