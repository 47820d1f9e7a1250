package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// want is what a call of a log must be.
type want struct {
	agent         string
	start, took   time.Duration
	input, output int64
	after         []int
	gap           time.Duration
	continues     int
	shared        int // blocks that an earlier call had
}

const msec = time.Millisecond

// The examples are as the documents of the formats show them; lengths, gaps and
// what is shared were worked out by hand.
func TestLogs(t *testing.T) {
	for _, c := range []struct {
		file, format, id string
		calls            []want
	}{
		{"otlp.jsonl", "otlp", "conv-7", []want{
			{"", 0, 1500 * msec, 640, 50, nil, 0, -1, 0},
			{"search", 2000 * msec, 3000 * msec, 320, 20, []int{0}, 500 * msec, -1, 0},
			{"", 5250 * msec, 2750 * msec, 800, 90, []int{0, 1}, 250 * msec, 0, 40},
		}},
		{"spans.json", "otlp", "t", []want{
			{"", 0, 2000 * msec, 20, 5, nil, 0, -1, 0},
			{"", 2750 * msec, 1250 * msec, 60, 7, []int{0}, 750 * msec, 0, 1},
		}},
		{"claude.jsonl", "claude-code", "s1", []want{
			{"", 0, 4000 * msec, 1010, 40, nil, 0, -1, 0},
			{"a1", 4100 * msec, 1900 * msec, 500, 30, []int{0}, 100 * msec, -1, 0},
			{"", 6500 * msec, 2500 * msec, 1110, 60, []int{0, 1}, 500 * msec, 0, 63},
		}},
		{"codex.jsonl", "codex", "th-1", []want{
			{"", 0, 2000 * msec, 2000, 50, nil, 0, -1, 0},
			{"", 5000 * msec, 2000 * msec, 2500, 60, []int{0}, 3000 * msec, 0, 125},
		}},
	} {
		f, err := Open(filepath.Join("testdata", c.file), "")
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		s, err := f.Session(0)
		if err != nil || f.Format != c.format || f.Len() != 1 || s.ID != c.id || len(s.Calls) != len(c.calls) {
			t.Errorf("%s: %s, %d sessions, %+v, %v", c.file, f.Format, f.Len(), s, err)
			continue
		}
		hits := s.Ideal()
		for k, w := range c.calls {
			g := s.Calls[k]
			slices.Sort(g.After)
			have := want{s.Agents[g.Agent].Name, g.Start, g.End - g.Start, g.Input, g.Output, g.After, g.Gap, g.Continues, hits[k]}
			if have.agent != w.agent || have.start != w.start || have.took != w.took || have.input != w.input || have.output != w.output ||
				!slices.Equal(have.after, w.after) || have.gap != w.gap || have.continues != w.continues || have.shared != w.shared {
				t.Errorf("%s, call %d: %+v\nwant %+v", c.file, k, have, w)
			}
		}
		checkSession(t, s)
		f.Close()
	}
}

// Texts that a span has are sent: calls of tools and their results are messages of
// their own.
func TestSpanMessages(t *testing.T) {
	s := sessionOf(t, "testdata/spans.json", "")
	m := s.Calls[1].Messages
	if len(m) != 3 || m[1].Role != "assistant" || m[1].ToolCalls[0].Function.Arguments != `{"dir":"/"}` || m[2].Role != "tool" || m[2].ToolCallID != "c1" {
		t.Errorf("%+v", m)
	}
}

