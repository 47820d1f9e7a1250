package lens_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric/lens"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/capture"
)

// peerRequest is a scripted request of testdata/peers/shapes.jsonl.
type peerRequest struct {
	SentMS float64              `json:"sent_ms"`
	API    string               `json:"api"`
	Status int                  `json:"status"`
	HeadMS float64              `json:"head_ms"`
	Asked  timeline.Opt[int64]  `json:"asked"`
	Reads  [][2]json.RawMessage `json:"reads"`
	End    string               `json:"end"`
	EndMS  float64              `json:"end_ms"`
}

// timeline is the record of the request, and of its text, of which each letter is a token.
func (p *peerRequest) timeline(t *testing.T) *timeline.Timeline {
	t.Helper()
	var b strings.Builder
	line := func(v map[string]any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	kind := "text/event-stream"
	if p.Status != 200 {
		kind = "application/json"
	}
	line(map[string]any{"capture": capture.Version, "api": p.API, "status": p.Status, "head_ms": p.HeadMS, "due_s": p.SentMS / 1000,
		"headers": map[string]string{"content-type": kind}, "requested_tokens": p.Asked, "request": map[string]any{"stream": true}})
	for _, r := range p.Reads {
		line(map[string]any{"t_ms": r[0], "data": r[1]})
	}
	line(map[string]any{"t_ms": p.EndMS, "end": p.End})
	tl, err := capture.Analyze(strings.NewReader(b.String()), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var letters int64
	for ev := range tl.Events.All() {
		if ev.Kind.Bears() {
			letters += ev.Bytes
		}
	}
	tl.Tokenized = timeline.Some(letters)
	return tl
}

// lines reads a file of JSON texts.
func lines[T any](t *testing.T, name string, read func(*T)) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		v := new(T)
		if err := json.Unmarshal(in.Bytes(), v); err != nil {
			t.Fatal(err)
		}
		read(v)
	}
}

// peersElse are figures that the lens leaves out and says why (none), or that differ by what
// no record of arrivals has: tool, shape and figure are patterns.
var peersElse = []struct {
	tool, shape, figure string
	none                bool
	why                 string
}{
	{"vllm", "*", "total_token_throughput", true, noPrompts},
	{"sglang", "*", "total_throughput", true, noPrompts},
	{"aiperf", "*", "prefill_throughput_per_user avg", true, noPrompts},
	{"genai-bench", "*", "input_throughput.*", true, noPrompts},
	{"genai-bench", "*", "mean_total_tokens_throughput_tokens_per_s", true, noPrompts},
	{"llmeter", "*", "average_output_tokens_per_minute", true, "without usage it counts words, which no record has"},
	{"inference-perf", "*", "latency.inter_token_latency.*", true, "it tokenises each chunk"},
	{"vllm", "reasoning_content", "*", false, "it reads `reasoning` alone: which name it had is in no record"},
	{"vllm", "reasoning and text in one", "*", false, "the same"},
	{"genai-bench", "usage beside the last token", "*", false, "it takes no usage before the finish reason: beside which chunk it came is in no record"},
	{"guidellm", "usage of nothing", "*", false, "it takes 0 for the count: of an answer with a text that is none in a record"},
	{"guidellm", "after ?DONE?", "*", false, "it reads no usage after [DONE], and takes the asked length then"},
	{"llmeter", "no JSON", "time_to_last_token-*", false, "OpenAI's client stops there: where it stood is in no record"},
	{"llmeter", "after ?DONE?", "*", false, "OpenAI's client reads no usage after [DONE], and words are counted then"},
}

const noPrompts = "without usage it counts the prompt by its tokenizer"

func allowed(tool, shape, figure string, none bool) bool {
	for _, e := range peersElse {
		a, _ := path.Match(e.tool, tool)
		b, _ := path.Match(e.shape, shape)
		c, _ := path.Match(e.figure, figure)
		if a && b && c && (none || !e.none) {
			return true
		}
	}
	return false
}

// Other tools' own clients read the same bytes at the same times and reckoned with their own
// code (tools/oracle/lens): what our lenses say of the records is what they say.
func TestAsTheToolsReckon(t *testing.T) {
	shapes := map[string][]*timeline.Timeline{}
	lines(t, "testdata/peers/shapes.jsonl", func(s *struct {
		Shape    string        `json:"shape"`
		Requests []peerRequest `json:"requests"`
	}) {
		for i, r := range s.Requests {
			tl := r.timeline(t)
			tl.Request = int64(i)
			shapes[s.Shape] = append(shapes[s.Shape], tl)
		}
	})
	files, err := filepath.Glob("testdata/peers/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		tool := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		if tool == "shapes" {
			continue
		}
		t.Run(tool, func(t *testing.T) {
			compared := 0
			lines(t, name, func(l *struct {
				Shape   string                           `json:"shape"`
				Figures map[string]timeline.Opt[float64] `json:"figures"`
			}) {
				tables, err := lens.Apply([]string{tool}, slices.Values(shapes[l.Shape]), lens.Facts{})
				if err != nil {
					t.Fatal(err)
				}
				ours := map[string]timeline.Opt[float64]{}
				for _, r := range tables[0].Rows {
					ours[r.Name] = r.Value
				}
				for _, figure := range slices.Sorted(maps.Keys(l.Figures)) {
					got, has := ours[figure]
					if !has {
						t.Fatalf("no row is called %s", figure)
					}
					compared++
					if d := unlike(l.Figures[figure], got); d != "" && !allowed(tool, l.Shape, figure, !got.OK()) {
						t.Errorf("%s: %s: %s", l.Shape, figure, d)
					}
				}
			})
			t.Logf("%d figures", compared)
		})
	}
}

// unlike says how two figures differ; a tool writes 0 for what it has no value of.
func unlike(theirs, ours timeline.Opt[float64]) string {
	a, known := theirs.Get()
	b, has := ours.Get()
	switch {
	case known == has && math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(a)), !has && a == 0:
		return ""
	case !has:
		return fmt.Sprintf("%.6g there, none here", a)
	case !known:
		return fmt.Sprintf("none there, %.6g here", b)
	}
	return fmt.Sprintf("%.6g there, %.6g here", a, b)
}
