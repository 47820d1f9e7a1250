package schedule

import (
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func stages(t testing.TB, text string) Curve {
	t.Helper()
	c, err := ParseStages(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Constant arrivals over stages are due where the integral of the rate reaches
// 0, 1, 2, …: for a ramp from 0 with slope a that is √(2i/a).
func TestArrivalsFollowTheIntegralOfTheRate(t *testing.T) {
	cases := []struct {
		text string
		n    int
		at   func(i float64) float64 // seconds
	}{
		{"10s@5", 50, func(i float64) float64 { return i / 5 }},
		{"10s@0..10", 50, func(i float64) float64 { return math.Sqrt(2 * i) }},
		{"10s@10..0", 50, func(i float64) float64 { return 10 - math.Sqrt(100-2*i) }},
		{"20s@1..3", 40, func(i float64) float64 { return (-1 + math.Sqrt(1+0.2*i)) / 0.1 }},
		{"10s@2,5s@0,10s@4", 60, func(i float64) float64 {
			if i < 20 {
				return i / 2
			}
			return 15 + (i-20)/4
		}},
		{"10s@0..10,10s@10..0", 100, func(i float64) float64 {
			if i < 50 {
				return math.Sqrt(2 * i)
			}
			return 20 - math.Sqrt(100-2*(i-50))
		}},
	}
	for _, c := range cases {
		o := Open{Stages: stages(t, c.text)}
		got := collect(o, Share{})
		if len(got) != c.n || o.Planned() != int64(c.n) {
			t.Errorf("%s: %d requests, %d planned, want %d", c.text, len(got), o.Planned(), c.n)
			continue
		}
		for i, a := range got {
			if want := c.at(float64(i)); math.Abs(a.At.Seconds()-want) > 2e-9*(1+want) {
				t.Errorf("%s: request %d at %.9f s, want %.9f", c.text, i, a.At.Seconds(), want)
				break
			}
		}
	}
}

// A Poisson process whose rate changes: mapped back through the integral of the
// rate, its gaps are exponential (Kolmogorov-Smirnov at 0.001, D·√n < 1.949).
func TestPoissonOverStages(t *testing.T) {
	c := stages(t, "60s@10..200,60s@200..20,60s@20")
	for seed := range uint64(5) {
		o := Open{Stages: c, Arrival: "poisson", Seed: seed}
		var gaps []float64
		last := 0.0
		for a := range o.Arrivals(Share{}) {
			u := c.expected(a.At)
			gaps, last = append(gaps, u-last), u
		}
		n := float64(len(gaps))
		if want := 60*105.0 + 60*110 + 60*20; math.Abs(n-want) > 3.3*math.Sqrt(want) {
			t.Errorf("seed %d: %v requests, want about %v", seed, n, want)
		}
		slices.Sort(gaps)
		d := 0.0
		for i, x := range gaps {
			f := distuv.Exponential{Rate: 1}.CDF(x)
			d = max(d, f-float64(i)/n, float64(i+1)/n-f)
		}
		if d*math.Sqrt(n) > 1.949 {
			t.Errorf("seed %d: D·√n = %.3f", seed, d*math.Sqrt(n))
		}
	}
}

func TestUniformGaps(t *testing.T) {
	const n = 10000
	sample := gaps(Open{Rate: 50, Arrival: "uniform", Seed: 3, Requests: n})
	slices.Sort(sample)
	d := 0.0
	for i, x := range sample {
		f := min(x/2, 1)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	if d*math.Sqrt(n) > 1.949 {
		t.Errorf("D·√n = %.3f", d*math.Sqrt(n))
	}
}

func TestRampAndTail(t *testing.T) {
	count := func(o Open) (lead, main, tail int, last time.Duration) {
		for a := range o.Arrivals(Share{}) {
			switch a.Part {
			case Lead:
				lead++
			case Main:
				main++
			case Tail:
				tail++
			}
			last = a.At
		}
		return
	}
	lead, main, tail, _ := count(Open{Rate: 10, Ramp: 4 * time.Second, Duration: 10 * time.Second, Tail: 2 * time.Second})
	if lead != 20 || main != 100 || tail != 20 {
		t.Errorf("by time: %d, %d, %d; want 20, 100, 20", lead, main, tail)
	}
	lead, main, tail, last := count(Open{Rate: 10, Ramp: 4 * time.Second, Requests: 7, Tail: time.Second})
	if lead != 20 || main != 7 || tail != 10 || last != 5600*time.Millisecond {
		t.Errorf("by number: %d, %d, %d until %v; want 20, 7, 10 until 5.6s", lead, main, tail, last)
	}
	rapid.Check(t, func(t *rapid.T) {
		o := Open{Rate: rapid.Float64Range(1, 100).Draw(t, "rate"), Arrival: rapid.SampledFrom(Names()).Draw(t, "arrival"),
			Seed: rapid.Uint64().Draw(t, "seed"), Requests: rapid.Int64Range(1, 50).Draw(t, "n"),
			Ramp: time.Duration(rapid.IntRange(0, 3000).Draw(t, "ramp")) * time.Millisecond,
			Tail: time.Duration(rapid.IntRange(0, 3000).Draw(t, "tail")) * time.Millisecond}
		part, n := Lead, int64(0)
		order := map[Part]int{Lead: 0, Main: 1, Tail: 2}
		for a := range o.Arrivals(Share{}) {
			if order[a.Part] < order[part] || (a.Part == Lead) != (a.At < o.Ramp) {
				t.Fatalf("%v after %v at %v", a.Part, part, a.At)
			}
			if part = a.Part; part == Main {
				n++
			}
		}
		if n != o.Requests {
			t.Fatalf("%d of the main part, want %d", n, o.Requests)
		}
	})
}

func TestParseStages(t *testing.T) {
	for _, good := range []string{"1m0s@5", "1m0s@5,2m0s@5..50,30s@0", "500ms@0.5..1e3"} {
		c := stages(t, good)
		if again := stages(t, c.String()); !slices.Equal(c, again) {
			t.Errorf("%q is read back as %v", good, again)
		}
	}
	for bad, word := range map[string]string{
		"": "TIME@RATE", "5": "TIME@RATE", "1m@": "no number", "1@5": "no time", "1m@x": "no number", "1m@5..": "no number",
		"1m@-1": "0 to", "1m@NaN": "0 to", "0s@5..6": "above 0", "-1m@5": "above 0", "0s@5": "above 0", "0s@5,1m@5": "above 0", "1m@0": "no stage", "1m@1e9": "0 to",
		"2000h@1": "at most",
	} {
		if _, err := ParseStages(bad); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want a word about %q", bad, err, word)
		}
	}
}

func FuzzParseStages(f *testing.F) {
	f.Add("1m@5,2m@5..50")
	f.Add("0s@5")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseStages(s)
		if err != nil {
			return
		}
		o := Open{Stages: c, Requests: 100, Arrival: "poisson"}
		last := time.Duration(0)
		for a := range o.Arrivals(Share{}) {
			if a.At < last || c.Length() > 0 && a.At > c.Length() {
				t.Fatalf("%q: %v after %v", s, a.At, last)
			}
			last = a.At
		}
	})
}

func TestLevels(t *testing.T) {
	c := Closed{Concurrency: 10, Levels: stages(t, "10s@0..10,10s@10,10s@10..0")}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		stream   int
		at, want time.Duration
		ok       bool
	}{
		{0, 0, 500 * time.Millisecond, true}, {9, 0, 9500 * time.Millisecond, true},
		{9, 12 * time.Second, 12 * time.Second, true},
		{9, 20*time.Second + 400*time.Millisecond, 20*time.Second + 400*time.Millisecond, true},
		{9, 21 * time.Second, 0, false}, {0, 29 * time.Second, 29 * time.Second, true}, {0, 30 * time.Second, 0, false},
	} {
		got, ok := c.May(x.stream, x.at)
		if ok != x.ok || ok && (got-x.want).Abs() > time.Microsecond {
			t.Errorf("stream %d at %v: %v, %v; want %v, %v", x.stream, x.at, got, ok, x.want, x.ok)
		}
	}
	if s := (Closed{Concurrency: 4, Ramp: 8 * time.Second}).Starts(3); s != 6*time.Second {
		t.Errorf("stream 3 of 4 starts after %v of a ramp of 8 s", s)
	}
}

