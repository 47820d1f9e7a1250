package scrape

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

var lastNumber = regexp.MustCompile(`(?m)^([^#].*) \S+$`)

// Each engine's page gives the same names: sums and counts of what was observed
// since a page of zeros.
func TestEngines(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		"vllm-v1": {"running": 8, "waiting": 72, "kv_usage": 0.375, "prefix_queries": 1000, "prefix_hits": 400, "preemptions": 2,
			"prompt_tokens": 1000, "output_tokens": 750, "requests": 10, "spec_drafts": 100, "spec_draft_tokens": 300, "spec_accepted_tokens": 150,
			"ttft_n": 10, "ttft_sum_s": 1.5, "itl_n": 740, "itl_sum_s": 7.4, "queue_n": 10, "queue_sum_s": 0.5, "prefill_n": 10, "prefill_sum_s": 1},
		"vllm-recorded": {"running": 4, "waiting": 8, "kv_usage": 0.011730205278592365, "prefix_queries": 32812, "prefix_hits": 0, "preemptions": 0,
			"prompt_tokens": 32812, "cached_tokens": 0, "output_tokens": 4193, "requests": 69, "ttft_n": 73, "ttft_sum_s": 76.63879156112671,
			"itl_n": 4120, "itl_sum_s": 87.3080559700029, "tpot_n": 69, "tpot_sum_s": 1.5010657639160478, "e2e_n": 69, "e2e_sum_s": 159.09436178207397,
			"queue_n": 69, "queue_sum_s": 3.260474712064024, "prefill_n": 69, "prefill_sum_s": 56.60923957404157, "decode_n": 69, "decode_sum_s": 85.00689352696645},
		"vllm-v0": {"running": 4, "waiting": 2, "swapped": 1, "kv_usage": 0.83, "preemptions": 4, "prompt_tokens": 300, "output_tokens": 200,
			"ttft_n": 9, "ttft_sum_s": 0.9, "itl_n": 190, "itl_sum_s": 3.8},
		"sglang": {"running": 4, "waiting": 3, "kv_usage": 0.74, "prefix_hit_rate": 0.5, "prompt_tokens": 4882, "cached_tokens": 1000, "prefix_queries": 4882, "prefix_hits": 1000, "output_tokens": 1397, "requests": 12,
			"ttft_n": 12, "ttft_sum_s": 2.4, "queue_n": 12, "queue_sum_s": 1.2},
		"tgi": {"running": 4, "waiting": 7, "prompt_tokens": 880, "output_tokens": 8123, "requests": 44, "queue_n": 44, "queue_sum_s": 0.88, "tpot_n": 44, "tpot_sum_s": 1.1},
		"trtllm": {"prefill_n": 5, "prefill_sum_s": 0.4, "decode_n": 5, "decode_sum_s": 2, "spec_draft_tokens": 30, "spec_accepted_tokens": 21, "running": 6, "waiting": 1, "kv_usage": 0.62, "prefix_hit_rate": 0.4, "requests": 5,
			"ttft_n": 5, "ttft_sum_s": 0.5, "tpot_n": 5, "tpot_sum_s": 0.05, "queue_n": 5, "queue_sum_s": 0.1},
		"triton-24": {"running": 1, "waiting": 0, "kv_usage": 0.25, "requests": 3, "gpus": 2, "gpu_utilization": 0.5, "gpu_memory": 0.25, "gpu_power_w": 300, "gpu_energy_j": 3000},
		"dcgm":      {"gpus": 2, "gpu_utilization": 0.95, "gpu_active": 0.5, "gpu_tensor_active": 0.25, "gpu_memory": 0.75, "gpu_power_w": 1000},
		"dcgm-mig":  {"gpus": 1, "gpu_active": 0.5, "gpu_power_w": 400},
		"amd":       {"gpus": 2, "gpu_utilization": 0.98, "gpu_memory": 0.5, "gpu_power_w": 1499},
		"amd-old":   {"gpus": 1, "gpu_utilization": 0.5, "gpu_power_w": 300},
		"triton":    {"running": 5, "waiting": 2, "kv_usage": 0.125, "requests": 9},
		"dynamo":    {"running": 10, "waiting": 7, "prompt_tokens": 8000, "cached_tokens": 2000, "prefix_queries": 8000, "prefix_hits": 2000, "output_tokens": 5000, "requests": 20, "ttft_n": 20, "ttft_sum_s": 4, "itl_n": 4980, "itl_sum_s": 49.8},
		"llamacpp": {"running": 2, "waiting": 1, "prompt_tokens": 900, "cached_tokens": 100, "prefix_queries": 1000, "prefix_hits": 100, "output_tokens": 1250, "prompt_s": 1.25, "decode_s": 25,
			"spec_draft_tokens": 10, "spec_accepted_tokens": 5},
		"llamacpp-recorded": {"running": 2, "waiting": 3, "prompt_tokens": 141, "cached_tokens": 39, "prefix_queries": 180, "prefix_hits": 39, "output_tokens": 80,
			"prompt_s": 0.834701, "decode_s": 1.08733, "spec_drafts": 0, "spec_draft_tokens": 0, "spec_accepted_tokens": 0},
		"lmdeploy": {"running": 5, "waiting": 10, "kv_usage": 0.3, "prompt_tokens": 100, "output_tokens": 200,
			"ttft_n": 6, "ttft_sum_s": 0.6, "prefill_n": 6, "prefill_sum_s": 0.3},
		"nim": {"running": 2, "waiting": 0, "kv_usage": 0.1, "prompt_tokens": 50, "output_tokens": 80,
			"ttft_n": 4, "ttft_sum_s": 0.2, "itl_n": 76, "itl_sum_s": 0.76},
	} {
		page, err := os.ReadFile(filepath.Join("testdata", file+".prom"))
		if err != nil {
			t.Fatal(err)
		}
		for way, text := range map[string]string{"": string(page),
			" by way of KServe": strings.ReplaceAll(string(page), "\nvllm:", "\nkserve_vllm:"),
			" by way of Ray":    strings.ReplaceAll(string(page), "\nvllm:", "\nray_vllm_"),
			" without endings":  regexp.MustCompile(`(?m)^(\w+:\w+)_total`).ReplaceAllString(string(page), "$1"),
		} {
			var l ledger
			if _, err := l.enter([]byte(lastNumber.ReplaceAllString(text, "$1 0")), now); err != nil {
				t.Fatal(file, way, err)
			}
			got, err := l.enter([]byte(text), now)
			if err != nil {
				t.Fatal(file, way, err)
			}
			if engine, _, _ := strings.Cut(file, "-"); l.engine.name != engine {
				t.Errorf("%s%s: taken for %s", file, way, l.engine.name)
			}
			for name, v := range want {
				if math.Abs(got[name]-v) > 1e-9 {
					t.Errorf("%s%s: %s is %v, want %v", file, way, name, got[name], v)
				}
			}
			for name, v := range got {
				if _, ok := want[name]; !ok {
					t.Errorf("%s%s: there is no %s, but it gave %v", file, way, name, v)
				}
			}
		}
	}
}

