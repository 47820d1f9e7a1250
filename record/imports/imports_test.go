package imports

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// imported reads a file of testdata as whatever it is recognised as.
func imported(t *testing.T, name string) (from string, all []*timeline.Timeline) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name, data)
}

func read(t *testing.T, name string, data []byte) (from string, all []*timeline.Timeline) {
	t.Helper()
	in, err := NewInput(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	in.Reply = api.Reread
	m := Recognise(in.Head())
	if m == nil {
		t.Fatalf("%s is not recognised", name)
	}
	if _, err := m.Read(in, func(tl *timeline.Timeline) error { all = append(all, tl); return nil }); err != nil {
		t.Fatal(err)
	}
	return m.Name, all
}

// A copy of a file is the same run, packed too; another part, another tool's reading of
// it, or another file are not.
func TestIDIsOfTheContent(t *testing.T) {
	input := func(part int, data string) *Input {
		in, err := NewInput(t.Name(), strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		in.Part = part
		return in
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("a"))
	w.Close()
	id := input(0, "a").ID(&Importers[0])
	for _, same := range []string{input(0, "a").ID(&Importers[0]), input(1, "a").ID(&Importers[0]), input(0, packed.String()).ID(&Importers[0])} {
		if same != id {
			t.Errorf("a copy has %s, not %s", same, id)
		}
	}
	for _, other := range []string{input(2, "a").ID(&Importers[0]), input(0, "a").ID(&Importers[1]), input(0, "b").ID(&Importers[0])} {
		if other == id {
			t.Error("two have one ID")
		}
	}
}

func mean(all []*timeline.Timeline, of func(*metric.Record) timeline.Opt[float64]) (mean float64, n int) {
	for _, tl := range all {
		rec := metric.Of(tl)
		if v, ok := of(&rec).Get(); ok && tl.Phase.Counts() && tl.Outcome == timeline.OK {
			mean += v
			n++
		}
	}
	return mean / float64(n), n
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 0.002) { // two times are rounded to a microsecond
		t.Errorf("%s: %v, the tool says %v", what, got, want)
	}
}

// Files that the tools wrote themselves against a simulated server with faults, and
// the figures that they printed of them: AIPerf 0.13.0 and GuideLLM 0.8.1. Of
// GuideLLM's the prompts, the answers and what is not read were taken out.
func TestFiguresOfTheToolsThemselves(t *testing.T) {
	from, all := imported(t, "aiperf.jsonl")
	ttft, n := mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.TTFTMS })
	e2e, _ := mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.E2EMS })
	if from != "aiperf" || n != 13 {
		t.Errorf("%s, %d requests", from, n)
	}
	near(t, "TTFT", ttft, 21.451083307692308)
	near(t, "E2E", e2e, 218.2909709230769)
	warmup, failed, gaps, sum := 0, 0, 0, 0.0
	for _, tl := range all {
		if tl.Phase == timeline.Warmup {
			warmup++
			continue
		}
		if tl.Outcome != timeline.OK {
			failed++
			if tl.Error.Message == "" || tl.Outcome != timeline.EmptyOutput {
				t.Errorf("%s: %+v", tl.Outcome, tl.Error)
			}
			continue
		}
		if tl.Evidence != timeline.Arrivals || tl.Usage.Output.Or(0) != 12 || !tl.Tokenized.OK() {
			t.Errorf("evidence %s, %+v, tokenized %v", tl.Evidence, tl.Usage, tl.Tokenized)
		}
		last := int64(-1)
		for ev := range tl.Events.All() {
			if last >= 0 {
				gaps, sum = gaps+1, sum+float64(ev.AtUS-last)/1000
			}
			last = ev.AtUS
		}
	}
	if warmup != 2 || failed != 1 {
		t.Errorf("%d of warm-up, %d failed", warmup, failed)
	}
	near(t, "inter-chunk latency", sum/float64(gaps), 17.894535237762238)

	from, all = imported(t, "guidellm.json")
	// It counts from when it sent the request; a record's ttft_ms from when that was due.
	ttft, n = mean(all, func(r *metric.Record) timeline.Opt[float64] {
		return timeline.Some(r.TTFTMS.Or(0) - r.DelayMS)
	})
	tpot, _ := mean(all, func(r *metric.Record) timeline.Opt[float64] { return r.TPOTMS })
	if from != "guidellm" || n != 11 || len(all) != 14 {
		t.Errorf("%s, %d of %d requests", from, n, len(all))
	}
	near(t, "TTFT", ttft, 27.06701105291193)
	near(t, "inter-token latency, which is TPOT", tpot, 7.468389085501678)
	for _, tl := range all {
		rec := metric.Of(tl)
		if tl.Evidence != timeline.RequestOnly || rec.ITLMS != nil || rec.ICLMS != nil {
			t.Errorf("evidence %s: %v, %v", tl.Evidence, rec.ITLMS, rec.ICLMS)
		}
		if tl.StartUS < tl.DueUS || tl.DueUS < 0 {
			t.Errorf("due %d, started %d", tl.DueUS, tl.StartUS)
		}
	}
}

