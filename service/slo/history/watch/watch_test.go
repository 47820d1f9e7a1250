package watch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/slo/history/sqlstore"
	"tokenmeter/service/slo/notify"
	"tokenmeter/service/traffic"
)

const objectives = `
objectives:
  - {name: up, objective: availability >= 99%, window: 7d, by: [model], sources: [live, probe]}
  - {name: ttft, objective: p90 ttft < 1s, window: 7d, where: {model: large}}
  - {name: rate, objective: requests_per_s >= 1, slice: 10s, target: 50%, window: 7d, min_events: 1}
  - {name: gpu, objective: gpu_utilization >= 50%, slice: 10s, target: 50%, window: 7d, min_events: 1}
`

func request(model string, outcome timeline.Outcome, ttft float64) *traffic.Request {
	return &traffic.Request{Labels: traffic.Labels{Source: traffic.Live, Model: model},
		Timeline: &timeline.Timeline{Outcome: outcome},
		Record:   metric.Record{Phase: timeline.Measure, Outcome: outcome, TTFTMS: timeline.Some(ttft)}}
}

func TestWatch(t *testing.T) {
	all, _, err := slo.Load("x.yaml", []byte(objectives))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "h.db")
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	start := func() (*Watch, *sqlstore.Store) {
		db, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(t.Context(), db, Plan{Objectives: all}, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return w, db
	}
	w, db := start()
	minutes := func(n int, outcome timeline.Outcome) {
		for range n * 60 {
			w.Done(request("large", outcome, 100))
			w.Done(request("small", timeline.OK, 2000))
			w.Reading("gpu_utilization", slo.Live, nil, 0.7)
			now = now.Add(time.Second)
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.evaluate(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	find := func(name, group string) slo.Result {
		for _, r := range w.Results() {
			if r.Name == name && r.Group == group && r.Source == slo.Live {
				return r
			}
		}
		t.Fatalf("no result of %s %s", name, group)
		return slo.Result{}
	}
	minutes(10, timeline.OK)
	if r := find("up", "large"); r.State != slo.OK || r.Valid != 600 {
		t.Errorf("%s %+v", r.State, r.Counts)
	}
	// An unmeasured request is judged by its outcome only.
	for _, outcome := range []timeline.Outcome{timeline.OK, timeline.HTTP5xx} {
		unmeasured := request("large", outcome, 0)
		unmeasured.Unmeasured = traffic.TooSlow
		w.Done(unmeasured)
	}
	minutes(1, timeline.OK)
	if r := find("up", "large"); r.Counts != (slo.Counts{Good: 661, Valid: 662}) {
		t.Errorf("%+v", r.Counts)
	}
	minutes(10, timeline.HTTP5xx)
	if r := find("up", "large"); r.State != slo.Exhausted || !r.Alerts[0].Firing {
		t.Errorf("%s %+v", r.State, r.Alerts[0])
	}
	if r := find("ttft", ""); r.Valid != 1260 || r.Excluded != 2 { // only the large model's
		t.Errorf("%+v", r.Counts)
	}
	for _, name := range []string{"rate", "gpu"} {
		if r := find(name, ""); r.State != slo.OK || r.Valid < 120 || r.Good != r.Valid {
			t.Errorf("%s: %s %+v", name, r.State, r.Counts)
		}
	}
	before := w.Totals()
	for _, c := range before {
		if c.Key.Hash == all[1].Hash && c.Valid != 1260 || c.Key.Group == "large" && c.Good != 661 {
			t.Errorf("%+v", c)
		}
	}
	db.Close()
	now = now.Add(time.Minute)
	w, db = start()
	defer db.Close()
	if err := w.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := w.Totals(); !slices.Equal(before, after) || len(after) == 0 {
		t.Errorf("after a restart the counters are %+v, they were %+v", after, before)
	}
	if firing, _ := w.tracker.Update(w.Results(), now); len(firing) == 0 || !firing[0].Since.Before(now.Add(-2*time.Minute)) {
		t.Errorf("alerts did not outlive the restart: %+v", firing)
	}
}

// Receivers are told while Run runs, each at its own pace.
func TestRunTells(t *testing.T) {
	all, _, err := slo.Load("x.yaml", []byte("objectives: [{name: up, objective: availability >= 99%, window: 7d}]"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var body struct {
			Alerts []struct{ Status, Objective string }
		}
		json.NewDecoder(q.Body).Decode(&body)
		got <- body.Alerts[0].Status + " " + body.Alerts[0].Objective
	}))
	defer server.Close()
	n, err := notify.New(slo.NotifySpec{Webhook: server.URL}, notify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := New(t.Context(), db, Plan{Objectives: all, Receivers: []*notify.Notifier{n}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		w.Done(request("", timeline.HTTP5xx, 0))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx, func(err error) { t.Error(err) }) }()
	select {
	case text := <-got:
		if text != "firing up" {
			t.Errorf("told %q", text)
		}
	case <-time.After(30 * time.Second):
		t.Error("nobody was told")
	}
	cancel()
	<-ended
}
