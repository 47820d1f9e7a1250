package imports

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// figures are a request as its tool's own file tells of it: figures by our names, in
// milliseconds and tokens. What the tool does not tell is missing.
type figures map[string]float64

// ofRequest are the figures that a record has for them. Tools count from the send.
func ofRequest(r *metric.Record) figures {
	f := figures{}
	put := func(name string, v timeline.Opt[float64]) {
		if x, ok := v.Get(); ok {
			f[name] = x
		}
	}
	n := timeline.Map(r.OutputTokens, func(n int64) float64 { return float64(n) })
	put("ttft", timeline.Map(r.TTFTMS, func(x float64) float64 { return x - r.DelayMS }))
	put("e2e", timeline.Map(r.E2EMS, func(x float64) float64 { return x - r.DelayMS }))
	put("ttfo", timeline.Map(r.TTFOMS, func(x float64) float64 { return x - r.DelayMS }))
	put("tpot", r.TPOTMS)
	put("close", timeline.Map(r.CloseMS, func(x float64) float64 { return x - r.DelayMS }))
	put("input", timeline.Map(r.InputTokens, func(n int64) float64 { return float64(n) }))
	put("output", n)
	if len(r.ICLMS) > 0 {
		sum := 0.0
		for _, x := range r.ICLMS {
			sum += x
		}
		f["gaps"] = sum
	}
	return f
}

// figure reads a JSON number, or {"value": number}.
func figure(v any) (x float64, ok bool) {
	if object, is := v.(map[string]any); is {
		v = object["value"]
	}
	x, ok = v.(float64)
	return x, ok
}

// tellers read the figures of the requests that went well, one a tool.
var tellers = map[string]func(t *testing.T, data []byte) []figures{
	"guidellm": func(t *testing.T, data []byte) (all []figures) {
		var v struct {
			Benchmarks []struct {
				Requests struct {
					Successful []map[string]any
				}
			}
		}
		parse(t, data, &v)
		for _, r := range v.Benchmarks[0].Requests.Successful {
			f := tell(r, map[string]string{"ttft": "time_to_first_token_ms", "ttfo": "time_to_first_output_token_ms", "close": "request_latency", "tpot": "inter_token_latency_ms", "input": "prompt_tokens", "output": "output_tokens"})
			f["close"] *= 1000
			if r["prompt_tokens"] == nil { // no usage came: its count is the number that was asked for
				delete(f, "tpot")
				delete(f, "output")
			}
			all = append(all, f)
		}
		return all
	},
	"aiperf": func(t *testing.T, data []byte) (all []figures) {
		for line := range strings.Lines(string(data)) {
			var v struct {
				Metrics  map[string]any
				Error    any
				Metadata struct {
					Phase string `json:"benchmark_phase"`
				}
			}
			parse(t, []byte(line), &v)
			if v.Error != nil || v.Metadata.Phase != "profiling" {
				continue
			}
			f := tell(v.Metrics, map[string]string{"ttft": "time_to_first_token", "ttfo": "time_to_first_output_token", "e2e": "request_latency", "input": "usage_prompt_tokens", "output": "usage_completion_tokens"})
			if own, _ := figure(v.Metrics["output_sequence_length"]); own == f["output"] { // else it divides by tokens of its own tokenizer
				maps.Copy(f, tell(v.Metrics, map[string]string{"tpot": "inter_token_latency"}))
			}
			if chunks, ok := v.Metrics["inter_chunk_latency"].(map[string]any); ok {
				for _, x := range chunks["value"].([]any) {
					f["gaps"] += x.(float64)
				}
			}
			all = append(all, f)
		}
		return all
	},
	"llmeter": func(t *testing.T, data []byte) (all []figures) {
		for line := range strings.Lines(string(data)) {
			var v map[string]any
			parse(t, []byte(line), &v)
			if v["error"] != nil {
				continue
			}
			f := tell(v, map[string]string{"ttft": "time_to_first_token", "e2e": "time_to_last_token", "tpot": "time_per_output_token", "input": "num_tokens_input", "output": "num_tokens_output"})
			for _, name := range []string{"ttft", "e2e", "tpot"} {
				if x, ok := f[name]; ok {
					f[name] = x * 1000
				}
			}
			if v["time_per_output_token"] == nil {
				delete(f, "output") // without usage it is a guess: 1
			}
			if x, _ := figure(v["num_tokens_output_reasoning"]); x > 0 {
				delete(f, "tpot") // it divides the time after the first visible token by all tokens
			}
			all = append(all, f)
		}
		return all
	},
	"vllm": func(t *testing.T, data []byte) (all []figures) {
		var v struct {
			Errors    []string
			TTFTs     []float64
			Latencies []float64
			ITLs      [][]float64
			Inputs    []float64 `json:"input_lens"`
			Outputs   []float64 `json:"output_lens"`
		}
		parse(t, data, &v)
		for i := range v.TTFTs {
			if v.Errors[i] != "" {
				continue
			}
			f := figures{"ttft": v.TTFTs[i] * 1000, "input": v.Inputs[i], "output": v.Outputs[i]}
			if len(v.Latencies) > 0 {
				f["e2e"] = v.Latencies[i] * 1000
			}
			for _, x := range v.ITLs[i] {
				f["gaps"] += x * 1000
			}
			all = append(all, f)
		}
		return all
	},
}

