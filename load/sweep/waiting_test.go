package sweep

import (
	"math"
	"testing"
	"time"
)

// A load a little above what the server can do makes requests wait longer and longer, but
// a probe of fifteen seconds ends before that reaches the limit, and one that is a little
// below may see no queue for minutes. What is said to hold does, and loads well below are
// still found. The capacities of shares are those of a million requests at a load, those
// of means of 200,000.
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
		{"mean ttft < 1s", 26.5, 10 * time.Minute, 3},
		{"p50 ttft < 1s", 26.64, 10 * time.Minute, 3},
		{"p90 ttft < 1s", 26.18, 10 * time.Minute, 3},
		{"p95 ttft < 1s", 25.86, 10 * time.Minute, 3},
		{"p95 ttft < 1s", 25.86, 40 * time.Minute, 4},
	} {
		hold, wrong, width := 0, 0, 0.0
		seeds := max(*searches, 12)
		for seed := range seeds {
			found := searchSlow(t, c.objective, c.time, seed)
			if found.Holds > 0 {
				hold++
				width += math.Log(found.Fails / found.Holds)
			}
			if found.Holds > c.capacity || found.Fails > 0 && found.Fails < c.capacity {
				wrong++
				told(t, &found)
			}
		}
		t.Logf("%s, %v: of %d searches %d say something wrong, %d have a load that holds, a factor of %.2f apart", c.objective, c.time, seeds, wrong, hold, math.Exp(width/float64(hold)))
		if wrong > 1+seeds/10 || hold*4 < c.least*seeds {
			t.Errorf("%s, %v: of %d searches %d say something wrong and %d have a load that holds", c.objective, c.time, seeds, wrong, hold)
		}
	}
}
