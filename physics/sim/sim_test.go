package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

var plain = Config{
	Overhead: 20 * ms, PrefillPerToken: 100 * time.Microsecond,
	DecodeBase: 5 * ms, DecodePerSeq: ms,
}

func TestTimesOfASingleStreamAreExact(t *testing.T) {
	inVirtualTime(t, plain, func(w *world) {
		r := w.ask(prompt(100, 4), "")
		if r.status != 200 || r.err != nil {
			t.Fatalf("status %d, %v", r.status, r.err)
		}
		at, words := r.tokens()
		// 20 ms + 100 × 0.1 ms, then 5 ms + 1 × 1 ms each.
		want := []time.Duration{30 * ms, 36 * ms, 42 * ms, 48 * ms}
		if d := cmp.Diff(want, at); d != "" {
			t.Error("arrivals (-want +got):\n" + d)
		}
		if words != 4 || r.end != 48*ms {
			t.Errorf("words %d, end %v", words, r.end)
		}
		if !r.has(`"usage":{"prompt_tokens":100,"completion_tokens":4,"total_tokens":104`) || !r.has("data: [DONE]") || !r.has(`"finish_reason":"length"`) {
			t.Errorf("the end is wrong: %v", r.lines)
		}
	})
}

func TestTruthEqualsWhatAClientReads(t *testing.T) {
	cfg := plain
	cfg.Jitter, cfg.OutputSpread, cfg.Seed, cfg.Slots = 0.3, 0.5, 7, 3
	inVirtualTime(t, cfg, func(w *world) {
		base := time.Now()
		var wg sync.WaitGroup
		got := map[string][]int64{}
		var mu sync.Mutex
		for i := range 8 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 3 * ms)
				sent := time.Since(base)
				r := w.ask(`{"stream":true,"messages":[{"content":"one two three"}]}`, "X-Request-Id: r"+string(rune('0'+i))+"\r\n")
				at, _ := r.tokens()
				var ns []int64
				for _, a := range at {
					ns = append(ns, int64(sent+a))
				}
				mu.Lock()
				got[r.header.Get("X-Request-Id")] = ns
				mu.Unlock()
			})
		}
		wg.Wait()
		truths := w.truths()
		if len(truths) != 8 {
			t.Fatalf("%d truths", len(truths))
		}
		for _, tr := range truths {
			if d := cmp.Diff(tr.DueNS, got[tr.ID]); d != "" {
				t.Errorf("%s: due and arrival differ:\n%s", tr.ID, d)
			}
			if d := cmp.Diff(tr.DueNS, tr.WriteNS); d != "" {
				t.Errorf("%s: due and write differ:\n%s", tr.ID, d)
			}
			if tr.Outcome != "done" || tr.OutputTokens != len(tr.DueNS) || tr.StartNS-tr.ReceivedNS != tr.QueueNS {
				t.Errorf("%+v", tr)
			}
			if tr.DueNS[0] != tr.StartNS+tr.PrefillNS {
				t.Errorf("%s: first token at %d, start %d, prefill %d", tr.ID, tr.DueNS[0], tr.StartNS, tr.PrefillNS)
			}
		}
	})
}

func TestABatchSlowsSteps(t *testing.T) {
	cfg := plain
	cfg.Overhead, cfg.PrefillPerToken = 10*ms, 0
	inVirtualTime(t, cfg, func(w *world) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				at, _ := w.ask(prompt(1, 3), "").tokens()
				want := []time.Duration{10 * ms, 19 * ms, 28 * ms}
				if d := cmp.Diff(want, at); d != "" {
					t.Error("arrivals (-want +got):\n" + d)
				}
			})
		}
		wg.Wait()
		for _, tr := range w.truths() {
			if tr.Batch[1] != 4 {
				t.Errorf("batch %v", tr.Batch)
			}
		}
	})
}

func TestRequestsQueueWhenSlotsAreFull(t *testing.T) {
	cfg := Config{Slots: 1, Overhead: 10 * ms, DecodeBase: 5 * ms}
	inVirtualTime(t, cfg, func(w *world) {
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * ms)
				at, _ := w.ask(prompt(1, 3), "").tokens()
				// Each holds the slot for 20 ms; the i-th came i ms later.
				want := time.Duration(i)*20*ms + 10*ms - time.Duration(i)*ms
				if at[0] != want {
					t.Errorf("request %d: first token at %v, want %v", i, at[0], want)
				}
			})
		}
		wg.Wait()
		for i, tr := range w.truths() {
			if want := int64(time.Duration(i) * 19 * ms); tr.QueueNS != want {
				t.Errorf("request %d queued %d ns, want %d", i, tr.QueueNS, want)
			}
		}
	})
}

