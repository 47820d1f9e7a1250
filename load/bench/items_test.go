package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/tokens"
)

func spec(t testing.TB, text string) *workload.Loaded {
	t.Helper()
	l, err := workload.FromYAML("x.yaml", []byte(text), workload.Options{Salt: "salt",
		Tokenizer: func(name string) (workload.Tokenizer, error) { return tokens.ByName(name) }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// said answers after a time with the words given.
func said(after time.Duration, text func(n int, b body) string) func(s *stream, b body) {
	return func(s *stream, b body) {
		answer := text(s.n, b)
		sleep(s.ctx, after)
		s.w.Header().Set("Content-Type", "text/event-stream")
		for _, w := range strings.SplitAfter(answer, " ") {
			s.event(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, w))
			s.tokens++
		}
		s.end(wordsIn(b), 0)
	}
}

// Turns follow each other after a pause, with what was said before: recorded,
// or what the server answered.
func TestConversations(t *testing.T) {
	for _, live := range []bool{false, true} {
		history := "recorded"
		if live {
			history = "live"
		}
		f := &fake{chat: said(100*time.Millisecond, func(n int, _ body) string { return fmt.Sprintf("answer %d", n) })}
		work := spec(t, "input: 20\noutput: 10\nturns: 3\nthink: 2s\nhistory: "+history)
		res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 6, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, ReadsAnswers: work.ReadsAnswers()}}, nil)
		if res.err != nil || len(res.records) != 6 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		for i, rec := range res.records {
			turn := i % 3
			if *rec.Session != fmt.Sprint(i/3) || rec.Turn.Or(-1) != int64(turn) || (turn == 0) != (rec.Parent == nil) {
				t.Errorf("record %d: session %s, turn %v, parent %v", i, *rec.Session, rec.Turn, rec.Parent)
			}
			if turn > 0 && *rec.Parent != res.records[i-1].ID {
				t.Errorf("record %d: parent %s", i, *rec.Parent)
			}
			near(t, "due", rec.DueS, float64(i/3)*4.3+float64(turn)*2.1)
			said := f.bodies[i].Messages
			if len(said) != 2*turn+1 {
				t.Fatalf("turn %d sends %d messages", turn, len(said))
			}
			if turn > 0 {
				if got := said[2*turn-1]; got.Role != "assistant" || (got.Content == fmt.Sprintf("answer %d", i-1)) != live {
					t.Errorf("%s: turn %d repeats %q", history, turn, got.Content)
				}
			}
			if rec.OutputText != nil {
				t.Error("the text was kept without being asked for")
			}
		}
		near(t, "wall", res.wall.Seconds(), 8.6)
	}
}

// The steps of a task wait for those that they need and for their tools, and no
// longer; the record tells the critical path.
func TestTasks(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		d := 100 * time.Millisecond
		if len(b.Messages) == 3 && wordsIn(b) < 150 { // a look
			d = time.Duration(100+100*(s.n%2)) * time.Millisecond
		}
		s.token(d)
		s.end(wordsIn(b), 0)
	}}
	work := spec(t, `
task:
  deadline: 1s
  steps:
    - {name: plan, input: 80, output: 20}
    - {name: look, after: [plan], tool: 500ms, parallel: "2", input: 30, output: 10}
    - {name: answer, after: [look], continues: plan, tool: 50ms, input: 200, output: 40}
`)
	o, err := objective.ParseAll([]string{"task success < 1s >= 95%"})
	if err != nil {
		t.Fatal(err)
	}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 40, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}, Conditions: Conditions{Objectives: o}}, nil)
	if res.err != nil || len(res.records) != 40 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	byTask := map[string][]metric.Record{}
	for _, rec := range res.records {
		byTask[*rec.Task] = append(byTask[*rec.Task], rec)
	}
	for name, steps := range byTask {
		slices.SortFunc(steps, func(a, b metric.Record) int { return int(a.Step.Or(0) - b.Step.Or(0)) })
		plan, one, two, answer := steps[0], steps[1], steps[2], steps[3]
		near(t, "tool", one.DueS-plan.DueS, 0.6)
		near(t, "tool", two.DueS-plan.DueS, 0.6)
		slower := one
		if two.DueS*1000+two.E2EMS.Or(0) > one.DueS*1000+one.E2EMS.Or(0) {
			slower = two
		}
		near(t, "join", answer.DueS, slower.DueS+slower.E2EMS.Or(0)/1000+0.05)
		if *answer.Parent != slower.ID || *one.Parent != plan.ID {
			t.Errorf("task %s: the answer's parent is %s, want %s", name, *answer.Parent, slower.ID)
		}
	}
	s := res.run.Tasks
	if s == nil || s.Total != 10 || s.OK != 10 || s.Steps.Mean.Or(0) != 4 || s.DeadlineS.Or(0) != 1 {
		t.Fatalf("%+v", s)
	}
	// 100 + 500 + 100 or 200 + 50 + 100 ms, of which 550 ms are tools.
	if most := s.Duration.Max.Or(0); most > 950.001 || s.Duration.Min.Or(0) < 850 {
		t.Errorf("tasks take %v to %v ms", s.Duration.Min, most)
	}
	near(t, "model", s.Model.Mean.Or(0), s.Duration.Mean.Or(0)-550)
	// Ten of ten can't show 95 %: 0.025^(1/10) is 69 %.
	if g := res.run.Goodput.Objectives[0]; s.Success.Or(0) != 1 || s.InTime != 10 || g.Value.Or(0) != 1 || g.State != "open" {
		t.Errorf("%+v, %+v", s, g)
	}
}

