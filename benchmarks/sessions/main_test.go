package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/run"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// slice is a short session with a sub-agent.
func slice(t *testing.T) []byte {
	t.Helper()
	for i := range 1000 {
		var text bytes.Buffer
		c := corpus{out: bufio.NewWriter(&text)}
		c.session(i, 5, random.New(1, uint64(i)))
		c.out.Flush()
		if c.agents > 0 && c.requests <= 20 && int64(text.Len()) == c.bytes {
			return text.Bytes()
		}
	}
	t.Fatal("there is none")
	return nil
}

// row is a request of a trace, or a sub-agent.
type row struct {
	T        float64
	API      float64 `json:"api_time"`
	In, Out  int64
	Requests []row
}

// serve takes a second for each request.
func serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	time.Sleep(time.Second)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so\"}}]}\n\ndata: [DONE]\n\n")
}

// A slice of the corpus is played as it was recorded: one request after another, each due
// when the one before has ended, after a second here, and the recorded pause is over.
func TestSliceIsDueAsRecorded(t *testing.T) {
	text := slice(t)
	var trace struct{ Requests []row }
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	var flat []row
	for _, r := range trace.Requests {
		if r.Requests == nil {
			r.Requests = []row{r}
		}
		flat = append(flat, r.Requests...)
	}
	due, want := 0.0, []float64{0}
	for k := 1; k < len(flat); k++ {
		due += 1 + flat[k].T - flat[k-1].T - flat[k-1].API
		want = append(want, due)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "traces.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: path}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		server := &http.Server{Handler: http.HandlerFunc(serve)}
		go server.Serve(ln)
		defer server.Close()
		_, err := bench.Run(t.Context(), bench.Plan{
			Client: client.Config{BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true}, Model: "m", Timers: true,
			Load:       bench.Load{Concurrency: 1, Requests: len(flat), Warmup: bench.Warmup{Off: true}},
			Content:    bench.Content{Workload: work},
			Conditions: bench.Conditions{Preflight: "none"}, Output: bench.Output{Out: filepath.Join(dir, "run")}})
		if err != nil {
			t.Fatal(err)
		}
	})
	f, err := run.Open(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen, first := 0, int64(-1)
	for tl, err := range f.Timelines() {
		if err != nil {
			t.Fatal(err)
		}
		if first < 0 {
			first = tl.DueUS
		}
		k := int(tl.Step.Or(-1))
		if got := float64(tl.DueUS-first) / 1e6; k != seen || math.Abs(got-want[k]) > float64(len(flat))*2e-6 || tl.Requested.Or(0) != flat[k].Out {
			t.Errorf("request %d, step %d: due at %v s, want %v", seen, k, got, want[k])
		}
		seen++
	}
	if seen != len(flat) {
		t.Errorf("%d requests, want %d", seen, len(flat))
	}
}