func TestAClientThatLeavesFreesItsSlot(t *testing.T) {
	cfg := Config{Slots: 1, Overhead: 10 * ms, DecodeBase: 5 * ms}
	inVirtualTime(t, cfg, func(w *world) {
		nc := w.dial()
		if err := send(nc, prompt(1, 1000), ""); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(27 * ms)
			nc.Close()
		}()
		br := bufio.NewReader(nc)
		for {
			if _, err := br.ReadByte(); err != nil {
				break
			}
		}
		if at, _ := w.ask(prompt(1, 2), "").tokens(); at[0] != 10*ms {
			t.Errorf("the next request waited: %v", at)
		}
		if tr := w.truths()[0]; tr.Outcome != "cancelled" || tr.OutputTokens != 4 {
			t.Errorf("%+v", tr)
		}
	})
}

func TestSameSeedSameBehaviour(t *testing.T) {
	cfg := plain
	cfg.Jitter, cfg.OutputSpread = 0.3, 0.5
	run := func(seed uint64) (all []Truth) {
		cfg.Seed = seed
		inVirtualTime(t, cfg, func(w *world) {
			for range 5 {
				w.ask(`{"stream":true,"messages":[{"content":"one two three"}]}`, "")
			}
			all = w.truths()
		})
		return all
	}
	a, b, c := run(1), run(1), run(2)
	if d := cmp.Diff(a, b); d != "" {
		t.Error("two runs of one seed differ:\n" + d)
	}
	if cmp.Equal(a, c) {
		t.Error("another seed changes nothing")
	}
}

func TestKeepAlive(t *testing.T) {
	inVirtualTime(t, plain, func(w *world) {
		nc := w.dial()
		defer nc.Close()
		br := bufio.NewReader(nc)
		for range 3 {
			sent := time.Now()
			if err := send(nc, prompt(10, 2), ""); err != nil {
				t.Fatal(err)
			}
			if r := receive(br, sent); r.status != 200 || r.end != 27*ms {
				t.Errorf("%+v", r)
			}
		}
		for i, tr := range w.truths() {
			if tr.Conn != 1 || tr.OnConn != int64(i+1) {
				t.Errorf("connection %d, request %d on it", tr.Conn, tr.OnConn)
			}
		}
	})
}

// RFC 9110, 9.3.2: an answer to HEAD has the headers of GET's and no body. What comes
// after the empty line would be taken for the next answer on the connection.
func TestHeadHasNoBody(t *testing.T) {
	inVirtualTime(t, plain, func(w *world) {
		nc := w.dial()
		defer nc.Close()
		br := bufio.NewReader(nc)
		for _, path := range []string{"/metrics", "/v1/models", "/v1/chat/completions", "/none", "/metrics"} {
			if _, err := fmt.Fprintf(nc, "HEAD %s HTTP/1.1\r\nHost: sim\r\n\r\n", path); err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(br, &http.Request{Method: http.MethodHead})
			if err != nil {
				t.Fatal(err)
			}
			if r.ContentLength <= 0 || br.Buffered() > 0 {
				t.Errorf("%s: Content-Length %d, %d bytes behind the headers", path, r.ContentLength, br.Buffered())
			}
		}
	})
}