// A task that fails ends; one that the end cuts off is no success.
func TestTasksThatEndEarly(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		if s.n == 1 {
			s.fail(500, "no")
			return
		}
		s.token(400 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	work := spec(t, "task: {steps: [{name: a, input: 10}, {name: b, after: [a], tool: 300ms, input: 10}, {name: c, after: [b], input: 10}]}")
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Duration: 3 * time.Second, Grace: 5 * time.Second, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}, Conditions: Conditions{KeepGoing: true}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	// Task 0: 0.4 s and a failure at 0.7 s. Task 1: 0.7 … 2.2 s. Task 2 begins at
	// 2.2 s, its second step comes at 2.9 s, its third at 3.3 s is too late.
	s := res.run.Tasks
	if s.Total != 3 || s.Failed != 1 || s.OK != 1 || s.Cancelled != 1 {
		t.Errorf("%+v", s)
	}
	if last := res.records[len(res.records)-1]; last.Outcome != timeline.CancelledRunEnd || *last.Task != "2" {
		t.Errorf("%+v", last)
	}
}

// Segments are due when they have ended, whatever became of those before, and
// are sent one by one: what waits is the backlog.
func TestSegments(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(1500 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	work := spec(t, "input: 10\noutput: 1\nsegments: {every: 1s, count: 4}")
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.records) != 4 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	for i, rec := range res.records {
		near(t, "due", rec.DueS, float64(i+1))
		near(t, "latency", rec.E2EMS.Or(0), 1500+500*float64(i))
		near(t, "service", rec.ServiceE2EMS.Or(0), 1500)
	}
	m := res.run.Media
	if m == nil || m.N != 4 || m.MaxBacklog != 1 || m.InTime.Or(1) != 0 {
		t.Fatalf("%+v", m)
	}
	near(t, "real-time factor", m.Factor.P50.Or(0), 1.5)
}

// Users who leave hang up: after a time, or once they have seen enough.
func TestUsersWhoLeave(t *testing.T) {
	var mu sync.Mutex
	gone := 0
	f := &fake{chat: func(s *stream, b body) {
		for range 50 {
			if s.ctx.Err() != nil {
				break
			}
			s.token(100 * time.Millisecond)
		}
		if s.ctx.Err() != nil {
			mu.Lock()
			gone++
			mu.Unlock()
			return
		}
		s.end(wordsIn(b), 0)
	}}
	for text, want := range map[string]float64{
		"leave: {share: 100%, after: 1050ms}": 1050,
		"leave: {share: 100%, tokens: 5}":     500,
	} {
		gone = 0
		work := spec(t, "input: 10\noutput: 50\n"+text)
		res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
		if res.err != nil || len(res.records) != 4 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		for _, rec := range res.records {
			if rec.Outcome != timeline.CancelledUser || rec.Good.OK() {
				t.Errorf("%s: %s", text, rec.Outcome)
			}
			near(t, text, rec.CloseMS.Or(0), want)
		}
		if gone != 4 || res.run.Requests.Failed != 0 || res.run.Requests.Excluded["cancelled_user"] != 4 {
			t.Errorf("%s: the server saw %d of 4 leave; %+v", text, gone, res.run.Requests)
		}
	}
}

