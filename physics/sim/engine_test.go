package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tokenmeter/physics/engine"
)

var linear = engine.Linear{Base: 5 * ms, PerSequence: ms, PerPrefillToken: 100 * time.Microsecond}

func TestEngineTimesAreExact(t *testing.T) {
	cfg := Config{Overhead: 2 * ms, Engine: &engine.Config{Law: linear}}
	for _, c := range []struct {
		speed float64
		want  []time.Duration
	}{
		{1, []time.Duration{17 * ms, 23 * ms, 29 * ms}}, // 2 + 5 + 10; then 5 + 1
		{2, []time.Duration{8500 * time.Microsecond, 11500 * time.Microsecond, 14500 * time.Microsecond}},
	} {
		cfg.Speed = c.speed
		inVirtualTime(t, cfg, func(w *world) {
			at, _ := w.ask(prompt(100, 3), "").tokens()
			if d := cmp.Diff(c.want, at); d != "" {
				t.Errorf("speed %v (-want +got):\n%s", c.speed, d)
			}
		})
	}
}

func TestEngineSharesSteps(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, MaxSequences: 2}}
	inVirtualTime(t, cfg, func(w *world) {
		var wg sync.WaitGroup
		got := make([][]time.Duration, 3)
		for i := range 3 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Microsecond)
				got[i], _ = w.ask(prompt(10, 2), "").tokens()
			})
		}
		wg.Wait()
		// The first is alone for 6 ms; then it decodes beside the second's prompt:
		// 5 + 1 + 1. The third gets the first's place at 13 ms, beside the second.
		us := time.Microsecond
		want := [][]time.Duration{{6 * ms, 13 * ms}, {13*ms - us, 20*ms - us}, {20*ms - 2*us, 26*ms - 2*us}}
		if d := cmp.Diff(want, got); d != "" {
			t.Error("(-want +got):\n" + d)
		}
		for _, tr := range w.truths() {
			if tr.WriteNS[0] != tr.DueNS[0] || tr.StartNS+tr.PrefillNS != tr.DueNS[0] || tr.QueueNS != tr.StartNS-tr.ReceivedNS {
				t.Errorf("%+v", tr)
			}
		}
	})
}

func TestEnginePrefixCache(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, Blocks: 1000, PrefixCache: true}}
	inVirtualTime(t, cfg, func(w *world) {
		text := strings.Repeat("a b c d ", 25) // 100 tokens, 96 in full blocks
		body := fmt.Sprintf(`{"stream":true,"max_tokens":1,"stream_options":{"include_usage":true},"messages":[{"content":%q}]}`, text)
		first := w.ask(body, "")
		again := w.ask(body, "")
		if !first.has(`"cached_tokens":0`) || !again.has(`"cached_tokens":96`) {
			t.Errorf("%v\n%v", first.lines, again.lines)
		}
		if at, _ := again.tokens(); at[0] != 5*ms+400*time.Microsecond {
			t.Errorf("TTFT with 4 tokens to compute: %v", at)
		}
		if tr := w.truths()[1]; tr.CachedTokens != 96 {
			t.Errorf("%+v", tr)
		}
	})
}

func TestEnginePreempts(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, Blocks: 6}}
	inVirtualTime(t, cfg, func(w *world) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, words := w.ask(prompt(32, 32), "").tokens(); words != 32 {
					t.Errorf("%d words", words)
				}
			})
		}
		wg.Wait()
		n := 0
		for _, tr := range w.truths() {
			n += tr.Preempted
		}
		if n != 1 {
			t.Errorf("preempted %d times", n)
		}
		if r := w.ask(prompt(90, 50), ""); r.status != 400 {
			t.Errorf("140 tokens in a cache of 96: status %d", r.status)
		}
	})
}

func TestEngineSpeculationSendsSeveralTokensAChunk(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, Speculation: &engine.Speculation{Draft: 3, Acceptance: 1}}}
	inVirtualTime(t, cfg, func(w *world) {
		at, words := w.ask(prompt(10, 10), "").tokens()
		if words != 10 || len(at) != 4 { // 1 + 4 + 4 + 1
			t.Errorf("%d words in %d chunks", words, len(at))
		}
	})
}

func TestEngineCancelFreesThePlace(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, MaxSequences: 1}}
	inVirtualTime(t, cfg, func(w *world) {
		nc := w.dial()
		send(nc, prompt(10, 1000), "")
		go receive(bufio.NewReader(nc), time.Now())
		time.Sleep(100 * ms)
		nc.Close()
		if at, _ := w.ask(prompt(10, 2), "").tokens(); at[0] > 12*ms {
			t.Errorf("waited %v", at)
		}
		if tr := w.truths()[0]; tr.Outcome != "cancelled" {
			t.Errorf("%+v", tr)
		}
	})
}

