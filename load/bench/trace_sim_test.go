package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A trace whose requests share beginnings, as agents' do: a system prompt that
// all have, conversations that grow, some begun anew. It returns the share of
// the input that an unlimited prefix cache would have.
func sharingTrace(t *testing.T, path string, n int) (implied float64) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	src := rand.New(rand.NewPCG(7, 7))
	seen := map[int]bool{}
	var talks [][]int
	next, total, hits := 2, 0, 0
	for i := range n {
		var ids []int
		if k := src.IntN(4); len(talks) > 0 && k > 0 {
			ids = append(ids, talks[src.IntN(len(talks))]...)
		} else {
			ids = []int{0, 1}
		}
		for range 1 + src.IntN(3) {
			ids = append(ids, next)
			next++
		}
		talks = append(talks, ids)
		for _, id := range ids {
			if !seen[id] {
				break
			}
			hits += 512
		}
		for _, id := range ids {
			seen[id] = true
		}
		total += 512 * len(ids)
		line, _ := json.Marshal(map[string]any{"timestamp": 40 * i, "input_length": 512 * len(ids), "output_length": 4, "hash_ids": ids})
		fmt.Fprintf(out, "%s\n", line)
	}
	return float64(hits) / float64(total)
}

// A replayed trace meets the prefix cache as often as its hash ids say: the
// simulated engine finds blocks by their tokens and knows nothing of ids.
func TestMooncakeTraceMeetsThePrefixCache(t *testing.T) {
	const n = 60
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	implied := sharingTrace(t, path, n)
	if implied < 0.4 || implied > 0.9 {
		t.Fatalf("the trace implies %.3f: no good for a test", implied)
	}
	cfg, err := sim.Pair("llama-3.1-8b/h100x4")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Speed = 200
	server := sim.New(cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(ln)
	defer server.Close()

	work, err := workload.Load(path, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	// One at a time, in the trace's order: what comes while a beginning is still
	// being computed can't find it.
	run, err := Run(t.Context(), Plan{
		Client:  client.Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat},
		Load:    Load{Trace: &schedule.Trace{Times: work.Times}, Concurrency: 1},
		Content: Content{Workload: work},
		Output:  Output{Out: t.TempDir() + "/run"},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := run.Metrics
	input, cached := m["input_tokens"], m["cached_tokens"]
	hit := cached.Mean.Or(0) * float64(cached.N) / (input.Mean.Or(0) * float64(input.N))
	if run.Requests.ByClass[timeline.OK] != n || math.Abs(hit-implied) > 0.01 {
		t.Errorf("%d of %d; %.4f of the input came from the cache, the trace implies %.4f", run.Requests.OK, n, hit, implied)
	}
	d, err := workload.Describe(work, 0, n)
	if err != nil || math.Abs(d.PrefixReuse-implied) > 0.02 {
		t.Errorf("show says %.4f, %v", d.PrefixReuse, err)
	}
	t.Logf("implied %.4f, met %.4f, show says %.4f", implied, hit, d.PrefixReuse)
}
