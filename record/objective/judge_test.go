package objective

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"

	"pgregory.net/rapid"
)

// reply is a request with its first event at ttft and the others each gap (ms).
func reply(i int, ttft, gap float64, events int) *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.Streamed, tl.Asked, tl.Outcome = int64(i), true, true, timeline.OK
	at := func(j int) int64 { return int64(math.Round((ttft + float64(j)*gap) * 1000)) }
	for j := range events {
		tl.Events.Append(timeline.Event{AtUS: at(j), Kind: timeline.Text, Bytes: 4, Read: int64(j)})
	}
	tl.Usage.Output = timeline.Some(int64(events))
	tl.CloseUS = timeline.Some(at(events))
	return tl
}

func failed(i int, class timeline.Outcome, after float64) *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.Asked = int64(i), true
	tl.Fail(class, "it failed")
	tl.CloseUS = timeline.Some(int64(after * 1000))
	return tl
}

func whole(i int, e2e float64) *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.Outcome = int64(i), timeline.OK
	tl.Usage.Output, tl.CloseUS = timeline.Some(int64(10)), timeline.Some(int64(e2e*1000))
	return tl
}

func judged(t testing.TB, texts []string, tls []*timeline.Timeline, allowLowN bool) *Goodput {
	t.Helper()
	objectives, err := ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJudge(objectives, allowLowN)
	c := metric.NewCollector(metric.CollectorOpts{})
	for _, tl := range tls {
		j.Add(tl)
		c.Add(tl)
	}
	s := c.Summary()
	return j.Goodput(&s, c)
}

func b95() []*timeline.Timeline {
	var tls []*timeline.Timeline
	add := func(n int, f func(i int) *timeline.Timeline) {
		for range n {
			tls = append(tls, f(len(tls)))
		}
	}
	add(90, func(i int) *timeline.Timeline { return reply(i, 300, 10, 5) })
	add(4, func(i int) *timeline.Timeline { return reply(i, 700, 10, 5) })
	add(6, func(i int) *timeline.Timeline { return failed(i, timeline.HTTP5xx, 5) })
	add(3, func(i int) *timeline.Timeline { return failed(i, timeline.CancelledRunEnd, 5) })
	add(2, func(i int) *timeline.Timeline { return whole(i, 400) })
	return tls
}

// B95: failures are bad, what the run's end cut off and what has no TTFT are
// left out.
func TestB95(t *testing.T) {
	g := judged(t, []string{"ttft <= 500ms"}, b95(), true)
	if g.Good != 90 || g.Bad != 10 || g.ExcludedBy["cancelled_run_end"] != 3 || g.ExcludedBy["not_evaluable"] != 2 || g.Excluded != 5 {
		t.Errorf("got %+v", g)
	}
	if f, _ := g.Fraction.Get(); f != 0.9 {
		t.Errorf("fraction %v, want 0.9", f)
	}
	o := g.Objectives[0]
	if a, _ := o.Attained.Get(); a != 0.9 || o.N != 100 || o.State != Missed {
		t.Errorf("got %+v", o)
	}
	g = judged(t, []string{"p90 ttft <= 500ms", "p95 ttft <= 500ms"}, b95(), true)
	// 90 of 100 within, 4 slow, 6 infinite: p90 lies on the last good one.
	if o := g.Objectives[0]; o.State != Missed && o.State != Met {
		t.Errorf("p90: %+v", o)
	}
	if o := g.Objectives[1]; o.State != Missed || o.Value.OK() {
		t.Errorf("p95 with 6 failures: %+v", o)
	}
	g = judged(t, []string{"p95 ttft <= 500ms valid: success"}, b95(), true)
	if o := g.Objectives[0]; o.N != 94 || !o.Value.OK() || g.ExcludedBy["not_evaluable"] != 8 {
		t.Errorf("valid: success: %+v %+v", o, g.ExcludedBy)
	}
	g = judged(t, []string{"error rate < 5%", "goodput > 85%", "ttft:500"}, b95(), true)
	if o := g.Objectives[0]; o.State != Missed || math.Abs(o.Value.Or(0)-6./102) > 1e-12 {
		t.Errorf("error rate: %+v", o)
	}
	// The two without a stream did not fail, and that is all goodput can ask.
	if o := g.Objectives[1]; o.State != Met || g.Good != 92 || g.Bad != 10 {
		t.Errorf("goodput: %+v of %+v", o, g)
	}
	if o := g.Objectives[2]; o.State != "" || o.Met.OK() || o.Attained.Or(0) != 0.9 {
		t.Errorf("a criterion has a verdict: %+v", o)
	}
}

