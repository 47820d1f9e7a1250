package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tokenmeter/record/timeline"
)

// loop plays a closed loop of so many streams until untilUS: each request takes what took
// says of the time when it is due. What is unfinished then is cut.
func loop(c *Canary, side, streams int, untilUS int64, took func(dueUS int64) (us int64, o timeline.Outcome)) {
	var all []*timeline.Timeline
	end := func(tl *timeline.Timeline) int64 { return tl.DueUS + tl.CloseUS.Or(0) }
	for range streams {
		for due := int64(0); due < untilUS; {
			us, outcome := took(due)
			if due+us >= untilUS {
				us, outcome = untilUS-due, timeline.CancelledRunEnd
			}
			tl := timeline.New()
			tl.DueUS, tl.CloseUS, tl.Outcome, tl.Attempts = due, timeline.Some(us), outcome, 1
			all = append(all, tl)
			due += us
		}
	}
	slices.SortStableFunc(all, func(a, b *timeline.Timeline) int { return cmp.Compare(end(a), end(b)) })
	for _, tl := range all {
		c.ends[side].add(tl)
	}
}

// In 60 s the baseline answers each request in 100 ms; 8 stretches as long make 2^-8, the
// first below the level of 0.0125 for either side.
func TestCanaryFallsSilent(t *testing.T) {
	const second = int64(1_000_000)
	steady := func(int64) (int64, timeline.Outcome) { return second / 10, timeline.OK }
	hangs := func(fromUS, timeoutUS int64) func(int64) (int64, timeline.Outcome) {
		return func(due int64) (int64, timeline.Outcome) {
			if due >= fromUS {
				return timeoutUS, timeline.TimeoutTotal
			}
			return steady(due)
		}
	}
	for name, c := range map[string]struct {
		a, b    func(int64) (int64, timeline.Outcome)
		want    CanaryState
		silentS float64
	}{
		"alike":                     {steady, steady, Continue, 0},
		"hangs from the beginning":  {steady, hangs(0, 1000*second), CanaryWorse, 59.9},
		"hangs until its time-outs": {steady, hangs(0, 7*second), CanaryWorse, 59.9},
		"answers six and hangs":     {steady, hangs(3*second/10, 1000*second), CanaryWorse, 59.6},
		"the baseline hangs":        {hangs(second, 1000*second), steady, CanaryBetter, 58.9},
		"both hang":                 {hangs(second, 1000*second), hangs(second, 1000*second), Continue, 0},
		"hangs just before the end": {steady, hangs(60*second-7*second/10, 1000*second), Continue, 0},
		"half as fast":              {steady, func(int64) (int64, timeline.Outcome) { return second / 5, timeline.OK }, Continue, 0},
		"paused and came back": {steady, func(due int64) (int64, timeline.Outcome) {
			if due >= second && due < 2*second {
				return 30 * second, timeline.OK
			}
			return steady(due)
		}, Continue, 0},
	} {
		canary, err := NewCanary(CanaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		loop(canary, SideA, 2, 60*second, c.a)
		loop(canary, SideB, 2, 60*second, c.b)
		if got, s := canary.End(); got != c.want || math.Abs(s-c.silentS) > 0.15 {
			t.Errorf("%s: %s, silent for %.3f s", name, got, s)
		}
	}
}

// Equal sides whose answers differ by orders of magnitude, and which stand still now and
// then, are rarely told apart by silence.
func TestCanarySilenceErrorGuarantee(t *testing.T) {
	n := times(200, 20_000)
	alarms := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 16))
		c, err := NewCanary(CanaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		streams, until := 1+rng.IntN(8), int64(1e6*math.Exp(rng.Float64()*6))
		for side := range 2 {
			stop, back := int64(rng.ExpFloat64()*60e6), int64(rng.ExpFloat64()*5e6) // the server stands still
			loop(c, side, streams, until, func(due int64) (int64, timeline.Outcome) {
				us := int64(1e5 * math.Exp(rng.NormFloat64()*1.5))
				if due < stop && due+us >= stop {
					us += back
				}
				return max(us, 1), timeline.OK
			})
		}
		if s, _ := c.End(); s != Continue {
			alarms++
		}
	}
	t.Logf("%d alarms of %d", alarms, n)
	if alarms > allowedOf(n, 0.0125) {
		t.Errorf("%d false alarms of %d", alarms, n)
	}
}
