package bench

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// benchSim measures a simulator of known pace in virtual time: 20 ms, and 0.1 ms a
// token of what it reads. It returns the run, its
// records, and what really was, by request.
func benchSim(t *testing.T, plan Plan, cfg sim.Config) (*run.Run, []metric.Record, map[string]sim.Truth) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	var done *run.Run
	known := map[string]sim.Truth{}
	synctest.Test(t, func(t *testing.T) {
		cfg.Overhead, cfg.PrefillPerToken = 20*time.Millisecond, 100*time.Microsecond
		cfg.Base, cfg.OnTruth = time.Now(), func(t sim.Truth) { known[t.ID] = t }
		s, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		plan.Client.BaseURL, plan.Client.Dial, plan.Client.NoKernelStamps = "http://sim", ln.Dial, true
		if plan.Client.API.Build == nil {
			plan.Client.BaseURL = "ws://sim"
		}
		plan.Timers, plan.Log, plan.Out = true, io.Discard, dir
		var err error
		if done, err = Run(t.Context(), plan); err != nil {
			t.Error(err)
		}
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return done, measured(t, dir), known
}

// measured are the records of a folder, without the warm-up.
func measured(t *testing.T, dir string) (records []metric.Record) {
	t.Helper()
	folder, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for rec, err := range folder.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Phase == timeline.Measure {
			records = append(records, rec)
		}
	}
	return records
}

// Vectors and scores, from the request to the summary: how many texts and how long,
// when the reply came, and nothing of what only words have.
func TestBatchesOfTexts(t *testing.T) {
	batch, err := workload.ParseBatch("uniform:2,9")
	if err != nil {
		t.Fatal(err)
	}
	objectives, err := objective.ParseAll([]string{"inputs per s > 1", "p50 e2e < 10s", "p50 ttft < 1ms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*api.API{api.Embeddings, api.Rerank, api.TEIRerank} {
		t.Run(a.Name, func(t *testing.T) {
			done, records, known := benchSim(t, Plan{
				Load:       Load{Concurrency: 2, Requests: 40, Warmup: Warmup{Off: true}},
				Content:    Content{InputTokens: "20", Batch: batch.String()},
				Conditions: Conditions{Objectives: objectives, AllowLowN: true},
				Client:     client.Config{API: a},
			}, sim.Config{})
			if len(records) != 40 || len(known) != 40 {
				t.Fatalf("%d records of %d requests", len(records), len(known))
			}
			var texts, window float64
			sizes := map[int64]bool{}
			for _, rec := range records {
				is := known[rec.ID]
				n := rec.Inputs.Or(-1)
				texts, sizes[n] = texts+float64(n), true
				each := 20 // and of a ranking the query, with each document
				if a != api.Embeddings {
					each += 16
				}
				if rec.Outcome != timeline.OK || n != int64(is.Inputs) || is.PromptTokens != int(n)*each {
					t.Errorf("%s: %d texts, and %d of %d tokens were sent", rec.Outcome, n, is.Inputs, is.PromptTokens)
				}
				near(t, "E2E", rec.E2EMS.Or(-1), 20+0.1*float64(is.PromptTokens))
				window = max(window, 1000*rec.DueS+rec.E2EMS.Or(0))
				if told := rec.InputTokens.Or(0); a != api.TEIRerank && told != int64(is.PromptTokens) {
					t.Errorf("%d input tokens, want %d", told, is.PromptTokens)
				}
				if rec.TTFTMS.OK() || rec.TPOTMS.OK() || rec.OutputTokens.OK() || rec.RequestedTokens.OK() || rec.TokenSource != nil || rec.Flags != 0 {
					t.Errorf("it has what only words have: flags %v, output %v", rec.Flags.Names(), rec.OutputTokens)
				}
			}
			if sizes[1] || sizes[10] || len(sizes) < 5 {
				t.Errorf("batches of %v texts, want 2 to 9", sizes)
			}
			near(t, "texts/s", done.Throughput.InputsPerS.Or(-1), texts/window*1000)
			if d := done.Metrics["inputs"]; d.N != 40 || math.Abs(d.Mean.Or(0)-texts/40) > 1e-9 {
				t.Errorf("inputs %+v", d)
			}
			if done.Throughput.SystemOutputTPS.OK() || done.Metrics["ttft_ms"].N+done.Metrics["output_tokens"].N > 0 {
				t.Errorf("figures of words: %+v", done.Throughput)
			}
			states := []string{}
			for _, o := range done.Goodput.Objectives {
				states = append(states, string(o.State))
			}
			if fmt.Sprint(states) != "[met met open]" {
				t.Errorf("objectives %v", states)
			}
			for _, c := range done.Validity.Checks {
				if c.Verdict == "invalid" && c.Name != "cpu_busy" && c.Name != "steal" {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// Of a file's texts each is in one request, in the file's order, and of a ranking the
// first is the query.
func TestBatchesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\nfour\nfive\nsix\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for a, want := range map[*api.API]string{api.Embeddings: "[[one two] [three four] [five six]]", api.Rerank: "[[one two three] [four five six] [one two three]]"} {
		w, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: path, Batch: "2"}}, workload.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.ForAPI(a)
		var got [][]string
		for i := range int64(3) {
			it := w.Item(i)
			got = append(got, (&api.Request{Messages: it.Messages}).Texts())
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", a.Name, got, want)
		}
		w.Close()
	}
}

// A record with several texts is a request as it stands: of a ranking a query and its
// documents.
func TestRecordsOfSeveralTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	record := `{"messages":[{"role":"user","content":"q"},{"role":"user","content":"d1"},{"role":"user","content":"d2"}]}`
	if err := os.WriteFile(path, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*api.API{api.Embeddings, api.Rerank} {
		w, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: path}}, workload.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.ForAPI(a)
		req := api.Request{Messages: w.Item(1).Messages}
		want := map[*api.API]int64{api.Embeddings: 3, api.Rerank: 2}[a]
		if n := a.Inputs(&req).Or(0); n != want || fmt.Sprint(req.Texts()) != "[q d1 d2]" {
			t.Errorf("%s: %d texts of %v", a.Name, n, req.Texts())
		}
		w.Close()
	}
}

// What does not go together is refused before anything is sent.
func TestBatchesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		api  *api.API
		plan Content
		want string
	}{
		{api.OpenAIChat, Content{Batch: "2"}, "not a batch of texts"},
		{api.Embeddings, Content{OutputTokens: "5"}, "no length can be asked for"},
		{api.Embeddings, Content{ReadsAnswers: true}, "nothing to check"},
		{api.Embeddings, Content{Batch: "3000"}, "at most 2048"},
		{api.Embeddings, Content{Batch: "0"}, "batch:"},
		{api.Embeddings, Content{Batch: "2", Prompt: "x"}, "not one prompt"},
	} {
		_, err := Run(t.Context(), Plan{Content: c.plan, Client: client.Config{API: c.api, BaseURL: "http://127.0.0.1:1"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.plan, err)
		}
	}
	for _, text := range []string{"batch: 2\ninput: 8\noutput: 4", "batch: 2\nturns: 3\ninput: 8", "batch: 2\nsystem: x\ninput: 8", "query: 4\nfile: x.txt", "batch: 99999\ninput: 8"} {
		if _, err := workload.FromYAML("x.yaml", []byte(text), workload.Options{}); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
