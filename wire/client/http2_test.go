package client

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// pipeListener hands in-memory connections to net/http's server.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
}

func newPipeListener() *pipeListener { return &pipeListener{conns: make(chan net.Conn, 64)} }

func (l *pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.conns) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours, nil
}

// http2Client returns a client of a server that speaks HTTP/2 on pipes.
func http2Client(t *testing.T, h http.HandlerFunc, change func(*Config)) *Client {
	t.Helper()
	l := newPipeListener()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: h, Protocols: protocols}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return pipeClient(t, &fake{}, func(c *Config) {
		c.Dial, c.HTTP2 = l.dial, true
		if change != nil {
			change(c)
		}
	})
}

// stream writes events at moments after the request.
func stream(w http.ResponseWriter, r *http.Request, at map[time.Duration]string) {
	start := time.Now()
	w.Header().Set("Content-Type", "text/event-stream")
	var moments []time.Duration
	for m := range at {
		moments = append(moments, m)
	}
	slices.Sort(moments)
	for _, m := range moments {
		select {
		case <-time.After(m - time.Since(start)):
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(w, at[m])
		w.(http.Flusher).Flush()
	}
}

func streamB1(w http.ResponseWriter, r *http.Request) {
	const ms = time.Millisecond
	stream(w, r, map[time.Duration]string{5 * ms: role, 214 * ms: tok("A"), 234 * ms: tok("B"),
		254 * ms: tok("C") + fin, 255 * ms: usage3 + done})
}

func TestHTTP2ExactTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := http2Client(t, streamB1, nil)
		for i := range 2 {
			tl := send(t.Context(), c)
			want(t, "outcome", tl.Outcome, timeline.OK)
			want(t, "clock", tl.Clock, timeline.User)
			want(t, "text", tl.Text, "ABC")
			wantUS(t, "sent", tl.SentUS, 0)
			wantUS(t, "head", tl.HeadUS, 5_000)
			wantUS(t, "close", tl.CloseUS, 255_000)
			if got := tokens(tl); !slices.Equal(got, ms(214, 234, 254)) {
				t.Errorf("tokens at %v", got)
			}
			want(t, "reused", tl.Reused, timeline.Some(i > 0))
			want(t, "connect measured", tl.ConnectUS.OK(), false) // the pipe has no dialer to trace
		}
		want(t, "opened", c.Stats().Opened, 1)
	})
}

func TestHTTP2Ends(t *testing.T) {
	const msec = time.Millisecond
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	onlyPings := func(w http.ResponseWriter, r *http.Request) {
		at := map[time.Duration]string{10 * msec: tok("w")}
		for m := 100 * msec; m < 10*time.Second; m += 100 * msec {
			at[m] = ping
		}
		stream(w, r, at)
	}
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		change func(*Config)
		class  timeline.Outcome
		close  int64
	}{
		"total":  {onlyPings, func(c *Config) { c.Timeout = 2 * time.Second }, timeline.TimeoutTotal, 2_000_000},
		"idle":   {onlyPings, func(c *Config) { c.IdleTimeout = time.Second }, timeline.TimeoutIdle, 1_010_000},
		"ttft":   {hang, func(c *Config) { c.TTFTTimeout = time.Second }, timeline.TimeoutTTFT, 1_000_000},
		"status": {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }, nil, timeline.HTTP5xx, 0},
		"stream aborted": {func(w http.ResponseWriter, r *http.Request) {
			stream(w, r, map[time.Duration]string{10 * msec: tok("w")})
			time.Sleep(10 * msec)
			panic(http.ErrAbortHandler)
		}, nil, timeline.ConnReset, 20_000},
		"stream refused": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, timeline.ConnReset, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tl := send(t.Context(), http2Client(t, tc.serve, tc.change))
				want(t, "outcome", tl.Outcome, tc.class)
				wantUS(t, "close", tl.CloseUS, tc.close)
				if tc.class == timeline.ConnReset && !strings.HasPrefix(tl.Error.Message, "the stream was reset ") { // its connection lives on
					t.Error(tl.Error.Message)
				}
				t.Log(tl.Error)
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := http2Client(t, streamB1, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(220*msec, func() { cancel(ErrRunEnd) })
			tl := send(ctx, c)
			want(t, "outcome", tl.Outcome, timeline.CancelledRunEnd)
			wantUS(t, "close", tl.CloseUS, 220_000)
			want(t, "tokens", len(tokens(tl)), 1)
		})
	})
}

func TestHTTP2ToHTTP1Server(t *testing.T) {
	f := &fake{serve: play(b1...)}
	l := socketServer(t, "tcp", "127.0.0.1:0", f)
	tl := send(t.Context(), socketClient(t, "http://"+l.Addr().String(), func(c *Config) { c.HTTP2 = true }))
	want(t, "outcome", tl.Outcome, timeline.Parse)
	if !strings.Contains(tl.Error.Message, "ask it by HTTP/1.1") {
		t.Error(tl.Error.Message)
	}

	l.Close()
	tl = send(t.Context(), socketClient(t, "http://"+l.Addr().String(), func(c *Config) { c.HTTP2 = true }))
	want(t, "refused", tl.Outcome, timeline.ConnectRefused)
}

func TestHTTP2OverTLS(t *testing.T) {
	cert, roots := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(streamB1), ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}}
	go func() { _ = server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { server.Close() })
	url := "https://" + l.Addr().String()

	tl := send(t.Context(), socketClient(t, url, func(c *Config) { c.HTTP2 = true }))
	want(t, "untrusted", tl.Outcome, timeline.TLS)
	if !strings.Contains(tl.Error.Message, "certificate of its authority") {
		t.Error(tl.Error.Message)
	}
	tl = send(t.Context(), socketClient(t, url, func(c *Config) { c.HTTP2, c.TLS = true, &tls.Config{RootCAs: roots} }))
	want(t, "trusted", tl.Outcome, timeline.OK)
	want(t, "connect measured", tl.ConnectUS.OK(), true)
	want(t, "handshake measured", tl.TLSUS.OK(), true)
}

// Requests of one connection at once are counted, and those that ended are not.
func TestHTTP2StreamsOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := http2Client(t, streamB1, nil)
		send(t.Context(), c) // opens the connection
		want(t, "streams", c.Stats().Streams, 1)
		for _, at := range []int{5, 3} {
			var wg sync.WaitGroup
			for range at {
				wg.Go(func() { send(t.Context(), c) })
			}
			wg.Wait()
			want(t, "streams", c.Stats().Streams, 5)
		}
		want(t, "connections", c.Stats().Opened, 1)
		want(t, "counted after the end", len(c.count.streams.on), 0)
	})
}

// B53: a server that sends GOAWAY after some requests loses none.
func TestB53GoAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, total = 100, 300
		var served atomic.Int64
		c := http2Client(t, func(w http.ResponseWriter, r *http.Request) {
			if served.Add(1)%each == 0 {
				w.Header().Set("Connection", "close") // net/http then sends GOAWAY
			}
			stream(w, r, map[time.Duration]string{50 * time.Millisecond: tok("w"), 100 * time.Millisecond: fin + done})
		}, nil)
		var wg sync.WaitGroup
		var ok atomic.Int64
		for range 10 {
			wg.Go(func() {
				for range total / 10 {
					if tl := send(t.Context(), c); tl.Outcome == timeline.OK {
						ok.Add(1)
					} else {
						t.Error(tl.Error)
					}
				}
			})
		}
		wg.Wait()
		want(t, "ok", ok.Load(), total)
		if n := c.Stats().Opened; n < total/each {
			t.Errorf("%d connections", n)
		}
	})
}