func parse(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// tell picks figures by the tool's names.
func tell(from map[string]any, names map[string]string) figures {
	f := figures{}
	for ours, theirs := range names {
		if x, ok := figure(from[theirs]); ok {
			f[ours] = x
		}
	}
	return f
}

// What a record says of each request is what the tool that made the file says there.
func TestFiguresInTheToolsFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "played", "*-*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, path := range append(files, "testdata/aiperf.jsonl", "testdata/guidellm.json") {
		name := filepath.Base(path)
		tool, _, _ := strings.Cut(strings.TrimSuffix(name, filepath.Ext(name)), "-")
		teller := tellers[tool]
		if teller == nil {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel("testdata", path)
		_, all := imported(t, rel)
		var ours []figures
		for _, tl := range all {
			if rec := metric.Of(tl); tl.Outcome == timeline.OK && tl.Phase.Counts() {
				ours = append(ours, ofRequest(&rec))
			}
		}
		theirs := teller(t, data)
		first := func(a, b figures) int { return cmp.Compare(a["ttft"], b["ttft"]) }
		slices.SortFunc(ours, first)
		slices.SortFunc(theirs, first)
		if len(ours) != len(theirs) || len(ours) == 0 {
			t.Errorf("%s: %d requests went well, %d by the tool", name, len(ours), len(theirs))
			continue
		}
		for i, f := range theirs {
			for figure, want := range f {
				compared++
				if got, ok := ours[i][figure]; !ok || math.Abs(got-want) > 0.003 {
					t.Errorf("%s: %s is %v, the tool says %v", name, figure, ours[i], want)
				}
			}
		}
	}
	if compared < 600 {
		t.Errorf("%d figures", compared)
	}
}

// Means that vLLM prints of a whole run, and keeps in its file.
func TestMeansInVLLMsFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "played", "vllm-*.json"))
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var printed map[string]any
		parse(t, data, &printed)
		rel, _ := filepath.Rel("testdata", path)
		_, all := imported(t, rel)
		gaps, n := 0.0, 0
		var tokens int64
		for _, tl := range all {
			if rec := metric.Of(tl); tl.Outcome == timeline.OK {
				for _, gap := range rec.ICLMS {
					gaps, n = gaps+gap, n+1
				}
				tokens += rec.OutputTokens.Or(0)
			}
		}
		want := tell(printed, map[string]string{"ttft": "mean_ttft_ms", "tpot": "mean_tpot_ms", "itl": "mean_itl_ms", "e2e": "mean_e2el_ms", "output": "total_output_tokens"})
		got := figures{"itl": gaps / float64(n), "output": float64(tokens)}
		got["ttft"], _ = mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.TTFTMS })
		got["tpot"], _ = mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.TPOTMS })
		got["e2e"], _ = mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.E2EMS })
		if strings.HasPrefix(filepath.Base(path), "vllm-rust") {
			delete(want, "tpot") // its gaps have the chunk that ends the reply too, by its tokens it divides all the same
		}
		for name, x := range want {
			if math.Abs(got[name]-x) > 0.003 {
				t.Errorf("%s: mean %s is %v, the tool says %v", filepath.Base(path), name, got[name], x)
			}
		}
	}
}
