package proxy

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

type finished chan *traffic.Request

func (f finished) Done(r *traffic.Request) { f <- r }

// A client may close its own direction and read on. What it gets when the reply
// is cut for that looks like no clean end, nor like an answer.
func TestAHalfClosedClientSeesNoCleanEnd(t *testing.T) {
	for _, leave := range []Leave{LeaveCancel, LeaveDrain} {
		for _, head := range []bool{true, false} {
			next := make(chan struct{}, 3)
			play := pieces(next, sseHead, chunk(tok("A")), chunk(fin+done)+lastChunk)
			s := pave(t, func(c net.Conn, r *received) bool {
				if head && leave == LeaveDrain {
					return play(c, r)
				}
				if head {
					_, _ = io.WriteString(c, sseHead+chunk(tok("A")))
				}
				r.gone()
				return false
			}, func(c *Config) { c.Routes[0].Leave = leave; c.Routes[0].DrainTime = 50 * time.Millisecond })
			c := s.dial(t)
			in := bufio.NewReader(c)
			if head {
				next <- struct{}{}
				next <- struct{}{}
				resp := ask(t, c, in, post(chatPath, hello))
				if _, err := io.ReadFull(resp.Body, make([]byte, len(tok("A")))); err != nil {
					t.Fatal(err)
				}
				_ = c.(*net.TCPConn).CloseWrite()
				<-(<-s.asked).Done()
				next <- struct{}{}
				if rest, err := io.ReadAll(resp.Body); err == nil {
					t.Errorf("%s: a clean end after %q", leave, rest)
				}
			} else {
				_, _ = io.WriteString(c, post(chatPath, hello))
				<-s.asked
				_ = c.(*net.TCPConn).CloseWrite()
				if answer, err := io.ReadAll(in); len(answer) > 0 {
					t.Errorf("%s: an answer, %q (%v)", leave, answer, err)
				}
			}
			r := <-s.seen
			want(t, "outcome", r.Outcome, timeline.CancelledUser)
		}
	}
}

// A reset of the upstream's connection is a reset in the record, and reaches
// clients as something that can't be taken for a clean end: HTTP/1.0 ones too,
// for whom the end of the connection is the end of the body.
func TestAResetIsPassedOn(t *testing.T) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	reset := make(chan bool)
	go func() {
		for {
			c, err := up.Accept()
			if err != nil {
				return
			}
			req, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"+chunk(tok("A")))
			<-reset
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}()
	seen := make(finished, 1)
	p, err := New(Config{Sink: seen, Routes: []Route{{Name: "all", Upstreams: []Share{{"a", 1}}}}, Upstreams: []Upstream{{Name: "a", URL: "http://" + up.Addr().String()}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Retire(nil)
	front := func() *httptest.Server {
		s := httptest.NewUnstartedServer(p)
		s.Config.ConnContext = ConnContext
		t.Cleanup(s.Close)
		return s
	}
	plain, secure := front(), front()
	plain.Start()
	secure.StartTLS()
	dials := map[string]func() (net.Conn, error){
		"HTTP": func() (net.Conn, error) { return net.Dial("tcp", plain.Listener.Addr().String()) },
		"HTTPS": func() (net.Conn, error) {
			return tls.Dial("tcp", secure.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		},
	}
	for i := range 4 {
		scheme, proto := []string{"HTTP", "HTTPS"}[i/2], []string{"HTTP/1.1", "HTTP/1.0"}[i%2]
		c, err := dials[scheme]()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, strings.Replace(post(chatPath, hello), "HTTP/1.1", proto, 1))
		in := bufio.NewReader(c)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(tok("A")))
		if _, err := io.ReadFull(resp.Body, got); err != nil {
			t.Errorf("%s of %s: %v", proto, scheme, err)
		}
		reset <- true
		if rest, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s of %s: a clean end after %q", proto, scheme, rest)
		}
		r := <-seen
		want(t, scheme+", "+proto+": outcome", r.Outcome, timeline.ConnReset)
		want(t, scheme+", "+proto+": tokens", r.Record.Chunks.Or(-1), 1)
		_ = c.Close()
	}
}
