package sweep

import (
	"testing"
	"time"
)

// A load a little above what the server can do makes requests wait longer and longer, but
// a probe of fifteen seconds ends before that reaches the limit. None of it holds; loads
// well below are still found. The capacities are those of 200,000 requests at a load.
func TestQueueThatGrowsSlowly(t *testing.T) {
	if testing.Short() {
		t.Skip("hours of virtual time")
	}
	for _, c := range []struct {
		objective string
		capacity  float64
		time      time.Duration
		least     int // searches that have a load that holds, of four
	}{
		{"mean e2e < 14s", 26.7, 10 * time.Minute, 1},
		{"mean e2e < 14s", 26.7, 30 * time.Minute, 4},
		{"mean ttft < 1s", 26.5, 10 * time.Minute, 4},
		{"p50 ttft < 1s", 26.7, 10 * time.Minute, 3},
		{"p95 ttft < 1s", 26.3, 10 * time.Minute, 4},
	} {
		hold, wrong, above := 0, 0, 0.0
		seeds := max(*searches, 4)
		for seed := range seeds {
			found := searchSlow(t, c.objective, c.time, seed)
			if found.Holds > 0 {
				hold++
			}
			if over := found.Holds/c.capacity - 1; over > 0.02 {
				wrong++
				above = max(above, over)
			}
		}
		t.Logf("%s, %v: %d of %d searches have a load that holds, %d are wrong, by up to %.0f %%", c.objective, c.time, hold, seeds, wrong, 100*above)
		if wrong > seeds/4 || hold*4 < c.least*seeds {
			t.Errorf("%s, %v: of %d searches %d have a load that holds, %d are wrong, by up to %.0f %%", c.objective, c.time, seeds, hold, wrong, 100*above)
		}
	}
}