func TestForms(t *testing.T) {
	body := func(s string) string { return s }
	for _, c := range []struct {
		name   string
		cfg    Config
		body   string
		has    []string
		hasNot []string
		tokens int // lines with text
		words  int
	}{
		{"usage as asked", Config{}, prompt(3, 2), []string{`"usage":null`, `"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2`}, nil, 2, 2},
		{"usage not asked", Config{}, body(`{"stream":true,"max_tokens":2,"messages":[{"content":"a"}]}`), nil, []string{"usage"}, 2, 2},
		{"usage never", Config{Usage: UsageNone}, prompt(3, 2), nil, []string{"usage"}, 2, 2},
		{"usage at finish", Config{Usage: UsageFinish}, prompt(3, 2), []string{`"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2`}, []string{`"choices":[]`}, 2, 2},
		{"usage running", Config{Usage: UsageContinuous}, prompt(3, 2), []string{`"completion_tokens":1,`, `"completion_tokens":0,`, `"choices":[],"usage"`}, nil, 2, 2},
		{"usage running, asked", Config{}, body(`{"stream":true,"max_tokens":2,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"messages":[{"content":"a"}]}`), []string{`"completion_tokens":1,`}, nil, 2, 2},
		{"reasoning", Config{Reasoning: 2}, prompt(3, 5), []string{`"delta":{"reasoning_content":"`, `"reasoning_tokens":2`}, nil, 5, 5},
		{"several tokens a step", Config{TokensPerStep: 3}, prompt(3, 10), nil, nil, 4, 10},
		{"usage, zeros", Config{Usage: UsageZeros}, prompt(3, 2), []string{`"usage":{"prompt_tokens":0,"completion_tokens":0`, `"completion_tokens":2,`}, nil, 2, 2},
		{"usage, null choices", Config{Usage: UsageNull}, prompt(3, 2), []string{`"choices":null,"usage":{"prompt_tokens":3`}, nil, 2, 2},
		{"token ids", Config{TokensPerStep: 3}, body(`{"stream":true,"max_tokens":4,"return_token_ids":true,"messages":[{"content":"a"}]}`), []string{`"token_ids":[`}, nil, 2, 4},
		{"log probabilities", Config{TokensPerStep: 3}, body(`{"stream":true,"max_tokens":4,"logprobs":true,"messages":[{"content":"a"}]}`), []string{`"logprobs":{"content":[{"token":" `, `"top_logprobs":[]},{"token":`}, nil, 2, 4},
		{"numbered words", Config{Vocabulary: "numbered"}, prompt(3, 2), []string{`"content":"w`}, nil, 2, 2},
		{"text parts", Config{}, body(`{"stream":true,"max_tokens":1,"stream_options":{"include_usage":true},"messages":[{"content":[{"type":"text","text":"a b c"}]}]}`), []string{`"prompt_tokens":3`}, nil, 1, 1},
		{"directive in the prompt", Config{}, body(`{"stream":true,"messages":[{"content":"a [[sim tokens=3 itl=1ms]] b"}]}`), []string{`"finish_reason":"stop"`}, nil, 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.DecodeBase = ms
			inVirtualTime(t, c.cfg, func(w *world) {
				r := w.ask(c.body, "")
				at, words := r.tokens()
				if r.status != 200 || r.err != nil || len(at) != c.tokens || words != c.words {
					t.Errorf("status %d, %v, %d lines with %d words", r.status, r.err, len(at), words)
				}
				for _, text := range c.has {
					if !r.has(text) {
						t.Errorf("%q is missing in %v", text, r.lines)
					}
				}
				for _, text := range c.hasNot {
					if r.has(text) {
						t.Errorf("%q is in %v", text, r.lines)
					}
				}
			})
		})
	}
}

func TestWholeAnswer(t *testing.T) {
	inVirtualTime(t, plain, func(w *world) {
		r := w.ask(`{"max_tokens":3,"messages":[{"content":"a b"}]}`, "")
		var j struct {
			Choices []struct {
				Message struct{ Content string }
			}
			Usage struct {
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(r.lines[0].text), &j); err != nil {
			t.Fatal(err)
		}
		if countWords(j.Choices[0].Message.Content) != 3 || j.Usage.CompletionTokens != 3 || r.end != 20*ms+200*time.Microsecond+12*ms {
			t.Errorf("%+v after %v", j, r.end)
		}
	})
}

func TestTruthIsOneJSONLine(t *testing.T) {
	var out strings.Builder
	cfg := plain
	cfg.Truth = &out
	inVirtualTime(t, cfg, func(w *world) {
		w.ask(prompt(10, 2), "X-Request-Id: a\"b\r\n")
	})
	var j map[string]any
	if err := json.Unmarshal([]byte(out.String()), &j); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("%v in %s", err, out.String())
	}
	if j["id"] != `a"b` || j["queue_ns"] != 0.0 || len(j["due_ns"].([]any)) != 2 || j["outcome"] != "done" {
		t.Errorf("%v", j)
	}
}
