package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

func tracedRequest(body string) *traffic.Request {
	r := &traffic.Request{Timeline: timeline.New(), Body: []byte(body)}
	r.Labels.Source = traffic.Live
	r.Record = metric.Record{InputTokens: timeline.Some(int64(40)), OutputTokens: timeline.Some(int64(5))}
	return r
}

// Lines are appended; what can't be played again is left out, and what there is no room
// for is counted and gives its room back.
func TestTraceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	big := strings.Repeat("x", mostBodies+1)
	for round := range 2 {
		trace, err := OpenTrace(path, &Plan{})
		if err != nil {
			t.Fatal(err)
		}
		trace.Done(tracedRequest(`{"prompt":"hello there"}`))
		trace.Done(tracedRequest(big))
		probe := tracedRequest(`{"prompt":"hello"}`)
		probe.Labels.Source = traffic.Probe
		trace.Done(probe)
		dropped, err := trace.Close()
		if err != nil || dropped != 1 || trace.held.Load() != 0 {
			t.Errorf("round %d: %d dropped, %d bytes held, %v", round, dropped, trace.held.Load(), err)
		}
		trace.Done(tracedRequest(`{}`)) // after the end
		if trace.held.Load() != 0 {
			t.Error("a request after the end holds its body")
		}
	}
	data, err := os.ReadFile(path)
	if n := strings.Count(string(data), "\n"); err != nil || n != 2 || strings.Contains(string(data), "hello") {
		t.Errorf("%q, %v", data, err)
	}
}

// What a client says acts on nobody who looks at the file.
func TestHostileTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	trace, err := OpenTrace(path, &Plan{})
	if err != nil {
		t.Fatal(err)
	}
	r := tracedRequest(`{"prompt":"hello there"}`)
	r.Model = "\x1b[2J\u009b31m\u202etile\ufeff\r\n{}"
	trace.Done(r)
	if _, err := trace.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), "\n") != 1 || strings.ContainsAny(string(data), "\x1b\u009b\u202e\ufeff\r") {
		t.Errorf("%q, %v", data, err)
	}
}
