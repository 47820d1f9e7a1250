package bench

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// router spreads requests over servers with a cache each, and keeps account of what each
// server has had, block by block.
type router struct {
	to       []*httputil.ReverseProxy
	affinity bool

	mu    sync.Mutex
	n     int
	had   []map[string]bool // by server: beginnings of whole blocks
	known int64             // tokens of prompts that their servers had
	all   int64
}

const cacheBlock = 16 // tokens of the simulated engine's cache

func (r *router) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)
	in.Body = io.NopCloser(bytes.NewReader(body))
	var b struct{ Messages []struct{ Content string } }
	if in.Method == http.MethodPost && json.Unmarshal(body, &b) == nil {
		var words []string
		for _, m := range b.Messages {
			words = append(words, strings.Fields(m.Content)...)
		}
		r.mu.Lock()
		at := r.n % len(r.to)
		if r.n++; r.affinity {
			h := fnv.New32()
			io.WriteString(h, in.Header.Get("X-Session-Id"))
			at = int(h.Sum32() % uint32(len(r.to)))
		}
		r.all += int64(len(words))
		found := true
		for n := cacheBlock; n <= len(words); n += cacheBlock {
			beginning := strings.Join(words[:n], " ")
			if found = found && r.had[at][beginning]; found && n < len(words) { // the last token is computed
				r.known += cacheBlock
			}
			r.had[at][beginning] = true
		}
		r.mu.Unlock()
		r.to[at].ServeHTTP(w, in)
		return
	}
	r.to[0].ServeHTTP(w, in)
}

// With a router by session the servers' caches give exactly what the recording says a
// cache without a limit would; with one that takes servers in turns exactly what each had
// by chance, which is less.
func TestRoutersBySession(t *testing.T) {
	cfg, err := sim.Pair("llama-3.1-8b/h100x4")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Speed = 200
	for _, affinity := range []bool{true, false} {
		r := &router{affinity: affinity}
		for range 2 {
			server := sim.New(cfg)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go server.Serve(ln)
			defer server.Close()
			proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: ln.Addr().String()})
			proxy.FlushInterval = -1
			r.to, r.had = append(r.to, proxy), append(r.had, map[string]bool{})
		}
		front := httptest.NewServer(r)
		defer front.Close()
		work := recordedWork(t, workload.Content{MaxGap: time.Millisecond})
		run, err := Run(t.Context(), Plan{
			Client: client.Config{BaseURL: front.URL, API: api.OpenAIChat}, Load: Load{Concurrency: 1, Requests: 60, Warmup: Warmup{Off: true}},
			Content: Content{Workload: work}, Output: Output{Out: t.TempDir() + "/run"}, Conditions: Conditions{Preflight: "none"}, Model: "llama-3.1-8b",
		})
		if err != nil {
			t.Fatal(err)
		}
		m := run.Metrics
		sum := func(name string) int64 { return int64(m[name].Mean.Or(0)*float64(m[name].N) + 0.5) }
		input, cached := sum("input_tokens"), sum("cached_tokens")
		// Of the recording's 28 blocks of 64 tokens 14 were there before.
		ideal := input / 2
		if run.Requests.OK != 60 || input != 60/5*28*64 || input != r.all {
			t.Fatalf("%d requests with %d tokens, the router saw %d", run.Requests.OK, input, r.all)
		}
		if cached != r.known || affinity && cached != ideal || !affinity && !(cached < ideal) {
			t.Errorf("affinity %v: %d of %d tokens came from the caches; they had %d, ideal is %d", affinity, cached, input, r.known, ideal)
		}
		t.Logf("affinity %v: %.4f of the input from the caches, ideal 0.5", affinity, float64(cached)/float64(input))
	}
}