func numbered(n int, ttft func(i int) float64) []*timeline.Timeline {
	var tls []*timeline.Timeline
	for i := range n {
		tls = append(tls, reply(i, ttft(i), 10, 5))
	}
	return tls
}

func TestStates(t *testing.T) {
	rising := func(i int) float64 { return float64(i + 1) }
	withFailures := func(n, failures int) []*timeline.Timeline {
		tls := numbered(n-failures, rising)
		for i := range failures {
			tls = append(tls, failed(n+i, timeline.ConnReset, 1))
		}
		return tls
	}
	// allowLowN decides by the figure itself, whatever its interval.
	for _, c := range []struct {
		text  string
		tls   []*timeline.Timeline
		low   bool
		state string
		value float64 // NaN: null
	}{
		{"p99 ttft < 100ms", numbered(99, rising), false, Open, 98.02},
		{"p99 ttft < 100ms", numbered(99, rising), true, Met, 98.02},
		{"p99 ttft < 100ms", numbered(100, rising), true, Met, 99.01},
		{"p99 ttft < 99ms", numbered(100, rising), true, Missed, 99.01},
		// One failure in 100 is what p99 allows, two are not.
		{"p99 ttft < 1s", withFailures(100, 1), true, Met, 99},
		{"p99 ttft < 1s", withFailures(100, 2), true, Missed, math.NaN()},
		{"p50 ttft <= 50.5ms", numbered(100, rising), true, Met, 50.5},
		// 99 of 100 keep the limit, and no slowness of the last one changes that.
		{"p99 ttft < 1s", append(numbered(99, rising), reply(99, 60_000, 10, 5)), true, Met, 698.01},
		{"p99 ttft < 500ms", append(numbered(99, rising), reply(99, 60_000, 10, 5)), true, Met, 99},
		{"p99 ttft < 500ms", append(numbered(98, rising), reply(98, 600, 10, 5), reply(99, 60_000, 10, 5)), true, Missed, 1194},
		{"p10 ttft > 10ms", numbered(100, rising), true, Met, 10.9},
		{"p10 e2e_tps > 1", withFailures(100, 10), true, Met, math.Inf(1)},
		{"p10 e2e_tps > 1", withFailures(100, 11), true, Missed, math.NaN()},
		{"mean ttft < 51ms", numbered(100, rising), true, Met, 50.5},
		{"mean ttft < 51ms", withFailures(100, 1), true, Missed, math.NaN()},
		{"mean ttft < 51ms valid: success", withFailures(101, 1), true, Met, 50.5},
		{"max ttft < 100ms", numbered(100, rising), true, Missed, 100},
		{"max ttft <= 100ms", numbered(100, rising), true, Met, 100},
		{"ttft <= 100ms", numbered(100, rising), true, Met, 100},
		{"ttft <= 100ms", withFailures(100, 1), true, Missed, math.NaN()},
		{"p99 itl < 10.1ms", numbered(100, rising), true, Met, 10},
		{"p99 itl < 10.1ms", withFailures(100, 2), true, Missed, math.NaN()},
		{"max itl < 10ms", numbered(100, rising), true, Missed, 10},
		{"p99 tpot < 1s", []*timeline.Timeline{reply(0, 5, 0, 1)}, false, Open, math.NaN()},
		{"error rate < 1%", nil, false, Open, math.NaN()},
		{"error rate <= 1%", withFailures(100, 1), true, Met, 0.01},
		{"goodput >= 99%", withFailures(100, 1), true, Met, 0.99},
		{"requests_per_s > 1", numbered(100, rising), true, Met, 100 / 0.140},
		{"goodput rate > 1", numbered(100, rising), true, Met, 100 / 0.140},
		{"usd_per_1k_output < 1", numbered(100, rising), false, Open, math.NaN()},
		{"check pass >= 98%", numbered(100, rising), false, Open, math.NaN()},
		{"task success >= 98%", numbered(100, rising), false, Open, math.NaN()},
	} {
		o := judged(t, []string{c.text}, c.tls, c.low).Objectives[0]
		v, ok := o.Value.Get()
		right := math.IsNaN(c.value) && !ok || math.Abs(v-c.value) < 1e-6 || math.IsInf(c.value, 1) && ok
		if o.State != c.state || !right {
			t.Errorf("%s of %d: %s %v (%v), want %s %v", c.text, len(c.tls), o.State, v, ok, c.state, c.value)
		}
		if met, known := o.Met.Get(); known != (c.state != Open) || known && met != (c.state == Met) {
			t.Errorf("%s: met is %v", c.text, o.Met)
		}
	}
}

