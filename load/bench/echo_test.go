package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// chunk is one of completions: a text of a choice, and the tokens that its logprobs list.
func chunk(choice int, text string, logprobs ...string) string {
	of := map[string]any{"index": choice, "text": text, "finish_reason": nil}
	if len(logprobs) > 0 {
		of["logprobs"] = map[string]any{"tokens": logprobs}
	}
	data, _ := json.Marshal(map[string]any{"object": "text_completion", "choices": []any{of}})
	return string(data)
}

// echoed is what is recorded of a reply whose chunks came 10 ms from each other.
func echoed(t *testing.T, prompt string, chunks ...string) (*timeline.Timeline, metric.Record) {
	t.Helper()
	tl := &timeline.Timeline{API: api.OpenAICompletions.Name, Asked: true, Evidence: timeline.Arrivals}
	tl.SentUS = timeline.Some[int64](0)
	s := api.NewStream(tl, api.OpenAICompletions, api.StreamOptions{KeepText: true})
	head := api.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
	s.Head(1000, head)
	finish := `{"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"length"}]}`
	for i, c := range append(chunks, finish, "[DONE]") {
		s.Read(int64(i+1)*10_000, 0, []byte("data: "+c+"\n\n"))
	}
	s.End(int64(len(chunks)+3)*10_000, timeline.EOF, nil, nil)
	unecho(&api.Request{Messages: []api.Message{{Role: "user", Content: prompt}}, Extra: map[string]any{"echo": true}}, tl)
	return tl, metric.Of(tl)
}

// vLLM (entrypoints/openai, completion_stream_generator) sends the prompt with the first
// token and lists the tokens of both among the logprobs; usage counts the answer's alone,
// token_ids too. SGLang and TensorRT-LLM put the prompt in front of the first text too.
// MLC LLM sends it before anything is computed. The answer here is always 3 tokens: the
// first is there after 10 ms, or 20 behind an echo of its own, and 10 ms lie between them.
func TestPromptInFrontOfTheAnswer(t *testing.T) {
	const prompt = "to be\n\"or\" not 東"
	words := []string{"to", " be", "\n", "\"or\"", " not", " 東"}
	usage := `{"object":"text_completion","choices":[],"usage":{"prompt_tokens":6,"completion_tokens":3,"total_tokens":9}}`
	both := append(append([]string{}, words...), " a")
	ids := func(c string) string { return strings.Replace(c, `"text":`, `"token_ids":[7],"text":`, 1) }
	for _, c := range []struct {
		name   string
		chunks []string
		tokens int64
		ttftMS float64
		source metric.TokenSource
	}{
		{"with the first token", []string{chunk(0, prompt+" a"), chunk(0, " b"), chunk(0, " c"), usage}, 3, 10, metric.FromUsage},
		{"and logprobs", []string{chunk(0, prompt+" a", both...), chunk(0, " b", " b"), chunk(0, " c", " c"), usage}, 3, 10, metric.FromUsage},
		{"without usage", []string{chunk(0, prompt+" a"), chunk(0, " b"), chunk(0, " c")}, 3, 10, metric.FromChunks},
		{"logprobs without usage", []string{chunk(0, prompt+" a", both...), chunk(0, " b", " b"), chunk(0, " c", " c")}, 3, 10, metric.FromChunks},
		{"ids", []string{ids(chunk(0, prompt+" a", both...)), ids(chunk(0, " b", " b")), ids(chunk(0, " c", " c")), usage}, 3, 10, metric.FromUsage},
		{"alone", []string{chunk(0, prompt), chunk(0, " a"), chunk(0, " b"), chunk(0, " c"), usage}, 3, 20, metric.FromUsage},
		{"alone, logprobs without usage", []string{chunk(0, prompt, words...), chunk(0, " a", " a"), chunk(0, " b", " b"), chunk(0, " c", " c")}, 3, 20, metric.FromIDs},
	} {
		tl, r := echoed(t, prompt, c.chunks...)
		if r.TokenSource == nil {
			t.Errorf("%s: %s, %+v", c.name, tl.Outcome, tl.Error)
			continue
		}
		if tl.Text != " a b c" || r.OutputTokens.Or(0) != c.tokens || r.TTFTMS.Or(0) != c.ttftMS || r.TPOTMS.Or(0) != 10 || *r.TokenSource != string(c.source) {
			t.Errorf("%s: %q, %v tokens by %v, TTFT %v, TPOT %v", c.name, tl.Text, r.OutputTokens, *r.TokenSource, r.TTFTMS, r.TPOTMS)
		}
		if flags := fmt.Sprint(r.Flags); strings.Contains(flags, "mismatch") || strings.Contains(flags, "multi_token") {
			t.Errorf("%s: flags %s", c.name, flags)
		}
	}
	// Two choices repeat it both; a server that knows no echo keeps its answer.
	tl, r := echoed(t, prompt, chunk(0, prompt+" a"), chunk(1, prompt+" a"), chunk(0, " b"), chunk(1, " b"))
	if strings.Contains(tl.Text, "to be") || r.OutputTokens.Or(0) != 4 {
		t.Errorf("%q, %v tokens", tl.Text, r.OutputTokens)
	}
	if tl, r := echoed(t, prompt, chunk(0, "to b"), chunk(0, " c")); tl.Text != "to b c" || r.OutputTokens.Or(0) != 2 {
		t.Errorf("%q, %v tokens", tl.Text, r.OutputTokens)
	}
}