// A server of two replicas, one of which is started anew in the middle.
func TestReplicasAndRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		page := func(tokensPerS, running float64, restart time.Duration) http.RoundTripper {
			return roundTrip(func(q *http.Request) (*http.Response, error) {
				up := time.Since(began) + 100*time.Second
				if restart > 0 && time.Since(began) > restart {
					up = time.Since(began) - restart
				}
				w := httptest.NewRecorder()
				fmt.Fprintf(w, "vllm:generation_tokens_total %v\nvllm:num_requests_running %v\nvllm:kv_cache_usage_perc 0.5\n", tokensPerS*up.Seconds(), running)
				return w.Result(), nil
			})
		}
		w := NewWatcher(Watch{Pages: []Page{{URL: "http://a/metrics"}, {URL: "http://b/metrics"}}})
		w.pages[0].client.Transport, w.pages[1].client.Transport = page(100, 3, 0), page(50, 5, 10500*time.Millisecond)
		w.Start(func() int64 { return time.Since(began).Microseconds() })
		time.Sleep(5 * time.Second)
		w.Measure()
		time.Sleep(10 * time.Second)
		m, rows, warnings := w.Stop()
		// What the second made between its last reading before the restart and the restart is lost: half a second at most.
		if got := m.Counters["output_tokens"].Total; got < 1475 || got > 1500 {
			t.Errorf("%v tokens of 1500", got)
		}
		if g := m.Gauges["running"]; g.Mean != 8 || g.Max != 8 {
			t.Errorf("running %+v", g)
		}
		if g := m.Gauges["kv_usage"]; g.Mean != 0.5 {
			t.Errorf("KV %+v", g)
		}
		if len(warnings) != 1 || warnings[0].Name != "server_restarted" || m.Sources[1].Restarts != 1 {
			t.Errorf("%+v, %+v", warnings, m.Sources)
		}
		if len(rows) == 0 || m.FromS.Or(0) != 5 || m.ToS.Or(0) != 15 {
			t.Errorf("%d rows from %v to %v", len(rows), m.FromS, m.ToS)
		}
	})
}