func TestSettled(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(1000)
	tls := numbered(1000, func(i int) float64 { return float64(order[i] + 1) })
	for text, want := range map[string]bool{
		"p50 ttft < 600ms": true, "p50 ttft < 505ms": false, "p50 ttft < 495ms": false, "p50 ttft < 400ms": true,
		"error rate < 1%": true, "error rate < 0.1%": false,
	} {
		o := judged(t, []string{text}, tls, false).Objectives[0]
		if got, ok := o.Settled.Get(); !ok || got != want {
			t.Errorf("%s: settled %v, want %v (%+v)", text, got, want, o.CI95)
		}
	}
}

// An interval that lies on one side of the limit settles an objective, whatever the
// number of requests; Clopper and Pearson's for as many as they are worth.
func TestWhatSettles(t *testing.T) {
	with := func(n int, slow func(i int) bool) []*timeline.Timeline {
		var tls []*timeline.Timeline
		for i := range n {
			ttft := 100.0
			if slow(i) {
				ttft = 900
			}
			tl := reply(i, ttft, 10, 5)
			tl.DueUS = int64(i) * 100_000
			tl.StartUS = tl.DueUS
			tls = append(tls, tl)
		}
		return tls
	}
	all, none := func(int) bool { return true }, func(int) bool { return false }
	scattered := rand.New(rand.NewPCG(4, 4)).Perm(1000)
	for _, c := range []struct {
		name, text string
		tls        []*timeline.Timeline
		state      string
	}{
		{"all of 50 are slow", "p99 ttft < 500ms", with(50, all), Missed},
		{"none of 50 is slow", "p99 ttft < 500ms", with(50, none), Open},
		{"none of 367: 1 − 0.025^(1/367) is above 1 %", "p99 ttft < 500ms", with(367, none), Open},
		{"none of 368", "p99 ttft < 500ms", with(368, none), Met},
		{"none of 6", "p50 ttft < 500ms", with(6, none), Met},
		{"none of 5", "p50 ttft < 500ms", with(5, none), Open},
		{"3 % here and there", "p99 ttft < 500ms", with(1000, func(i int) bool { return scattered[i] < 30 }), Missed},
		{"3 % in one go are one event", "p99 ttft < 500ms", with(1000, func(i int) bool { return i >= 500 && i < 530 }), Open},
		{"a slow one of 100", "p99 ttft < 500ms", with(100, func(i int) bool { return i == 40 }), Open},
		{"speeds: none is slow", "p5 decode_tps > 50", with(200, none), Met},
		{"speeds: all are slow", "p5 decode_tps > 500", with(200, none), Missed},
		{"gaps", "p99 itl < 20ms", with(400, none), Met},
		{"gaps of few answers", "p99 itl < 20ms", with(20, none), Open},
		{"gaps, all too long", "p99 itl < 5ms", with(20, none), Missed},
		{"a mean", "mean ttft < 500ms", with(200, func(i int) bool { return scattered[i]%4 == 0 }), Met},
		{"a share of failures that was never seen", "error rate < 1%", with(100, none), Open},
		{"the same in 400", "error rate < 1%", with(400, none), Met},
		{"every request is asked for", "ttft < 500ms and max ttft < 500ms", with(3, none), Met},
	} {
		for _, o := range judged(t, []string{c.text}, c.tls, false).Objectives {
			if o.State != c.state && o.State != "" {
				t.Errorf("%s: %s is %s, want %s; %+v", c.name, o.Text, o.State, c.state, o)
			}
			if met, known := o.Met.Get(); o.State != "" && (known != (c.state != Open) || known && met != (c.state == Met)) {
				t.Errorf("%s: met is %v", c.name, o.Met)
			}
		}
	}
}

