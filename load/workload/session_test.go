package workload

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Sessions that are named and not played are told.
func TestSessionsThatAreNotPlayedAreTold(t *testing.T) {
	for text, want := range map[string]bool{
		`{"session_id":"a","timestamp":0,"input_length":50,"output_length":300}`: true,
		`{"session_id":"a","delay":2,"input_length":50,"output_length":300}`:     false, // which is played
		`{"timestamp":0,"input_length":50,"output_length":300}`:                  false,
		`{"conversation_id":"a","prompt":"hi"}` + "\n" + `{"prompt":"hi"}`:       true,
	} {
		l, err := loadText(t, "x.jsonl", text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(l.Remarks(), "\n"), "records name sessions"); got != want {
			t.Errorf("%s: %v", text, l.Remarks())
		}
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

// AIPerf adds up the turns of a session where they have delays or say so, and sends
// others as they stand. What each request holds is by its documentation; prompts whose
// blocks go on from those before are whole, as converters write them.
// Sources: https://github.com/ai-dynamo/aiperf/blob/main/docs/reference/conversation-context-mode.md
// and docs/benchmark-modes/trace-replay.md, its examples.
func TestTurnsOfAIPerfsSessions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		input      int64 // of the second request; 0: not known
		roles      string
	}{
		{"lengths with a delay", `{"session_id":"a","input_length":300,"output_length":40}
{"session_id":"a","delay":2,"input_length":150,"output_length":20}`, 300 + 40 + 150, "user assistant user"},
		{"whole blocks again", `{"session_id":"a","input_length":600,"output_length":40,"hash_ids":[1,2]}
{"session_id":"a","delay":2,"input_length":1100,"output_length":20,"hash_ids":[1,2,3]}`, 1100, "user"},
		{"whole blocks, and the part of one that grew", `{"session_id":"a","timestamp":0,"input_length":600,"output_length":40,"hash_ids":[1,2]}
{"session_id":"a","timestamp":5000,"input_length":1100,"output_length":20,"hash_ids":[1,3,4]}`, 1100, "user"},
		{"a whole block that another begins with", `{"session_id":"a","timestamp":0,"input_length":1024,"output_length":40,"hash_ids":[1,2]}
{"session_id":"a","timestamp":5000,"input_length":1100,"output_length":20,"hash_ids":[1,3,4]}`, 1024 + 40 + 1100, "user assistant user"},
		{"blocks of its own", `{"session_id":"a","input_length":600,"output_length":40,"hash_ids":[1,2]}
{"session_id":"a","delay":2,"input_length":500,"output_length":20,"hash_ids":[3]}`, 600 + 40 + 500, "user assistant user"},
		{"times", `{"session_id":"a","timestamp":0,"input_length":300,"output_length":40}
{"session_id":"a","timestamp":5,"input_length":450,"output_length":20}`, 300 + 40 + 450, "user assistant user"},
		{"said to be whole", `{"session_id":"a","input_length":300,"output_length":40,"context_mode":"message_array_with_responses"}
{"session_id":"a","delay":2,"input_length":450,"output_length":20,"context_mode":"message_array_with_responses"}`, 450, "user"},
		{"texts", `{"session_id":"a","text_input":"What is ML?","output_length":9}
{"session_id":"a","delay":2,"text_input":"Give an example","output_length":9}`, 0, "user assistant user"},
		{"messages", `{"session_id":"a","timestamp":0,"messages":[{"role":"user","content":"Hello"}],"output_length":9}
{"session_id":"a","delay":2,"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi!"},{"role":"user","content":"How are you?"}]}`, 0, "user assistant user"},
		{"deltas", `{"session_id":"a","message_mode":"delta","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hello"}],"output_length":9,"timestamp":0}
{"session_id":"a","message_mode":"delta","messages":[{"role":"user","content":"How are you?"}],"output_length":9,"delay":2000}`, 0, "system user assistant user"},
		{"deltas with answers", `{"session_id":"a","context_mode":"deltas_with_responses","messages":[{"role":"user","content":"Hello"}],"output_length":9,"timestamp":0}
{"session_id":"a","context_mode":"deltas_with_responses","messages":[{"role":"assistant","content":"Hi!"},{"role":"user","content":"How are you?"}],"output_length":9,"delay":2000}`, 0, "user assistant user"},
	} {
		for _, history := range []string{"recorded", "live"} {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			l, err := FromSpec("x", Spec{Content: Content{File: path, Format: "mooncake", Sessions: true, History: history}}, Options{Salt: "s"})
			if err != nil {
				t.Fatal(c.name, err)
			}
			it := l.Item(0)
			if it.Err != nil || it.Len() != 2 || l.Item(0).Live != (history == "live") {
				t.Fatalf("%s: %d requests, %v", c.name, it.Len(), it.Err)
			}
			var roles []string
			for _, m := range it.Conversation(1, func(int) string { return "said" }) {
				roles = append(roles, m.Role)
				if adds := it.Nth(1).Continue.OK(); history == "live" && m.Role == "assistant" && (m.Content == "said") != adds {
					t.Errorf("%s: the answer is %q", c.name, m.Content)
				}
			}
			if got := strings.Join(roles, " "); got != c.roles {
				t.Errorf("%s, %s: %s, want %s", c.name, history, got, c.roles)
			}
			want := c.input
			if history == "live" && it.Nth(1).Continue.OK() {
				want = 0
			}
			if got := it.Nth(1).InputTokens.Or(0); got != want {
				t.Errorf("%s, %s: %d tokens, want %d", c.name, history, got, want)
			}
			l.Close()
		}
	}
}

// A file with delays is one of sessions, whether it is said or not.
func TestDelaysMakeSessions(t *testing.T) {
	l, err := loadText(t, "x.jsonl", `{"session_id":"a","timestamp":0,"input_length":9,"output_length":4}
{"session_id":"b","timestamp":3,"input_length":9,"output_length":4}
{"session_id":"a","delay":2,"input_length":5,"output_length":2}
`)
	if err != nil {
		t.Fatal(err)
	}
	first, second := l.Item(0), l.Item(1)
	if n, err := l.Len(); n != 2 || err != nil || first.Len() != 2 || second.Len() != 1 {
		t.Errorf("%d sessions, %v", n, err)
	}
}

// Further fields of AIPerf's records go into the request, over those of the workload.
func TestFurtherFieldsOfAIPerfsRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	text := `{"timestamp":0,"input_length":9,"output_length":4,"extra":{"temperature":0.5,"nvext":{"priority":99}}}` + "\n" + `{"timestamp":1,"input_length":9,"output_length":4}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := FromSpec("x", Spec{Content: Content{File: path, Parameters: map[string]any{"temperature": 0, "top_k": 1}}}, Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := json.Marshal(l.Item(0).Extra)
	if want := `{"nvext":{"priority":99},"temperature":0.5,"top_k":1}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
	if second := l.Item(1).Extra["temperature"]; second != 0 {
		t.Errorf("the second record's temperature is %v", second)
	}
}
