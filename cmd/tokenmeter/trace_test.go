//go:build !lean

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/service/proxy"
	"tokenmeter/service/traffic"
	"tokenmeter/service/traffic/trace"
	"tokenmeter/wire/api"
)

// byWords is a tokenizer in which a word is a token, as the server below counts.
type byWords map[string]uint32

func (w byWords) Name() string                                { return "words" }
func (w byWords) Size() int                                   { return len(w) }
func (w byWords) Count(text string) (int, error)              { return len(strings.Fields(text)), nil }
func (w byWords) AppendText([]byte, []uint32) ([]byte, error) { panic("not needed") }
func (w byWords) Append(ids []uint32, text string) ([]uint32, error) {
	for _, word := range strings.Fields(text) {
		if _, known := w[word]; !known {
			w[word] = uint32(len(w))
		}
		ids = append(ids, w[word])
	}
	return ids, nil
}

// tracing writes lines of what a proxy saw.
type tracing struct {
	mu     sync.Mutex
	hasher *trace.Hasher
	file   bytes.Buffer
}

func (s *tracing) Done(r *traffic.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, ok := trace.Of(r)
	if ok && s.hasher.Fill(&line, r.Body) {
		data, _ := json.Marshal(line)
		s.file.Write(append(data, '\n'))
	}
}

// tracedServer takes answerTime for a first token, and answers as much as was asked for.
func tracedServer(w http.ResponseWriter, in *http.Request) {
	var b struct {
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
		MaxNewer  int `json:"max_completion_tokens"`
	}
	if json.NewDecoder(in.Body).Decode(&b) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	words := 0
	for _, m := range b.Messages {
		words += len(strings.Fields(m.Content))
	}
	n := max(b.MaxTokens, b.MaxNewer)
	time.Sleep(answerTime)
	w.Header().Set("Content-Type", "text/event-stream")
	for range n {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a \"}}]}\n\n")
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
	fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", words, n)
}

const answerTime = time.Second

// recorder makes up a recorded session: turns of one context, sub-agents between, some
// side by side, some turns that branch off earlier.
type recorder struct {
	rng   *rand.Rand
	fresh int
}

func (r *recorder) grown(from []int) []int {
	ids := slices.Clone(from)
	for range 1 + r.rng.IntN(6) {
		r.fresh++
		ids = append(ids, r.fresh)
	}
	return ids
}

func (r *recorder) call(t float64, ids []int) map[string]any {
	return map[string]any{"t": t, "type": "s", "model": "m", "in": 16*len(ids) + r.rng.IntN(16), "out": 2 + r.rng.IntN(30), "hash_ids": ids, "api_time": answerTime.Seconds()}
}

func (r *recorder) session(name string) map[string]any {
	r.fresh = 0
	pause := func() float64 { return float64(1+r.rng.IntN(4000)) / 1000 }
	var rows []any
	now, ids := 0.0, r.grown(nil)
	for turn := range 2 + r.rng.IntN(5) {
		rows = append(rows, r.call(now, ids))
		end := now + 1
		for a := range r.rng.IntN(3) {
			at, own := now+1+pause(), r.grown(nil)
			if r.rng.IntN(2) == 0 {
				own = r.grown(ids[:1]) // it shares the beginning
			}
			var nested []any
			first := at
			for range 1 + r.rng.IntN(3) {
				nested = append(nested, r.call(at, own))
				end = max(end, at+1)
				at, own = at+1+pause(), r.grown(own)
			}
			rows = append(rows, map[string]any{"t": first, "type": "subagent", "agent_id": fmt.Sprint(turn, "-", a), "subagent_type": "x", "status": "completed", "models": []string{"m"}, "requests": nested})
		}
		now = end + pause()
		if r.rng.IntN(5) == 0 {
			ids = ids[:1+r.rng.IntN(len(ids))]
		}
		ids = r.grown(ids)
	}
	return map[string]any{"id": name, "models": []string{"m"}, "block_size": 16, "hash_id_scope": "local", "requests": rows}
}