// A page that can't be read at first has its rate of the time in which it was read: here
// a GPU of 500 W whose exporter came five seconds late.
func TestRateOfALatePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := NewWatcher(Watch{Pages: []Page{{URL: "http://a/metrics"}, {URL: "http://gpu/metrics"}}})
		w.pages[0].client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			r := httptest.NewRecorder()
			fmt.Fprintf(r, "vllm:generation_tokens_total %v\n", 100*time.Since(began).Seconds())
			return r.Result(), nil
		})
		w.pages[1].client.Transport = roundTrip(func(q *http.Request) (*http.Response, error) {
			r := httptest.NewRecorder()
			if time.Since(began) < 5*time.Second {
				http.NotFound(r, q)
			} else {
				fmt.Fprintf(r, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\"} %v\n", 500e3*time.Since(began).Seconds())
			}
			return r.Result(), nil
		})
		w.Start(func() int64 { return time.Since(began).Microseconds() })
		w.Measure()
		time.Sleep(20 * time.Second)
		m, _, _ := w.Stop()
		if got := m.Counters["gpu_energy_j"].PerS.Or(0); math.Abs(got-500) > 0.5 {
			t.Errorf("%v W of 500", got)
		}
		if got := m.Counters["output_tokens"].PerS.Or(0); math.Abs(got-100) > 0.1 {
			t.Errorf("%v tokens/s of 100", got)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// A page that nobody named is asked for once when it is not there, and one that
// was named until the end.
func TestGuessedPages(t *testing.T) {
	for _, guessed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int64
			w := NewWatcher(Watch{Pages: []Page{{URL: "http://u:secret@a/metrics", Guessed: guessed}}, Show: func(string) string { return "http://a/metrics" }})
			w.pages[0].client.Transport = roundTrip(func(q *http.Request) (*http.Response, error) {
				asked.Add(1)
				r := httptest.NewRecorder()
				http.NotFound(r, q)
				return r.Result(), nil
			})
			w.Start(func() int64 { return 0 })
			time.Sleep(10500 * time.Millisecond)
			m, _, warnings := w.Stop()
			if m != nil || (len(warnings) == 0) != guessed || (asked.Load() == 1) != guessed {
				t.Errorf("guessed %v: %v, %v, asked %d times", guessed, m, warnings, asked.Load())
			}
			for _, warning := range warnings {
				if strings.Contains(warning.Says, "secret") {
					t.Error(warning.Says)
				}
			}
		})
	}
}

// A percentile of a histogram is where a straight line through its bucket has it.
func TestQuantiles(t *testing.T) {
	h := histogram{n: 10, sum: 1.5, upTo: map[float64]float64{0.1: 5, 0.2: 9, math.Inf(1): 10}}
	got := h.time()
	if got.N != 10 || got.MeanMS.Or(0) != 150 || got.P50MS.OK() || got.P90MS.Or(0) != 200 || got.P99MS.OK() {
		t.Errorf("%+v", got)
	}
}