func TestNotApplicableLeavesTheOthers(t *testing.T) {
	// One token: no TPOT, and it can still be good on TTFT.
	g := judged(t, []string{"tpot < 50ms", "ttft < 500ms"}, []*timeline.Timeline{reply(0, 180, 0, 1), reply(1, 180, 30, 5)}, false)
	if g.Good != 2 || g.Objectives[0].N != 1 || g.Objectives[0].State != Met {
		t.Errorf("got %+v", g)
	}
	// Only reasoning came: TTFO is missed, not unknown.
	thinking := timeline.New()
	thinking.Streamed, thinking.Outcome = true, timeline.OK
	thinking.Events.Append(timeline.Event{AtUS: 1000, Kind: timeline.Reasoning, Bytes: 4})
	g = judged(t, []string{"ttfo < 500ms"}, []*timeline.Timeline{thinking}, false)
	if g.Bad != 1 || g.Objectives[0].State != Missed {
		t.Errorf("got %+v", g)
	}
}

func TestTasksAndChecks(t *testing.T) {
	var tls []*timeline.Timeline
	step := func(task string, due, took float64, set func(*timeline.Timeline)) {
		tl := reply(len(tls), took/2, took/8, 5)
		tl.Task, tl.DueUS = task, int64(due*1000)
		tl.StartUS = tl.DueUS
		if set != nil {
			set(tl)
		}
		tls = append(tls, tl)
	}
	passed := func(ok bool) func(*timeline.Timeline) {
		return func(tl *timeline.Timeline) { tl.CheckPassed = timeline.Some(ok) }
	}
	step("quick", 0, 1000, passed(true))
	step("quick", 1000, 1000, passed(true))
	step("slow", 0, 30_000, passed(true))
	step("slow", 31_000, 30_000, nil)
	step("broken", 0, 1000, func(tl *timeline.Timeline) { tl.Fail(timeline.ConnReset, "reset") })
	step("wrong", 0, 1000, passed(false))
	step("cut", 0, 1000, func(tl *timeline.Timeline) { tl.Fail(timeline.CancelledRunEnd, "run end") })
	g := judged(t, []string{"task success < 60s >= 25%", "task success >= 60%", "check pass >= 60%"}, tls, true)
	for i, want := range []struct {
		value float64
		n     int64
		state string
	}{{0.25, 4, Met}, {0.5, 4, Missed}, {0.6, 5, Met}} {
		if o := g.Objectives[i]; o.Value.Or(-1) != want.value || o.N != want.n || o.State != want.state {
			t.Errorf("%s: %+v, want %+v", o.Text, o, want)
		}
	}
}

func TestNoObjectives(t *testing.T) {
	j := NewJudge(nil, false)
	if j.Add(reply(0, 1, 1, 5)).OK() || j.Goodput(&metric.Summary{}, nil) != nil {
		t.Error("there is a verdict without objectives")
	}
	var g *Goodput
	if g.Missed() {
		t.Error("nothing was promised and missed")
	}
}

// The JSON form has null, never an infinity or a made-up state.
func TestResultJSON(t *testing.T) {
	g := judged(t, []string{"p50 ttft < 1s", "ttft:5"}, []*timeline.Timeline{failed(0, timeline.ConnReset, 1)}, true)
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Objectives []map[string]any `json:"objectives"`
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if o := back.Objectives[0]; o["value"] != nil || o["state"] != "missed" || o["attained"] != 0.0 {
		t.Errorf("got %v", o)
	}
	if o := back.Objectives[1]; o["state"] != nil || o["met"] != nil || o["text"] != "ttft:5ms" {
		t.Errorf("got %v", o)
	}
	var again Goodput
	if err := json.Unmarshal(data, &again); err != nil || again.Objectives[1].State != "" {
		t.Errorf("%v %+v", err, again)
	}
}

