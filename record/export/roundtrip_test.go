//go:build !lean

package export

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/imports"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// anyRequests are requests as a server may have answered them: chunks that came one
// by one, with reasoning first or without, whole answers, failures before and after
// the first token.
func anyRequests(t *rapid.T) []*timeline.Timeline {
	var all []*timeline.Timeline
	due := int64(0)
	for i := range rapid.IntRange(1, 60).Draw(t, "requests") {
		tl := timeline.New()
		tl.Request, tl.API, tl.Attempts, tl.HTTPStatus = int64(i), "openai-chat", 1, 200
		due += rapid.Int64Range(0, 500_000).Draw(t, "due")
		tl.DueUS = due
		tl.StartUS = due + rapid.SampledFrom([]int64{0, 1, 30_000}).Draw(t, "late")
		tl.Streamed = rapid.Bool().Draw(t, "streamed")
		tl.Asked = tl.Streamed
		n := rapid.IntRange(1, 12).Draw(t, "chunks")
		if !tl.Streamed {
			n = 1
		}
		thinks := 0
		if tl.Streamed {
			thinks = rapid.IntRange(0, n-1).Draw(t, "reasoning")
		}
		at := tl.StartUS - tl.DueUS
		for c := range n {
			at += rapid.SampledFrom([]int64{1500, 20_000, 20_001, 999_999}).Draw(t, "gap")
			kind := timeline.Text
			if c < thinks {
				kind = timeline.Reasoning
			}
			tl.Events.Append(timeline.Event{AtUS: at, Kind: kind, Bytes: 4, Read: int64(c)})
		}
		tl.CloseUS = timeline.Some(at + 100)
		tl.Usage.Input = timeline.Some(rapid.Int64Range(1, 5000).Draw(t, "input"))
		tl.Usage.Output = timeline.Some(int64(n) + rapid.Int64Range(0, 3).Draw(t, "more"))
		if thinks > 0 {
			tl.Usage.Reasoning = timeline.Some(int64(thinks))
		}
		tl.Outcome = timeline.OK
		switch rapid.IntRange(0, 9).Draw(t, "fails") {
		case 0:
			tl.Fail(timeline.StreamError, "it \"broke\"\nhalf way")
		case 1:
			tl.Events = timeline.Events{}
			tl.Usage = timeline.Usage{Input: tl.Usage.Input}
			tl.Fail(timeline.HTTP5xx, "")
		}
		all = append(all, tl)
	}
	return all
}

// What is exported for AIPerf and vLLM and imported again has the same figures.
func TestFilesOfOthersComeBack(t *testing.T) {
	for _, form := range []string{"aiperf", "vllm"} {
		t.Run(form, func(t *testing.T) {
			for seed := range 15 { // each writes a folder to the disk
				before := rapid.Custom(anyRequests).Example(seed)
				var file bytes.Buffer
				e, _ := ByName(form)
				if err := e.Write(&file, folder(t, nil, before...)); err != nil {
					t.Fatal(err)
				}
				in, err := imports.NewInput("f", &file)
				if err != nil {
					t.Fatal(err)
				}
				m := imports.Recognise(in.Head())
				if m == nil || m.Name != form {
					t.Fatalf("recognised as %v", m)
				}
				var after []*timeline.Timeline
				if _, err := m.Read(in, func(tl *timeline.Timeline) error { after = append(after, tl); return nil }); err != nil {
					t.Fatal(err)
				}
				if len(after) != len(before) {
					t.Fatalf("%d requests of %d", len(after), len(before))
				}
				for i := range before {
					x, y := metric.Of(before[i]), metric.Of(after[i])
					if (x.Outcome == timeline.OK) != (y.Outcome == timeline.OK) {
						t.Fatalf("request %d: %s became %s", i, x.Outcome, y.Outcome)
					}
					same(t, i, "ttft_ms", x.TTFTMS, y.TTFTMS)
					if x.Outcome != timeline.OK {
						continue
					}
					same(t, i, "e2e_ms", x.E2EMS, y.E2EMS)
					same(t, i, "tpot_ms", x.TPOTMS, y.TPOTMS)
					same(t, i, "max_gap_ms", x.MaxGapMS, y.MaxGapMS)
					same(t, i, "e2e_tps", x.E2ETPS, y.E2ETPS)
					if form == "aiperf" { // vLLM's file doesn't tell reasoning from answers
						same(t, i, "ttfo_ms", x.TTFOMS, y.TTFOMS)
					}
					if x.InputTokens != y.InputTokens || x.OutputTokens != y.OutputTokens || len(x.ICLMS) != len(y.ICLMS) {
						t.Fatalf("request %d: %v in, %v out, %d gaps became %v, %v, %d", i, x.InputTokens, x.OutputTokens, len(x.ICLMS), y.InputTokens, y.OutputTokens, len(y.ICLMS))
					}
				}
			}
		})
	}
}

