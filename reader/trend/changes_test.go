package trend

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// The limit gives the false alarms that it is made for: sequences of independent
// normal values are looked at by brute force, for every beginning of a change.
func TestAlarmsComeAsOftenAsTheorySays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, b := range []float64{3, 3.4} {
		const runs = 400
		total := 0.0
		for range runs {
			sum, n := []float64{0}, 0
			for over := false; !over; {
				n++
				sum = append(sum, sum[n-1]+rng.NormFloat64())
				for k := max(0, n-400); k < n && !over; k++ {
					over = math.Abs(sum[n]-sum[k]) > b*math.Sqrt(float64(n-k))
				}
			}
			total += float64(n)
		}
		// The mean of 400 exponential times is known to 5 %; the theory is for large b.
		if seen, want := total/runs, alarmEvery(b); seen < want*0.75 || seen > want*1.35 {
			t.Errorf("limit %v: an alarm every %.0f, theory has %.0f", b, seen, want)
		}
	}
	for _, blocks := range []float64{100, 1e4, 1e6} {
		if got := alarmEvery(limitFor(blocks)); math.Abs(got/blocks-1) > 1e-6 {
			t.Errorf("%v, want %v", got, blocks)
		}
	}
}

func TestAsNormal(t *testing.T) {
	// P(t > 2.085963) = 2.5 % with 20 degrees of freedom, as P(z > 1.959964).
	if z := asNormal(2.085963, 20); math.Abs(z-1.959964) > 1e-5 {
		t.Errorf("%v", z)
	}
	if x := (noise{df: 20}).asStudent(1.959964); math.Abs(x-2.085963) > 1e-5 {
		t.Errorf("%v", x)
	}
	if z := asNormal(1e9, 1000); !(z > 30) || math.IsInf(z, 0) {
		t.Errorf("%v", z)
	}
}

func TestSolve(t *testing.T) {
	a := [][]float64{{4, 2, 0}, {2, 5, 3}, {0, 3, 6}}
	b := []float64{8, 21, 24} // of 1, 2, 3
	if !solve(a, b) || math.Abs(b[0]-1)+math.Abs(b[1]-2)+math.Abs(b[2]-3) > 1e-12 {
		t.Errorf("%v", b)
	}
	if solve([][]float64{{1, 1}, {1, 1}}, []float64{1, 1}) {
		t.Error("a singular system has a solution")
	}
}

// The long-run variance of an AR(1) is σ²/(1−φ)²; steps, known or not, are no part
// of it.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &series{metric: TPOT, block: time.Hour}
	const phi = 0.6
	x, v := make([]float64, 24*400), 0.0
	for i := range x {
		v = phi*v + rng.NormFloat64()
		x[i] = v
	}
	s.level = x
	want := 1 / ((1 - phi) * (1 - phi))
	stepped := append([]float64(nil), x...)
	for i := len(x) / 2; i < len(x); i++ {
		stepped[i] += 50
	}
	for name, n := range map[string]noise{"plain": s.noiseOf(x, nil, false), "robust": s.noiseOf(stepped, nil, true), "cut": s.noiseOf(stepped, []int{len(x) / 2}, false)} {
		// A stretch of a day misses what reaches over its ends: φ/(1−φ²)·2/24 of it.
		if n.variance < want*0.75 || n.variance > want*1.25 {
			t.Errorf("%s: %v, want %v", name, n.variance, want)
		}
	}
}

// quiet are rows of one kind every ten minutes, with noise; a change may be made.
func quiet(days int, change func(i int, at time.Time, r *Row)) (rows []Row) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range days * 144 {
		at := monthBegins.Add(time.Duration(i) * 10 * time.Minute)
		r := Row{At: at, Target: "x", Kind: "light"}
		r.Values[TPOT] = timeline.Some(20 * math.Exp(0.05*rng.NormFloat64()))
		r.Values[Errors] = share(rng.Float64() < 0.01)
		if change != nil {
			change(i, at, &r)
		}
		rows = append(rows, r)
	}
	return rows
}