func seconds(at ...float64) func() iter.Seq2[time.Duration, error] {
	return func() iter.Seq2[time.Duration, error] {
		return func(yield func(time.Duration, error) bool) {
			for _, s := range at {
				if !yield(time.Duration(s*1e9), nil) {
					return
				}
			}
		}
	}
}

func TestTrace(t *testing.T) {
	times := seconds(0, 1, 1, 4, 6, 10)
	all := func(tr Trace, share Share) (out []Arrival) {
		for a := range tr.Arrivals(share) {
			out = append(out, a)
		}
		return
	}
	got := all(Trace{Times: times, Speed: 2, From: time.Second, To: 7 * time.Second}, Share{})
	want := []Arrival{{1, 0, Main}, {2, 0, Main}, {3, 1500 * time.Millisecond, Main}, {4, 2500 * time.Millisecond, Main}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got = all(Trace{Times: times, Requests: 3, Tail: 4 * time.Second}, Share{})
	if len(got) != 5 || got[2].Part != Main || got[3].Part != Tail {
		t.Errorf("with a bound and a tail: %v", got)
	}
	var failed error
	got = all(Trace{Times: seconds(0, 5, 4), Failed: func(err error) { failed = err }}, Share{})
	if len(got) != 2 || failed == nil || !strings.Contains(failed.Error(), "record 3") {
		t.Errorf("backwards: %v, %v", got, failed)
	}
	both := append(all(Trace{Times: times}, Share{0, 2}), all(Trace{Times: times}, Share{1, 2})...)
	slices.SortFunc(both, func(a, b Arrival) int { return int(a.Index - b.Index) })
	if !slices.Equal(both, all(Trace{Times: times}, Share{})) {
		t.Error("the shares are not the trace")
	}
	for _, bad := range []Trace{{Speed: -1}, {Speed: math.NaN()}, {From: 5, To: 5}, {Requests: -1}, {Duration: -1}, {Tail: -1}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
