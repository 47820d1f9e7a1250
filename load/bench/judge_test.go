package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"tokenmeter/load/answer"
	"tokenmeter/load/workload"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// chat is a server that answers every request with what says returns.
func chat(t *testing.T, says func(prompt string) string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		text, _ := json.Marshal(says(body.Messages[0].Content))
		w.Header().Set("content-type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// A model judges the answers of another: its verdicts are the checks of the run,
// and an answer about which it says nothing has none.
func TestModelAsJudge(t *testing.T) {
	var n, asked atomic.Int64
	target := chat(t, func(string) string { return []string{"right", "wrong", "odd"}[(n.Add(1)-1)%3] })
	judge := chat(t, func(prompt string) string {
		asked.Add(1)
		switch {
		case strings.Contains(prompt, "right\n"):
			return "It is. PASS"
		case strings.Contains(prompt, "wrong\n"):
			return "No: FAIL"
		}
		return "hm"
	})
	l, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "8", Output: "4",
		Check: &answer.Spec{Judge: &answer.Judge{URL: judge, Model: "judge"}}}}, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Run(context.Background(), Plan{
		Client:     client.Config{BaseURL: target, API: api.OpenAIChat},
		Model:      "m",
		Load:       Load{Concurrency: 3, Requests: 30, Warmup: Warmup{Off: true}},
		Content:    Content{Workload: l, ReadsAnswers: l.ReadsAnswers()},
		Conditions: Conditions{Preflight: "none"},
		Output:     Output{Out: t.TempDir() + "/run"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := sum.Checks; c == nil || c.N != 20 || c.Passed != 10 || sum.Requests.OK != 30 || asked.Load() != 30 {
		t.Fatalf("%+v, %d asked, %+v", c, asked.Load(), sum.Requests)
	}
	told := false
	for _, w := range sum.Warnings {
		told = told || w.Name == "judge_silent" && strings.Contains(w.Says, "Answers without a verdict: 10")
	}
	if !told {
		t.Errorf("nothing about the silent judge: %+v", sum.Warnings)
	}
}
