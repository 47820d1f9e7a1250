package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// pipes is a listener whose connections are pipes in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// body is what a chat request holds, as far as the fakes look at it.
type body struct {
	Model     string
	Messages  []api.Message
	MaxTokens *int64 `json:"max_tokens"`
	MaxNewer  *int64 `json:"max_completion_tokens"`
	Stream    bool
}

// fake is a server in virtual time. chat answers completions; models, when set,
// replaces the list of one model.
type fake struct {
	chat   func(s *stream, b body)
	models http.HandlerFunc
	whole  http.Handler // answers everything instead

	mu       sync.Mutex
	bodies   []body
	ids      []string
	inFlight int
	most     int // most completions in flight at once
	lookups  int
}

func (f *fake) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case f.whole != nil:
		f.whole.ServeHTTP(w, req)
	case req.Method == http.MethodPost:
		f.complete(w, req)
	case f.models != nil:
		f.mu.Lock()
		f.lookups++
		f.mu.Unlock()
		f.models(w, req)
	case req.URL.Path == modelsPath:
		io.WriteString(w, `{"object":"list","data":[{"id":"fake-model","owned_by":"tests"}]}`)
	default:
		http.NotFound(w, req)
	}
}

func (f *fake) complete(w http.ResponseWriter, req *http.Request) {
	data, _ := io.ReadAll(req.Body)
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	f.mu.Lock()
	f.bodies = append(f.bodies, b)
	f.ids = append(f.ids, req.Header.Get("X-Request-Id"))
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	n := len(f.bodies) - 1
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inFlight--
		f.mu.Unlock()
	}()
	f.chat(&stream{w: w, n: n, ctx: req.Context(), stream: b.Stream}, b)
}

// stream writes one answer.
type stream struct {
	w      http.ResponseWriter
	n      int // ordinal of the request, over all that came
	ctx    context.Context
	stream bool
	tokens int
}

// token sends one token after a pause.
func (s *stream) token(after time.Duration) {
	sleep(s.ctx, after)
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.event(`{"choices":[{"index":0,"delta":{"content":"x "}}]}`)
	s.tokens++
}

// end finishes the answer at once, with usage.
func (s *stream) end(input, cached int) {
	s.event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	s.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`,
		input, s.tokens, input+s.tokens, cached))
	s.event("[DONE]")
}

func (s *stream) event(data string) {
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	s.w.(http.Flusher).Flush()
}

func (s *stream) fail(status int, message string) {
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(status)
	fmt.Fprintf(s.w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, message)
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// result is a finished run with its records.
type result struct {
	run     *run.Run
	err     error
	records []metric.Record // measured ones
	warm    []metric.Record
	log     string
	wall    time.Duration
	dir     string
}

// virtual runs a plan against the fake in virtual time. before, when set, is
// called as the run begins.
func virtual(t *testing.T, f *fake, plan Plan, before func(cancel func())) (res result) {
	t.Helper()
	dir := t.TempDir() + "/run"
	res.dir = dir
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		srv := &http.Server{Handler: f}
		go srv.Serve(ln)
		defer srv.Close()
		var log bytes.Buffer
		plan.Client.API = api.OpenAIChat
		if plan.Client.BaseURL == "" {
			plan.Client.BaseURL = "http://fake"
		}
		if plan.Client.Dial == nil {
			plan.Client.Dial = ln.dial
		}
		plan.Client.NoKernelStamps = true
		plan.Timers, plan.Log, plan.Out = true, &log, dir
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if before != nil {
			before(cancel)
		}
		start := time.Now()
		res.run, res.err = Run(ctx, plan)
		res.wall = time.Since(start)
		res.log = log.String()
	})
	if res.run == nil {
		return res
	}
	folder, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for rec, err := range folder.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Phase == timeline.Warmup {
			res.warm = append(res.warm, rec)
		} else {
			res.records = append(res.records, rec)
		}
	}
	return res
}

// each collects one value of every record that has it.
func each(records []metric.Record, value func(r *metric.Record) timeline.Opt[float64]) (out []float64) {
	for i := range records {
		if x, ok := value(&records[i]).Get(); ok {
			out = append(out, x)
		}
	}
	return out
}

func ttft(r *metric.Record) timeline.Opt[float64]  { return r.TTFTMS }
func e2e(r *metric.Record) timeline.Opt[float64]   { return r.E2EMS }
func delay(r *metric.Record) timeline.Opt[float64] { return timeline.Some(r.DelayMS) }

func service(r *metric.Record) timeline.Opt[float64] { return r.ServiceE2EMS }

func warned(r *run.Run, name string) bool {
	return slices.ContainsFunc(r.Warnings, func(w metric.Warning) bool { return w.Name == name })
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
