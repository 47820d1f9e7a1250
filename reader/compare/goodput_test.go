package compare

import (
	"testing"

	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
)

// 120 bad requests of 1,000 in three bursts are three events: they leave a promise of
// 90 % open. 300 that come one by one break it.
func TestGoodputOfBursts(t *testing.T) {
	made := func(bad func(i int) bool) []*Run {
		pieces := make([]stat.Pair, 1000)
		for i := range pieces {
			pieces[i].Den = 1
			if !bad(i) {
				pieces[i].Num = 1
			}
		}
		return []*Run{{series: map[string]series{"goodput": newFixed(pieces, nil)}}}
	}
	o := mustGates(t, "goodput > 90%")[0].Objective
	for name, c := range map[string]struct {
		bad  func(i int) bool
		want string
	}{
		"bursts":         {func(i int) bool { return i%333 < 40 }, objective.Open},
		"one by one":     {func(i int) bool { return i%10 < 3 }, objective.Missed},
		"few one by one": {func(i int) bool { return i%20 == 0 }, objective.Met},
	} {
		got, ok := goodputOf(o, made(c.bad), &Options{})
		if !ok || got.State != c.want || got.CI95 == nil {
			t.Errorf("%s: %s, %v, interval %v", name, got.State, got.Value, got.CI95)
		}
	}
	if got, _ := goodputOf(o, made(func(i int) bool { return i%333 < 40 }), &Options{AllowLowN: true}); got.State != objective.Missed {
		t.Errorf("as it came: %s", got.State)
	}
}
