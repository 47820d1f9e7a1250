package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
)

// pass sends p on and reads the response to its end.
func pass(t *testing.T, c *Client, p *Passing) *Passed {
	t.Helper()
	r, err := c.Pass(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, _, err = r.Read(0)
	}
	want(t, "end", err, io.EOF)
	r.Close()
	return r
}

// A server that ignores an upgrade still knows where the request's body ends,
// and is asked nothing more on a connection that it may have changed.
func TestPassAnUpgradeThatIsRefused(t *testing.T) {
	const smuggled = "GET /admin HTTP/1.1\r\nhost: server\r\n\r\n"
	for name, p := range map[string]*Passing{
		"in memory":      {Body: []byte(smuggled), Length: int64(len(smuggled))},
		"as it comes":    {More: strings.NewReader(smuggled), Length: int64(len(smuggled))},
		"without length": {More: strings.NewReader(smuggled), Length: -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: play("1ms " + whole("200 OK", "text/plain", "A"))}
				c := pipeClient(t, f, nil)
				p.Method, p.Path, p.Upgrade = http.MethodPost, "/", true
				p.Header = http.Header{"Upgrade": {"websocket"}}
				pass(t, c, p)
				want(t, "requests", len(f.requests), 1)
				want(t, "body", f.request(0).body, smuggled)
				want(t, "upgrade", f.request(0).Header.Get("Upgrade"), "websocket")
				pass(t, c, &Passing{Method: http.MethodGet, Path: "/"})
				want(t, "connections", f.dialled, 2)
			})
		})
	}
}

// deaf is a server's end that takes a request's head, answers, and takes no more.
func deaf(answer string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			var head strings.Builder
			for one := make([]byte, 1); !strings.HasSuffix(head.String(), "\r\n\r\n"); head.Write(one) {
				if _, err := theirs.Read(one); err != nil {
					return
				}
			}
			if answer != "" {
				_, _ = io.WriteString(theirs, answer)
			}
		}()
		return ours, nil
	}
}

// What a server takes of a request, and when, has a limit, too. What it has
// answered by then counts.
func TestPassToAServerThatTakesNothing(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	for name, ask := range map[string]func() *Passing{
		"in memory":      func() *Passing { return &Passing{Body: []byte(long), Length: int64(len(long))} },
		"as it comes":    func() *Passing { return &Passing{More: strings.NewReader(long), Length: int64(len(long))} },
		"without length": func() *Passing { return &Passing{More: strings.NewReader(long), Length: -1} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				try := func(answer string, untilNS int64) (r *Passed, took time.Duration, class timeline.Outcome) {
					c := pipeClient(t, &fake{}, func(c *Config) { c.Dial = deaf(answer) })
					p := ask()
					p.Method, p.Path, p.HeadLimit = http.MethodPost, "/", 30*time.Second
					if untilNS > 0 {
						p.UntilNS = c.clk.NS() + untilNS
					}
					start := time.Now()
					r, err := c.Pass(t.Context(), p)
					var why *Error
					if errors.As(err, &why) {
						class = why.Class
					}
					r.Close()
					return r, time.Since(start), class
				}
				_, took, class := try("", 0)
				want(t, "class", class, timeline.TimeoutTTFT)
				want(t, "given up after", took, 30*time.Second+drainTime)
				_, took, class = try("", int64(10*time.Second))
				want(t, "class with a limit of the request", class, timeline.TimeoutTotal)
				want(t, "given up after the limit of the request", took, 10*time.Second)
				r, _, class := try(whole("413 Too Large", "text/plain", "no"), 0)
				want(t, "class of an answer", class, "")
				want(t, "status of an answer", r.Status, 413)
			})
		})
	}
}

// A server that takes a long request slowly is not given up.
func TestPassToAServerThatTakesSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := make([]byte, 4<<20)
		c := pipeClient(t, &fake{}, func(c *Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					in := bufio.NewReader(theirs)
					req, err := http.ReadRequest(in)
					for err == nil {
						time.Sleep(20 * time.Second)
						_, err = io.CopyN(io.Discard, req.Body, mostWrite)
					}
					_, _ = io.WriteString(theirs, whole("200 OK", "text/plain", "A"))
				}()
				return ours, nil
			}
		})
		r := pass(t, c, &Passing{Method: http.MethodPost, Path: "/", Body: body, Length: int64(len(body)), HeadLimit: 30 * time.Second})
		want(t, "status", r.Status, 200)
	})
}

// The head is that of the response, not of what was said before it.
func TestPassHeadAfterInformational(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play("5ms HTTP/1.1 103 Early Hints\r\n\r\n", "50ms "+whole("200 OK", "text/plain", "A"))}
		r := pass(t, pipeClient(t, f, nil), &Passing{Method: http.MethodGet, Path: "/"})
		want(t, "head", time.Duration(r.HeadNS-r.SentNS), 50*time.Millisecond)
	})
}

// lateWriter is a connection whose writes return long after they were done.
type lateWriter struct{ *stampedPipe }

func (w lateWriter) Write(p []byte) (int, error) {
	n, err := w.stampedPipe.Write(p)
	time.Sleep(5 * time.Millisecond)
	return n, err
}

// An answer that came before the write returned was not sent before the request.
func TestPassSentIsNotAfterTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wall := func() int64 { return time.Now().UnixNano() }
		f := &fake{serve: play("1ms " + whole("200 OK", "text/plain", "A"))}
		c := pipeClient(t, f, func(c *Config) {
			c.Clock = clock.Start()
			c.Clock.WallNS = wall
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				under, err := f.dial(ctx, network, address)
				return lateWriter{newStampedPipe(under, wall)}, err
			}
		})
		start := c.clk.NS()
		r := pass(t, c, &Passing{Method: http.MethodGet, Path: "/"})
		want(t, "head", time.Duration(r.HeadNS-start), time.Millisecond)
		want(t, "sent", time.Duration(r.SentNS-start), time.Millisecond)
	})
}
