package capture_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/wire/api"
	"tokenmeter/wire/capture"
)

// TestCases replays the conformance cases exactly: name.capture.jsonl against
// name.expect.json. A key that starts with not_ lists values that prove a known
// bug. Keys that say nothing about one replayed record are listed in otherwhere.
func TestCases(t *testing.T) { replayAll(t, "testdata/cases", 50) }

// TestRecorded replays streams of real servers, with the times at which a
// client read them. What they hold was worked out from the same bytes by other
// means.
func TestRecorded(t *testing.T) { replayAll(t, "testdata/recorded", 10) }

func replayAll(t *testing.T, dir string, atLeast int) {
	paths, err := filepath.Glob(dir + "/*.capture.jsonl")
	if err != nil || len(paths) < atLeast {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".capture.jsonl")
		t.Run(name, func(t *testing.T) {
			want := map[string]any{}
			data, err := os.ReadFile(strings.TrimSuffix(path, ".capture.jsonl") + ".expect.json")
			if err == nil {
				err = json.Unmarshal(data, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, want, recordOf(t, path))
		})
	}
}

func recordOf(t *testing.T, path string) record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tl, err := capture.Analyze(f, capture.Options{Name: path, Stream: api.StreamOptions{KeepText: true}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(metric.Of(tl))
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// record is a record as scripts read it.
type record map[string]any

func (r record) num(name string) float64 {
	if v, ok := r[name].(float64); ok {
		return v
	}
	return math.NaN()
}

func (r record) list(names ...string) []float64 {
	for _, name := range names {
		if l, ok := r[name].([]any); ok && len(l) > 0 {
			out := make([]float64, len(l))
			for i := range l {
				out[i] = l[i].(float64)
			}
			return out
		}
	}
	return nil
}

func (r record) flags() []string {
	var out []string
	for _, f := range r["flags"].([]any) {
		out = append(out, f.(string))
	}
	return out
}

func (r record) errorText() string { return fmt.Sprint(r["error"]) }

// columns maps the keys of an expectation to fields of the record.
var columns = map[string]string{
	"class": "outcome", "http_status": "http_status", "first_byte": "first_byte_ms",
	"ttft": "ttft_ms", "ttfo": "ttfo_ms", "e2e": "e2e_ms", "close": "close_ms", "at": "close_ms",
	"tpot": "tpot_ms", "tpot_headline": "tpot_ms", "tpot_adj": "tpot_adj_ms", "icl": "icl_ms", "itl": "itl_ms",
	"n_out": "output_tokens", "tokens_delivered": "output_tokens",
	"n_in": "input_tokens", "n_in_cached": "cached_tokens", "n_reasoning": "reasoning_tokens",
	"requested_out": "requested_tokens", "n_src": "token_source", "chunks": "chunks",
	"e2e_tps": "e2e_tps", "decode_tps": "decode_tps", "text": "output_text",
	"max_gap": "max_gap_ms", "retry_after_ms": "retry_after_ms", "attempts": "attempts",
	"error_latency": "close_ms",
}

// derived are keys that are computed from the record. NaN stands for null.
var derived = map[string]func(record) float64{
	"n_answer":             func(r record) float64 { return r.num("output_tokens") - r.num("reasoning_tokens") },
	"n_in_computed":        func(r record) float64 { return r.num("input_tokens") - r.num("cached_tokens") },
	"cache_share":          func(r record) float64 { return r.num("cached_tokens") / r.num("input_tokens") },
	"prefill_tps_apparent": func(r record) float64 { return r.num("input_tokens") * 1000 / r.num("ttft_ms") },
	"prefill_tps_computed": func(r record) float64 {
		return (r.num("input_tokens") - r.num("cached_tokens")) * 1000 / r.num("ttft_ms")
	},
	"visible_ratio":         func(r record) float64 { return r.num("chunks") / r.num("output_tokens") },
	"tokens_per_chunk_mean": func(r record) float64 { return r.num("output_tokens") / r.num("chunks") },
	"e2e_per_token":         func(r record) float64 { return r.num("e2e_ms") / r.num("output_tokens") },
	"content_chars":         func(r record) float64 { s, _ := r["output_text"].(string); return float64(len(s)) },
	"server_tpot": func(r record) float64 {
		server, _ := r["server"].(map[string]any)
		return record(server).num("decode_ms") / r.num("output_tokens")
	},
	"icl_max":             func(r record) float64 { return slices.Max(r.list("icl_ms")) },
	"icl_p50":             func(r record) float64 { return quantile(r.list("icl_ms"), 0.5) },
	"itl_mean":            func(r record) float64 { return mean(r.list("itl_ms", "icl_ms")) },
	"itl_max":             func(r record) float64 { return slices.Max(r.list("itl_ms", "icl_ms")) },
	"itl_p50":             func(r record) float64 { return quantile(r.list("itl_ms", "icl_ms"), 0.5) },
	"itl_p99":             func(r record) float64 { return quantile(r.list("itl_ms", "icl_ms"), 0.99) },
	"itl_p50_nr":          func(r record) float64 { return nearestRank(r.list("itl_ms", "icl_ms"), 0.5) },
	"parse_err":           func(r record) float64 { return truth(slices.Contains(r.flags(), "malformed_event")) },
	"malformed_events":    func(r record) float64 { return truth(slices.Contains(r.flags(), "malformed_event")) },
	"reads_with_tokens":   func(r record) float64 { return 1 + count(r.list("icl_ms"), 0) },
	"stall_count_over_1s": func(r record) float64 { return count(r.list("icl_ms"), 1000) },
}

// otherwhere are keys that a replay of one record cannot show: they speak of
// other runs, of the live request, of objectives, or need a tokenizer.
var otherwhere = []string{"good", "request_header_accept_encoding", "with_tokenizer", "not_verdict",
	"slo_numerator_change", "slo_denominator_change", "records", "upstream_cancelled_within_ms",
	"slo_tpot_50", "slo_max_gap_1000"}

func check(t *testing.T, want map[string]any, r record) {
	for key, w := range want {
		base, bug := strings.CutPrefix(key, "not_")
		switch {
		case slices.Contains(otherwhere, key):
		case key == "flags":
			for _, f := range w.([]any) {
				if !slices.Contains(r.flags(), f.(string)) {
					t.Errorf("flag %s is missing from %v", f, r.flags())
				}
			}
		case key == "error_code", key == "error_type", key == "trailers":
			for _, word := range words(w) {
				if !strings.Contains(r.errorText(), word) {
					t.Errorf("%s: %s is not in %s", key, word, r.errorText())
				}
			}
		case key == "error_text_nonempty":
			if e, _ := r["error"].(map[string]any); e["message"] == "" {
				t.Error("the error has no words")
			}
		default:
			got, ok := value(base, r)
			switch {
			case !ok:
				t.Errorf("key %s is not known to this test", key)
			case bug:
				for _, b := range w.([]any) {
					if same(b, got) {
						t.Errorf("%s is %v: the bug that the case is about", base, got)
					}
				}
			case key == "class" && family(w.(string), got):
			case !same(w, got):
				t.Errorf("%s is %v, want %v", key, got, w)
			}
		}
	}
}

func value(key string, r record) (any, bool) {
	if name, ok := columns[key]; ok {
		v, ok := r[name]
		if !ok && name == "icl_ms" {
			return []any{}, true
		}
		return v, ok
	}
	fn, ok := derived[key]
	if !ok {
		return nil, false
	}
	if v := fn(r); !math.IsNaN(v) {
		return v, true
	}
	return nil, true
}

// family: a capture's plain timeout or cancelled does not say of which kind.
func family(want string, got any) bool {
	g, _ := got.(string)
	return strings.HasPrefix(want, "timeout_") && strings.HasPrefix(g, "timeout_") ||
		strings.HasPrefix(want, "cancelled_") && strings.HasPrefix(g, "cancelled_")
}

func same(want, got any) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(w-g) <= 0.001
	case []any:
		g, ok := got.([]any)
		if got == nil {
			return len(w) == 0
		}
		return ok && slices.EqualFunc(w, g, same)
	}
	return want == got
}

func words(v any) []string {
	if m, ok := v.(map[string]any); ok {
		var out []string
		for _, x := range m {
			out = append(out, fmt.Sprint(x))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func count(gaps []float64, over float64) float64 {
	n := 0.0
	for _, g := range gaps {
		if g > over {
			n++
		}
	}
	return n
}

func nearestRank(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[max(int(math.Ceil(p*float64(len(v)))), 1)-1]
}

// quantile interpolates linearly (type 7).
func quantile(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	x := float64(len(v)-1) * p
	lo := int(x)
	return v[lo] + (v[min(lo+1, len(v)-1)]-v[lo])*(x-float64(lo))
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