func TestFixedTimesBesideTheEngine(t *testing.T) {
	cfg := Config{Engine: &engine.Config{Law: linear, MaxSequences: 1}}
	inVirtualTime(t, cfg, func(w *world) {
		at, _ := w.ask(prompt(1, 3), "X-Sim: ttft=50ms itl=7ms\r\n").tokens()
		if d := cmp.Diff([]time.Duration{50 * ms, 57 * ms, 64 * ms}, at); d != "" {
			t.Error(d)
		}
	})
}

func TestVLLMMetricsAndTimings(t *testing.T) {
	cfg := Config{Model: "m", Engine: &engine.Config{Law: linear, Blocks: 100, PrefixCache: true}}
	inVirtualTime(t, cfg, func(w *world) {
		r := w.ask(`{"model":"m","stream":true,"max_tokens":3,"include_metrics":true,"messages":[{"content":"a b c d"}]}`, "")
		if !r.has(`"metrics":{"time_to_first_token_ms":5.400,"queue_time_ms":0.000,"generation_time_ms":12.000,"mean_itl_ms":6.000,"tokens_per_second":166.667}`) {
			t.Errorf("%v", r.lines)
		}
		w.ask(prompt(10, 5), "") // a model that does not exist
		m := w.get("/metrics")
		for name, want := range map[string]float64{
			`vllm:generation_tokens_total{engine="0",model_name="m"}`:                                3,
			`vllm:prompt_tokens_total{engine="0",model_name="m"}`:                                    4,
			`vllm:num_requests_running{engine="0",model_name="m"}`:                                   0,
			`vllm:kv_cache_usage_perc{engine="0",model_name="m"}`:                                    0,
			`vllm:request_success_total{engine="0",model_name="m",finished_reason="length"}`:         1,
			`vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"}`:                        0.0054,
			`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="m",le="0.005"}`:          0,
			`vllm:time_to_first_token_seconds_bucket{engine="0",model_name="m",le="0.01"}`:           1,
			`vllm:inter_token_latency_seconds_count{engine="0",model_name="m"}`:                      2,
			`vllm:e2e_request_latency_seconds_sum{engine="0",model_name="m"}`:                        0.0174,
			`vllm:request_time_per_output_token_seconds_sum{engine="0",model_name="m"}`:              0.006,
			`vllm:prefix_cache_queries_total{engine="0",model_name="m"}`:                             4,
			`vllm:cache_config_info{engine="0",model_name="m",block_size="16",num_gpu_blocks="100"}`: 1,
		} {
			if got, ok := m[name]; !ok || got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	})
}

// get reads a page of metrics.
func (w *world) get(path string) map[string]float64 {
	nc := w.dial()
	defer nc.Close()
	fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: sim\r\nConnection: close\r\n\r\n", path)
	m := map[string]float64{}
	for _, l := range receive(bufio.NewReader(nc), time.Now()).lines {
		if name, value, ok := strings.Cut(l.text, " "); ok && name != "#" {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				w.t.Errorf("%q: %v", l.text, err)
			}
			m[name] = v
		}
	}
	return m
}

func TestLikeLlamaServer(t *testing.T) {
	cfg := Config{Model: "tiny", Like: LikeLlama, Engine: &engine.Config{Law: linear, MaxSequences: 1}}
	inVirtualTime(t, cfg, func(w *world) {
		// Any model name is taken; the head waits for a slot; the connection ends
		// although it promises to stay.
		hold := make(chan result)
		go func() { hold <- w.ask(prompt(10, 11), "") }()
		time.Sleep(ms)
		nc := w.dial()
		defer nc.Close()
		sent := time.Now()
		send(nc, prompt(10, 2), "")
		br := bufio.NewReader(nc)
		if _, err := br.Peek(1); err != nil || time.Since(sent) != 65*ms {
			t.Errorf("head after %v, %v", time.Since(sent), err)
		}
		r := receive(br, sent)
		if r.header.Get("Keep-Alive") == "" || r.err != nil {
			t.Errorf("%v, %v", r.header, r.err)
		}
		if _, err := br.ReadByte(); err == nil {
			t.Error("the connection is still open")
		}
		var j struct {
			Usage   map[string]any `json:"usage"`
			Timings struct {
				PromptN     int      `json:"prompt_n"`
				PromptMS    float64  `json:"prompt_ms"`
				PredictedN  int      `json:"predicted_n"`
				PredictedMS float64  `json:"predicted_ms"`
				PerSecond   *float64 `json:"predicted_per_second"`
			} `json:"timings"`
		}
		for _, l := range r.lines {
			if strings.Contains(l.text, "timings") {
				if err := json.Unmarshal([]byte(strings.TrimPrefix(l.text, "data: ")), &j); err != nil {
					t.Fatal(err)
				}
			}
		}
		if j.Usage == nil || j.Timings.PromptN != 10 || j.Timings.PromptMS != 6 || j.Timings.PredictedN != 2 || j.Timings.PredictedMS != 6 {
			t.Errorf("%+v", j)
		}
		<-hold
		m := w.get("/metrics")
		if m["llamacpp:tokens_predicted_total"] != 13 || m["llamacpp:prompt_tokens_total"] != 20 || m["llamacpp:requests_processing"] != 0 ||
			m["llamacpp:n_tokens_max"] != 21 || m["llamacpp:n_busy_slots_per_decode"] != 1 {
			t.Errorf("%v", m)
		}
	})
}