// Files by the documents and the sources of the tools.
func TestDocumentedFiles(t *testing.T) {
	for _, c := range []struct {
		name, file, from string
		want             []string // due µs, evidence, outcome, moments µs, input, output
	}{
		{"vLLM", `{"date":"20261102-030405","backend":"openai-chat","model_id":"m","request_rate":"inf","max_concurrency":2,"duration":2,"completed":2,"mean_ttft_ms":150,"request_throughput":1,
"input_lens":[100,200,50],"output_lens":[3,2,0],"start_times":[10.5,11.0,11.5],"ttfts":[0.1,0.2,0.0],"itls":[[0.05,0.07],[0.1],[]],"generated_texts":["a","b",""],"errors":["","","Service Unavailable"]}`,
			"vllm", []string{"0 arrivals ok [100000 150000 220000] 100 3", "500000 arrivals ok [200000 300000] 200 2", "1000000 request http_5xx [] 50 -1"}},
		{"SGLang", `{"tag":null,"backend":"sglang","request_rate":4.0,"mean_ttft_ms":1,"request_throughput":2,"input_lens":[9],"output_lens":[2],"ttfts":[0.1],"itls":[[0.02]],"start_times":[1.0],"errors":[""]}` + "\n",
			"vllm", []string{"0 arrivals ok [100000 120000] 9 2"}},
		{"inference-perf 0.3", `[{"start_time":5.0,"end_time":5.5,"request":"{}","response":"x","info":{"input_tokens":7,"output_tokens":3,"output_token_times":[5.1,5.2,5.4],"extra_info":{}},"error":null},
{"start_time":5.25,"end_time":6,"request":"{}","response":"","info":{"input_tokens":7,"output_tokens":0,"output_token_times":[]},"error":{"error_type":"TimeoutError","error_msg":"too slow"}}]`,
			"inference-perf", []string{"0 arrivals ok [100000 200000 400000] 7 3", "250000 request timeout_total [] 7 -1"}},
		// apis/chat.py of 0.2.0: the moment of each line, also of the blank one behind an event.
		{"inference-perf 0.2", `[{"start_time":5.0,"end_time":5.5,"request":"{}","response":"\n","info":{"input_tokens":7,"output_tokens":3,"output_token_times":[5.1,5.1001,5.2,5.2001,5.4]},"error":null}]`,
			"inference-perf", []string{"0 arrivals ok [100000 200000 400000] 7 3"}},
		{"inference-perf 0.7", `[{"stage_id":0,"scheduled_time":4.9,"start_time":5.0,"end_time":5.5,"info":{"request_metrics":{"text":{"input_tokens":7}},"response_metrics":{"output_tokens":2,"server_usage":{"prompt_tokens":8,"completion_tokens":3},"chunk_times":[],"output_token_times":[5.1,5.2]}},"error":null}]`,
			"inference-perf", []string{"0 arrivals ok [200000 300000] 8 3"}},
		{"llmeter", `{"response_text":"x","id":"a","time_to_first_token":0.1,"time_to_last_token":0.5,"num_tokens_input":9,"num_tokens_output":5,"error":null,"request_time":"2026-11-02T03:04:05.250000+00:00"}
{"response_text":null,"id":"b","time_to_first_token":null,"time_to_last_token":null,"num_tokens_input":null,"num_tokens_output":null,"error":"throttled","request_time":"2026-11-02T03:04:05.500000Z"}
`, "llmeter", []string{"0 request ok [100000 500000] 9 5", "250000 request untold [] -1 -1"}},
		// Its Bedrock endpoint: inputTokens is without cacheReadInputTokens (endpoints/bedrock.py); its OpenAI one: a part of the prompt.
		{"llmeter, cached", `{"response_text":"x","id":"a","time_to_first_token":0.4,"time_to_last_token":1.2,"num_tokens_input":12,"num_tokens_output":40,"num_tokens_input_cached":1000,"error":null,"request_time":"2026-11-30T10:00:00+00:00"}
{"response_text":"x","id":"b","time_to_first_token":0.4,"time_to_last_token":1.2,"num_tokens_input":1012,"num_tokens_output":40,"num_tokens_input_cached":1000,"error":null,"request_time":"2026-11-30T10:00:02+00:00"}
{"response_text":"x","id":"c","time_to_first_token":0.4,"time_to_last_token":1.2,"num_tokens_input":1000,"num_tokens_output":40,"num_tokens_input_cached":1000,"error":null,"request_time":"2026-11-30T10:00:04+00:00"}
{"response_text":"x","id":"d","time_to_first_token":0.4,"time_to_last_token":1.2,"num_tokens_input":null,"num_tokens_output":40,"num_tokens_input_cached":1000,"error":null,"request_time":"2026-11-30T10:00:06+00:00"}
`, "llmeter", []string{"0 request ok [400000 1200000] 1012 40", "2000000 request ok [400000 1200000] 1012 40", "4000000 request ok [400000 1200000] 1000 40", "6000000 request ok [400000 1200000] -1 40"}},
		{"perf_analyzer", `{"experiments":[{"experiment":{"mode":"concurrency","value":2},"requests":[{"timestamp":1000000000,"response_timestamps":[1100000000,1200000000,1300000000,1400000000],"response_outputs":[
{"response":"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},{"response":"data: [DONE]\n\n"}]}],"window_boundaries":[1,2]}],"version":"","service_kind":"openai","endpoint":"v1/chat/completions"}`,
			"genai-perf", []string{"0 arrivals ok [200000 300000] -1 -1"}},
		{"OpenTelemetry", `{"resourceSpans":[{"scopeSpans":[{"spans":[
{"spanId":"01","name":"chat m","startTimeUnixNano":"1795921414000000000","endTimeUnixNano":"1795921414500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"9"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"5"}},{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.1}}],"status":{}},
{"spanId":"02","name":"execute_tool f","startTimeUnixNano":"1795921414000000000","endTimeUnixNano":"1795921414500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]},
{"spanId":"03","name":"chat m","startTimeUnixNano":"1795921414250000000","endTimeUnixNano":"1795921414300000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"error.type","value":{"stringValue":"429"}},{"key":"http.response.status_code","value":{"intValue":429}}],"status":{"code":2,"message":"slow down"}}]}]}]}`,
			"otel", []string{"0 request ok [100000 500000] 9 5", "250000 request http_429 [] -1 -1"}},
		{"a table", "id,start_s,ttft_ms,e2e_ms,input_tokens,output_tokens,error\na,1.5,100,500,9,5,\nb,2,,300,9,5,\nc,2.5,,,9,,refused\n",
			"csv", []string{"0 request ok [100000 500000] 9 5", "500000 request ok [300000] 9 5", "1000000 request untold [] 9 -1"}},
		{"a table of a German spreadsheet", "start_s;ttft_ms;e2e_ms\r\n1;100;500\r\n", "csv", []string{"0 request ok [100000 500000] -1 -1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, all := read(t, c.name, []byte(c.file))
			var got []string
			for _, tl := range all {
				var at []int64
				for ev := range tl.Events.All() {
					at = append(at, ev.AtUS)
				}
				out := tl.Usage.Output.Or(tl.Tokenized.Or(-1))
				if tl.Outcome != timeline.OK {
					out = -1
				}
				got = append(got, fmt.Sprintf("%d %s %s %v %d %d", tl.DueUS, tl.Evidence, tl.Outcome, at, tl.Usage.Input.Or(-1), out))
			}
			if from != c.from || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s:\n%s\nwant\n%s", from, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A request of which a file has the first token and no end went on nobody knows how
// long: the first token is not the last, and it did not go well.
func TestRequestsWithoutEnd(t *testing.T) {
	const csv = "start_s,ttft_ms,e2e_ms,output_tokens\n"
	for _, c := range []struct {
		name, data string
		outcome    timeline.Outcome
		e2e        float64 // of one that went well, ms
	}{
		{"empty.csv", csv + "0,100,,50\n", timeline.StreamTruncated, 0},
		{"nan.csv", csv + "0,100,nan,50\n", timeline.StreamTruncated, 0},
		{"negative.csv", csv + "0,100,-1,50\n", timeline.StreamTruncated, 0},
		{"endless.csv", csv + "0,100,1e18,50\n", timeline.StreamTruncated, 0},
		{"uncounted.csv", csv + "0,100,,\n", timeline.StreamTruncated, 0},
		{"whole.csv", csv + "0,100,60000,50\n", timeline.OK, 60_000},
		{"one.csv", csv + "0,100,,1\n", timeline.OK, 100}, // its first is its last
		{"responses.jsonl", `{"request_time":"2026-01-01T00:00:00Z","time_to_first_token":0.1,"time_to_last_token":null,"num_tokens_output":50,"response_text":"x"}`,
			timeline.StreamTruncated, 0},
		// An answer of no token is none, as it is in a run of our own.
		{"none.csv", csv + "0,,60000,0\n", timeline.EmptyOutput, 0},
		{"unstreamed.csv", csv + "0,,60000,5\n", timeline.OK, 60_000},
		{"vectors.csv", csv + "0,,60000,\n", timeline.OK, 60_000},
		{"OK.csv", "start_s,outcome,e2e_ms,output_tokens\n0,OK,60000,5\n", timeline.OK, 60_000},
		{"success.csv", "start_s,outcome,e2e_ms,output_tokens\n0,Success,60000,5\n", timeline.OK, 60_000},
		{"limited.csv", "start_s,outcome,e2e_ms,error\n0,http_429,,http_429: slow down\n", timeline.HTTP429, 0},
		{"cancelled.csv", "start_s,outcome,ttft_ms,e2e_ms\n0,cancelled_run_end,100,\n", timeline.CancelledRunEnd, 0},
		{"odd.csv", "start_s,outcome,e2e_ms\n0,gone,5\n", timeline.Untold, 0},
		{"200.csv", "start_s,outcome,e2e_ms,output_tokens\n0,200,60000,5\n", timeline.OK, 60_000},
		{"404.csv", "start_s,outcome,e2e_ms,error\n0,404,5,no such model\n", timeline.HTTP4xx, 0},
		{"503.csv", "start_s,outcome,e2e_ms\n0,503,5\n", timeline.HTTP5xx, 0},
		{"late.csv", "start_s,outcome,e2e_ms\n0,timeout,5\n", timeline.TimeoutTotal, 0},
		{"rounded.csv", csv + "0,100.4,100,2\n", timeline.OK, 100.4},
		{"ours.csv", "start_s,outcome,e2e_ms,output_tokens\n0,ok,60000,0\n", timeline.OK, 60_000},
		{"empty.json", `[{"start_time":100,"end_time":101,"info":{"input_tokens":5,"output_tokens":0,"output_token_times":[]},"error":null}]`, timeline.EmptyOutput, 0},
		{"vllm.json", `{"date":"20260101-000000","backend":"vllm","start_times":[0],"ttfts":[0.1],"itls":[[]],"input_lens":[5],"output_lens":[50]}`,
			timeline.OK, 100}, // all came at once, in a chunk
	} {
		_, all := read(t, c.name, []byte(c.data))
		if rec := metric.Of(all[0]); all[0].Outcome != c.outcome || c.e2e > 0 && rec.E2EMS.Or(0) != c.e2e {
			t.Errorf("%s: %s, E2E %v, want %s, %v", c.name, all[0].Outcome, rec.E2EMS, c.outcome, c.e2e)
		}
	}
}

// A request that two layers wrote a span of counts once, and the file's notes say so.
func TestNestedSpansAreOneRequest(t *testing.T) {
	in, _ := NewInput("f", strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"spans":[
{"traceId":"t","spanId":"02","parentSpanId":"01","startTimeUnixNano":"1795921414100000000","endTimeUnixNano":"1795921414400000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[
{"traceId":"t","spanId":"01","startTimeUnixNano":"1795921414000000000","endTimeUnixNano":"1795921414500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}`))
	var ends []int64
	if _, err := readOTel(in, func(tl *timeline.Timeline) error { ends = append(ends, tl.CloseUS.Or(0)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(ends) != 1 || ends[0] != 500_000 || len(in.Notes) != 1 || !strings.Contains(in.Notes[0], "count with it: 1") {
		t.Errorf("%v, notes %q", ends, in.Notes)
	}
}

// A span fails by what it tells of its answer too, where it has no error.type.
func TestSpansThatFailed(t *testing.T) {
	for attribute, want := range map[string]timeline.Outcome{
		`{"key":"http.response.status_code","value":{"intValue":"200"}}`:                                       timeline.OK,
		`{"key":"http.response.status_code","value":{"intValue":"503"}}`:                                       timeline.HTTP5xx,
		`{"key":"http.response.status_code","value":{"intValue":429}}`:                                         timeline.HTTP429,
		`{"key":"http.response.status_code","value":{"intValue":"401"}}`:                                       timeline.HTTP4xx,
		`{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}}`:  timeline.OK,
		`{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"error"}]}}}`: timeline.StreamError,
	} {
		_, all := read(t, "spans.json", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"01","startTimeUnixNano":"1795921414000000000",
"endTimeUnixNano":"1795921414500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},`+attribute+`]}]}]}]}`))
		if all[0].Outcome != want {
			t.Errorf("%s: %s, want %s", attribute, all[0].Outcome, want)
		}
	}
}

// llama-bench's own example of -o jsonl, from its README (MIT): the rates of its
// repetitions are what it printed beside their times.
func TestLLAMABench(t *testing.T) {
	const file = `{"build_commit": "8cf427ff", "model_type": "qwen2 7B Q4_K - Medium", "n_prompt": 512, "n_gen": 0, "n_depth": 0, "test_time": "2025-04-24T11:59:33Z", "avg_ns": 70497220, "avg_ts": 7263.3, "samples_ns": [ 70551000, 70344900, 70439300, 70520500, 70630400 ],"samples_ts": [ 7257.16, 7278.42, 7268.67, 7260.30, 7249.00 ]}
{"build_commit": "8cf427ff", "model_type": "qwen2 7B Q4_K - Medium", "n_prompt": 0, "n_gen": 128, "n_depth": 64, "test_time": "2025-04-24T11:59:33Z", "avg_ns": 1068078400, "samples_ns": [ 1060000000, 1070000000 ],"samples_ts": [ 120.755, 119.626 ]}
`
	importPart := func(file string, part int) (run.Run, []*timeline.Timeline, error) {
		in, _ := NewInput("f", strings.NewReader(file))
		in.Part = part
		if m := Recognise(in.Head()); m == nil || m.Name != "llama-bench" {
			t.Fatalf("recognised as %v", m)
		}
		var all []*timeline.Timeline
		m, err := readLLAMABench(in, func(tl *timeline.Timeline) error { all = append(all, tl); return nil })
		return m, all, err
	}
	if _, _, err := importPart(file, 0); err == nil || !strings.Contains(err.Error(), "1: pp512; 2: tg128 @ d64") {
		t.Errorf("parts: %v", err)
	}
	m, all, err := importPart(file, 1)
	if err != nil || len(all) != 5 || m.Started.Unix() != 1745495973 {
		t.Fatalf("%d repetitions, %v, %v", len(all), m.Started, err)
	}
	rec := metric.Of(all[0])
	if rate := 512 / (rec.TTFTMS.Or(0) / 1000); math.Abs(rate-7257.16) > 0.01 || rec.TPOTMS.OK() || all[1].DueUS != 70551 {
		t.Errorf("prompt %v tokens/s, TPOT %v, the second began at %d µs", rate, rec.TPOTMS, all[1].DueUS)
	}
	_, all, err = importPart("["+strings.Replace(strings.TrimSpace(file), "\n", ",\n", 1)+"]", 2)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d repetitions, %v", len(all), err)
	}
	rec = metric.Of(all[0])
	if math.Abs(rec.E2ETPS.Or(0)-120.755) > 0.001 || rec.TTFTMS.OK() || rec.CachedTokens.Or(0) != 64 {
		t.Errorf("generation %v tokens/s, TTFT %v, %v cached", rec.E2ETPS, rec.TTFTMS, rec.CachedTokens)
	}
}

// llmeter writes whole seconds where its clock has microseconds, which is said.
func TestWholeSeconds(t *testing.T) {
	for at, said := range map[string]bool{"2026-11-30T20:43:34Z": true, "2026-11-30T20:43:34.211000Z": false} {
		line := `{"response_text":"x","id":"a","time_to_first_token":0.1,"time_to_last_token":0.5,"num_tokens_input":9,"num_tokens_output":5,"error":null,"request_time":"` + at + `"}` + "\n"
		in, _ := NewInput("f", strings.NewReader(line+line))
		if _, err := readLLMeter(in, func(*timeline.Timeline) error { return nil }); err != nil || strings.Contains(strings.Join(in.Notes, "\n"), "whole seconds") != said {
			t.Errorf("%s: %q, %v", at, in.Notes, err)
		}
	}
}

// llmeter's stats.json, written by its own code, has the run's length to the microsecond.
func TestLLMeterStats(t *testing.T) {
	data, err := os.ReadFile("testdata/llmeter_stats.json")
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInput("stats.json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	m, err := readLLMeter(in, nil)
	if err != nil || Recognise(in.Head()) == nil || m.Told == nil {
		t.Fatal(err)
	}
	d := m.Told.Metrics["tpot_ms"]
	for name, got := range map[string][2]float64{
		"requests/s":    {m.Told.Throughput.RequestsPerS.Or(0), 15 / 2.4242905850005627},
		"tokens/s":      {m.Told.Throughput.SuccessOutputTPS.Or(0), 100.08423756661857},
		"TPOT":          {d.P50.Or(0), 7.677211133462454},
		"TTFT p99":      {m.Told.Metrics["ttft_ms"].P99.Or(0), 1516.09671375787},
		"output tokens": {m.Told.Metrics["output_tokens"].Mean.Or(0), 16},
		"ok":            {float64(m.Told.OK.Or(-1)), 15},
		"streams":       {float64(m.Load.Concurrency.Or(0)), 3},
	} {
		if math.Abs(got[0]-got[1]) > 1e-6*got[1] {
			t.Errorf("%s is %v, want %v", name, got[0], got[1])
		}
	}
	if m.Target.Model != "sim" || m.Started.IsZero() {
		t.Errorf("%q began %v", m.Target.Model, m.Started)
	}
}

// genai-bench's files, written by its own code in both of its units; what is wanted was
// computed by Python's statistics from the requests that the files listed, all but one of
// which are taken out. Vectors have no first token, and a failure is no output.
func TestGenAIBench(t *testing.T) {
	read := func(name string) run.Run {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := NewInput(name, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		from := Recognise(in.Head())
		if from == nil || from.Name != "genai-bench" {
			t.Fatalf("%s is taken for a file of %v", name, from)
		}
		m, err := from.Read(in, nil)
		if err != nil || m.Told == nil {
			t.Fatal(err)
		}
		return m
	}
	chat, vectors := read("genaibench.json"), read("genaibench_embeddings.json")
	for name, got := range map[string][2]float64{
		"TTFT":           {chat.Told.Metrics["ttft_ms"].Mean.Or(0), 77.42582620024525},
		"its deviation":  {chat.Told.Metrics["ttft_ms"].SD.Or(0), 79.28059696248688},
		"its n":          {float64(chat.Told.Metrics["ttft_ms"].N), 30},
		"E2E":            {chat.Told.Metrics["e2e_ms"].Mean.Or(0), 144.8442828002347},
		"tokens/s":       {chat.Told.Throughput.SuccessOutputTPS.Or(0), 288.53403159664146},
		"requests/s":     {chat.Told.Throughput.RequestsPerS.Or(0), 12.022251316526729},
		"streams":        {float64(chat.Load.Concurrency.Or(0)), 2},
		"ok":             {float64(chat.Told.OK.Or(-1)), 30},
		"E2E of vectors": {vectors.Told.Metrics["e2e_ms"].Mean.Or(0), 29.73616418785241},
		"vectors":        {float64(vectors.Told.OK.Or(-1)), 32},
		"failed":         {float64(vectors.Told.Failed.Or(-1)), 1},
		"all":            {float64(vectors.Told.Total.Or(-1)), 33},
	} {
		if math.Abs(got[0]-got[1]) > 1e-9*got[1] {
			t.Errorf("%s is %v, want %v", name, got[0], got[1])
		}
	}
	for _, none := range []string{"ttft_ms", "tpot_ms", "output_tokens"} {
		if d, has := vectors.Told.Metrics[none]; has {
			t.Errorf("vectors have %s: %+v", none, d)
		}
	}
	if vectors.Told.Throughput.SuccessOutputTPS.OK() || vectors.Told.Throughput.SystemInputTPS.OK() {
		t.Errorf("%+v", vectors.Told.Throughput)
	}
}

// Files that can't be imported and are known say where the requests are.
func TestSummariesAreKnown(t *testing.T) {
	for head, want := range map[string]string{
		"Metric,avg,min,max,sum,p1,p5\n":     "profile_export.jsonl",
		"Metric,avg,min,max,p99,p95\n":       "genai-perf's profile_export.json,", // genai_perf/export_data/csv_exporter.py
		`{"load_summary":{},"successes":{}}`: "per_request_lifecycle_metrics.json",
		"hello":                              "",
	} {
		if Recognise([]byte(head)) != nil {
			t.Errorf("%s is taken for a file that can be imported", head)
		}
		if got := SummaryOf([]byte(head)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", head, got)
		}
	}
}

// What can't be read says where and what to do.
func TestFaultyFiles(t *testing.T) {
	for _, c := range []struct{ from, file, want string }{
		{"vllm", `{"mean_ttft_ms":"x","request_throughput":1}`, "f:1:3: mean_ttft_ms is a text, no number"},
		{"vllm", `{"date":"x"}`, "none of the figures"},
		{"vllm", `{"ttfts":[1,2],"itls":[[]],"input_lens":[1,2],"output_lens":[1,2]}`, "f:1:1: itls has 1 elements and ttfts has 2"},
		{"vllm", `{"ttfts":[1],"itls":[[]],"input_lens":[1],"output_lens":[1]}`, "start_times has 0 elements"},
		{"vllm", `{"ttfts":[1],"itls":[[-2]],"input_lens":[1],"output_lens":[1],"start_times":[0]}`, "token 2 of the request comes before"},
		{"vllm", "{\"ttfts\":[1],\n\"itls\":[", "f:2:9: the file ends in the middle"},
		{"vllm", "{\"ttfts\":[1],\n\"itls\":[}", "f:2:9: this is no JSON"},
		{"vllm", `{"ttfts":"x"}`, "ttfts is a string here"},
		{"vllm", "", "the file is empty"},
		{"vllm", `{"ttfts":[1],"start_times":[1]}` + "\n" + `{"ttfts":[1],"request_rate":2}`, "holds 2 runs: choose one; 1: "},
		{"aiperf", `{"metadata":{"benchmark_phase":"profiling"},"metrics":{}}`, "no moment at which it began"},
		{"aiperf", `{"metadata":{"request_start_ns":"x"}}`, "metadata.request_start_ns is a string here"},
		// aiperf/common/models/record_models.py: RawRecordInfo; of a request that failed the list is empty
		{"aiperf", `{"metadata":{"request_start_ns":1,"request_end_ns":9,"benchmark_phase":"profiling"},"start_perf_ns":1,"status":500,"responses":[]}`,
			"f:1:1: this is a record of AIPerf's profile_export_raw.jsonl, which has answers as they came and no figures: import profile_export.jsonl"},
		{"guidellm", `{"benchmarks":[{"metrics":{"request_totals":{"successful":2}},"requests":{"successful":[{"request_start_time":1,"request_end_time":2}]}}]}`, "a sample of 1 of the 2 requests"},
		{"guidellm", `{"benchmarks":[]}`, "the file holds no run"},
		{"guidellm", `{"benchmarks":[{},{}]}`, "holds 2 runs"},
		{"inference-perf", `[`, "the file ends in the middle"},
		{"inference-perf", `[]`, "the list has no request"},
		{"inference-perf", `[{"start_time":1,"info":7}]`, "f:1:25: info is a number here"},
		{"inference-perf", `{"start_time":1}`, "f:1:1: this is no list"},
		{"inference-perf", "[{\"start_time\":1}\n {\"start_time\":1}]", "f:2:2: this is no JSON: want , or ]"},
		{"inference-perf", "[{\"start_time\":1},\n", "f:2:1: the file ends in the middle"},
		{"inference-perf", "[{\"start_time\":1}]\n]", "f:2:1: more stands behind"},
		{"llama-bench", `[{"n_prompt":1,"n_gen":1,"samples_ns":[]}]`, "f:1:2: the test has no samples_ns"},
		{"llama-bench", `{"n_prompt":1,"n_gen":1,"samples_ns":[-5]}`, "f:1:1: a repetition that took -5 ns"},
		{"llama-bench", `[{"n_prompt":1,"n_gen":0,"samples_ns":[9223372036854775808]}]`, "f:1:2: the request lasts longer than four months"},
		{"llama-bench", `{"n_prompt":1,"n_gen":1,"samples_ns":[3e18]}`, "f:1:1: the request lasts longer than four months"},
		{"vllm", `{"ttfts":[1],"itls":[[9e10]],"input_lens":[1],"output_lens":[1],"start_times":[0]}`, "the request lasts longer than four months"},
		{"csv", "start_s,e2e_ms\n1,1e11\n", "the request lasts longer than four months"},
		{"guidellm", `{"benchmarks":[{"requests":{"successful":[{"request_id":"a","time_to_first_token_ms":1,"info":{"timings":{"request_start":1,"first_token_iteration":2,"last_token_iteration":3,"request_end":9e10}}}]}}]}`, "the request lasts longer than four months"},
		{"llama-bench", `{"n_prompt":1,"n_gen":0,"samples_ns":[1,`, "the file ends in the middle"},
		{"llama-bench", "| model | test | t/s |\n| --- | --- | --- |\n", "f:3:1: the table has no row"},
		{"llama-bench", "| model | test | t/s |\n| m | pp5 |\n", "f:2:1: the row has 2 columns and the table's head 3"},
		{"llama-bench", "| model | test | t/s |\n| m | pp5 | x |\n", `f:2:1: t/s is "x", no number`},
		{"llama-bench", "build_commit,n_prompt,n_gen,avg_ts\na,5,0,-3\n", "avg_ts is -3, which nothing measured can be"},
		{"llama-bench", "build_commit,n_prompt,n_gen,avg_ts\na,5\n", "f:2:"},
		{"mlperf", "MLPerf Results Summary\nMean latency (ns) : 5\n", "f:3:1: the file ends before the test's parameters"},
		{"mlperf", "MLPerf Results Summary\nMean latency (ns) : fast\nTest Parameters Used\n", `f:2:1: Mean latency (ns) is "fast", no number`},
		{"mlperf", "MLPerf Results Summary\nMin latency (ns) : 9\nMax latency (ns) : 5\nTest Parameters Used\n", "the max of e2e_ms is below its min"},
		{"mlperf", ":::MLLOG {\"key\": \"result_query_count\", \"value\": 5}\n", "has no num_errors"},
		{"mlperf", ":::MLLOG {\"key\": \"num_err", "f:1:9: this is no JSON"},
		{"mlperf", ":::MLLOG {\"key\": \"num_errors\", \"value\": 0}\n", "none of the figures"},
		{"mlperf-endpoints", `{"n_samples_issued":5,"ttft":{"avg":-1}}`, "f:1:32: avg is -1"},
		{"mlperf-endpoints", `{"n_samples_issued":5,`, "the file ends in the middle"},
		{"inferencex", `[{"mean_ttft":true}]`, "f:1:4: mean_ttft is true or false, no number"},
		{"inferencex", `{"infmax_model_prefix":"a","conc":1,"other_metrics":{"ttft":{"mean":1}}}`, "f:1:1: the file has none of the figures"},
		{"inferencex", `[{"conc":1},{"conc":2}]`, "holds 2 runs: choose one; 1: "},
		{"llm-d", "version: '0.3'\nresults: {}\n", "f:1:1: version 0.3 of the report is not known"},
		{"llm-d", "version: '0.2'\nresults: {}\n", "aggregate is missing"},
		{"llm-d", "version: '0.2'\nresults: {request_performance: {aggregate: {latency: {request_latency: {mean: 5, units: furlongs}}}}}\n", `request_latency is in "furlongs"`},
		{"llm-d", "version: [\n", "f:"},
		{"otel", `{"resourceSpans":[]}`, "gen_ai.operation.name"},
		{"csv", "start_s,e2e_ms\n1,x\n", `f:2:3: e2e_ms is "x", no number`},
		{"csv", "start_s,e2e_ms\n1_0,5\n", `f:2:1: start_s is "1_0", no number`},
		{"csv", "start_s,ttft_ms,e2e_ms\n1,100,50\n", "f:2:1: the request ends before its first token came"},
		{"aiperf", `{"metadata":{"request_start_ns":1},"metrics":{"request_latency":{"value":100,"unit":"ms"},"time_to_first_token":{"value":500,"unit":"ms"}}}`, "ends before its first token came"},
		{"vllm", `{"ttfts":[5],"itls":[[]],"input_lens":[1],"output_lens":[1],"start_times":[0],"latencies":[1]}`, "ends before its first token came"},
		{"guidellm", `{"benchmarks":[{"requests":{"successful":[{"time_to_first_token_ms":4000,"info":{"timings":{"request_start":1,"first_iteration":5,"last_iteration":2,"request_end":2}}}]}}]}`, "ends before its first token came"},
		{"inference-perf", `[{"start_time":5,"end_time":6,"info":{"output_token_times":[7.5,7.8]}}]`, "ends before its first token came"},
		{"llmeter", `{"time_to_first_token":1,"time_to_last_token":0.5,"num_tokens_output":5,"request_time":"2026-03-01T00:00:00Z"}`, "ends before its first token came"},
		{"csv", "start_s,e2e_ms\n", "no row"},
		{"csv", "start_s,e2e_ms\n1,2,3\n", "f:2:1: wrong number of fields"},
		{"csv", "start_s,e2e_ms\n,2\n", "no moment at which it began"},
		{"csv", "start_s,e2e_ms\n1e300,2\n", "no moment at which it began"},
	} {
		m, err := ByName(c.from)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := NewInput("f", strings.NewReader(c.file))
		_, err = m.Read(in, func(*timeline.Timeline) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s:\n got %v\nwant %s", c.from, c.file, err, c.want)
		}
	}
	if _, err := ByName("x"); err == nil || !strings.Contains(err.Error(), "aiperf, vllm") {
		t.Error(err)
	}
}

// FuzzImport: no bytes crash an importer, and every request that comes out has an
// outcome with words and moments in order.
func FuzzImport(f *testing.F) {
	for i := range Importers {
		f.Add(uint8(i), []byte(`{"ttfts":[1],"itls":[[0.1]],"input_lens":[1],"output_lens":[1],"start_times":[0]}`))
		f.Add(uint8(i), []byte(`[{"n_prompt":5,"n_gen":2,"n_depth":1,"test_time":"2025-04-24T11:59:33Z","samples_ns":[1000,2000]}]`))
		f.Add(uint8(i), []byte("start_s,ttft_ms,e2e_ms\n1,2,3\n"))
		f.Add(uint8(i), []byte(`[{"start_time":5,"end_time":6,"info":{"output_token_times":[5.5]}}]`))
		f.Add(uint8(i), []byte(`[{"start_time":5,"end_time":6,"response":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n","info":{"output_token_times":[5.5]}}]`))
		f.Add(uint8(i), []byte(":::MLLOG {\"key\":\"result_mean_latency_ns\",\"value\":5}\n:::MLLOG {\"key\":\"num_errors\",\"value\":0}\n"))
		f.Add(uint8(i), []byte("MLPerf Results Summary\n99.00 percentile latency (ns) : 5\nTest Parameters Used\n"))
		f.Add(uint8(i), []byte("| model | test | t/s |\n| m | pp5 | 1.5 ± 0.1 |\n"))
		f.Add(uint8(i), []byte("build_commit,n_prompt,n_gen,avg_ns,avg_ts\na,5,0,7,1.5\n"))
		f.Add(uint8(i), []byte("version: 0.2.1\nresults: {request_performance: {aggregate: {requests: {total: 5}}}}\n"))
		f.Add(uint8(i), []byte(`{"infmax_model_prefix":"a","conc":1,"mean_ttft":0.5,"n_samples_issued":3,"duration_ns":5,"ttft":{"avg":3}}`))
		f.Add(uint8(i), []byte(`{"schema_version":"1","request_latency":{"unit":"ms","avg":3,"std":1,"count":4}}`))
		f.Add(uint8(i), []byte(`{"metadata":{"request_start_ns":1},"metrics":{"request_latency":{"value":1,"unit":"ms"}}}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		in, err := NewInput("f", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		Recognise(in.Head())
		in.Reply = api.Reread
		m, err := Importers[int(which)%len(Importers)].Read(in, func(tl *timeline.Timeline) error {
			if (tl.Outcome == timeline.OK) != (tl.Error == nil) || tl.DueUS < 0 || tl.StartUS < tl.DueUS {
				t.Errorf("%s, %+v, due %d, started %d", tl.Outcome, tl.Error, tl.DueUS, tl.StartUS)
			}
			last := int64(0)
			for ev := range tl.Events.All() {
				if ev.AtUS < last {
					t.Errorf("%d µs comes before %d", ev.AtUS, last)
				}
				last = ev.AtUS
			}
			metric.Of(tl)
			return nil
		})
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if err == nil && m.Told != nil {
			for name, d := range m.Told.Metrics {
				for _, stat := range []string{"mean", "sd", "min", "p50", "p99", "max"} {
					v, _ := d.Stat(stat)
					if x, ok := v.Get(); ok && !(x >= 0 && x < math.Inf(1)) {
						t.Errorf("%s of %s is %v", stat, name, x)
					}
				}
			}
		}
	})
}

// Our own table has the phase of each request: what did not count there does not here.
func TestPhasesOfATable(t *testing.T) {
	_, all := read(t, "f.csv", []byte("start_s,e2e_ms,phase\n0,5,warmup\n1,5,measure\n2,5,\n3,5,profiling\n4,5,cooldown\n"))
	var counts []bool
	for _, tl := range all {
		counts = append(counts, tl.Phase.Counts())
	}
	if want := []bool{false, true, true, true, false}; !slices.Equal(counts, want) || all[4].Phase != timeline.Cooldown {
		t.Errorf("counted: %v, want %v", counts, want)
	}
}

// Where nothing failed, programs write nothing into a table or a text in several ways.
func TestWordsForNoFailure(t *testing.T) {
	for i, c := range []struct {
		word string
		ok   bool
	}{{"None", true}, {"null", true}, {"false", true}, {"False", true}, {" NaN ", true}, {"", true}, {"none of the servers answered", false}, {"true", false}, {"0", false}} {
		for name, file := range map[string]string{
			"f.csv":   "start_s,e2e_ms,error\n0,5," + c.word + "\n",
			"f.json":  `{"ttfts":[0.1],"itls":[[0.1]],"input_lens":[1],"output_lens":[2],"start_times":[1],"request_rate":2,"errors":["` + c.word + `"]}`,
			"f.jsonl": `{"time_to_first_token":0.1,"time_to_last_token":0.5,"num_tokens_output":5,"request_time":"2026-03-01T00:00:00Z","error":"` + c.word + `"}`,
		} {
			_, all := read(t, name, []byte(file))
			if ok := len(all) == 1 && all[0].Outcome == timeline.OK; ok != c.ok {
				t.Errorf("%d, %s: %q is %s", i, name, c.word, all[0].Outcome)
			}
		}
	}
	_, all := read(t, "f.json", []byte(`{"benchmarks":[{"scheduler_state":{},"requests":{"errored":[{"info":{"error":"None","timings":{"request_start":1,"request_end":2}}}]}}]}`))
	if all[0].Outcome != timeline.Untold {
		t.Errorf("a request that is listed as failed is %s", all[0].Outcome)
	}
}

// Python writes numbers that JSON has not: SGLang's rate where none was asked for, and
// figures of nothing. In a text such words stay.
func TestPythonsNumbers(t *testing.T) {
	const file = `{"request_rate": Infinity, "max_concurrency": 4, "request_throughput": 1.2, "mean_ttft_ms": NaN, "x": [NaN,-Infinity], "generated_texts": ["a \"NaN, Infinity"],
"input_lens": [10], "output_lens": [3], "ttfts": [0.1], "itls": [[0.02, 0.02]], "start_times": [1000], "errors": [""]}`
	_, all := read(t, "sglang.jsonl", []byte(file))
	if len(all) != 1 || all[0].Outcome != timeline.OK {
		t.Errorf("%d requests", len(all))
	}
}

// GuideLLM 0.8.1 with warmup=0.4,cooldown=0.1 lists all requests, and has figures of those
// alone that ended since its measuring began and began before it ended.
func TestGuideLLMPhases(t *testing.T) {
	var requests []string
	for _, q := range [][2]float64{{1, 3.9}, {3, 4}, {3.5, 4.5}, {5, 6.5}, {6, 7}, {6.1, 7.1}} {
		requests = append(requests, fmt.Sprintf(`{"request_start_time":%g,"request_end_time":%g}`, q[0], q[1]))
	}
	text := `{"benchmarks":[{"scheduler_metrics":{"measure_start_time":4,"measure_end_time":6},"metrics":{"request_totals":{"successful":4}},
		"requests":{"successful":[` + strings.Join(requests, ",") + `]}}]}`
	var got []string
	in, err := NewInput("f", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readGuideLLM(in, func(tl *timeline.Timeline) error {
		got = append(got, string(tl.Phase))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := "warmup measure measure measure measure cooldown"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Spans tell reasoning's tokens and not whether it came before the first chunk or after:
// gpt-5's 500 of 520 were hidden in 5 s, DeepSeek's stream. S, and so TPOT, is not known.
func TestReasoningOfSpans(t *testing.T) {
	for first, streamed := range map[string]bool{`,{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":5}}`: true, "": false} {
		_, all := read(t, "spans.json", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"01","startTimeUnixNano":"1790000000000000000",
"endTimeUnixNano":"1790000006000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"520"}},
{"key":"gen_ai.usage.reasoning.output_tokens","value":{"intValue":"500"}}`+first+`]}]}]}]}`))
		r := metric.Of(all[0])
		if r.ReasoningTokens.Or(0) != 500 || r.OutputTokens.Or(0) != 520 || r.TPOTMS.OK() || r.Flags.Has(timeline.HiddenReasoning) != streamed || r.E2EMS.Or(0) != 6000 {
			t.Errorf("%v of %v tokens, TPOT %v, %v", r.ReasoningTokens, r.OutputTokens, r.TPOTMS, r.Flags)
		}
	}
}

// inference-perf's client keeps the moments of the answer, its server counts reasoning
// too: five tokens 50 ms apart behind six of reasoning. Where no usage tells the six,
// TPOT is not known.
func TestInferencePerfReasoning(t *testing.T) {
	const thought, blank = `data: {\"choices\": [{\"delta\": {\"reasoning_content\": \" t\"}}]}`, `data: {\"choices\": [{\"delta\": {\"reasoning_content\": \"\", \"content\": \" w\"}}]}`
	for _, c := range []struct {
		stream, details string
		tpot            float64 // 0: none
		apart           string
	}{
		{thought, ``, 0, ``},
		{thought, `,"completion_tokens_details":{"reasoning_tokens":0}`, 0, ``},
		{blank + `\n\n` + thought, ``, 0, ``},
		{thought, `,"completion_tokens_details":{"reasoning_tokens":6}`, 50, ``},
		{blank, ``, 20, ``}, // eleven tokens in five events
		// Newer versions have reasoning among the moments, and say which.
		{thought, `,"completion_tokens_details":{"reasoning_tokens":6}`, 20, `,"reasoning_chunk_times":[100.4,100.45]`},
	} {
		_, all := read(t, "f.json", []byte(`[{"start_time":100,"end_time":101,"response":"`+c.stream+`\n\ndata: [DONE]\n\n","info":{"request_metrics":{"text":{"input_tokens":12}},"response_metrics":{"output_tokens":5,
"server_usage":{"prompt_tokens":12,"completion_tokens":11`+c.details+`},"output_token_times":[100.4,100.45,100.5,100.55,100.6]`+c.apart+`}},"error":null}]`))
		r := metric.Of(all[0])
		if r.TPOTMS.Or(0) != c.tpot || r.Flags.Has(timeline.HiddenReasoning) != (c.tpot != 20) || r.OutputTokens.Or(0) != 11 {
			t.Errorf("%s %s: TPOT %v, %v tokens, %v", c.stream, c.details, r.TPOTMS, r.OutputTokens, r.Flags)
		}
	}
}

// inference-perf 0.7 writes the moment of an event as often as its text has tokens of the
// client's tokenizer; the events' own moments stand beside them, and reasoning's apart.
func TestInferencePerfMomentsAreTheEvents(t *testing.T) {
	for _, c := range []struct {
		name, times string
		usage       int
		want        string  // arrivals, in ms since the start
		tpot        float64 // 0: none
	}{
		{"a tokenizer that counts twice as many", `"chunk_times":[100.4,100.5,100.6],"output_token_times":[100.4,100.4,100.5,100.5,100.6,100.6]`, 3, "[400 500 600]", 100},
		{"three tokens an event", `"chunk_times":[100.4,100.5,100.6],"output_token_times":[100.4,100.4,100.4,100.5,100.5,100.5,100.6,100.6,100.6]`, 9, "[400 500 600]", 25},
		{"pieces that are no token by themselves", `"chunk_times":[100.4,100.5,100.6],"output_token_times":[100.4,100.6]`, 3, "[400 500 600]", 100},
		{"reasoning apart", `"chunk_times":[100.5,100.6],"reasoning_chunk_times":[100.3,100.4],"output_token_times":[100.5,100.5,100.6]`, 4, "[300 400 500 600]", 100},
		{"reasoning alone", `"chunk_times":[],"reasoning_chunk_times":[100.3,100.4],"output_token_times":[]`, 2, "[300 400]", 100},
		{"without the events' moments", `"output_token_times":[100.4,100.5,100.6]`, 3, "[400 500 600]", 100},
		{"no token", `"chunk_times":[],"output_token_times":[]`, 0, "[600]", 0},
	} {
		_, all := read(t, "f.json", fmt.Appendf(nil, `[{"start_time":100,"end_time":100.6,"info":{"response_metrics":{"output_tokens":%d,"server_usage":{"prompt_tokens":3,"completion_tokens":%d},%s}},"error":null}]`, c.usage, c.usage, c.times))
		var at []int64
		for ev := range all[0].Events.All() {
			at = append(at, ev.AtUS/1000)
		}
		if r := metric.Of(all[0]); fmt.Sprint(at) != c.want || math.Abs(r.TPOTMS.Or(0)-c.tpot) > 0.01 {
			t.Errorf("%s: %v, TPOT %v", c.name, at, r.TPOTMS)
		}
	}
}

// inference-perf 0.5 has its answers under another name, and each token time twice where the
// tokenizer begins every piece with a mark. Where nothing is known of an answer, it is told.
func TestInferencePerfVersions(t *testing.T) {
	const answer = `{"response_chunks":["{}","{}"],"chunk_times":[100.4,100.5],"output_tokens":4,"output_token_times":[100.4,100.4,100.5,100.5],"server_usage":{"prompt_tokens":3,"completion_tokens":2}}`
	for name, c := range map[string]struct {
		info, failed string
		silent       bool
	}{
		"0.3":         {`{"input_tokens":5,"output_tokens":2,"output_token_times":[100.4,100.5],"extra_info":{}}`, "null", false},
		"0.5":         {`{"input_tokens":5,"lora_adapter":null,"response_info":` + answer + `}`, "null", false},
		"0.7":         {`{"request_metrics":{"text":{"input_tokens":5}},"response_metrics":` + answer + `}`, "null", false},
		"one to come": {`{"request_metrics":{"text":{"input_tokens":5}},"answer_metrics":` + answer + `}`, "null", true},
		"0.7, failed": {`{"request_metrics":{"text":{"input_tokens":5}},"response_metrics":null}`, `{"error_type":"TimeoutError","error_msg":""}`, false},
	} {
		in, err := NewInput("f", strings.NewReader(`[{"start_time":100,"end_time":100.5,"info":`+c.info+`,"error":`+c.failed+`}]`))
		if err != nil {
			t.Fatal(err)
		}
		var r metric.Record
		if _, err := readInferencePerf(in, func(tl *timeline.Timeline) error { r = metric.Of(tl); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(in.Notes, "; "), "tell neither tokens nor moments"); got != c.silent {
			t.Errorf("%s: %q", name, in.Notes)
		}
		if good := c.failed == "null" && !c.silent; good && (r.OutputTokens.Or(0) != 2 || math.Abs(r.TPOTMS.Or(0)-100) > 0.01 || math.Abs(r.TTFTMS.Or(0)-400) > 0.01) {
			t.Errorf("%s: %v tokens, TTFT %v, TPOT %v", name, r.OutputTokens, r.TTFTMS, r.TPOTMS)
		}
	}
}

// GuideLLM 0.8.1 replays a trace: its times are those of an open loop, from when each
// request was due, and time_scale 2 makes all times twice as long. Of an answer that was
// reasoning alone there is no first token of the answer.
func TestGuideLLMTrace(t *testing.T) {
	in, err := NewInput("f", strings.NewReader(`{"benchmarks":[{"config":{"strategy":{"type_":"trace","time_scale":2.0,"schedule_turn":"timestamp"}},"requests":{"successful":[
{"time_to_first_token_ms":100,"prompt_tokens":9,"output_tokens":5,"reasoning_output":"t t","output":"w","info":{"timings":{"targeted_start":1000,"request_start":1001,"first_token_iteration":1001.1,"first_output_token_iteration":1001.3,"last_token_iteration":1001.5}}},
{"time_to_first_token_ms":100,"prompt_tokens":9,"output_tokens":5,"reasoning_output":"t t","output":null,"tool_calls":null,"info":{"timings":{"targeted_start":1002,"request_start":1002,"first_token_iteration":1002.1,"first_output_token_iteration":null,"last_token_iteration":1002.5}}}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var all []metric.Record
	m, err := readGuideLLM(in, func(tl *timeline.Timeline) error { all = append(all, metric.Of(tl)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if l := m.Load; l.Kind != "open" || l.Arrival != "trace" || l.Speed != timeline.Some(0.5) {
		t.Errorf("%+v", l)
	}
	if r := all[0]; r.TTFTMS.Or(0) != 1100 || r.TTFOMS.Or(0) != 1300 || r.TPOTMS.Or(0) != 100 || r.E2EMS.Or(0) != 1500 {
		t.Errorf("TTFT %v, TTFO %v, TPOT %v, E2E %v", r.TTFTMS, r.TTFOMS, r.TPOTMS, r.E2EMS)
	}
	if r := all[1]; r.TTFTMS.Or(0) != 100 || r.TTFOMS.OK() || !r.Flags.Has(timeline.NoAnswer) || r.TPOTMS.Or(0) != 100 {
		t.Errorf("TTFT %v, TTFO %v, TPOT %v, %v", r.TTFTMS, r.TTFOMS, r.TPOTMS, r.Flags)
	}
}

// AIPerf 0.13 with --request-cancellation-rate, and two sessions that play one conversation:
// what it cancelled on purpose left as a reader does, the rest ended with the run; a session
// is told by x_correlation_id, and a request alone is none.
func TestAIPerfSessions(t *testing.T) {
	line := func(session string, turn int, cancelled string) string {
		failed := ""
		if cancelled != "" {
			failed = fmt.Sprintf(`,"error":{"code":499,"type":"RequestCancellationError","message":%q}`, cancelled)
		}
		return fmt.Sprintf(`{"metadata":{"x_correlation_id":%q,"conversation_id":"c","turn_index":%d,"request_start_ns":1000000000,"request_end_ns":2000000000,"benchmark_phase":"profiling","was_cancelled":%v},"metrics":{}%s}`, session, turn, cancelled != "", failed)
	}
	text := strings.Join([]string{line("a", 0, ""), line("b", 0, ""), line("a", 1, "Request cancelled 0.200s after being sent"), line("b", 1, "Request was cancelled by external signal"), line("d", 0, "")}, "\n")
	_, all := read(t, "f.jsonl", []byte(text))
	var got []string
	for _, tl := range all {
		got = append(got, fmt.Sprintf("%s%d %s", tl.Session, tl.Turn.Or(-1), tl.Outcome))
	}
	if want := "a0 ok, b0 ok, a1 cancelled_user, b1 cancelled_run_end, 0 ok"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if e := all[2].Error; e == nil || e.Message != "Request cancelled 0.200s after being sent" {
		t.Errorf("%v", e)
	}
}

// Times of OTLP's JSON are texts or numbers, Tempo has all under "trace" or names it "batches",
// and a scope had another name before OTLP 0.19.
func TestOTLPInOtherWriting(t *testing.T) {
	span := `"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"01","startTimeUnixNano":%s,"endTimeUnixNano":%s,
"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":%s}}]}]}]}]`
	texts := fmt.Sprintf(span, `"1700000000000000000"`, `"1700000000250000000"`, `"7"`)
	batches := strings.Replace(texts, "resourceSpans", "batches", 1)
	for _, file := range []string{"{" + texts + "}", `{"trace":{` + texts + "}}", "{" + batches + "}", `{"trace":{` + batches + "}}",
		"{" + strings.Replace(batches, "scopeSpans", "instrumentationLibrarySpans", 1) + "}", "{" + fmt.Sprintf(span, "1700000000000000000", "1700000000250000000", "7") + "}"} {
		_, all := read(t, "spans.json", []byte(file))
		if len(all) != 1 {
			t.Fatalf("%d requests of %s", len(all), file)
		}
		if r := metric.Of(all[0]); r.E2EMS != timeline.Some(250.0) || r.OutputTokens != timeline.Some[int64](7) {
			t.Errorf("E2E %v, %v tokens of %s", r.E2EMS, r.OutputTokens, file)
		}
	}
}
