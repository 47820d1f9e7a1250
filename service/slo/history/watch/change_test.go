package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/cost"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/slo/history/sqlstore"
	"tokenmeter/service/slo/notify"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// stage is a watch whose clock the test turns.
type stage struct {
	*Watch
	t   *testing.T
	db  *sqlstore.Store
	now time.Time

	words []string // about the clock
}

func staged(t *testing.T, plan Plan) *stage {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &stage{t: t, db: db, now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
	if s.Watch, err = New(t.Context(), db, plan, func() time.Time { return s.now }); err != nil {
		t.Fatal(err)
	}
	return s
}

func compiled(t *testing.T, text string) []*slo.Objective {
	t.Helper()
	all, _, err := slo.Load("x.yaml", []byte("objectives:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// seconds lets time pass, with something happening in each.
func (s *stage) seconds(n int, each func()) {
	s.t.Helper()
	for range n {
		if each != nil {
			each()
		}
		s.now = s.now.Add(time.Second)
		s.step()
	}
}

func (s *stage) step() {
	s.t.Helper()
	switch err := s.Step(s.t.Context()); {
	case err == nil:
	case strings.HasPrefix(err.Error(), "the clock "):
		s.words = append(s.words, err.Error())
	default:
		s.t.Fatal(err)
	}
}

func (s *stage) of(name string) slo.Result {
	s.t.Helper()
	if err := s.evaluate(s.t.Context(), s.now); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range s.Results() {
		if r.Name == name {
			return r
		}
	}
	s.t.Fatalf("no result of %s", name)
	return slo.Result{}
}

const (
	up      = "  - {name: up, objective: availability >= 99%, window: 7d}\n"
	renamed = "  - {name: there, objective: error rate <= 1%, window: 28d, target: 99%}\n"
	rate    = "  - {name: rate, objective: requests_per_s >= 1, slice: 1m, target: 50%, window: 7d, min_events: 1}\n"
	fast    = "  - {name: fast, objective: p90 ttft < 1s, window: 7d}\n"
)

// Objectives that stay, by what they count, go on counting; new ones begin;
// those that went and come again go on where they ended.
func TestChange(t *testing.T) {
	s := staged(t, Plan{Objectives: compiled(t, up+rate)})
	each := func() { s.Done(request("m", timeline.OK, 100)) }
	s.seconds(90, each) // in the middle of a slice
	s.Set(t.Context(), Plan{Objectives: compiled(t, renamed+rate+fast)})
	s.seconds(92, each)
	if r := s.of("there"); r.Valid != 182 {
		t.Errorf("the renamed one has %+v", r.Counts)
	}
	if r := s.of("rate"); r.Good != 3 || r.Valid != 3 {
		t.Errorf("the slices are %+v", r.Counts)
	}
	if r := s.of("fast"); r.Valid != 92 {
		t.Errorf("the new one has %+v", r.Counts)
	}
	s.Set(t.Context(), Plan{Objectives: compiled(t, up)})
	s.seconds(100, each)
	s.Set(t.Context(), Plan{Objectives: compiled(t, up+fast+rate)})
	s.seconds(10, each)
	if r := s.of("fast"); r.Valid != 102 {
		t.Errorf("the one that was away has %+v", r.Counts)
	}
	if r := s.of("up"); r.Valid != 292 {
		t.Errorf("the one that stayed has %+v", r.Counts)
	}
	for _, total := range s.Totals() {
		if total.Key.Hash == compiled(t, up)[0].Hash && total.Valid != 292 {
			t.Errorf("the counter is %+v", total.Counts)
		}
	}
}

// An objective that a running daemon takes has not been silent before.
func TestChangeToNoData(t *testing.T) {
	const silent = "  - {name: %s, objective: %s, window: 7d, alerts: [{no_data_for: 5m}]}\n"
	one := fmt.Sprintf(silent, "one", "availability >= 99%")
	s := staged(t, Plan{Objectives: compiled(t, one)})
	pass := func(minutes int) {
		for range 6 * minutes {
			s.now = s.now.Add(10 * time.Second)
			s.step()
		}
	}
	pass(6)
	if a := s.of("one").Alerts[0]; !a.Firing {
		t.Errorf("without a request: %+v", a)
	}
	s.Set(t.Context(), Plan{Objectives: compiled(t, one+fmt.Sprintf(silent, "two", "p90 ttft < 1s"))})
	pass(4)
	if a := s.of("one").Alerts[0]; !a.Firing {
		t.Errorf("one that stays: %+v", a)
	}
	if a := s.of("two").Alerts[0]; a.Firing || !a.Frozen {
		t.Errorf("one that is new: %+v", a)
	}
	pass(1)
	if a := s.of("two").Alerts[0]; !a.Firing {
		t.Errorf("one that is new no longer: %+v", a)
	}
	// The clock is put back: it begins anew, and not only when it is there again.
	s.now = s.now.Add(-time.Hour)
	pass(6)
	if a := s.of("two").Alerts[0]; !a.Firing {
		t.Errorf("after the clock was put back: %+v", a)
	}
}

// A receiver that stays is not told again; one that is new is told what fires.
func TestChangeOfReceivers(t *testing.T) {
	told := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { told <- q.URL.Path }))
	defer server.Close()
	receiver := func(path string) *notify.Notifier {
		n, err := notify.New(slo.NotifySpec{Webhook: server.URL + path}, notify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := compiled(t, up)
	w, err := New(t.Context(), db, Plan{Objectives: all, Receivers: []*notify.Notifier{receiver("/a")}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		w.Done(request("", timeline.HTTP5xx, 0))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx, func(err error) { t.Error(err) }) }()
	wait := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Errorf("%s was told, want %s", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s was not told", want)
		}
	}
	wait("/a")
	w.Change(t.Context(), Plan{Objectives: all, Receivers: []*notify.Notifier{receiver("/a"), receiver("/b")}})
	wait("/b")
	w.Change(t.Context(), Plan{Objectives: all, Receivers: []*notify.Notifier{receiver("/c")}})
	wait("/c")
	cancel()
	<-ended
	if len(told) != 0 {
		t.Errorf("%s was told too", <-told)
	}
}

// Two objectives that differ in window or length of slice only count everything
// once.
func TestSharedCountersCountOnce(t *testing.T) {
	s := staged(t, Plan{Objectives: compiled(t, `
  - {name: week, objective: requests_per_s <= 1, slice: 1m, target: 50%, window: 7d, min_events: 1}
  - {name: month, objective: requests_per_s <= 1, slice: 1m, target: 60%, min_events: 1}
  - {name: long, objective: requests_per_s <= 1, slice: 5m, target: 50%, min_events: 1}
  - {name: sliced, objective: p90 ttft < 1s, slice: 1m, target: 50%, min_events: 1}
  - {name: sliced-month, objective: p90 ttft < 1s, slice: 5m, target: 50%, min_events: 1}
`)})
	s.seconds(303, func() { s.Done(request("m", timeline.OK, 100)) })
	for name, want := range map[string]int64{"week": 5, "month": 5, "long": 1, "sliced": 5, "sliced-month": 1} {
		if r := s.of(name); r.Valid != want || r.Good != want {
			t.Errorf("%s: %+v, want %d good slices", name, r.Counts, want)
		}
	}
}

// Percentiles of live requests, by objective, over restarts of nothing but
// memory: from the store.
func TestPercentiles(t *testing.T) {
	all := compiled(t, `
  - {name: all, objective: p95 ttft < 500ms}
  - {name: large, objective: p95 ttft < 500ms, slice: 1m, target: 90%, where: {model: large}, by: [route]}
  - {name: good, objective: goodput > 99% and ttft:500 and tpot:50}
  - {name: success, objective: "p95 ttft < 500ms valid: success", where: {model: large}}
`)
	s := staged(t, Plan{Objectives: all})
	i := 0
	s.seconds(100, func() {
		i++
		s.Done(request("large", timeline.OK, float64(i)))
		s.Done(request("small", timeline.OK, 1000))
		s.Done(request("small", timeline.CancelledUser, 1))
	})
	for range 5 {
		s.Done(request("large", timeline.HTTP5xx, 0))
	}
	s.seconds(2, nil)
	results := slo.Evaluate(all, s.recorder.Memory(), s.now)
	if err := history.Percentiles(t.Context(), []history.Reader{s.db}, all, results, time.Time{}); err != nil {
		t.Fatal(err)
	}
	near := func(got timeline.Opt[float64], want float64) bool {
		v, ok := got.Get()
		return ok && v > want*0.98 && v < want*1.02
	}
	for _, r := range results {
		if len(r.Percentiles) == 0 || r.Percentiles[0].Metric != "ttft" {
			t.Errorf("%s: %+v", r.Name, r.Percentiles)
			continue
		}
		p := r.Percentiles[0]
		switch r.Name {
		case "all", "good":
			if p.N != 205 || p.Failed != 5 || !near(p.P90, 1000) || p.P99.OK() {
				t.Errorf("%s: %+v", r.Name, p)
			}
		case "success": // what failed is not in the objective, nor here
			if p.N != 100 || p.Failed != 0 || !near(p.P50, 50.5) || !near(p.P99, 99) {
				t.Errorf("%s: %+v", r.Name, p)
			}
		case "large": // 1 to 100 ms, and 5 beyond
			if p.N != 105 || p.Failed != 5 || !near(p.P50, 53) || !near(p.P90, 94.6) || p.P99.OK() {
				t.Errorf("%s: %+v", r.Name, p)
			}
		}
	}
}

// Requests that were not measured are in the availability, good and bad ones,
// and in nothing that needs figures: no objective, no percentile, no goodput. A
// task that they belong to has them.
func TestUnmeasuredRequests(t *testing.T) {
	all := compiled(t, `
  - {name: up, objective: availability >= 99%}
  - {name: plain, objective: goodput > 99%}
  - {name: tpot, objective: p99 tpot < 50ms}
  - {name: ttft, objective: p99 ttft < 500ms}
  - {name: itl, objective: p99 itl < 50ms}
  - {name: good, objective: goodput > 99% and ttft:500}
  - {name: sliced, objective: p90 ttft < 1s, slice: 1m, target: 90%, min_events: 1}
  - {name: sliced-up, objective: availability >= 50%, slice: 1m, target: 90%, min_events: 1}
  - {name: rate, objective: goodput_per_s >= 0.5, slice: 1m, target: 90%, min_events: 1}
  - {name: tasks, objective: task success >= 95%, min_events: 1}
`)
	limits, err := objective.ParseAll([]string{"error rate < 1%", "p95 ttft < 500ms"})
	if err != nil {
		t.Fatal(err)
	}
	s := staged(t, Plan{Objectives: all, Good: limits})
	s.seconds(60, func() {
		for i, outcome := range []timeline.Outcome{timeline.OK, timeline.OK, timeline.OK, timeline.HTTP5xx} {
			r := request("m", outcome, 0)
			r.Unmeasured, r.At = traffic.UnknownAPI, s.now
			r.Record.TTFTMS = timeline.Opt[float64]{}
			task := fmt.Sprint(i)
			r.Timeline.Task, r.Record.Task = task, &task
			s.Done(r)
		}
	})
	s.seconds(3, nil)
	s.now = s.now.Add(TaskIdle)
	s.seconds(1, nil)
	results := slo.Evaluate(all, s.recorder.Memory(), s.now)
	if err := history.Percentiles(t.Context(), []history.Reader{s.db}, all, results, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if len(r.Percentiles) > 0 {
			t.Errorf("%s: percentiles %+v", r.Name, r.Percentiles)
		}
	}
	for name, want := range map[string]slo.Counts{
		"up": {Good: 180, Valid: 240}, "plain": {Good: 180, Valid: 240}, "tpot": {Excluded: 240}, "ttft": {Excluded: 240},
		"itl": {Excluded: 240}, "good": {Excluded: 240}, "tasks": {Good: 3, Valid: 4},
	} {
		if r := s.of(name); r.Counts != want {
			t.Errorf("%s: %+v, want %+v", name, r.Counts, want)
		}
	}
	for name, good := range map[string]int64{"sliced": 0, "sliced-up": 1, "rate": 0} {
		if r := s.of(name); r.Good != good {
			t.Errorf("%s: %+v, want %d good slices", name, r.Counts, good)
		}
	}
	// What objectives count live is what they count here.
	c := traffic.NewCounters(limits)
	for _, outcome := range []timeline.Outcome{timeline.OK, timeline.HTTP5xx} {
		r := request("m", outcome, 0)
		r.Unmeasured = traffic.UnknownAPI
		c.Done(r)
	}
	for i, want := range []traffic.Counts{{Good: 1, Valid: 2}, {Excluded: 2}} {
		if got := telemetrytest.Total(c.Snapshot(), traffic.Key(&limits[i])); got.Counts != want {
			t.Errorf("%s: %+v", limits[i].Text, got)
		}
	}
}

// Dollars come from token prices, or from the hours of GPUs: then a slice in
// which nobody asked is idle, although it costs.
func TestDollars(t *testing.T) {
	all := compiled(t, `
  - {name: price, objective: usd_per_1k_output <= 0.01, slice: 1m, target: 50%, min_events: 1}
  - {name: worth, objective: requests_per_usd >= 30, slice: 1m, target: 50%, min_events: 1}
`)
	asked := func(s *stage) func() {
		return func() {
			r := request("m", timeline.OK, 100)
			r.Timeline.Model = "m"
			r.Timeline.Usage.Input, r.Timeline.Usage.Output = timeline.Some(int64(0)), timeline.Some(int64(1000))
			r.Record.OutputTokens = timeline.Some(int64(1000))
			s.Done(r)
		}
	}
	for name, c := range map[string]struct {
		pricing     cost.Pricing
		price, good int64
	}{
		// 1,000 tokens a request at $10 a million: a cent a request.
		"tokens": {cost.Pricing{Any: &cost.Tokens{Input: timeline.Some(1.), Output: timeline.Some(10.)}}, 2, 2},
		// $72 an hour are two cents a second, and as many a request.
		"hours": {cost.Pricing{GPUHour: timeline.Some(36.), GPUs: timeline.Some(int64(2))}, 0, 2},
	} {
		s := staged(t, Plan{Objectives: all, Pricing: &c.pricing})
		s.seconds(120, asked(s))
		s.seconds(63, nil)
		if r := s.of("price"); r.Good != c.price || r.Valid != 2 || r.Excluded != 1 {
			t.Errorf("%s: price %+v", name, r.Counts)
		}
		if r := s.of("worth"); r.Good != c.good || r.Valid != 2 || r.Excluded != 1 {
			t.Errorf("%s: worth %+v", name, r.Counts)
		}
	}
}

// Goodput a second is by the objectives of the daemon.
func TestGoodput(t *testing.T) {
	limits, err := objective.ParseAll([]string{"p95 ttft < 500ms"})
	if err != nil {
		t.Fatal(err)
	}
	s := staged(t, Plan{Objectives: compiled(t, "  - {name: good, objective: goodput_per_s >= 0.9, slice: 1m, target: 50%, min_events: 1}\n"), Good: limits})
	s.seconds(60, func() { s.Done(request("m", timeline.OK, 100)) })
	s.seconds(63, func() { s.Done(request("m", timeline.OK, 700)) })
	if r := s.of("good"); r.Good != 1 || r.Valid != 2 {
		t.Errorf("%+v", r.Counts)
	}
}

// A task counts once, when nothing more comes of it; a request of none counts
// as none.
func TestTasks(t *testing.T) {
	s := staged(t, Plan{Objectives: compiled(t, "  - {name: tasks, objective: task success < 60s >= 95%, by: [model], min_events: 1}\n")})
	step := func(task string, outcome timeline.Outcome, e2e float64) {
		r := request("m", outcome, 100)
		r.Record.Task, r.At = &task, s.now
		if task == "" {
			r.Record.Task = nil
		}
		r.Record.E2EMS = timeline.Some(e2e)
		s.now = s.now.Add(time.Duration(e2e) * time.Millisecond)
		s.Done(r)
	}
	step("good", timeline.OK, 1000)
	step("slow", timeline.OK, 1000)
	step("good", timeline.OK, 1000)
	step("failed", timeline.HTTP5xx, 10)
	step("", timeline.HTTP5xx, 10)
	step("left", timeline.CancelledUser, 10)
	s.now = s.now.Add(58 * time.Second)
	step("slow", timeline.OK, 1000)
	if r := s.of("tasks"); r.Valid != 0 || r.Excluded != 0 {
		t.Errorf("counted before they were over: %+v", r.Counts)
	}
	s.now = s.now.Add(TaskIdle)
	s.seconds(1, nil)
	if r := s.of("tasks"); r.Counts != (slo.Counts{Good: 1, Valid: 3, Excluded: 1}) {
		t.Errorf("%+v", r.Counts)
	}
	if len(s.tasks) != 0 {
		t.Errorf("%d tasks are held", len(s.tasks))
	}
}

// Tasks for which there is no room are counted, and told of once a minute.
func TestTooManyTasks(t *testing.T) {
	defer func(n int) { maxTasks = n }(maxTasks)
	maxTasks = 2
	s := staged(t, Plan{Objectives: compiled(t, "  - {name: tasks, objective: task success >= 95%, min_events: 1}\n")})
	ask := func(task string) {
		r := request("m", timeline.OK, 100)
		r.Record.Task, r.At = &task, s.now
		s.Done(r)
	}
	for _, task := range []string{"a", "b", "c", "a", "d"} {
		ask(task)
	}
	if got := s.LeftOut(); got != 2 {
		t.Errorf("%d were left out", got)
	}
	var told []string
	for range 90 {
		ask("e")
		s.now = s.now.Add(time.Second)
		if err := s.Step(t.Context()); err != nil {
			told = append(told, err.Error())
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], "3 requests of new tasks count in no task: 2 are open") || !strings.Contains(told[1], "60 requests") {
		t.Errorf("told %q", told)
	}
	s.now = s.now.Add(TaskIdle)
	if err := s.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "29 requests") {
		t.Error(err)
	}
	if r := s.of("tasks"); r.Valid != 2 {
		t.Errorf("%+v", r.Counts)
	}
}

// A clock that is set, forth and back, leaves no slice of a time that was none,
// and short windows go on to be short.
func TestTheClockIsSet(t *testing.T) {
	s := staged(t, Plan{Objectives: compiled(t, up+rate)})
	ok := func() { s.Done(request("m", timeline.OK, 100)) }
	s.seconds(120, ok)
	for _, far := range []time.Duration{24 * time.Hour, 400 * 24 * time.Hour} {
		s.now = s.now.Add(far)
		s.seconds(5, ok)
		s.now = s.now.Add(-far)
		s.seconds(240, ok)
		if r := s.of("rate"); r.Bad() != 0 || r.Excluded != 0 {
			t.Errorf("%s: slices %+v", far, r.Counts)
		}
		if r := s.of("rate"); far > 24*time.Hour && r.Valid < 6 {
			t.Errorf("%s: only %d slices were judged", far, r.Valid)
		}
		if n := s.recorder.Memory(); true {
			c, _ := n.Sum(slo.Key{Hash: compiled(t, up)[0].Hash, Source: slo.Live}, s.now.Add(-time.Minute), s.now, s.now, nil)
			if c.Valid < 50 || c.Valid > 70 {
				t.Errorf("%s: the last minute has %+v", far, c)
			}
		}
	}
	// Back for good: the time is there twice, but no slice is judged twice.
	s.now = s.now.Add(-90 * time.Second)
	before := s.of("rate").Valid
	s.seconds(60, ok)
	if after := s.of("rate").Valid; after != before {
		t.Errorf("%d slices were judged in a time that had been", after-before)
	}
	s.seconds(180, ok)
	if r := s.of("rate"); r.Valid <= before || r.Bad() != 0 {
		t.Errorf("after it: %+v", r.Counts)
	}
}

// Alerts that were saved and can't be read are kept and spoken of, and what
// fires is followed all the same.
func TestUnreadableAlerts(t *testing.T) {
	for _, saved := range []string{`{"objective":`, `{}`, `"text"`, `[{"since":"yesterday"}]`, "\x00\xff", "7"} {
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.PutState(t.Context(), alertsState, []byte(saved)); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		w, err := New(t.Context(), db, Plan{Objectives: compiled(t, up)}, func() time.Time { return now })
		if err != nil {
			t.Fatalf("%q: %v", saved, err)
		}
		for range 100 {
			w.Done(request("", timeline.HTTP5xx, 0))
		}
		now = now.Add(time.Second)
		if err := w.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "slo.alerts.damaged-20260302T000000") {
			t.Errorf("%q: it says %v", saved, err)
		}
		if kept, err := db.State(t.Context(), "slo.alerts.damaged-20260302T000000"); kept == nil || err != nil {
			t.Errorf("%q is not kept: %v", saved, err)
		}
		if text, err := db.State(t.Context(), alertsState); err != nil || !strings.Contains(string(text), `"objective":"up"`) {
			t.Errorf("%q: the alerts are %s, %v", saved, text, err)
		}
		if err := w.Step(t.Context()); err != nil {
			t.Errorf("%q is told twice: %v", saved, err)
		}
	}
}

// Since when series are counted can be unreadable too.
func TestDamagedBeginnings(t *testing.T) {
	for _, saved := range []string{"{", `[{"hash": 1}]`, "\x00"} {
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.PutState(t.Context(), "slo.since", []byte(saved)); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		for restart, want := range []string{"slo.since.damaged-20260302T000000", ""} {
			w, err := New(t.Context(), db, Plan{Objectives: compiled(t, up)}, func() time.Time { return now })
			if err != nil {
				t.Fatalf("%q: %v", saved, err)
			}
			now = now.Add(time.Second)
			if err := w.Step(t.Context()); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q, start %d: it says %v", saved, restart, err)
			}
			if kept, err := db.State(t.Context(), "slo.since.damaged-20260302T000000"); kept == nil || err != nil {
				t.Errorf("%q is not kept: %v", saved, err)
			}
		}
	}
}
