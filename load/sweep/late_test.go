package sweep

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Whether leaving late matters depends on what is asked: 80 ms are nothing to a
// limit of a second, and a third of one of 250 ms.
func TestWhenLateMatters(t *testing.T) {
	for _, c := range []struct {
		objective   string
		check       string
		value       float64
		late, harsh bool
	}{
		{"p90 ttft < 1s", "send_late", 80, false, false},
		{"p90 ttft < 250ms", "send_late", 80, true, true},
		{"p90 tpot < 30ms", "send_late", 80, true, false}, // it flattens bursts
		{"p90 tpot < 30ms", "send_late", 40, false, false},
		{"p95 e2e < 60s;p90 tpot < 30ms", "send_late", 5000, true, false},
		{"p90 ttft < 250ms;p90 tpot < 30ms", "send_late", 80, true, false},
		{"ttft:250 e2e:2000;goodput > 95%", "send_late", 80, true, true},
		{"ttft:250 tpot:30;goodput > 95%", "send_late", 80, true, false},
		{"p90 ttft < 250ms;error rate < 1%", "send_late", 80, true, false},
		{"p90 e2e < 2s", "send_late", 210, true, true},
		{"p90 ttft < 1s", "client_errors", 3, true, false},
		{"p90 tpot < 30ms", "client_lag", 0.7, true, false},
		{"p90 ttft < 1s", "client_lag", 0.7, false, false},
		{"p90 ttft < 1s", "drift", 0.9, false, false},
	} {
		o, err := objective.ParseAll(strings.Split(c.objective, ";"))
		if err != nil {
			t.Fatal(err)
		}
		r := &run.Run{}
		r.Metrics = map[string]metric.Dist{"e2e_ms": {P50: timeline.Some(500.0)}}
		r.Validity.Checks = []validity.Check{{Name: c.check, Verdict: validity.Invalid, Value: timeline.Some(c.value), Says: "so"}}
		why, harsh := late(r, o)
		if (why != "") != c.late || harsh != c.harsh {
			t.Errorf("%s, %s of %g: %q, harsh %v", c.objective, c.check, c.value, why, harsh)
		}
	}
}

// lateNow is a server whose client can't keep up now and then, or above a load.
type lateNow struct {
	virtual
	every int     // probes
	above float64 // requests/s
}

func (l *lateNow) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	p, err := l.virtual.Probe(ctx, load, limit, take)
	if l.every > 0 && int(l.probes)%l.every == 0 || l.above > 0 && load > l.above {
		p.Late = "send_late: the client sent late"
	}
	return p, err
}

// A hiccup of the client costs a probe; a client that is too slow ends the
// search, which refuses to judge beyond.
func TestLateClient(t *testing.T) {
	o, err := objective.ParseAll(scenarios[1].objectives)
	if err != nil {
		t.Fatal(err)
	}
	subject := &lateNow{virtual: scenarios[1].server, every: 4}
	subject.seed = 1
	found, err := Search{Objectives: o, Width: 0.4}.Run(context.Background(), subject)
	if err != nil || found.Holds > scenarios[1].capacity || found.Fails < scenarios[1].capacity {
		t.Errorf("now and then: %v, [%g, %g]", err, found.Holds, found.Fails)
	}
	subject = &lateNow{virtual: scenarios[1].server, above: 20}
	subject.seed = 1
	found, err = Search{Objectives: o, Width: 0.4}.Run(context.Background(), subject)
	if !errors.Is(err, ErrLate) || found.Fails != 0 || found.Holds == 0 || found.Holds > 20 {
		t.Errorf("above 20/s: %v, [%g, %g]", err, found.Holds, found.Fails)
	}
	for _, p := range found.Probes {
		if p.Load > 20 && p.Says != "unclear" {
			t.Errorf("%g was judged: %s", p.Load, p.Says)
		}
	}
}
