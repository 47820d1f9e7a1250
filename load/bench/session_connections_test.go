package bench

import (
	"testing"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/wire/client"
)

// With a connection for each session, each conversation of three turns opens one
// and goes on with it, and none is left when it has ended.
func TestAConnectionForEachSession(t *testing.T) {
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "20", Output: "5", Turns: "3"}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: said(100*time.Millisecond, func(int, body) string { return "so" })}
	res := virtual(t, f, Plan{Client: client.Config{PerSession: true}, Load: Load{Concurrency: 2, Requests: 12, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.records) != 12 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	for _, r := range res.records {
		if first, reused := r.Turn.Or(-1) == 0, r.ConnectionReused.Or(true); first == reused {
			t.Errorf("turn %d of session %v: reused %v", r.Turn.Or(-1), r.Session, reused)
		}
	}
	if !res.run.Load.PerSession || warned(res.run, "connections_opened") {
		t.Errorf("the run does not say that sessions have their own connections: %+v, %v", res.run.Load, res.run.Warnings)
	}
}
