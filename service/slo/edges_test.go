package slo

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Windows that follow each other hold every event once, whenever it comes.
func TestWindowsAreHalfOpen(t *testing.T) {
	o := must(t, "objectives: [{name: x, objective: availability >= 99%, window: 1h}]")[0]
	rapid.Check(t, func(t *rapid.T) {
		memory := &Memory{}
		k := Key{o.Hash, Live, ""}
		n := rapid.IntRange(1, 50).Draw(t, "events")
		for range n {
			at := time.Duration(rapid.Int64Range(0, int64(3*time.Hour)-1).Draw(t, "at"))
			if rapid.Bool().Draw(t, "edge") {
				at = at.Truncate(time.Hour)
			}
			memory.Add(k, day0.Add(at), 0, Counts{Good: 1, Valid: 1})
		}
		var sum int64
		for hour := range 3 {
			sum += o.Evaluate(memory, Live, nil, day0.Add(time.Duration(hour+1)*time.Hour)).Valid
		}
		if sum != int64(n) {
			t.Fatalf("three windows hold %d of %d events", sum, n)
		}
	})
}

// A share is never shown as more than was held, nor as a whole where something
// is missing; what was set is shown as it was set.
func TestSharesAreNotFlattered(t *testing.T) {
	for x, want := range map[float64]string{
		0.999989: "99.9989 %", 0.9999999: "99.99999 %", 0.99999949: "99.999949 %", 0.5: "50 %", 1: "100 %", 0: "0 %", 0.29: "29 %", 0.9995: "99.95 %",
		2. / 3: "66.666 %", -99: "-9900 %", -7.92: "-792 %", -2. / 3: "-66.667 %", 1. / 3e6: "0.000033333 %",
	} {
		if got := AtMost(x); got != want {
			t.Errorf("%v is shown as %s, want %s", x, got, want)
		}
	}
	if got := percent(0.999995); got != "99.9995 %" {
		t.Errorf("a target is shown as %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		valid := rapid.Int64Range(1, 1e12).Draw(t, "valid")
		good := valid - min(rapid.Int64Range(0, 1000).Draw(t, "bad"), valid)
		shown, ok := new(big.Rat).SetString(strings.TrimSuffix(AtMost(float64(good)/float64(valid)), " %"))
		if !ok {
			t.Fatal("no number")
		}
		held := new(big.Rat).Mul(big.NewRat(good, valid), big.NewRat(100, 1))
		held.Add(held, big.NewRat(1, 1e10)) // what floating point can't tell
		if shown.Cmp(held) > 0 || good < valid && valid < 1e9 && shown.Cmp(big.NewRat(100, 1)) >= 0 {
			t.Fatalf("%d of %d is shown as %s", good, valid, shown.FloatString(12))
		}
	})
}

// Every kind of alert waits for as many events as it says.
func TestOneFailurePagesNobody(t *testing.T) {
	o := must(t, `
objectives:
  - name: up
    objective: availability >= 99%
    window: 7d
    min_events: 1
    alerts: [{exhausted_within: 2d}, {budget_below: 50%}, {factor: 4, long: 1h}]`)[0]
	for _, c := range []struct {
		good, bad int64
		reason    string
	}{{20, 1, InsufficientEvents}, {5, 4, InsufficientEvents}, {20, 4, ""}} {
		memory := &Memory{}
		memory.Add(Key{o.Hash, Live, ""}, day0, 0, Counts{Good: c.good, Valid: c.good + c.bad})
		for _, a := range o.Evaluate(memory, Live, nil, day0.Add(time.Minute)).Alerts {
			if a.Firing != (c.reason == "") || a.Reason != c.reason {
				t.Errorf("%d bad of %d: %s fires %v: %s", c.bad, c.good+c.bad, a.Name, a.Firing, a.Says)
			}
		}
	}
}

// A daemon that restarts often goes on to notice that nothing comes, and a
// request ends the silence whenever it came.
func TestRestartsHideNoSilence(t *testing.T) {
	o := must(t, "objectives:\n  - {name: x, objective: availability >= 99%, alerts: [{no_data_for: 15m}]}")[0]
	for _, c := range []struct {
		away   time.Duration // after each 4 minutes
		fires  bool
		asked  time.Duration // before now; 0: never
		frozen bool
	}{{time.Minute, true, 0, false}, {5 * time.Minute, true, 0, false}, {time.Minute, false, 10 * time.Minute, false}, {20 * time.Minute, false, 0, true}} {
		memory := &Memory{}
		now := day0
		for range 20 {
			memory.Watch(Live, now, now.Add(4*time.Minute))
			now = now.Add(4*time.Minute + c.away)
		}
		now = now.Add(-c.away)
		memory.Counting(map[Key]time.Time{{Hash: o.Hash, Source: Live}: day0})
		if c.asked > 0 {
			memory.Add(Key{o.Hash, Live, ""}, now.Add(-c.asked), 0, Counts{Good: 1, Valid: 1})
		}
		if a := o.Evaluate(memory, Live, nil, now).Alerts[0]; a.Firing != c.fires || a.Frozen != c.frozen {
			t.Errorf("away for %s, asked %s ago: %+v", c.away, c.asked, a)
		}
	}
}

// A memory that ends at a moment knows nothing of what came then or later.
func TestUntil(t *testing.T) {
	memory := &Memory{Until: day0.Add(time.Hour)}
	k := Key{"h", Live, ""}
	one := Counts{Good: 1, Valid: 1}
	memory.Add(k, day0.Add(time.Hour-1), 0, one)
	memory.Add(k, day0.Add(time.Hour), 0, one)
	memory.Add(k, day0.Add(59*time.Minute), time.Minute, one)
	memory.Add(k, day0.Add(55*time.Minute), time.Hour, one)
	memory.Watch(Live, day0, day0.Add(2*time.Hour))
	if got, _ := memory.Sum(k, day0, day0.Add(3*time.Hour), day0.Add(3*time.Hour), nil); got.Valid != 2 {
		t.Errorf("%d are known", got.Valid)
	}
	if seen := memory.Seen(Live); !seen.Equal(memory.Until) {
		t.Errorf("watched until %s", seen)
	}
}
