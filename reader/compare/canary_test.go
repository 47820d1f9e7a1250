package compare

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// live runs a canary on two made populations until it decides or the requests
// are over, asking after every single one. One request in five goes to B.
func live(t *testing.T, seed uint64, a, b server, n int, share float64) (CanaryState, int) {
	t.Helper()
	c, err := NewCanary(CanaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 6))
	lists := [2][]metric.Record{a.records(rng, n), b.records(rng, n)}
	next := [2]int{}
	for i := range n {
		side := SideA
		if rng.Float64() < share {
			side = SideB
		}
		c.Add(side, &lists[side][next[side]])
		next[side]++
		if s := c.State(); s != Continue {
			return s, i + 1
		}
	}
	return Continue, n
}

func TestCanaryErrorGuarantee(t *testing.T) {
	n := times(12, 1000)
	same := server{tpot: 24, cv: 0.1, phi: 0.3, failed: 0.02}
	for _, share := range []float64{0.5, 0.2} {
		count := map[CanaryState]int{}
		for i := range n {
			s, _ := live(t, uint64(i), same, same, 6000, share)
			count[s]++
		}
		t.Logf("equal populations, %v to the canary, asked after each of 6,000 requests: %v of %d", share, count, n)
		if alarms := count[CanaryWorse] + count[CanaryBetter]; alarms > allowedOf(n, 0.05) {
			t.Errorf("%d false alarms of %d", alarms, n)
		}
	}
}

func TestCanaryFinds(t *testing.T) {
	n := times(4, 400)
	a := server{tpot: 24, cv: 0.1, phi: 0.3, failed: 0.01}
	for name, b := range map[string]server{
		"8 % slower":          {tpot: 26, cv: 0.1, phi: 0.3, failed: 0.01},
		"fails in 5 %":        {tpot: 24, cv: 0.1, phi: 0.3, failed: 0.05},
		"first token 30 % up": {tpot: 24, cv: 0.1, phi: 0.3, failed: 0.01, ttft: 312},
	} {
		found, total := 0, 0
		for i := range n {
			s, at := live(t, uint64(i), a, b, 12_000, 0.2)
			if s == CanaryWorse {
				found++
				total += at
			}
		}
		t.Logf("%s: found %d of %d, after %d requests on average", name, found, n, total/max(found, 1))
		if found < n*90/100 {
			t.Errorf("%s: found %d of %d", name, found, n)
		}
	}
	// What got better is not called worse.
	if s, _ := live(t, 1, a, server{tpot: 20, cv: 0.1, phi: 0.3, failed: 0.01}, 12_000, 0.5); s == CanaryWorse {
		t.Errorf("a faster canary is %s", s)
	}
}

func TestCanarySettlesOnSame(t *testing.T) {
	quiet := server{tpot: 24, cv: 0.03, phi: 0.3}
	c, err := NewCanary(CanaryOptions{Metrics: []string{"tpot"}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	a, b := quiet.records(rng, 20_000), quiet.records(rng, 20_000)
	for i := range a {
		c.Add(SideA, &a[i])
		c.Add(SideB, &b[i])
		if c.State() != Continue {
			break
		}
	}
	if c.State() != CanarySame {
		t.Errorf("%s: %+v", c.State(), c.Figures())
	}
}

func TestCanaryLeavesOut(t *testing.T) {
	c, err := NewCanary(CanaryOptions{Metrics: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(0, 0, 100, 10, 10, 10)
	r.Outcome = timeline.CancelledUser
	c.Add(SideA, &r)
	r = record(0, 0, 100, 10, 10, 10)
	r.Phase = timeline.Warmup
	c.Add(SideB, &r)
	c.Add(7, &r)
	if f := c.Figures()[0]; f.N != [2]int64{} || f.Diff.OK() || c.State() != Continue {
		t.Errorf("%+v", f)
	}
	if _, err := NewCanary(CanaryOptions{Metrics: []string{"speed of light"}}); err == nil {
		t.Error("an unknown metric was taken")
	}
}

// Before it has its batches a latency says how many requests it wants.
func TestCanaryNeeds(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	c, err := NewCanary(CanaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := made.records(rng, 960)
	needs := func() []int64 {
		var out []int64
		for _, f := range c.Figures() {
			out = append(out, f.Needs)
		}
		return out
	}
	for i := range list {
		if i == 64 && !slices.Equal(needs(), []int64{0, 960, 960}) {
			t.Errorf("after 64 requests a side: %v", needs())
		}
		c.Add(SideA, &list[i])
		c.Add(SideB, &list[i])
	}
	if !slices.Equal(needs(), []int64{0, 0, 0}) {
		t.Errorf("after 960 requests a side: %v", needs())
	}
}
