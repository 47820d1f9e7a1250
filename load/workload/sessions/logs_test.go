package sessions

import (
	"os"
	"path/filepath"
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