// A run without arrivals comes back with its latencies: no gap is known of it. To vLLM's
// readers an empty list is an answer of one chunk (vllm/benchmarks/serve.py: E2E is the TTFT
// and the sum of the gaps); files that have one beside a longer latency are read by that.
func TestRequestsWithoutArrivalsComeBack(t *testing.T) {
	tl := timeline.New()
	tl.API, tl.Attempts, tl.HTTPStatus, tl.Outcome, tl.Streamed = "openai-chat", 1, 200, timeline.OK, true
	tl.Evidence, tl.CloseUS = timeline.RequestOnly, timeline.Some(int64(181_000))
	tl.Events.Append(timeline.Event{AtUS: 30_000, Kind: timeline.Text})
	tl.Events.Append(timeline.Event{AtUS: 181_000, Kind: timeline.Text, Read: 1})
	tl.Usage.Input, tl.Usage.Output = timeline.Some(int64(9)), timeline.Some(int64(20))
	x := metric.Of(tl)
	file := exported(t, folder(t, nil, tl), "vllm")
	if !strings.Contains(file, `"itls":[null]`) {
		t.Errorf("no gap is known: %s", file)
	}
	for _, file := range []string{file, strings.Replace(file, "[null]", "[[]]", 1)} {
		in, err := imports.NewInput("f", strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := imports.Recognise(in.Head()).Read(in, func(tl *timeline.Timeline) error {
			y := metric.Of(tl)
			same(t, 0, "ttft_ms", x.TTFTMS, y.TTFTMS)
			same(t, 0, "e2e_ms", x.E2EMS, y.E2EMS)
			same(t, 0, "tpot_ms", x.TPOTMS, y.TPOTMS)
			if tl.Evidence != timeline.RequestOnly {
				t.Errorf("evidence %s", tl.Evidence)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// same allows for a microsecond: both ends of a time are rounded to one.
func same(t *testing.T, i int, what string, x, y timeline.Opt[float64]) {
	t.Helper()
	a, known := x.Get()
	b, still := y.Get()
	if known != still || math.Abs(a-b) > 0.001+1e-6*math.Abs(a) {
		t.Fatalf("request %d: %s was %v and came back as %v", i, what, x, y)
	}
}

// Each form holds the figures of the run in the other tool's words.
func TestFormsOfOthers(t *testing.T) {
	f := folder(t, []string{"p50 ttft < 1s"}, b1(), failed("x"))
	for form, want := range map[string][]string{
		"aiperf":         {`"time_to_first_token":{"value":214,"unit":"ms"}`, `"inter_chunk_latency":{"value":[20,20],"unit":"ms"}`, `"output_sequence_length":{"value":3,"unit":"tokens"}`, `"type":"http_5xx"`},
		"aiperf-profile": {`"inter_token_latency": {`, `"avg": 20`, `"error_summary": [`, `"request_count": {`},
		"vllm":           {`"mean_tpot_ms":20`, `"ttfts":[0.214,null]`, `"itls":[[0.02,0.02],[]]`, `"output_lens":[3,null]`, `"completed":1,"failed":1`, `"total_output_tokens":3`},
		"llm-d":          {`"version": "0.2.1"`, `"units": "s/token"`, `"mean": 0.02`, `"failures": 1`, `"units": "queries/s"`},
		"benchstat":      {"Unit ttft-ms better=lower\n", "BenchmarkRequest\t1\t214 ttft-ms\t20 tpot-ms\t254 e2e-ms\t50 decode-tokens/s\n", "failed-requests: 1\n"},
		"openmetrics":    {`tokenmeter_run_ttft_seconds{run="",model="",quantile="0.5"} 0.214`, "# UNIT tokenmeter_run_ttft_seconds seconds\n", `outcome="http_5xx"} 1`, "# EOF\n"},
	} {
		text := exported(t, f, form)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s:\n%s", form, part, text)
			}
		}
	}
}

// AIPerf refuses a line that lacks one of these: fields without a default in AIPerf
// 0.13's aiperf/common/models/record_models.py, MetricRecordInfo and what it holds.
func TestAIPerfTakesItsLines(t *testing.T) {
	for line := range strings.Lines(exported(t, folder(t, nil, b1(), failed("x")), "aiperf")) {
		var row struct{ Metadata, Metrics, Error map[string]any }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"session_num", "request_start_ns", "request_end_ns", "worker_id", "record_processor_id", "benchmark_phase"} {
			if row.Metadata[name] == nil {
				t.Errorf("no %s: %s", name, line)
			}
		}
		if row.Metrics == nil || row.Error != nil && row.Error["message"] == nil {
			t.Errorf("no metrics, or an error without words: %s", line)
		}
	}
}

// A run in which nothing was measured is exported without a figure that is none.
func TestFormsOfAnEmptyRun(t *testing.T) {
	f := folder(t, nil, failed("x"))
	for _, e := range Exporters {
		if text := exported(t, f, e.Name); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") && e.Name != "parquet" {
			t.Errorf("%s: %s", e.Name, text)
		}
	}
}
