package sweep

import (
	"context"
	"math"
	"strings"
	"testing"

	"tokenmeter/record/objective"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// An objective on a figure that no request has can't be searched for: answers of one token
// have no time per token. The search says so after its first load.
func TestObjectiveThatNoRequestTells(t *testing.T) {
	for _, texts := range [][]string{{"p95 tpot < 20ms"}, {"p95 ttft < 400ms", "p95 tpot < 20ms"}} {
		v := scenarios[1].server
		v.seed, v.output = 3, [2]int64{1, 1}
		found, err := Search{Objectives: objectivetest.Parse(t, texts...), Width: 0.2}.Run(context.Background(), &v)
		if err != nil || found.Holds != 0 || found.Fails != 0 || len(found.Probes) > 1 || !strings.Contains(found.Why, `"p95 tpot < 20ms"`) || strings.Contains(found.Next, "max-time") {
			t.Errorf("%q: [%v, %v] after %d probes, %d requests; %v, %q, %q", texts, found.Holds, found.Fails, len(found.Probes), found.Requests, err, found.Why, found.Next)
		}
		if note := found.Probes[0].Note; !strings.Contains(note, "tpot") {
			t.Errorf("%q: note %q", texts, note)
		}
	}
}

// A probe with the server still busy, and one with a client that was late but
// that held, are told from those that say something of the load.
func TestWhatAProbeCannotSay(t *testing.T) {
	for _, c := range []struct {
		probed  Probed
		decided decision
		says    decision
		spoilt  bool
	}{
		{Probed{}, fails, fails, false},
		{Probed{Late: "late", Harsh: true}, holds, holds, false},
		{Probed{Late: "late", Harsh: true}, fails, unclear, true},
		{Probed{Late: "late"}, holds, unclear, true},
		{Probed{Unsettled: "not at rest", Busy: true}, fails, unclear, true},
		{Probed{Unsettled: "not at rest", Busy: true}, holds, holds, false},
		{Probed{Unsettled: "slower at rest"}, fails, fails, false},
	} {
		p := Probe{Probed: c.probed, decided: c.decided}
		p.qualify(false)
		if p.decided != c.says || p.spoilt != c.spoilt || p.spoilt && p.Note == "" {
			t.Errorf("%+v, %v: %v, spoilt %v, %q", c.probed, c.decided, p.decided, p.spoilt, p.Note)
		}
	}
}

// busyAfter is a server that is still at work on the last load for the probes
// after one that failed.
type busyAfter struct {
	virtual
	left int
}

func (b *busyAfter) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	busy := b.left > 0
	slow := 0.0
	if busy {
		b.left--
		slow = 5000 // nothing is quick then
	}
	late := false
	p, err := b.virtual.Probe(ctx, load, limit, func(s Seen) bool {
		rec := *s.Record
		rec.TTFTMS = timeline.Some(rec.TTFTMS.Or(0) + slow)
		late = late || rec.TTFTMS.Or(0) > 400
		s.Record = &rec
		return take(s)
	})
	if late && !busy {
		b.left = 2
	}
	if p.Busy = busy; busy {
		p.Unsettled = "the server was not at rest"
	}
	return p, err
}

// What an earlier load left behind makes no load fail.
func TestBusyServerMakesNothingFail(t *testing.T) {
	o, err := objective.ParseAll(scenarios[1].objectives)
	if err != nil {
		t.Fatal(err)
	}
	subject := &busyAfter{virtual: scenarios[1].server}
	subject.seed = 1
	found, err := Search{Objectives: o, Width: 0.4}.Run(context.Background(), subject)
	if err != nil || found.Holds > scenarios[1].capacity || found.Fails < scenarios[1].capacity {
		told(t, &found)
		t.Errorf("%v, [%g, %g] %s", err, found.Holds, found.Fails, found.Why)
	}
	for _, p := range found.Probes {
		if p.Busy && p.Says == "fails" || math.IsNaN(p.Load) {
			t.Errorf("%g failed with a busy server", p.Load)
		}
	}
}
func told(t *testing.T, found *Found) {
	t.Helper()
	for _, p := range found.Probes {
		t.Logf("   %.4g %s firm=%v grows=%v n=%d share=%.3f %s", p.Load, p.Says, p.Firm, p.Grows, p.Requests, p.Share, p.Note)
	}
}
