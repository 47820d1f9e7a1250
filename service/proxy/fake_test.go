package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/gate"
	"tokenmeter/service/traffic"
)

// The events of the stream notation.
const (
	role = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	fin  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
	ping = ": ping\n\n"
)

func tok(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

func usage(p, c int) string {
	return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", p, c, p+c)
}

const (
	sseHead   = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
	lastChunk = "0\r\n\r\n"
)

func chunk(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

// received is one request as the upstream saw it.
type received struct {
	*http.Request
	body  string
	start time.Time
	raw   net.Conn
	gone  func() time.Duration // waits until the proxy closed the connection; since start
}

// upstreamFake plays raw bytes at given times on in-memory pipes.
type upstreamFake struct {
	serve    func(c net.Conn, r *received) (again bool)
	mu       sync.Mutex
	requests []*received
	dialled  int
}

func (f *upstreamFake) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	f.mu.Lock()
	f.dialled++
	f.mu.Unlock()
	go f.run(theirs)
	return ours, nil
}

func (f *upstreamFake) run(c net.Conn) {
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
		r := &received{Request: req, body: string(body), start: time.Now(), raw: c}
		r.gone = func() time.Duration {
			_, _ = in.Peek(1)
			return time.Since(r.start)
		}
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		if !f.serve(c, r) {
			return
		}
	}
}

func (f *upstreamFake) last() *received {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[len(f.requests)-1]
}

// play answers with writes at moments after the request: "214ms BYTES"; CUT
// ends the connection, KEEP leaves it open.
func play(writes ...string) func(net.Conn, *received) bool {
	return func(c net.Conn, r *received) bool {
		for _, w := range writes {
			at, data, _ := strings.Cut(w, " ")
			d, err := time.ParseDuration(at)
			if err != nil {
				panic(err)
			}
			time.Sleep(time.Until(r.start.Add(d)))
			switch data {
			case "CUT":
				return false
			case "KEEP":
				r.gone()
				return false
			}
			if _, err := io.WriteString(c, data); err != nil {
				return false
			}
		}
		return true
	}
}

// pipes is a listener on in-memory pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return pipeAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// seen is a sink that keeps what it is told.
type seen struct {
	mu  sync.Mutex
	all []*traffic.Request
}

func (s *seen) Done(r *traffic.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
}

func (s *seen) one(t testing.TB) *traffic.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) != 1 {
		t.Fatalf("%d records, want 1", len(s.all))
	}
	return s.all[0]
}

func (s *seen) at(t testing.TB, i int) *traffic.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) <= i {
		t.Fatalf("%d records, want more than %d", len(s.all), i)
	}
	return s.all[i]
}

// house is a proxy with its server, on pipes, in virtual time.
type house struct {
	t     *testing.T
	p     *Proxy
	up    *upstreamFake
	sink  *seen
	front *pipes
	stop  context.CancelCauseFunc // ends what is in flight
}

// open starts a house with one upstream; change may alter its configuration.
func open(t *testing.T, serve func(net.Conn, *received) bool, change func(*Config)) *house {
	t.Helper()
	h := &house{t: t, up: &upstreamFake{serve: serve}, sink: &seen{}, front: newPipes()}
	cfg := Config{Listener: "main", Sink: h.sink, Keep: 1,
		Routes:    []Route{{Name: "all", Upstreams: []Share{{Upstream: "a", Weight: 1}}}},
		Upstreams: []Upstream{{Name: "a", URL: "http://server", Dial: h.up.dial}}}
	if change != nil {
		change(&cfg)
	}
	var err error
	if h.p, err = New(cfg, nil); err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	base, stop := context.WithCancelCause(context.Background())
	h.stop = stop
	server := &http.Server{Handler: h.p, ConnContext: ConnContext, BaseContext: func(net.Listener) context.Context { return base },
		Protocols: protocols, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 1000}}
	go func() { _ = server.Serve(gate.Listen(h.front, gate.Config{Room: Behind{cfg.Bodies}})) }()
	t.Cleanup(func() {
		stop(nil)
		_ = server.Close()
		h.p.Retire(nil)
		time.Sleep(2 * time.Hour) // virtual: whatever plays ends
	})
	return h
}

// post is a completion's request as bytes.
func post(path, body string, header ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n%s",
		path, len(body), joined(header), body)
}

func joined(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\r\n")
	}
	return b.String()
}

const chatPath = "/v1/chat/completions"

// arrival is a read of the client.
type arrival struct {
	at   time.Duration
	data string
}

// reply is what a client saw.
type reply struct {
	*http.Response
	body string
	err  error // how the body ended; nil: well
	at   []arrival
}

// talk sends a request and reads the answer to its end; leave, when above 0,
// hangs up then.
func (h *house) talk(request string, leave time.Duration) *reply {
	h.t.Helper()
	c := h.front.dial()
	defer c.Close()
	start := time.Now()
	if leave > 0 {
		timer := time.AfterFunc(leave, func() { c.Close() })
		defer timer.Stop()
	}
	go func() { _, _ = io.WriteString(c, request) }() // an answer may come before all of it is read
	got := &reply{}
	tap := &tapped{Conn: c, read: func(p []byte) { got.at = append(got.at, arrival{time.Since(start), string(p)}) }}
	in := bufio.NewReader(tap)
	method, _, _ := strings.Cut(request, " ")
	asked := &http.Request{Method: method} // HEAD has no body
	resp, err := http.ReadResponse(in, asked)
	for err == nil && resp.StatusCode < 200 {
		resp, err = http.ReadResponse(in, asked)
	}
	if err != nil {
		got.err = err
		return got
	}
	got.Response = resp
	var b strings.Builder
	_, got.err = io.Copy(&b, resp.Body)
	got.body = b.String()
	return got
}

// settled waits until the request's record is there.
func (h *house) settled() {
	synctest.Wait() // what was asked has begun
	h.p.Wait()
	synctest.Wait()
}

type tapped struct {
	net.Conn
	read func([]byte)
}

func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n > 0 {
		t.read(p[:n])
	}
	return n, err
}

func ms(v timeline.Opt[float64]) float64 { return v.Or(-1) }

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func source(r *traffic.Request) string {
	if r.Record.TokenSource == nil {
		return "none"
	}
	return *r.Record.TokenSource
}

// silent connects to an upstream that reads nothing.
func silent(context.Context, string, string) (net.Conn, error) {
	ours, _ := net.Pipe()
	return ours, nil
}

func refuse(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}