func TestJudgeIsOrderIndependent(t *testing.T) {
	texts := []string{"p90 ttft < 200ms", "mean tpot < 20ms", "p50 itl < 15ms", "p10 decode_tps > 30", "error rate < 20%",
		"goodput > 50%", "task success < 1s >= 50%", "p50 session e2e < 1s", "p90 turn ttft < 200ms"}
	objectives, err := ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var tls []*timeline.Timeline
		for i := range rapid.IntRange(0, 60).Draw(t, "n") {
			tl := reply(i, 400*rng.Float64(), 40*rng.Float64(), rng.IntN(6))
			switch rng.IntN(6) {
			case 0:
				tl.Fail(timeline.StreamTruncated, "cut")
			case 1:
				tl.Fail(timeline.CancelledRunEnd, "run end")
			}
			tl.Task = fmt.Sprint(rng.IntN(9))
			tls = append(tls, tl)
		}
		c := metric.NewCollector(metric.CollectorOpts{})
		one, parts := NewJudge(objectives, true), []*Judge{NewJudge(objectives, true), NewJudge(objectives, true)}
		for _, tl := range tls {
			c.Add(tl)
			one.Add(tl)
		}
		for _, i := range rng.Perm(len(tls)) {
			parts[rng.IntN(2)].Add(tls[i])
		}
		parts[0].Merge(parts[1])
		s := c.Summary()
		a, _ := json.Marshal(one.Goodput(&s, c))
		b, _ := json.Marshal(parts[0].Goodput(&s, c))
		if string(a) != string(b) {
			t.Fatalf("another order, another result:\n%s\n%s", a, b)
		}
		g := one.Goodput(&s, c)
		if g.Good+g.Bad+g.Excluded != int64(len(tls)) {
			t.Fatalf("%d requests, %+v", len(tls), g)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	objectives, err := ParseAll([]string{"p99 ttft < 500ms", "p99 tpot < 50ms", "error rate < 1%"})
	if err != nil {
		b.Fatal(err)
	}
	j, tl := NewJudge(objectives, false), reply(0, 100, 20, 100)
	b.ReportAllocs()
	for b.Loop() {
		j.Add(tl)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("p99 tpot < 120ms"); err != nil {
			b.Fatal(err)
		}
	}
}

// A percentile is met exactly when the share of good requests is reached, and
// its value stands on the same side of the limit.
func TestMetIsTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]string{"p50", "p90", "p95", "p99"}).Draw(t, "p")
		op := rapid.SampledFrom([]string{"<", "<="}).Draw(t, "op")
		n := rapid.IntRange(1, 250).Draw(t, "n")
		late := rapid.Float64Range(0, 0.2).Draw(t, "late")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var tls []*timeline.Timeline
		for i := range n {
			switch x := rng.Float64(); {
			case x < late/2:
				tls = append(tls, failed(i, timeline.ConnReset, 1))
			case x < late:
				tls = append(tls, reply(i, 100*math.Exp(5*rng.Float64()), 10, 3))
			default:
				tls = append(tls, reply(i, float64(1+rng.IntN(100)), 10, 3))
			}
		}
		objectives, err := ParseAll([]string{fmt.Sprintf("%s ttft %s 100ms", p, op)})
		if err != nil {
			t.Fatal(err)
		}
		j, good := NewJudge(objectives, true), int64(0)
		for _, tl := range tls {
			if j.Add(tl).Or(false) {
				good++
			}
		}
		r := j.Goodput(&metric.Summary{}, nil).Objectives[0]
		want := good >= stat.Rank(int64(n), objectives[0].Percentile)
		if met := r.Met.Or(!want); met != want {
			t.Fatalf("%d of %d good, met %v", good, n, met)
		}
		if v, ok := r.Value.Get(); ok && objectives[0].Holds(v) != want || !ok && want {
			t.Fatalf("value %v, met %v", v, want)
		}
	})
}
