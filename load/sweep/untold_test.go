package sweep

import (
	"context"
	"strings"
	"testing"
	"time"
)

// An objective on a figure that no request has can't be searched for: answers of one token
// have no time per token. The search says so after its first load.
func TestObjectiveThatNoRequestTells(t *testing.T) {
	for _, texts := range [][]string{{"p95 tpot < 20ms"}, {"p95 ttft < 400ms", "p95 tpot < 20ms"}} {
		v := scenarios[1].server
		v.seed, v.output = 3, [2]int64{1, 1}
		found, err := Search{Objectives: parsed(t, texts...), Width: 0.2}.Run(context.Background(), &v)
		if err != nil || found.Holds != 0 || found.Fails != 0 || len(found.Probes) > 1 || !strings.Contains(found.Why, `"p95 tpot < 20ms"`) || strings.Contains(found.Next, "max-time") {
			t.Errorf("%q: [%v, %v] after %d probes, %d requests; %v, %q, %q", texts, found.Holds, found.Fails, len(found.Probes), found.Requests, err, found.Why, found.Next)
		}
		if note := found.Probes[0].Note; !strings.Contains(note, "tpot") {
			t.Errorf("%q: note %q", texts, note)
		}
	}
}

// Where requests failed, fewer of them may have the figure: the way goes down.
func TestFailedRequestsTellNothing(t *testing.T) {
	subject := &gateway{most: 15}
	found, err := Search{Objectives: parsed(t, "p90 ttft < 500ms valid: success"), From: 64, MaxTime: 10 * time.Minute,
		Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
	if err != nil || found.Holds > 15 || found.Holds < 5 {
		t.Errorf("[%g, %g], %v %s; %s", found.Holds, found.Fails, err, found.Why, found.Next)
		told(t, &found)
	}
	h := &hunt{Search: Search{Variable: Rate, From: 64, Most: 1e5}}
	p := &Probe{Load: 64, untold: "p90 ttft < 500ms valid: success"}
	if h.silent(p) || h.placed(p) || h.step(p) >= 64 {
		t.Errorf("from 64 to %g", h.step(p))
	}
}
