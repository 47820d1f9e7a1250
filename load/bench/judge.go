package bench

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/load/answer"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// How many answers are judged at once, how long a verdict may take, and how long
// the judge may speak.
const (
	judgesAtOnce = 4
	judgeTime    = 2 * time.Minute
	judgeTokens  = 1024
)

// judging asks judges about answers while the load goes on. A request is recorded
// when its verdict is there.
type judging struct {
	mu      sync.Mutex
	clients map[string]*client.Client // by URL and key
	seats   chan struct{}
	open    sync.WaitGroup
	silent  atomic.Int64 // answers without a verdict
	first   atomic.Pointer[string]
}

// asked hands a completed request to its judge, where it has one, and records it
// when the verdict is there. False when there is nobody to ask.
func (r *runner) asked(ph *phase, j job, answer string) bool {
	judge := j.step.Check.Judge()
	if judge == nil || j.tl.Outcome != timeline.OK || j.tl.Phase != timeline.Measure {
		return false
	}
	question := ""
	if n := len(j.req.Messages); n > 0 {
		question = j.req.Messages[n-1].Content
	}
	prompt := judge.Ask(question, answer)
	local := j.step.Check.Passes(answer)
	c := &r.judging
	c.open.Go(func() {
		c.seats <- struct{}{}
		passes, known, why := c.ask(judge, prompt)
		<-c.seats
		if j.tl.CheckPassed = (timeline.Opt[bool]{}); known {
			j.tl.CheckPassed = timeline.Some(passes && local)
		} else {
			c.silent.Add(1)
			c.first.CompareAndSwap(nil, &why)
		}
		r.rec.ended(ph, j)
	})
	return true
}

// ask sends one question to a judge.
func (c *judging) ask(judge *answer.Judge, prompt string) (passes, known bool, why string) {
	cl, err := c.clientOf(judge)
	if err != nil {
		return false, false, err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), judgeTime)
	defer cancel()
	tl := timeline.New()
	cl.Do(ctx, &api.Request{Model: judge.Model, Messages: []api.Message{{Role: "user", Content: prompt}},
		MaxTokens: timeline.Some[int64](judgeTokens), Stream: true, Extra: map[string]any{"temperature": 0}}, tl)
	if tl.Outcome != timeline.OK {
		why = string(tl.Outcome)
		if tl.Error != nil {
			why = tl.Error.Message
		}
		return false, false, why
	}
	passes, known = judge.Verdict(tl.Text)
	return passes, known, "the judge said neither PASS nor FAIL"
}

func (c *judging) clientOf(judge *answer.Judge) (*client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := judge.URL + "\x00" + judge.APIKeyEnv
	if cl := c.clients[at]; cl != nil {
		return cl, nil
	}
	cfg := client.Config{BaseURL: judge.URL, API: api.OpenAIChat, Form: client.PlainForm, Stream: api.StreamOptions{KeepText: true}, Timeout: judgeTime}
	if judge.APIKeyEnv != "" {
		cfg.Key = os.Getenv(judge.APIKeyEnv)
	}
	cl, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	if c.clients == nil {
		c.clients = map[string]*client.Client{}
	}
	c.clients[at] = cl
	return cl, nil
}

// rise waits for the last verdicts, and says which are missing.
func (r *runner) rise() {
	r.judging.open.Wait()
	for _, cl := range r.judging.clients {
		cl.Close()
	}
	if n := r.judging.silent.Load(); n > 0 {
		r.log.notice("judge_silent", timeline.Some(float64(n)), "Answers without a verdict: %d; the first: %s", n, *r.judging.first.Load())
	}
}