// A compaction shortens the context: what the server had cached of it is its beginning.
func TestCompaction(t *testing.T) {
	line := func(at, in, read, out string) string {
		return `{"type":"user","sessionId":"s","timestamp":"2026-03-01T10:00:0` + at + `.000Z"}
{"type":"assistant","sessionId":"s","timestamp":"2026-03-01T10:00:0` + at + `.500Z","message":{"id":"m` + at + `","usage":{"input_tokens":` + in + `,"cache_read_input_tokens":` + read + `,"output_tokens":` + out + `}}}
`
	}
	s := sessionOf(t, write(t, "x.jsonl", line("1", "1600", "0", "10")+line("2", "160", "320", "10")+line("3", "16", "480", "10")), "")
	if got := s.Ideal(); !slices.Equal(got, []int{0, 20, 30}) {
		t.Errorf("hits %v, want 0, 320/16 and 480/16", got)
	}
	if s.Calls[1].Continues != -1 || s.Calls[2].Continues != 1 {
		t.Errorf("%+v", s.Calls)
	}
}

// A folder holds the logs of sub-agents beside those of their sessions.
func TestCodexThreads(t *testing.T) {
	data, err := os.ReadFile("testdata/codex.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "a.jsonl"), data, 0o600)
	child := strings.NewReplacer(`"id":"th-1"`, `"id":"th-2","parent_thread_id":"th-1"`, "T10:00:0", "T10:00:1").Replace(string(data))
	os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(child), 0o600)
	s := sessionOf(t, dir, "")
	if s.ID != "th-1" || len(s.Calls) != 4 || len(s.Agents) != 2 || s.Agents[1].Name != "th-2" || s.Calls[2].After[0] != 1 {
		t.Errorf("%+v", s)
	}
}

func TestLogErrors(t *testing.T) {
	for name, c := range map[string][2]string{
		"a.jsonl": {`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"x","spanId":"y","startTimeUnixNano":"soon"}]}]}]}`, "no time of a span"},
		"b.jsonl": {`{"resourceSpans":[]}`, "no span is a request to a model"},
		"c.jsonl": {`{"type":"user","sessionId":"s","timestamp":"2026-03-01T10:00:00Z"}`, "no request"},
		"d.jsonl": {`{"type":"user","sessionId":"s","timestamp":"2026-03-01T10:00:00Z"}` + "\n{", "ends"},
	} {
		_, err := Open(write(t, name, c[0]), "")
		if err == nil || !strings.Contains(err.Error(), c[1]) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want a word about %q", name, err, c[1])
		}
	}
}

// A thread that was forked begins with all that its parent did, stamped anew or as it
// was: of that nothing is asked again.
func TestCodexForks(t *testing.T) {
	data, err := os.ReadFile("testdata/codex.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	count := func(at string, total int64) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-01T%sZ","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":3000,"output_tokens":70},"total_token_usage":{"total_tokens":%d}}}}`+"\n", at, total)
	}
	stamp := regexp.MustCompile(`"timestamp":"[^"]*"`)
	anew := stamp.ReplaceAllString(string(data), `"timestamp":"2026-03-01T11:00:00.010Z"`)
	const meta = `{"timestamp":"2026-03-01T11:00:00.000Z","type":"session_meta","payload":{"id":"th-2",%s}}` + "\n"
	const user = `{"timestamp":"2026-03-01T11:00:00.500Z","type":"event_msg","payload":{"type":"user_message"}}` + "\n"
	spawned := `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"th-1","depth":1}}}`
	for _, c := range []struct {
		name, meta, history string
		sub                 bool
	}{
		{"forked by its user", `"forked_from_id":"th-1","source":"cli"`, anew, false},
		{"with its old times", `"forked_from_id":"th-1","source":"cli"`, string(data), false},
		{"a sub-agent", `"forked_from_id":"th-1",` + spawned, anew, true},
		{"a sub-agent, by its history", spawned, anew, true},
		{"a sub-agent without a history", spawned, "", true},
	} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "a.jsonl"), data, 0o600)
		child := fmt.Sprintf(meta, c.meta) + c.history + user + strings.Replace(user, "00:00.5", "00:03.0", 1) + count("11:00:03.200", 9e6)
		os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(child), 0o600)
		f, err := Open(dir, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i := range f.Len() {
			s, err := f.Session(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range s.Calls {
				got = append(got, fmt.Sprint(s.ID, s.Agents[call.Agent].Name, " ", call.Input))
			}
		}
		want := []string{"th-1 2000", "th-1 2500", "th-2 3000"}
		if c.sub {
			want[2] = "th-1th-2 3000"
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
		f.Close()
	}
}

// A forked session of Claude Code has the messages of the one before, marked or not, in
// a file of its own.
func TestClaudeForks(t *testing.T) {
	line := func(session, more, at, id string) string {
		return `{"type":"user","sessionId":"` + session + `",` + more + `"timestamp":"2026-03-01T10:00:0` + at + `.000Z"}
{"type":"assistant","sessionId":"` + session + `",` + more + `"timestamp":"2026-03-01T10:00:0` + at + `.500Z","message":{"id":"` + id + `","usage":{"input_tokens":1` + at + `00,"output_tokens":10}}}
`
	}
	const mark = `"forkedFrom":{"sessionId":"s1","messageUuid":"u"},`
	for name, more := range map[string][2]string{"marked": {mark, ""}, "not marked": {"", ""}, "written twice": {mark, line("s2", "", "1", "m1")}} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(line("s1", "", "1", "m1")+line("s1", "", "2", "m2")), 0o600)
		fork := line("s2", more[0], "1", "m1") + line("s2", more[0], "2", "m2") + more[1] + line("s2", "", "5", "m3")
		if more[0] == "" { // a server of one's own may give an id again
			fork = strings.Replace(fork, `"m3"`, `"m2"`, 1)
		}
		os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(fork), 0o600)
		f, err := Open(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		one, _ := f.Session(0)
		two, _ := f.Session(f.Len() - 1)
		if f.Len() != 2 || len(one.Calls) != 2 || len(two.Calls) != 1 || two.Calls[0].Input != 1500 {
			t.Errorf("%s: %d sessions, %+v, %+v", name, f.Len(), one, two)
		}
		f.Close()
	}
}