// What a page says can't become a figure that run.json cannot hold.
func TestBoundsBeyondAllTimes(t *testing.T) {
	for _, h := range []histogram{
		{n: 10, sum: 1, upTo: map[float64]float64{1: 0, 1e306: 10}},
		{n: 1e-300, sum: 1e9},
	} {
		got := h.time()
		for _, v := range []timeline.Opt[float64]{got.MeanMS, got.P50MS, got.P90MS, got.P99MS} {
			if ms, ok := v.Get(); ok && !finite(ms) {
				t.Errorf("%+v gives %+v", h, got)
			}
		}
	}
	w := NewWatcher(Watch{Pages: []Page{{URL: "a"}}})
	page := func(bound string) []byte {
		return []byte("vllm:time_to_first_token_seconds_bucket{le=\"" + bound + "\"} 3\nvllm:time_to_first_token_seconds_count 3\nvllm:time_to_first_token_seconds_sum 1\n")
	}
	for _, bound := range []string{"1e306", "1"} {
		if _, err := w.pages[0].book.enter(page(bound), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range w.pages[0].book.times {
		if len(h.upTo) != 1 {
			t.Errorf("buckets %v", h.upTo)
		}
	}
}

// Replicas make one sum from when all were read, and one that fell silent is no
// longer in it.
func TestGaugesOfReplicas(t *testing.T) {
	w := NewWatcher(Watch{Pages: []Page{{URL: "a"}, {URL: "b"}}})
	const second = 1_000_000
	add := func(at int64, source int) {
		w.rows = append(w.rows, metric.ServerSample{AtUS: at * second, Source: source, Name: "running", Value: 10})
	}
	for at := range int64(200) {
		add(at, 0)
		if at < 100 {
			add(at, 1)
		}
	}
	var m metric.ServerMetrics
	m.Gauges = map[string]metric.ServerGauge{}
	w.measureUS = 0
	w.gauges(&m)
	g := m.Gauges["running"]
	if g.Max != 20 || g.Min != 10 || g.Mean > 19 { // 10 only after b was silent for a minute
		t.Errorf("%+v", g)
	}
	if w.rows = w.rows[:100]; true {
		w.gauges(&m)
		if g := m.Gauges["running"]; g.Min != 20 {
			t.Errorf("while both are read: %+v", g)
		}
	}
}

// Memory stays bounded over a run of days.
func TestThin(t *testing.T) {
	w := NewWatcher(Watch{Pages: []Page{{URL: "a"}}})
	w.nowUS = func() int64 { return 0 }
	for i := range mostRows {
		w.rows = append(w.rows, metric.ServerSample{AtUS: 1 + int64(i/16)})
	}
	w.thin()
	if len(w.rows) != mostRows/2 || w.keep != 2 {
		t.Errorf("%d rows, one in %d kept", len(w.rows), w.keep)
	}
}

// Whatever the makers' own reader takes, ours takes too, with the same values.
func FuzzSamples(f *testing.F) {
	f.Add([]byte(page))
	for _, file := range []string{"vllm-v1", "tgi", "triton"} {
		data, err := os.ReadFile(filepath.Join("testdata", file+".prom"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours []float64
		err := samples(data, func(s *sample) {
			if s.value == s.value {
				ours = append(ours, s.value)
			}
			s.label("le")
			find(s.name)
		})
		var l ledger
		l.enter(data, now)
		l.enter(data, now)
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, theirErr := parser.TextToMetricFamilies(bytes.NewReader(data))
		// Theirs takes a name in quotes before the braces too, which the format has not.
		if theirErr != nil || quotedFirst.Match(data) || bytes.Contains(data, []byte(`{"`)) || bytes.ContainsAny(data, "\r\v\f") || bytes.Contains(data, []byte(`, "`)) {
			return
		}
		n := 0
		for _, family := range families {
			for _, m := range family.GetMetric() {
				for _, v := range []float64{m.GetGauge().GetValue(), m.GetUntyped().GetValue(), m.GetCounter().GetValue()} {
					if v != 0 && v == v {
						n++
					}
				}
			}
		}
		if n > 0 && err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

var quotedFirst = regexp.MustCompile(`(?m)^[ \t]*"`)

// No line of a table is written wrong.
func TestTables(t *testing.T) {
	for _, e := range tablesRead().engines {
		for _, a := range e.aliases {
			if _, ok := metrics[a.as]; !ok || !(a.unit > 0) || (a.label == "") != (a.value == "") {
				t.Errorf("%s: %+v", e.name, a)
			}
		}
	}
}