// A step is told with its moment, its size, and what happened beside it: events of
// a file, and the server's calling itself something else.
func TestStepBesideADeploy(t *testing.T) {
	step := monthBegins.Add(10*24*time.Hour + 5*time.Minute)
	rows := quiet(14, func(_ int, at time.Time, r *Row) {
		r.Server = "vLLM 1"
		if at.After(step) {
			r.Values[TPOT] = timeline.Some(r.Values[TPOT].Or(0) * 1.18)
			r.Server = "vLLM 2"
		}
	})
	changes, looked := Changes(rows, []Event{{At: step.Add(-time.Hour), Text: "new weights"}, {At: step, Target: "another", Text: "not this one"}, {At: step.Add(-48 * time.Hour), Text: "too early"}})
	if len(changes) != 1 || changes[0].Metric != "tpot_ms" || math.Abs(changes[0].At.Sub(step).Minutes()) > 60 {
		t.Fatalf("%+v", changes)
	}
	c := changes[0]
	if c.Lo > 0.18 || c.Hi < 0.18 || c.Lo < 0.14 || c.Hi > 0.22 || c.Sure < 0.99 || math.Abs(c.After/c.Before-1.18) > 0.03 || math.Abs(c.Before-20) > 0.5 {
		t.Errorf("%+v", c)
	}
	if c.Known.Before(c.At) || c.Known.Sub(c.At) > 24*time.Hour {
		t.Errorf("known at %v, was at %v", c.Known, c.At)
	}
	if len(c.Beside) != 2 || c.Beside[0].Text != "new weights" || !strings.Contains(c.Beside[1].Text, "vLLM 2, no longer vLLM 1") {
		t.Errorf("%+v", c.Beside)
	}
	if len(looked) != 1 || len(looked[0].Series) != 2 || !looked[0].Series[1].DayStep.OK() || looked[0].Series[1].DayStep.Or(1) > 0.1 {
		t.Errorf("%+v", looked)
	}
	var b bytes.Buffer
	if err := WriteChanges(&b, "table", changes, looked); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"TPOT of x rose 1", "on 15 Oct 00:", "beside it: ", "before: new weights", "|*", "14.0 days; 2 series, 1 without a change"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// A server that calls itself something new in its answers is told of beside a
// change; one behind which two versions answer in turns is no news each time, and
// what was there before, and went, is news when it comes back.
func TestVersionsInAnswers(t *testing.T) {
	at := func(hours int) time.Time { return monthBegins.Add(time.Duration(hours) * time.Hour) }
	answers := func(hour int, by string) Row { return Row{At: at(hour), Target: "x", AnsweredBy: by} }
	rows := []Row{answers(0, "a"), answers(1, "b"), answers(2, "a"), answers(3, ""), answers(4, "b"), {At: at(5), Target: "y", AnsweredBy: "c", Server: "s"}, answers(6, "c"), answers(40, "c"), answers(41, "a"),
		{At: at(42), Target: "y", AnsweredBy: "c", Server: "t"}}
	var got []string
	for _, e := range versions(rows) {
		got = append(got, fmt.Sprint(e.At.Sub(monthBegins).Hours(), " ", e.Target, " ", e.Text))
	}
	want := []string{"1 x the server calls itself b, no longer a", "6 x the server calls itself c, no longer b", "41 x the server calls itself a, no longer c", "42 y the server calls itself t, no longer s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c := Change{Target: "x", Metric: "tpot_ms", At: at(7), Beside: []Event{{At: at(6), Text: "the server calls itself c, no longer b"}}}
	if text := c.SaysAll(); !strings.HasSuffix(text, "; beside it: 06:00, 1h0m0s before: the server calls itself c, no longer b") {
		t.Error(text)
	}
}

// A gateway that calls itself something new in every answer makes no event of each.
func TestNamesWithoutEnd(t *testing.T) {
	var rows []Row
	for i := range 2 * 24 * 6 { // two days
		rows = append(rows, Row{At: monthBegins.Add(time.Duration(i) * 10 * time.Minute), Target: "x", AnsweredBy: fmt.Sprint("fp_", i)})
	}
	events := versions(rows)
	if len(events) != 6 {
		t.Fatalf("%d events", len(events))
	}
	for i, text := range []string{"fp_1, no longer fp_0", "fp_2, no longer fp_1", "fp_3, no longer fp_2, and then by 140 more new names that day",
		"fp_144, no longer fp_143", "fp_145, no longer fp_144", "fp_146, no longer fp_145, and then by 141 more new names that day"} {
		if text = "the server calls itself " + text; events[i].Text != text {
			t.Errorf("%q, not %q", events[i].Text, text)
		}
	}
}

// Errors that become common are told, and when they stop; failures on end are one
// and change nothing.
func TestErrors(t *testing.T) {
	from, to := monthBegins.Add(8*24*time.Hour), monthBegins.Add(11*24*time.Hour)
	rng := rand.New(rand.NewPCG(7, 8))
	rows := quiet(16, func(_ int, at time.Time, r *Row) {
		if !at.Before(from) && at.Before(to) && rng.Float64() < 0.2 {
			r.Values[Errors] = share(true)
		}
	})
	changes, _ := Changes(rows, nil)
	if len(changes) != 2 || changes[0].Change < 0.1 || changes[1].Change > -0.1 || changes[0].Metric != "error_rate" {
		t.Fatalf("%+v", changes)
	}
	if d := changes[0].At.Sub(from).Hours(); math.Abs(d) > 6 {
		t.Errorf("%v h off", d)
	}
	if c := changes[0]; c.Lo > 0.2 || c.Hi < 0.17 || !strings.Contains(c.Says(), "error rate of x rose from ") {
		t.Errorf("%s: %+v", c.Says(), c)
	}
	burst := quiet(16, func(i int, _ time.Time, r *Row) {
		if i > 1200 && i < 1206 {
			r.Values[Errors] = share(true)
		}
	})
	if changes, _ := Changes(burst, nil); len(changes) != 0 {
		t.Errorf("an outage of an hour is a change: %+v", changes)
	}
}

// Too little is said to be too little, and holes are no values.
func TestTooLittle(t *testing.T) {
	if changes, looked := Changes(quiet(2, nil), nil); len(changes) != 0 || len(looked) != 1 || len(looked[0].Short) != 2 {
		t.Errorf("%+v, %+v", changes, looked)
	}
	holes := quiet(14, func(i int, _ time.Time, r *Row) {
		if i%144 < 12 { // two hours a day without an answer
			r.Values[TPOT] = timeline.Opt[float64]{}
		}
	})
	if changes, looked := Changes(holes, nil); len(changes) != 0 || len(looked[0].Series) != 2 {
		t.Errorf("%+v, %+v", changes, looked)
	}
	flat := quiet(14, func(_ int, _ time.Time, r *Row) {
		r.Values[TPOT] = timeline.Some(20.0)
		r.Values[Errors] = share(false)
	})
	if changes, _ := Changes(flat, nil); len(changes) != 0 {
		t.Errorf("%+v", changes)
	}
	jump := quiet(14, func(i int, _ time.Time, r *Row) { r.Values[TPOT] = timeline.Some(20.0 + 10*float64(i/1008)) })
	if changes, _ := Changes(jump, nil); len(changes) == 0 {
		t.Error("a jump without any noise is not told")
	}
	var b bytes.Buffer
	for _, form := range []string{"table", "json", "csv", "markdown"} {
		if err := WriteChanges(&b, form, nil, nil); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(b.String(), "no requests") || !strings.Contains(b.String(), `"changes": []`) {
		t.Error(b.String())
	}
}