// A chat is counted with its template and by letters where words are no tokens; a
// prompt and /tokenize without the template. llama-server is told by its /props.
func TestCountsOfASmallVocabulary(t *testing.T) {
	cfg := Config{Like: LikeLlama, TemplateTokens: 17, LettersPerToken: 3}
	inVirtualTime(t, cfg, func(w *world) {
		const text = "a time yellow" // 1 + 2 + 2
		for path, want := range map[string]string{
			"/v1/chat/completions": `"prompt_tokens":22`,
			"/v1/completions":      `"prompt_tokens":5`,
			"/tokenize":            `"count":5`,
		} {
			body := `{"max_tokens":1,"prompt":"` + text + `","messages":[{"role":"user","content":"` + text + `"}]}`
			if path == "/tokenize" {
				body = `{"content":"` + text + `"}`
			}
			if r := w.post(path, body); !r.has(want) {
				t.Errorf("%s: %+v, want %s", path, r.lines, want)
			}
		}
		if r := w.post("/props", ""); !r.has("default_generation_settings") || !r.has("chat_template") {
			t.Errorf("/props: %+v", r.lines)
		}
	})
}

func TestTimingsPerToken(t *testing.T) {
	cfg := Config{Like: LikeLlama, Engine: &engine.Config{Law: linear}}
	inVirtualTime(t, cfg, func(w *world) {
		r := w.ask(`{"stream":true,"max_tokens":3,"timings_per_token":true,"messages":[{"content":"a"}]}`, "")
		n := 0
		for _, l := range r.lines {
			if strings.Contains(l.text, `"timings"`) {
				n++
			}
		}
		// Each token, and the finish; speeds of one token are no number.
		if n != 4 || !r.has(`"predicted_n":1,"predicted_ms":0,"predicted_per_token_ms":0,"predicted_per_second":null`) {
			t.Errorf("%d timings in %v", n, r.lines)
		}
	})
}

func TestEveryPairOfThePresetsServes(t *testing.T) {
	for _, p := range Presets() {
		if p.Config.Engine == nil {
			continue
		}
		inVirtualTime(t, p.Config, func(w *world) {
			r := w.ask(strings.Replace(prompt(500, 20), `"sim"`, strconv.Quote(p.Config.Model), 1), "")
			at, words := r.tokens()
			if r.status != 200 || words != 20 {
				t.Fatalf("%s: status %d, %d words", p.Name, r.status, words)
			}
			tpot := (at[len(at)-1] - at[0]).Seconds() / 19
			t.Logf("%-30s TTFT %8.1f ms, %6.1f tokens/s", p.Name, at[0].Seconds()*1e3, 1/tpot)
			if at[0] > 3*time.Second || tpot > 0.1 || tpot < 0.001 {
				t.Errorf("%s: TTFT %v, TPOT %v s", p.Name, at[0], tpot)
			}
		})
	}
}

func TestPairNames(t *testing.T) {
	for name, want := range map[string]engine.Deployment{
		"llama-3.1-8b/h100":            {Model: "llama-3.1-8b", Accelerator: "h100", Devices: 1, Weights: engine.BF16},
		"llama-3.1-70b/h100x4":         {Model: "llama-3.1-70b", Accelerator: "h100", Devices: 4, Weights: engine.BF16},
		"llama-3.1-405b/mi300x":        {Model: "llama-3.1-405b", Accelerator: "mi300x", Devices: 1, Weights: engine.BF16},
		"llama-3.1-405b/mi300xx8":      {Model: "llama-3.1-405b", Accelerator: "mi300x", Devices: 8, Weights: engine.BF16},
		"llama-3.1-70b/a100-80x2-int4": {Model: "llama-3.1-70b", Accelerator: "a100-80", Devices: 2, Weights: engine.INT4},
		"deepseek-v3/h200x8-fp8":       {Model: "deepseek-v3", Accelerator: "h200", Devices: 8, Weights: engine.FP8, KV: engine.FP8},
		"llama-3.1-8b/rtx-4090-q4_k_m": {Model: "llama-3.1-8b", Accelerator: "rtx-4090", Devices: 1, Weights: engine.Q4},
	} {
		got, err := Deployment(name)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "x", "x/h100", "llama-3.1-8b/x", "llama-3.1-405b/h100", "llama-3.1-8b/h100x0"} {
		if _, err := Pair(name); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}
