package bench

import (
	"testing"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
)

// Requests of a session wait for their time and for the one before: the server
// takes 1 s, so that the request that was recorded after 400 ms is sent when the
// first has ended, and the one of 4 s at its time. Sessions do not wait for
// each other.
func TestTraceSessionsArePlayed(t *testing.T) {
	name := t.TempDir() + "/trace.jsonl"
	err := writeFile(name, `{"timestamp":0,"input_length":10,"output_length":5,"session":"a"}
{"timestamp":400,"input_length":11,"output_length":6,"session":"a"}
{"timestamp":500,"input_length":12,"output_length":7,"session":"b"}
{"timestamp":4000,"input_length":13,"output_length":8,"session":"a"}
`)
	if err != nil {
		t.Fatal(err)
	}
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: name, TimeIn: "ms", Sessions: true}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: said(time.Second, func(int, body) string { return "so" })}
	res := virtual(t, f, Plan{Load: Load{Trace: &schedule.Trace{Times: work.Times}, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.records) != 4 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	want := map[int64]float64{5: 0, 6: 1, 7: 0.5, 8: 4}
	for _, rec := range res.records {
		asked := rec.RequestedTokens.Or(0)
		near(t, "due", rec.DueS, want[asked])
		near(t, "E2E", rec.E2EMS.Or(0), 1000)
	}
}

// Turns with a delay in place of a time wait so long after the answer before them, in the
// order of the file, and sessions that begin later than theirs keep their time.
func TestDelayedTurns(t *testing.T) {
	name := t.TempDir() + "/trace.jsonl"
	err := writeFile(name, `{"session_id":"a","timestamp":1000,"input_length":10,"output_length":5,"hash_ids":[1]}
{"session_id":"a","delay":250,"input_length":11,"output_length":6,"hash_ids":[1]}
{"session_id":"b","timestamp":1500,"input_length":12,"output_length":7,"hash_ids":[2]}
{"session_id":"a","delay":2000,"input_length":13,"output_length":8,"hash_ids":[1]}
{"session_id":"b","delay":0,"input_length":14,"output_length":9,"hash_ids":[2]}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, speed := range []float64{1, 2} {
		work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: name, Sessions: true}}, workload.Options{Salt: "s"})
		if err != nil {
			t.Fatal(err)
		}
		work.Speed(speed)
		f := &fake{chat: said(time.Second, func(int, body) string { return "so" })}
		res := virtual(t, f, Plan{Load: Load{Trace: &schedule.Trace{Times: work.Times, Speed: speed}, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
		work.Close()
		if res.err != nil || len(res.records) != 5 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		b := 0.5 / speed
		want := map[int64]float64{5: 0, 6: 1 + 0.25/speed, 7: b, 8: 2 + 2.25/speed, 9: b + 1}
		for _, rec := range res.records {
			near(t, "due", rec.DueS, want[rec.RequestedTokens.Or(0)])
		}
	}
}
