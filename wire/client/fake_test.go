package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// fake is a server on in-memory pipes that plays raw bytes at given times.
type fake struct {
	// serve plays one request on a connection; false ends the connection.
	serve func(f *fake, c net.Conn, r *received) bool

	mu       sync.Mutex
	requests []*received
	dialled  int
}

// received is one request as the server saw it.
type received struct {
	*http.Request
	body  string
	conn  int // ordinal of its connection
	nth   int // ordinal of the request over all connections
	start time.Time
}

// request returns the i-th request, or the last for -1.
func (f *fake) request(i int) *received {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < 0 {
		i += len(f.requests)
	}
	return f.requests[i]
}

func (f *fake) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	f.mu.Lock()
	n := f.dialled
	f.dialled++
	f.mu.Unlock()
	go f.run(theirs, n)
	return ours, nil
}

func (f *fake) run(c net.Conn, n int) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r := &received{Request: req, body: string(body), conn: n, start: time.Now()}
		f.mu.Lock()
		r.nth = len(f.requests)
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		if !f.serve(f, c, r) {
			return
		}
	}
}

// play answers with writes at moments after the request: "214ms BYTES".
func play(writes ...string) func(*fake, net.Conn, *received) bool {
	return func(_ *fake, c net.Conn, r *received) bool {
		for _, w := range writes {
			at, data, _ := strings.Cut(w, " ")
			d, err := time.ParseDuration(at)
			if err != nil {
				panic(err)
			}
			time.Sleep(time.Until(r.start.Add(d)))
			if data == "CUT" {
				return false
			}
			if data == "KEEP" {
				_, _ = io.Copy(io.Discard, c)
				return false
			}
			if _, err := io.WriteString(c, data); err != nil {
				return false
			}
		}
		return true
	}
}

const sseHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

// chunk frames data as one HTTP chunk.
func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

const lastChunk = "0\r\n\r\n"

// The events of the stream notation.
const (
	role   = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	fin    = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done   = "data: [DONE]\n\n"
	ping   = ": ping\n\n"
	usage3 = `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}` + "\n\n"
)

func tok(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

// b1 is the stream of case B1, as its server writes it.
var b1 = []string{
	"5ms " + sseHead + chunk(role),
	"214ms " + chunk(tok("A")),
	"234ms " + chunk(tok("B")),
	"254ms " + chunk(tok("C")+fin),
	"255ms " + chunk(usage3+done) + lastChunk,
}

func whole(status, contentType, body string, header ...string) string {
	h := ""
	for _, line := range header {
		h += line + "\r\n"
	}
	return fmt.Sprintf("HTTP/1.1 %s\r\ncontent-type: %s\r\n%scontent-length: %d\r\n\r\n%s", status, contentType, h, len(body), body)
}

var hello = &api.Request{Model: "m", Messages: []api.Message{{Role: "user", Content: "hi"}}, Stream: true}

// pipeClient returns a client of f.
func pipeClient(t testing.TB, f *fake, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: "http://server/v1", API: api.OpenAIChat, Clock: clock.Start(), Dial: f.dial,
		ConnectTimeout: 10 * time.Second, Timeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute,
		Stream: api.StreamOptions{KeepText: true}}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		time.Sleep(time.Hour) // virtual: the fake server plays to its end
	})
	return c
}

// send makes one request that is due now.
func send(ctx context.Context, c *Client) *timeline.Timeline {
	tl := timeline.New()
	tl.DueUS = c.clk.US()
	tl.StartUS = tl.DueUS
	c.Do(ctx, hello, tl)
	return tl
}

// tokens returns the arrivals of the generation events, µs since due.
func tokens(tl *timeline.Timeline) []int64 {
	var at []int64
	for ev := range tl.Events.Generation() {
		at = append(at, ev.AtUS)
	}
	return at
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantUS checks a measured time in microseconds.
func wantUS(t testing.TB, what string, got timeline.Opt[int64], us int64) {
	t.Helper()
	if v, ok := got.Get(); !ok || v != us {
		t.Errorf("%s: got %v (measured %v), want %d µs", what, v, ok, us)
	}
}
