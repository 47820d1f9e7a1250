package sweep

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"tokenmeter/engine"
	"tokenmeter/objective"
	"tokenmeter/stat"
)

var searches = flag.Int("searches", 12, "seeded searches a scenario")

var truths = flag.Bool("truth", false, "compute the capacities anew")
var only = flag.Int("only", -1, "one seed")
var which = flag.String("scenario", "", "one scenario")

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
		name: "pace", capacity: 27.8, objectives: []string{"p95 tpot < 14ms"}, target: 0.95,
		server: virtual{cfg: engine.Config{Law: engine.Linear{Base: 8 * ms, PerSequence: 150 * time.Microsecond, PerPrefillToken: 30 * time.Microsecond},
			MaxSequences: 32, MaxBatchTokens: 2048}, prompt: [2]int64{100, 300}, output: [2]int64{8, 56}},
		good: func(r *engine.Request) bool { return r.TPOT() < 14*ms },
	},
	{
		name: "queue", capacity: 50.07, grid: 1.142e+06, objectives: []string{"p95 ttft < 400ms"}, target: 0.95,
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
	for i := range scenarios {
		s := &scenarios[i]
		if *which != "" && s.name != *which {
			continue
		}
		o, err := objective.ParseAll(s.objectives)
		if err != nil {
			t.Fatal(err)
		}
		right, narrow, total := 0, 0, int64(0)
		for seed := range *searches {
			if *only >= 0 && seed != *only {
				continue
			}
			v := s.server
			v.seed = uint64(seed + 1)
			found, err := Search{Objectives: o}.Run(context.Background(), &v)
			if err != nil {
				t.Fatal(err)
			}
			ok := found.Holds <= s.capacity && s.capacity <= found.Fails
			if ok {
				right++
			}
			if found.Fails/found.Holds <= 1.0501 {
				narrow++
			}
			total += found.Requests
			if !ok || testing.Verbose() {
				fmt.Printf("%s %d: [%.4g, %.4g] truth %.4g  %d probes %d requests %v %s %.0fs\n", s.name, seed, found.Holds, found.Fails, s.capacity, len(found.Probes), found.Requests, ok, found.Why, v.clock.Seconds())
			}
			if !ok || testing.Verbose() && seed < 3 {
				for _, p := range found.Probes {
					fmt.Printf("   %.4g %s firm=%v grows=%v n=%d share=%.4f score=%.2f slack=%.1f\n", p.Load, p.Says, p.Firm, p.Grows, p.Requests, p.Share, p.score, p.slack)
				}
			}
		}
		fmt.Printf("%s: %d of %d right, %d narrow, %.0f requests a search, %.2f of a grid\n", s.name, right, *searches, narrow, float64(total)/float64(*searches), float64(total)/float64(*searches)/s.grid)
	}
}