// A slow reader takes so many bytes a second, and no more.
func TestSlowReaders(t *testing.T) {
	f := &fake{chat: said(0, func(int, body) string { return strings.Repeat("word ", 100) })}
	work := spec(t, "input: 10\noutput: 50\nslow: {share: 100%, bytes_per_s: 2000}")
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 1, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.records) != 1 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	// 100 events of about 70 bytes and their chunk heads.
	if s := res.records[0].E2EMS.Or(0) / 1000; s < 2.5 || s > 6 {
		t.Errorf("read in %v s", s)
	}
}

func TestChecks(t *testing.T) {
	f := &fake{chat: said(0, func(n int, _ body) string { return []string{"it is 42", "no idea"}[n%4/3] })}
	work := spec(t, "input: 10\ncheck: {number: {value: 42}}")
	o, _ := objective.ParseAll([]string{"check pass >= 98%"})
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 40, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, ReadsAnswers: work.ReadsAnswers()}, Conditions: Conditions{Objectives: o}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	c := res.run.Checks
	if c == nil || c.N != 40 || c.Passed != 30 || c.Rate.Or(0) != 0.75 || c.CI95[0] > 0.6 || c.CI95[1] < 0.85 || c.CI95[0] < 0.55 {
		t.Errorf("%+v", c)
	}
	passed := 0
	for _, rec := range res.records {
		if rec.Check != nil && *rec.Check == "pass" {
			passed++
		}
	}
	if g := res.run.Goodput.Objectives[0]; passed != 30 || g.State != "missed" || g.Value.Or(0) != 0.75 {
		t.Errorf("%d passed, %+v", passed, g)
	}
}

// Counts by another tokenizer stand beside the server's own.
func TestNormTokenizer(t *testing.T) {
	const text = "Supercalifragilistic words are counted otherwise elsewhere."
	f := &fake{chat: func(s *stream, b body) {
		s.w.Header().Set("Content-Type", "text/event-stream")
		for i, w := range strings.SplitAfter(text, " ") {
			if i > 0 {
				sleep(s.ctx, 100*time.Millisecond)
			}
			s.event(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, w))
			s.tokens++
		}
		s.end(wordsIn(b), 0)
	}}
	norm, err := tokens.ByName("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 3, Warmup: Warmup{Off: true}}, Content: Content{Norm: norm}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	counted, err := norm.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(counted)
	for _, rec := range res.records {
		if rec.NormTokens.Or(0) != n || *rec.NormTokenizer != "o200k_base" || rec.OutputTokens.Or(0) == n || rec.OutputText != nil {
			t.Errorf("%v by %v, %v by the server", rec.NormTokens, rec.NormTokenizer, rec.OutputTokens)
		}
		near(t, "norm_decode_tps", rec.NormDecodeTPS.Or(0), float64(n-1)/0.5)
	}
	near(t, "summary", res.run.Metrics["norm_tokens"].Mean.Or(0), float64(n))
}

