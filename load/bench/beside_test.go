package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/run"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/scrape"
)

func pageOf(urls ...string) func(client.Config) Beside {
	return func(cfg client.Config) Beside {
		w := scrape.Watch{Dial: cfg.Dial, Show: cfg.Redactor().URL}
		for _, u := range urls {
			w.Pages = append(w.Pages, scrape.Page{URL: u})
		}
		return scrape.NewWatcher(w)
	}
}

// A metrics page can do what it likes: the records are the same, byte for byte.
func TestNoPageTouchesARun(t *testing.T) {
	gauge := "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 3\n"
	of := func(page func(w http.ResponseWriter, q *http.Request)) []byte {
		f := &fake{}
		chat := func(s *stream, b body) {
			for range 8 {
				s.token(25 * time.Millisecond)
			}
			s.end(16, 0)
		}
		f.chat = chat
		f.whole = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			switch {
			case q.Method == http.MethodPost:
				f.complete(w, q)
			case q.URL.Path == "/metrics":
				page(w, q)
			default:
				io.WriteString(w, `{"object":"list","data":[{"id":"fake-model"}]}`)
			}
		})
		plan := Plan{Load: Load{Requests: 40, Concurrency: 4}, Content: Content{Salt: "salt"}, Output: Output{Beside: pageOf("http://fake/metrics")}}
		if page == nil {
			plan.Beside = nil
		}
		res := virtual(t, f, plan, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		var all []byte
		for i := range res.records {
			res.records[i].ID = "" // random in each run
			line, err := json.Marshal(&res.records[i])
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, line...), '\n')
		}
		if page != nil && !warned(res.run, "server_metrics_unread") && res.run.ServerMetrics == nil {
			t.Error("neither figures nor a warning")
		}
		return all
	}
	want := of(nil)
	if len(want) == 0 {
		t.Fatal("no records")
	}
	for name, page := range map[string]func(w http.ResponseWriter, q *http.Request){
		"good":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, gauge) },
		"hanging": func(w http.ResponseWriter, q *http.Request) { <-q.Context().Done() },
		"slow": func(w http.ResponseWriter, q *http.Request) {
			for i := range len(gauge) {
				sleep(q.Context(), 30*time.Millisecond)
				if _, err := io.WriteString(w, gauge[i:i+1]); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		},
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			line := strings.Repeat("x", 1<<16) + " 1\n"
			for range 200 {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		},
		"lying": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "vllm:num_requests_running NaN\nvllm:num_requests_waiting 1e308\nvllm:kv_cache_usage_perc 17\n"+
				"vllm:generation_tokens_total -4\nvllm:num_preemptions_total{a=\"\\\"}\x1b[2J\"} 1e14\n"+
				"vllm:time_to_first_token_seconds_bucket{le=\"nonsense\"} 1\nvllm:time_to_first_token_seconds_count 5\n")
		},
		"redirecting": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/metrics?x", http.StatusFound) },
		"no text":     func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte{0x1f, 0x8b, 8, 0, 0xff, '\n', 0}) },
		"HTML":        func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!doctype html><title>hi</title>") },
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, gauge)
		},
		"not there": http.NotFound,
	} {
		if got := of(page); string(got) != string(want) {
			t.Errorf("%s: the records differ", name)
		}
	}
}

// truthful measures a simulated engine and reads its page meanwhile.
func truthful(t *testing.T, like string, plan Plan) (*run.Run, []sim.Truth) {
	t.Helper()
	var sum *run.Run
	var truths []sim.Truth
	dir := t.TempDir() + "/run"
	synctest.Test(t, func(t *testing.T) {
		cfg, err := sim.Pair("llama-3.1-8b/h100")
		if err != nil {
			t.Fatal(err)
		}
		cfg.Like, cfg.Base, cfg.Engine.MaxSequences = like, time.Now(), 4
		cfg.OnTruth = func(tr sim.Truth) { truths = append(truths, tr) }
		s, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		plan.Client = client.Config{BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true}
		plan.Timers, plan.Out = true, dir
		plan.Beside = pageOf("http://sim/metrics")
		if sum, err = Run(t.Context(), plan); err != nil {
			t.Error(err)
		}
		s.Close()
		<-served
	})
	return sum, truths
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %v, in truth %v", what, got, want)
	}
}

// What the server's histograms say of a run is what its engine did, and what its
// replies say of single requests is too.
func TestDecompositionIsTheTruth(t *testing.T) {
	for _, like := range []string{sim.LikeVLLM, sim.LikeLlama} {
		for _, load := range []Plan{
			{Load: Load{Concurrency: 1, Requests: 20}},
			{Load: Load{Concurrency: 4, Requests: 60}},
			{Load: Load{Concurrency: 24, Requests: 120}}, // six wait for each that runs
			{Load: Load{Concurrency: 24, Requests: 120}, Content: Content{Extra: map[string]any{"include_metrics": true}}}, // vLLM's replies tell, too
		} {
			load.InputTokens, load.OutputTokens, load.Warmup = "uniform:64,1500", "uniform:20,120", Warmup{Requests: 2}
			sum, truths := truthful(t, like, load)
			name := fmt.Sprintf("%s, %d streams", like, load.Concurrency)
			var queue, prefill, decode, ttft, n float64
			truths = slices.DeleteFunc(truths, func(tr sim.Truth) bool { return len(tr.DueNS) == 0 }) // no completions
			for _, tr := range truths[len(truths)-load.Requests:] {
				last := len(tr.DueNS) - 1
				queue += float64(tr.QueueNS) / 1e6
				prefill += float64(tr.PrefillNS) / 1e6
				decode += float64(tr.DueNS[last]-tr.DueNS[0]) / 1e6
				ttft += float64(tr.DueNS[0]-tr.ReceivedNS) / 1e6
				n++
			}
			d := sum.Decomposition
			if d == nil {
				t.Fatal(name, "no decomposition")
			}
			want := map[string]string{sim.LikeVLLM: "server_metrics", sim.LikeLlama: "replies"}[like]
			if load.Extra != nil {
				want = "replies"
			}
			if d.Source != want {
				t.Errorf("%s: by %q, want %q", name, d.Source, want)
			}
			within(t, name+": prefill", d.PrefillMS.Or(-1), prefill/n, 0.02)
			within(t, name+": decode", d.DecodeMS.Or(-1), decode/n, 0.02)
			within(t, name+": queue", d.QueueMS.Or(-1), queue/n, 0.02) // llama.cpp's is told by its head
			if want == "replies" {
				continue // histograms tell no more, or there are none
			}
			within(t, name+": TTFT", d.ServerTTFTMS.Or(-1), ttft/n, 0.02)
			within(t, name+": the parts of TTFT", d.NetworkMS.Or(-1)+d.ServerRestMS.Or(-1)+d.QueueMS.Or(-1)+d.PrefillMS.Or(-1), sum.Metrics["service_ttft_ms"].Mean.Or(0), 0.02)
			within(t, name+": TPOT", d.ServerTPOTMS.Or(-1), sum.Metrics["tpot_ms"].Mean.Or(0), 0.02)
			if got := d.ServerRequests.Or(0); got != int64(load.Requests) {
				t.Errorf("%s: the server counts %d requests of %d", name, got, load.Requests)
			}
		}
	}
}