// played sends a workload through the proxy, and returns what that wrote.
func played(t *testing.T, file string) (out []byte) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: file}}, workload.Options{Salt: "s"})
		if err != nil {
			t.Fatal(err)
		}
		defer work.Close()
		behind, front := simtest.NewPipeListener(), simtest.NewPipeListener()
		server := &http.Server{Handler: http.HandlerFunc(tracedServer)}
		go server.Serve(behind)
		defer server.Close()
		sink := &tracing{hasher: trace.NewHasher([]byte("key"), byWords{})}
		p, err := proxy.New(proxy.Config{Upstreams: []proxy.Upstream{{Name: "u", URL: "http://u", Dial: behind.Dial}},
			Routes:  []proxy.Route{{Name: "r", Paths: []string{"/v1/*"}, Upstreams: []proxy.Share{{Upstream: "u", Weight: 1}}}},
			Session: "header:X-Dynamo-Session-ID", Parent: "header:X-Dynamo-Parent-Session-ID", Secret: []byte("secret"), Asked: true, Sink: sink}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Retire(nil)
		door := &http.Server{Handler: p, ConnContext: proxy.ConnContext}
		go door.Serve(front)
		defer door.Close()
		plan := bench.Plan{Load: bench.Load{Trace: &schedule.Trace{Times: work.Times}, Warmup: bench.Warmup{Off: true}}, Content: bench.Content{Workload: work}}
		if !work.Timed {
			n, _ := work.Len()
			requests := 0
			for i := range n {
				item := work.Item(i)
				requests += item.Len()
			}
			plan.Trace, plan.Concurrency, plan.Requests = nil, int(n), requests
		}
		plan.Client.API, plan.Client.BaseURL, plan.Client.Dial, plan.Client.NoKernelStamps = api.OpenAIChat, "http://proxy", front.Dial, true
		plan.Model, plan.Preflight = "m", "none"
		plan.Session.Headers = []string{"X-Dynamo-Session-ID"}
		plan.Timers, plan.Out = true, filepath.Join(dir, "run")
		if _, err := bench.Run(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		out = sink.file.Bytes()
	})
	return out
}

// What a proxy writes of sessions is those sessions, and so is what it writes when they
// are played from that: lengths, gaps, who waited for whom, the tree of agents, and what
// prompts share.
func TestTrafficIsPlayedAsItWas(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := &recorder{rng: rand.New(rand.NewPCG(seed, 22))}
			dir := t.TempDir()
			names := []string{"recorded.jsonl", "first.jsonl", "second.jsonl"}
			var lines []byte
			for i := range 1 + r.rng.IntN(3) {
				data, err := json.Marshal(r.session(fmt.Sprint("s", i)))
				if err != nil {
					t.Fatal(err)
				}
				lines = append(append(lines, data...), '\n')
			}
			var all [3][]string
			for i, name := range names {
				path := filepath.Join(dir, name)
				if i > 0 {
					lines = played(t, filepath.Join(dir, names[i-1]))
				}
				if err := os.WriteFile(path, lines, 0o600); err != nil {
					t.Fatal(err)
				}
				all[i] = shapes(t, path)
			}
			for i := 1; i < 3; i++ {
				if !slices.Equal(all[i], all[0]) {
					t.Errorf("%s is not what was recorded:\n%s\nrecorded:\n%s", names[i], strings.Join(all[i], "\n"), strings.Join(all[0], "\n"))
				}
			}
		})
	}
}

// shapes says of each session all but how things are called.
func shapes(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := sessions.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range f.Len() {
		s, err := f.Session(i)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		agents := map[int]int{-1: -1} // numbered by their first calls
		for _, c := range s.Calls {
			if _, known := agents[c.Agent]; !known {
				agents[c.Agent] = len(agents) - 1
				fmt.Fprint(&b, " ", agents[s.Agents[c.Agent].Parent])
			}
		}
		for k, c := range s.Calls {
			fmt.Fprintf(&b, "\n%d: agent %d, %d in, %d out, after %v by %v, goes on %d, shares", k, agents[c.Agent], c.Input, c.Output, slices.Sorted(slices.Values(c.After)), c.Gap.Round(time.Millisecond), c.Continues)
			for j := range k {
				a, d := s.IDs(j), s.IDs(k)
				n := 0
				for n < min(len(a), len(d)) && a[n] == d[n] {
					n++
				}
				fmt.Fprint(&b, " ", n)
			}
		}
		out = append(out, b.String())
	}
	slices.Sort(out) // sessions that begin together may stand in any order
	return out
}