// Only so many requests wait for a first token; those that stream on are free.
func TestPrefillCap(t *testing.T) {
	var mu sync.Mutex
	waiting, most := 0, 0
	f := &fake{chat: func(s *stream, b body) {
		mu.Lock()
		waiting++
		most = max(most, waiting)
		mu.Unlock()
		sleep(s.ctx, 200*time.Millisecond)
		mu.Lock()
		waiting--
		mu.Unlock()
		for range 10 {
			s.token(100 * time.Millisecond)
		}
		s.end(wordsIn(b), 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 8, Requests: 16, Prefills: 2, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || most != 2 || f.most < 6 {
		t.Errorf("%v: %d in prefill, %d in flight", res.err, most, f.most)
	}
	// The eight streams begin at once, in whichever order: two at a time have their first token.
	first := each(res.records[:8], ttft)
	slices.Sort(first)
	for i, ms := range first {
		near(t, fmt.Sprint("ttft of ", i), ms, 300*float64(1+i/2))
	}
}

// The load grows, is measured, and goes on until what was measured has ended.
func TestRampAndCooldown(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Second)
		s.end(wordsIn(b), 0)
	}}
	phases := func(res result) map[timeline.Phase]int {
		n := map[timeline.Phase]int{}
		for _, rec := range append(res.records, res.warm...) {
			n[rec.Phase]++
		}
		return n
	}
	res := virtual(t, f, Plan{Load: Load{Rate: 10, Ramp: 4 * time.Second, Duration: 10 * time.Second, Cooldown: 5 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	// After 14 s the last measured request is due; it ends 1 s later, and with it
	// the load.
	n := phases(res)
	if n[timeline.Warmup] != 20 || n[timeline.Measure] != 100 || n[timeline.Cooldown] < 9 || n[timeline.Cooldown] > 11 || res.wall > 15*time.Second {
		t.Errorf("open: %v in %v", n, res.wall)
	}
	near(t, "offered", res.run.Client.OfferedPerS.Or(0), 10)
	if q := res.run.Requests; q.Total != 100 || q.Warmup != 20 || q.OK != 100 || q.Cooldown == 0 {
		t.Errorf("%+v", q)
	}
	if unique := res.run.Workload.UniquePrompts.Or(0); unique != 100+20+res.run.Requests.Cooldown || warned(res.run, "prompt_reuse") {
		t.Errorf("%d unique prompts: %+v", unique, res.run.Warnings)
	}
	res = virtual(t, f, Plan{Load: Load{Concurrency: 4, Ramp: 4 * time.Second, Requests: 21, Cooldown: 30 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	n = phases(res)
	if res.err != nil || n[timeline.Measure] != 21 || n[timeline.Warmup] != 10 || n[timeline.Cooldown] < 1 || res.wall > 11*time.Second {
		t.Errorf("closed: %v in %v, %v", n, res.wall, res.err)
	}
	if q := res.run.Requests; q.OK != 21 || len(q.Excluded) != 0 {
		t.Errorf("%+v", q)
	}
}

func TestStages(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(100 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	stages, err := schedule.ParseStages("2s@5,4s@5..20,2s@0,2s@10")
	if err != nil {
		t.Fatal(err)
	}
	res := virtual(t, f, Plan{Load: Load{Stages: stages, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 10+50+20 {
		t.Fatalf("open: %d records, %v", len(res.records), res.err)
	}
	if last := res.records[79].DueS; math.Abs(last-9.9) > 1e-6 || res.run.Load.Stages != "2s@5,4s@5..20,2s@0,2s@10" || res.run.Load.Kind != "open" {
		t.Errorf("the last is due at %v s; %+v", last, res.run.Load)
	}
	stages, _ = schedule.ParseStages("1s@1,1s@4,1s@2")
	most := map[int]int{}
	var start time.Time
	f = &fake{}
	f.chat = func(s *stream, b body) {
		second := int(time.Since(start).Seconds())
		f.mu.Lock()
		most[second] = max(most[second], f.inFlight)
		f.mu.Unlock()
		s.token(100 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}
	res = virtual(t, f, Plan{Load: Load{Stages: stages, StagesClosed: true, Warmup: Warmup{Off: true}}}, func(func()) { start = time.Now() })
	if res.err != nil || most[0] != 1 || most[1] != 4 || most[2] > 4 || len(res.records) < 68 || len(res.records) > 74 {
		t.Errorf("closed: %v streams, %d records, %v", most, len(res.records), res.err)
	}
}

// A ramp leads to the first level and takes nothing from the stages: 2 streams of ten
// answers a second for 4 s, then 4.
func TestARampLeadsToTheStages(t *testing.T) {
	stages, err := schedule.ParseStages("4s@2,4s@4")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: func(s *stream, b body) {
		s.token(100 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	for _, cooldown := range []time.Duration{0, 2 * time.Second} {
		res := virtual(t, f, Plan{Load: Load{Stages: stages, StagesClosed: true, Ramp: 4 * time.Second, Cooldown: cooldown, Warmup: Warmup{Off: true}}}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		var first, second int
		for _, rec := range res.records {
			switch {
			case rec.Phase != timeline.Measure:
			case rec.DueS < 8:
				first++
			default:
				second++
			}
		}
		// The ramp: one stream from a level of 0.5 on, after 1 s, two from 1.5 on.
		if first != 80 || second != 160 || len(res.warm) != 40 {
			t.Errorf("cooldown %v: %d of the ramp, %d and %d of the stages", cooldown, len(res.warm), first, second)
		}
	}
}

// Users come back at a pace of their own, unless the server keeps them waiting.
func TestPacedUsers(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		d := 100 * time.Millisecond
		if s.n == 2 {
			d = 5 * time.Second
		}
		s.token(d)
		s.end(wordsIn(b), 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 8, Pace: 2 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	var due []float64
	for _, rec := range res.records {
		due = append(due, rec.DueS)
	}
	slices.Sort(due)
	want := []float64{0, 1, 2, 3, 5, 7, 7, 9} // the slow one was due at 2 s
	for i := range want {
		near(t, "due", due[i], want[i])
	}
}

// Users of conversations take a turn every so long, from turn to turn and from one
// conversation to the next, unless an answer takes longer.
func TestPacedTurns(t *testing.T) {
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Turns: "2", Input: "8", Output: "2"}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: func(s *stream, b body) {
		d := 100 * time.Millisecond
		if s.n == 2 {
			d = 5 * time.Second
		}
		s.token(d)
		s.end(wordsIn(b), 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 8, Pace: 2 * time.Second, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	due := map[string][]float64{}
	for _, rec := range res.records {
		due[*rec.Session] = append(due[*rec.Session], rec.DueS)
	}
	// The slow answer is the second turn of the first user, due at 2 s.
	want := map[string][]float64{"0": {0, 2}, "1": {1, 3}, "2": {5, 7}, "3": {7, 9}}
	for name, at := range want {
		slices.Sort(due[name])
		for i := range at {
			near(t, name+" due", due[name][i], at[i])
		}
	}
}

// When the last request that was asked for has ended so has the run, whatever
// streams wait for: their stage, or the pace of their user.
func TestTheLastRequestEndsTheRun(t *testing.T) {
	stages, err := schedule.ParseStages("1m@1,1m@4")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan Plan
		most time.Duration
	}{
		"stages":   {Plan{Load: Load{Stages: stages, StagesClosed: true, Requests: 5}}, 5 * time.Second},
		"cooldown": {Plan{Load: Load{Stages: stages, StagesClosed: true, Requests: 5, Cooldown: time.Second}}, 6 * time.Second},
		// The second user comes half a minute after the first.
		"pace": {Plan{Load: Load{Concurrency: 2, Pace: time.Minute, Requests: 2}}, 31 * time.Second},
	} {
		f := &fake{chat: func(s *stream, b body) {
			s.token(time.Second)
			s.end(wordsIn(b), 0)
		}}
		c.plan.Warmup = Warmup{Off: true}
		res := virtual(t, f, c.plan, nil)
		if res.err != nil || res.wall > c.most {
			t.Errorf("%s: the run took %v, %v", name, res.wall, res.err)
		}
	}
}

// A cooldown goes on at the level that stages end at.
func TestCooldownAfterStages(t *testing.T) {
	for _, closed := range []bool{false, true} {
		stages, err := schedule.ParseStages("4s@2,2s@4")
		if err != nil {
			t.Fatal(err)
		}
		f := &fake{chat: func(s *stream, b body) {
			s.token(750 * time.Millisecond)
			s.end(wordsIn(b), 0)
		}}
		res := virtual(t, f, Plan{Load: Load{Stages: stages, StagesClosed: closed, Cooldown: 5 * time.Second, Warmup: Warmup{Off: true}}}, nil)
		if q := res.run.Requests; res.err != nil || q.Cooldown == 0 || q.OK != q.Total || res.wall > 7*time.Second || !closed && q.Total != 16 {
			t.Errorf("closed %v: %+v in %v, %v", closed, q, res.wall, res.err)
		}
	}
}

// A trace is sent at its own times.
func TestTrace(t *testing.T) {
	f := &fake{chat: echo}
	name := t.TempDir() + "/trace.jsonl"
	text := ""
	for i, ms := range []int{0, 400, 400, 1500, 4000} {
		text += fmt.Sprintf(`{"timestamp":%d,"input_length":%d,"output_length":%d}`+"\n", ms, 10+i, 5+i)
	}
	if err := writeFile(name, text); err != nil {
		t.Fatal(err)
	}
	work, err := workload.Load(name, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		res := virtual(t, f, Plan{Load: Load{Trace: &schedule.Trace{Times: work.Times, Speed: 2}, Workers: workers, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
		if res.err != nil || len(res.records) != 5 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		slices.SortFunc(res.records, func(a, b metric.Record) int { return int(a.RequestedTokens.Or(0) - b.RequestedTokens.Or(0)) })
		for i, due := range []float64{0, 0.2, 0.2, 0.75, 2} {
			rec := res.records[i]
			near(t, "due", rec.DueS, due)
			if rec.InputTokens.Or(0) != int64(10+i) || rec.RequestedTokens.Or(0) != int64(5+i) {
				t.Errorf("request %d: %v in, %v asked", i, rec.InputTokens, rec.RequestedTokens)
			}
		}
		if l := res.run.Load; l.Arrival != "trace" || l.Speed.Or(0) != 2 {
			t.Errorf("%+v", l)
		}
	}
}

func TestMaxFailures(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		if s.n%3 == 2 {
			s.fail(503, "overloaded")
			return
		}
		s.token(10 * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 200, MaxFailures: 0.2, Warmup: Warmup{Off: true}}}, nil)
	var target *TargetError
	if !asError(res.err, &target) || !target.Limit || !hasText(res.err.Error(), "6 of 20 requests failed, more than --max-failures") || len(res.records) != 20 {
		t.Errorf("%d records, %v", len(res.records), res.err)
	}
	if !res.run.Partial || !strings.Contains(fmt.Sprint(res.run.Warnings), "max_failures") {
		t.Errorf("the run does not say that its limit ended it: %v", res.run.Warnings)
	}
}

func TestClassesInTheSummary(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Duration(wordsIn(b)) * time.Millisecond)
		s.end(wordsIn(b), 0)
	}}
	work := spec(t, "mix: [{name: short, share: 3, input: 10, output: 1}, {name: long, share: 1, input: 100, output: 1}]")
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 80, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.run.Classes) != 2 {
		t.Fatalf("%v, %+v", res.err, res.run.Classes)
	}
	for _, c := range res.run.Classes {
		want := map[string]float64{"short": 10, "long": 100}[c.Name]
		near(t, c.Name, c.Metrics["ttft_ms"].P50.Or(0), want)
	}
	if n := res.run.Classes[0].Requests + res.run.Classes[1].Requests; n != 80 {
		t.Errorf("%d requests in classes", n)
	}
}

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

// A user whose next turn is due after the end waits for it: no other one begins in
// their place, who would do nothing but first turns.
func TestNobodyBeginsInPlaceOfWhoWaits(t *testing.T) {
	for _, content := range []string{
		"input: 20\noutput: 10\nturns: 3\nthink: 8s",
		"task: {steps: [{name: a, input: 20}, {name: b, after: [a], tool: 8s, input: 20}, {name: c, after: [a], tool: 9s, input: 20}]}",
	} {
		f := &fake{chat: said(100*time.Millisecond, func(int, body) string { return "so" })}
		res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Duration: 5 * time.Second, Warmup: Warmup{Off: true}}, Content: Content{Workload: spec(t, content)}}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		if f := res.run.Requests; f.OK != 2 || f.Total-f.OK != f.Unsent() || f.Unsent() > 4 || f.Failed != 0 {
			t.Errorf("%s: %d requests were sent, want 2; %d never", content, f.OK, f.Unsent())
		}
	}
}

// Without a length nobody asks for an answer that ignores its end; of records some of
// which have one it is counted, and where none has it is refused.
func TestIgnoringAnEndNeedsALength(t *testing.T) {
	name := t.TempDir() + "/x.jsonl"
	if err := writeFile(name, `{"prompt":"a"}`+"\n"+`{"prompt":"b","max_tokens":3}`+"\n"); err != nil {
		t.Fatal(err)
	}
	work, err := workload.Load(name, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	f := &fake{whole: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		asked = append(asked, fmt.Sprint(strings.Contains(string(data), "max_tokens"), strings.Contains(string(data), "ignore_eos")))
		s := &stream{w: w, ctx: req.Context()}
		s.token(time.Millisecond)
		s.end(1, 0)
	})}
	off := Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}
	plan := Plan{Model: "m", Load: off, Content: Content{Workload: work, IgnoreEOS: true}, Conditions: Conditions{Preflight: "none"}}
	res := virtual(t, f, plan, nil)
	if res.err != nil || !warned(res.run, "no_length") || strings.Join(asked, ", ") != "false false, true true, false false, true true" {
		t.Errorf("%v: %v", asked, res.err)
	}
	plan.Workload, plan.Prompt = nil, "hi"
	var usage *UsageError
	if res := virtual(t, f, plan, nil); !errors.As(res.err, &usage) || !strings.Contains(res.err.Error(), "output tokens") {
		t.Error(res.err)
	}
}
