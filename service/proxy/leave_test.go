package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/gate"
)

// halves is a connection in memory of which either direction can be closed alone.
type halves struct {
	net.Conn // what is read
	out      net.Conn
}

func newHalves() (client, server *halves) {
	a, b := net.Pipe()
	c, d := net.Pipe()
	return &halves{a, c}, &halves{d, b}
}

func (h *halves) Write(p []byte) (int, error)        { return h.out.Write(p) }
func (h *halves) CloseWrite() error                  { return h.out.Close() }
func (h *halves) Close() error                       { return errors.Join(h.out.Close(), h.Conn.Close()) }
func (h *halves) SetWriteDeadline(t time.Time) error { return h.out.SetWriteDeadline(t) }
func (h *halves) SetDeadline(t time.Time) error {
	return errors.Join(h.Conn.SetDeadline(t), h.out.SetDeadline(t))
}

// When all clients of an upstream that hangs leave at once, nothing of them
// stays: no request upstream, no stream of the limit, no memory of the budget,
// no goroutine. Those who come next are served.
func TestAMassOfClientsLeaves(t *testing.T) {
	const clients = 20
	never := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, up := range map[string]struct {
		sends string
		dial  func(context.Context, string, string) (net.Conn, error)
	}{
		"answers nothing":  {},
		"a head":           {sends: sseHead},
		"a token":          {sends: sseHead + chunk(tok("A"))},
		"reads nothing":    {dial: silent},
		"does not connect": {dial: never},
	} {
		for _, extra := range []string{"", "G", "GET /v1/models HTTP/1.1\r\nhost: proxy\r\n\r\n", strings.Repeat("G", 100_000)} {
			for _, half := range []bool{false, true} {
				what := fmt.Sprintf("%s, %d bytes behind the request, half-closed: %v", name, len(extra), half)
				synctest.Test(t, func(t *testing.T) {
					var hanging sync.WaitGroup // requests upstream
					well := play("1ms " + sseHead + chunk(tok("A")+fin+done) + lastChunk)
					h := open(t, func(c net.Conn, r *received) bool {
						if !strings.Contains(r.body, "hang") {
							return well(c, r)
						}
						hanging.Add(1)
						defer hanging.Done()
						if up.sends != "" {
							_, _ = io.WriteString(c, up.sends)
						}
						r.gone()
						return false
					}, func(c *Config) {
						c.MaxStreams, c.Bodies = clients, NewBudget(1<<20)
						hang := Upstream{Name: "hang", URL: "http://server", Dial: up.dial}
						if up.dial == nil {
							hang.Dial = c.Upstreams[0].Dial
						}
						c.Upstreams = append(c.Upstreams, hang)
						c.Routes = append([]Route{{Name: "hang", Models: []string{"hang"}, Upstreams: []Share{{"hang", 1}}}}, c.Routes...)
					})
					synctest.Wait()
					before := goroutines()
					all := make([]*halves, clients)
					for i := range all {
						client, server := newHalves()
						all[i] = client
						h.front.conns <- server
						go func() { _, _ = io.WriteString(client, post(chatPath, `{"model":"hang","stream":true}`)+extra) }()
						go func() { _, _ = io.Copy(io.Discard, client) }()
					}
					time.Sleep(time.Second)
					want(t, what+": in flight", h.p.Stats().InFlight, clients)
					for _, c := range all {
						if half {
							_ = c.CloseWrite()
						} else {
							_ = c.Close()
						}
					}
					h.settled()
					hanging.Wait()
					want(t, what+": bytes held", h.p.cfg.Bodies.used.Load(), 0)
					for _, r := range h.sink.all {
						want(t, what+": outcome", r.Outcome, timeline.CancelledUser)
					}
					want(t, what+": records", len(h.sink.all), clients)
					for _, c := range all {
						_ = c.Close()
					}
					synctest.Wait()
					if after := goroutines(); after > before {
						t.Errorf("%s: %d goroutines, there were %d", what, after, before)
					}
					var next sync.WaitGroup
					for range clients {
						next.Go(func() { want(t, what+": status of the next", h.talk(post(chatPath, hello), 0).StatusCode, 200) })
					}
					next.Wait()
				})
			}
		}
	}
}

// Nobody reads a client's connection while the upstream takes nothing of its
// body. It is noticed all the same when it goes.
func TestAClientLeavesInItsBody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of an end that was not read")
	}
	up, front, seen := listen(t), listen(t), make(finished, 1)
	p, err := New(Config{Sink: seen, Routes: []Route{{Name: "all", Paths: []string{"* /*"}, Upstreams: []Share{{"a", 1}}}},
		Upstreams: []Upstream{{Name: "a", URL: "http://" + up.Addr().String()}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Retire(nil)
	server := &http.Server{Handler: p, ConnContext: ConnContext}
	go func() { _ = server.Serve(gate.Listen(front, gate.Config{})) }()
	defer server.Close()
	c, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := c.(*net.TCPConn)
	_, _ = io.WriteString(client, "POST /v1/other HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12000000\r\n\r\n")
	part := make([]byte, 64<<10)
	for err == nil { // until all buffers on the way are full
		_ = client.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		_, err = client.Write(part)
	}
	_ = client.SetLinger(0) // a reset
	_ = client.Close()
	select {
	case r := <-seen:
		want(t, "outcome", r.Outcome, timeline.CancelledUser)
	case <-time.After(20 * time.Second):
		t.Error("not noticed")
		_ = up.Close()
	}
}

// goroutines are those of tests in virtual time, which each end with all of theirs.
func goroutines() int {
	all := make([]byte, 1<<20)
	return strings.Count(string(all[:runtime.Stack(all, true)]), "synctest bubble")
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// A client that closes its connection at [DONE], as OpenAI's does, has all that it wanted:
// the server left nothing open when its last chunk comes a little later, or would never
// have come. A client that stays sees which of the two it is, were it for 250 ms.
func TestAClientThatLeavesAtTheTerminator(t *testing.T) {
	answer := "100ms " + sseHead + chunk(tok("A")+fin+done)
	for name, tc := range map[string]struct {
		serve []string
		leave time.Duration
		open  bool
	}{
		"the end comes 10 ms later": {[]string{answer, "110ms " + lastChunk}, 101 * time.Millisecond, false},
		"it never comes":            {[]string{answer, "1h " + lastChunk}, 101 * time.Millisecond, false},
		"it is waited for":          {[]string{answer, "110ms " + lastChunk}, 0, false},
		"in vain":                   {[]string{answer, "1h " + lastChunk}, 0, true},
		"in vain for 250 ms":        {[]string{answer, "1h " + lastChunk}, 351 * time.Millisecond, true},
		"by a client's own limit":   {[]string{answer, "1h " + lastChunk}, 5100 * time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play(tc.serve...), func(c *Config) { c.Upstreams[0].IdleTimeout = time.Minute })
			h.talk(post(chatPath, hello), tc.leave)
			h.settled()
			r := h.sink.one(t)
			if got := r.Record.Flags.Has(timeline.LeftOpen); r.Outcome != timeline.OK || got != tc.open {
				t.Errorf("%s: %s, left open: %v", name, r.Outcome, got)
			}
		})
	}
}