// The conventions have a part for reasoning and an attribute for definitions of tools
// (https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/): neither is
// sent, and how many requests had them is told.
func TestUnsentOfSpans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.json")
	span := func(id, messages, more string) string {
		return fmt.Sprintf(`{"traceId":"t","spanId":%q,"startTimeUnixNano":"1772546400000000000","endTimeUnixNano":"1772546401000000000","attributes":{
			"gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":50,"gen_ai.usage.output_tokens":5,"gen_ai.input.messages":%s%s}}`, id, messages, more)
	}
	plain := `[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`
	thought := `[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"yes"}]},{"role":"user","parts":[{"type":"text","content":"go"}]}]`
	tools := `,"gen_ai.tool.definitions":[{"type":"function","name":"f"}]`
	text := `{"spans":[` + strings.Join([]string{span("1", plain, ""), span("2", plain, tools), span("3", thought, tools), span("4", plain, `,"gen_ai.tool.definitions":[]`)}, ",") + `]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := fmt.Sprint(f.Unsent()); got != "map[gen_ai.tool.definitions:2 reasoning:1]" {
		t.Error(got)
	}
}

// The trace of testdata/otlp.jsonl as Tempo's endpoints write it is the same session.
func TestTempo(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "otlp.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := Open(filepath.Join("testdata", "otlp.jsonl"), "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := first.Session(0)
	if err != nil {
		t.Fatal(err)
	}
	batches := strings.ReplaceAll(string(data), `"resourceSpans"`, `"batches"`)
	under := func(lines string) (out string) {
		for line := range strings.Lines(lines) {
			out += `{"metrics":{},"trace":` + strings.TrimSpace(line) + "}\n"
		}
		return out
	}
	for name, text := range map[string]string{"v1": batches, "v2": under(string(data)), "v2 in 2.6": under(batches), "older": strings.ReplaceAll(batches, "scopeSpans", "instrumentationLibrarySpans")} {
		path := filepath.Join(t.TempDir(), "trace.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := f.Session(0); err != nil || f.Format != "otlp" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, %+v, want %+v, %v", name, f.Format, got, want, err)
		}
	}
}
