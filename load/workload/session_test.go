package workload

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tokenmeter/load/schedule"
)

// The second record of the trace follows the first: it is due 2.386 s after it,
// and waits for it. The third begins a session of its own.
func TestTraceSessions(t *testing.T) {
	spec := Spec{Content: Content{File: "testdata/bailian.jsonl", Sessions: true}}
	l, err := FromSpec("x", spec, Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	it := l.Item(0)
	if it.Err != nil || it.Len() != 2 || it.Kind != Conversation {
		t.Fatalf("%+v", it)
	}
	second := it.Nth(1)
	at, fixed := second.At.Get()
	if !fixed || at != 2386*time.Millisecond || !slices.Equal(second.After, []int{0}) || second.InputTokens.Or(0) != 90 || second.MaxTokens.Or(0) != 21 {
		t.Errorf("the second request: %+v", second)
	}
	if alone := l.Item(1); alone.Len() != 1 || alone.InputTokens.Or(0) != 16 {
		t.Errorf("the second session: %+v", alone)
	}
	var times []time.Duration
	for at, err := range l.Times() {
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	if len(times) < 2 || times[0] != 0 || times[1] != 2886*time.Millisecond {
		t.Errorf("sessions begin at %v", times)
	}
	l.Speed(2)
	fast := l.Item(0)
	if at, _ := fast.Nth(1).At.Get(); at != 2386*time.Millisecond/2 {
		t.Errorf("twice as fast: due after %v", at)
	}
	// Both share the blocks that the trace says they share.
	if a, b := it.Nth(0).Messages[0].Content, it.Nth(1).Messages[0].Content; a[:40] != b[:40] {
		t.Errorf("%q and %q begin otherwise", a[:40], b[:40])
	}
	n := 0
	for range (schedule.Trace{Times: l.Times}).Arrivals(schedule.Share{}) {
		n++
	}
	if have, _ := l.Len(); int64(n) != have {
		t.Errorf("%d arrivals of %d sessions", n, have)
	}
}

// AIPerf's sessions may have delays alone, in milliseconds.
func TestTraceSessionsOfDelays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	text := `{"session_id":"a","input_length":10,"output_length":5}` + "\n" + `{"session_id":"a","delay":500,"input_length":20,"output_length":5}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := FromSpec("x", Spec{Content: Content{File: path, Sessions: true}}, Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	it := l.Item(0)
	if second := it.Nth(1); second.Wait != 500*time.Millisecond {
		t.Errorf("the second request: %+v", second)
	}
}
