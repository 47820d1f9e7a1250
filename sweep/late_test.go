package sweep

import (
	"context"
	"errors"
	"testing"

	"tokenmeter/objective"
)

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
