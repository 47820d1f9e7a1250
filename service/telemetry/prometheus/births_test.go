package prometheus

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// look is a page as somebody gets it.
func look(e *Exporter, address string) string {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	r.RemoteAddr = address
	e.ServeHTTP(w, r)
	return w.Body.String()
}

const (
	badTotal   = "tokenmeter_slo_bad_total"
	validTotal = "tokenmeter_slo_valid_total"
)

// A new counter shows 0 from its first page on, whenever that comes and however
// often it is asked for, until the hold is over; then all that it counted.
func TestNewCountersShowZeroFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, sinks := daemon(t, Options{Hold: DefaultHold}, "error rate < 1%")
		fail := func() { sinks.Done(telemetrytest.Failed(timeline.HTTP5xx)) }
		fail()
		time.Sleep(10 * time.Minute) // Prometheus is away
		for range 13 {
			text := look(e, "a:1")
			if bad, valid := sum(text, badTotal), sum(text, validTotal); bad != 0 || valid != 0 || !strings.Contains(text, badTotal+"{") {
				t.Fatalf("%v bad of %v are shown within the hold", bad, valid)
			}
			fail()
			time.Sleep(5 * time.Second)
		}
		text := look(e, "a:1")
		if bad, valid := sum(text, badTotal), sum(text, validTotal); bad != 14 || valid != 14 {
			t.Errorf("%v bad of %v after the hold, want 14 of 14", bad, valid)
		}
	})
}

// memory is what pages of earlier processes had.
type memory struct{ known []string }

func (m *memory) Known(labels []string) bool { return slices.Contains(m.known, labels[1]) }
func (m *memory) Show(labels []string)       { m.known = append(m.known, labels[1]) }

// What an earlier process showed never goes back to 0.
func TestKnownCountersGoOn(t *testing.T) {
	m := &memory{}
	for round := range 2 {
		e, _, sinks := daemon(t, Options{Hold: time.Hour, Shown: m}, "error rate < 1%")
		sinks.Done(telemetrytest.Failed(timeline.HTTP5xx))
		if got := sum(look(e, "a:1"), badTotal); got != float64(round) {
			t.Errorf("round %d shows %v", round, got)
		}
	}
}

// Under load, on every page bad <= valid, and no page shows less than one before.
func TestPagesFitAndOnlyGrow(t *testing.T) {
	e, _, sinks := daemon(t, Options{Hold: time.Millisecond}, "error rate < 1%", "p50 ttft < 100ms")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 2000 {
				if i%3 == 0 {
					sinks.Done(telemetrytest.Failed(timeline.HTTP5xx))
				} else {
					sinks.Done(telemetrytest.Streamed(150, 180))
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	before := map[string]float64{}
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		values := map[string]float64{}
		text := look(e, "a:1")
		for _, o := range objectivetest.Parse(t, "error rate < 1%", "p50 ttft < 100ms") {
			for _, name := range []string{badTotal, validTotal} {
				id := name + o.Text
				values[id] = sum(text, name, `hash="`+traffic.Key(&o)+`"`)
				if values[id] < before[id] {
					t.Fatalf("%s fell from %v to %v", id, before[id], values[id])
				}
			}
			if bad, valid := values[badTotal+o.Text], values[validTotal+o.Text]; bad > valid {
				t.Fatalf("%s: %v bad of %v", o.Text, bad, valid)
			}
		}
		before = values
	}
	time.Sleep(2 * time.Millisecond)
	if text := look(e, "a:1"); sum(text, validTotal) != 16_000 {
		t.Errorf("%v events at the end, want 16000", sum(text, validTotal))
	}
}

// Everybody who reads gets a page after the last event: two, 0 and then the
// value, where the counter was on none; who has hung up is not waited for.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(e *Exporter) bool {
			ctx, stop := context.WithTimeout(t.Context(), 40*time.Second)
			defer stop()
			return e.Linger(ctx)
		}
		e, _, _ := daemon(t, Options{Hold: time.Hour}, "error rate < 1%")
		if !e.End() {
			t.Error("there is somebody to wait for, though nobody ever asked")
		}
		e, _, sinks := daemon(t, Options{Hold: time.Hour}, "error rate < 1%")
		look(e, "a:1")
		look(e, "b:1")
		look(e, "c:1")
		sinks.Done(telemetrytest.Failed(timeline.HTTP5xx))
		if e.End() {
			t.Error("there is nobody to wait for")
		}
		e.Gone("c:1")
		var shown float64
		go func() {
			time.Sleep(15 * time.Second)
			shown = sum(look(e, "a:1"), badTotal)
			time.Sleep(5 * time.Second)
			look(e, "b:1")
		}()
		begin := time.Now()
		if !wait(e) || time.Since(begin) != 20*time.Second || shown != 1 {
			t.Errorf("it waited %s, and %v was shown", time.Since(begin), shown)
		}
		e, _, sinks = daemon(t, Options{Hold: time.Hour}, "error rate < 1%")
		e.readers.read("a:1", false)
		sinks.Done(telemetrytest.Failed(timeline.HTTP5xx))
		e.End()
		if got := sum(look(e, "a:1"), badTotal); got != 0 || e.readers.all() {
			t.Errorf("the first page shows %v and is taken for the last", got)
		}
		if got := sum(look(e, "a:1"), badTotal); got != 1 || !e.readers.all() {
			t.Errorf("the second page shows %v and is not taken for the last", got)
		}
		e, _, _ = daemon(t, Options{}, "error rate < 1%")
		look(e, "a:1")
		e.End()
		if wait(e) {
			t.Error("a page that nobody asked for was read")
		}
	})
}
