package metric

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"tokenmeter/record/timeline"
)

// vector is a stream with the values that an independent implementation of
// the conventions computed from it.
type vector struct {
	Name   string               `json:"name"`
	Events [][5]json.RawMessage `json:"events"` // µs, read, kind, choice, tokens or null
	Bytes  int64                `json:"bytes"`
	Usage  *struct {
		In        *int64 `json:"in"`
		Out       *int64 `json:"out"`
		Total     *int64 `json:"total"`
		Reasoning *int64 `json:"reasoning"`
		Cached    *int64 `json:"cached"`
	} `json:"usage"`
	Want map[string]any `json:"want"`
}

func (v *vector) timeline(t *testing.T) *timeline.Timeline {
	tl := timeline.New()
	tl.Streamed, tl.HTTPStatus = true, 200
	tl.Outcome = timeline.Outcome(v.Want["class"].(string))
	if u := v.Usage; u != nil {
		tl.Usage = timeline.Usage{Input: timeline.FromPtr(u.In), Output: timeline.FromPtr(u.Out),
			Total: timeline.FromPtr(u.Total), Reasoning: timeline.FromPtr(u.Reasoning), Cached: timeline.FromPtr(u.Cached)}
	}
	for i, e := range v.Events {
		var at, read, choice int64
		var kind string
		var tokens *int64
		for j, to := range []any{&at, &read, &kind, &choice, &tokens} {
			if err := json.Unmarshal(e[j], to); err != nil {
				t.Fatal(err)
			}
		}
		k, _ := timeline.ParseKind(kind)
		ev := timeline.Event{AtUS: at, Read: read, Kind: k, Choice: int(choice), Tokens: timeline.FromPtr(tokens)}
		if i == 0 {
			ev.Bytes = v.Bytes
		}
		tl.Events.Append(ev)
	}
	return tl
}

// TestOracle compares with values from elsewhere: those of the cases and of
// random streams (several choices, bursts, hidden reasoning, running usage).
func TestOracle(t *testing.T) {
	file, err := os.Open("testdata/oracle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		n++
		record := asMap(t, Of(v.timeline(t)))
		for key, field := range map[string]string{
			"ttft": "ttft_ms", "ttfo": "ttfo_ms", "e2e": "e2e_ms", "tpot": "tpot_ms", "tpot_adj": "tpot_adj_ms",
			"icl": "icl_ms", "itl": "itl_ms", "chunks": "chunks", "n_out": "output_tokens", "n_src": "token_source",
			"n_reasoning": "reasoning_tokens",
		} {
			want, got := v.Want[key], record[field]
			if key == "icl" && len(want.([]any)) == 0 && got == nil {
				continue // without an event there is no list
			}
			if !equal(want, got) {
				t.Errorf("%s: %s is %v, want %v", v.Name, field, got, want)
			}
		}
		for _, f := range v.Want["flags"].([]any) {
			if !slices.Contains(record["flags"].([]any), f) {
				t.Errorf("%s: flag %s is missing in %v", v.Name, f, record["flags"])
			}
		}
		if len(record["flags"].([]any)) != len(v.Want["flags"].([]any)) {
			t.Errorf("%s: flags are %v, want %v", v.Name, record["flags"], v.Want["flags"])
		}
	}
	if n < 400 {
		t.Errorf("only %d vectors", n)
	}
}
