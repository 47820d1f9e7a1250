package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// street is a proxy between real sockets: the short way of chunks has them only.
type street struct {
	p       *Proxy
	address string
	seen    finished
	up      *upstreamFake
	asked   chan context.Context // of the requests
}

func pave(t testing.TB, serve func(net.Conn, *received) bool, change func(*Config)) *street {
	t.Helper()
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &street{seen: make(finished, 16), up: &upstreamFake{serve: serve}, asked: make(chan context.Context, 1)}
	go func() {
		for {
			c, err := up.Accept()
			if err != nil {
				return
			}
			s.up.mu.Lock()
			s.up.dialled++
			s.up.mu.Unlock()
			go s.up.run(c)
		}
	}()
	cfg := Config{Sink: s.seen, Keep: 1, Routes: []Route{{Name: "all", Upstreams: []Share{{"a", 1}}}},
		Upstreams: []Upstream{{Name: "a", URL: "http://" + up.Addr().String()}}}
	if change != nil {
		change(&cfg)
	}
	if s.p, err = New(cfg, nil); err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = front.Addr().String()
	h := func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.asked <- r.Context():
		default:
		}
		s.p.ServeHTTP(w, r)
	}
	server := &http.Server{Handler: http.HandlerFunc(h), ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		return ConnContext(ctx, c)
	}}
	go func() { _ = server.Serve(front) }()
	t.Cleanup(func() {
		_ = server.Close()
		s.p.Wait()
		s.p.Retire(nil)
		_ = up.Close()
	})
	return s
}

func (s *street) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask sends a request and returns the response, its body unread.
func ask(t testing.TB, c net.Conn, in *bufio.Reader, request string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// pieces is an upstream that writes each piece when the client has what came
// before, so that each is a read of its own.
func pieces(next <-chan struct{}, all ...string) func(net.Conn, *received) bool {
	return func(c net.Conn, _ *received) bool {
		for _, piece := range all {
			<-next
			if piece == "CUT" {
				return false
			}
			if piece == "RESET" {
				_ = c.(*net.TCPConn).SetLinger(0)
				return false
			}
			if _, err := io.WriteString(c, piece); err != nil {
				return false
			}
		}
		return true
	}
}

// Each read from the server is one chunk for the client, the end and the
// trailers follow, and both connections serve the next request.
func TestEachReadIsAChunk(t *testing.T) {
	steps := []struct{ sent, seen string }{
		{chunk(role), chunk(role)},
		{chunk(tok("A")) + chunk(tok("B")), chunk(tok("A") + tok("B"))},
		{fmt.Sprintf("%x\r\n%s", len(fin), fin[:40]), ""}, // usage may follow, and nobody can use half an event
		{fin[40:], chunk(fin)},
		{"\r\n" + chunk(usage(1, 2)), ""}, // asked for on the client's behalf
		{chunk(done), chunk(done)},
		{"0\r\nx-sum: 7\r\n\r\n", "0\r\nX-Sum: 7\r\n\r\n"},
	}
	all := []string{sseHead}
	for _, step := range steps {
		all = append(all, step.sent)
	}
	next := make(chan struct{}, 1)
	s := pave(t, pieces(next, all...), nil)
	c := s.dial(t)
	in := bufio.NewReader(c)
	for i := range 3 {
		if _, err := io.WriteString(c, post(chatPath, hello)); err != nil {
			t.Fatal(err)
		}
		next <- struct{}{}
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range steps {
			next <- struct{}{}
			got := make([]byte, len(step.seen))
			if _, err := io.ReadFull(in, got); err != nil || string(got) != step.seen {
				t.Fatalf("got %q (%v), want %q", got, err, step.seen)
			}
		}
		r := <-s.seen
		want(t, "outcome", r.Outcome, timeline.OK)
		want(t, "chunks with a token", r.Record.Chunks.Or(-1), 2)
		want(t, "tokens", r.Record.OutputTokens.Or(-1), 2)
		want(t, "reused", r.Reused.Or(false), i > 0)
		want(t, "delay counted", r.Delay.Reads > 0 && r.FirstWriteUS.OK() && r.LastWriteUS.OK(), true)
	}
	want(t, "upstream connections", s.up.dialled, 1)
}

// shortEnd is how a reply ends after its first token.
type shortEnd struct {
	pieces []string
	class  timeline.Outcome
	broken bool
	limit  func(*Config, time.Duration) // sets the limit that ends it
}

// How a reply ends on the short way is told as on the long one.
func TestEndsOnTheShortWay(t *testing.T) {
	for name, tc := range map[string]shortEnd{
		"whole":                   {[]string{chunk(fin+done) + lastChunk}, timeline.OK, false, nil},
		"killed in the stream":    {[]string{"CUT"}, timeline.StreamTruncated, true, nil},
		"killed inside a chunk":   {[]string{"40\r\ndata: {", "CUT"}, timeline.StreamTruncated, true, nil},
		"killed after the answer": {[]string{chunk(fin + done), "CUT"}, timeline.OK, true, nil},
		"reset":                   {[]string{"RESET"}, timeline.ConnReset, true, nil},
		"clean end, no finish":    {[]string{lastChunk}, timeline.StreamTruncated, false, nil},
		"a negative chunk":        {[]string{"-1\r\n"}, timeline.Parse, true, nil},
		"an error in the stream":  {[]string{chunk(`data: {"error":{"message":"out of memory"}}` + "\n\n"), lastChunk}, timeline.StreamError, false, nil},
		"stalls":                  {[]string{"WAIT"}, timeline.TimeoutIdle, true, func(c *Config, d time.Duration) { c.Upstreams[0].IdleTimeout = d }},
		"too long":                {[]string{"WAIT"}, timeline.TimeoutTotal, true, func(c *Config, d time.Duration) { c.Routes[0].Timeout = d }},
	} {
		t.Run(name, func(t *testing.T) {
			// A machine that is busy may need longer than a limit to bring the first token.
			for limit := 50 * time.Millisecond; !tc.seen(t, limit); limit *= 4 {
				if tc.limit == nil || limit > 10*time.Second {
					t.Fatal("no token came")
				}
			}
		})
	}
}

// seen plays the reply and checks its end. false: its first token did not come.
func (tc *shortEnd) seen(t *testing.T, limit time.Duration) bool {
	next := make(chan struct{}, 1)
	play := pieces(next, append([]string{sseHead, chunk(tok("w"))}, tc.pieces...)...)
	s := pave(t, func(c net.Conn, r *received) bool {
		again := play(c, r)
		if tc.limit != nil {
			r.gone()
		}
		return again
	}, func(c *Config) {
		if tc.limit != nil {
			tc.limit(c, limit)
		}
	})
	c := s.dial(t)
	in := bufio.NewReader(c)
	next <- struct{}{}
	resp := ask(t, c, in, post(chatPath, hello))
	next <- struct{}{}
	got := make([]byte, len(tok("w")))
	if _, err := io.ReadFull(resp.Body, got); err != nil || resp.StatusCode != http.StatusOK {
		return false
	}
	for _, piece := range tc.pieces {
		if piece != "WAIT" {
			next <- struct{}{}
		}
	}
	_, err := io.ReadAll(resp.Body)
	want(t, "breaks off", err != nil, tc.broken)
	r := <-s.seen
	want(t, "outcome", r.Outcome, tc.class)
	want(t, "has words", r.Error != nil && r.Error.Message != "", tc.class != timeline.OK)
	want(t, "unmeasured", r.Unmeasured, traffic.Reason(""))
	want(t, "tokens seen", r.Record.Chunks.Or(-1), 1)
	return true
}

// A client that hangs up cancels, or what it leaves is read on.
func TestAHangUpOnTheShortWay(t *testing.T) {
	for _, leave := range []Leave{LeaveCancel, LeaveDrain} {
		t.Run(string(leave), func(t *testing.T) {
			next := make(chan struct{}, 2)
			play := pieces(next, sseHead, chunk(tok("A")), chunk(tok("B")), chunk(fin+usage(1, 2)+done)+lastChunk)
			closed := make(chan bool, 1)
			s := pave(t, func(c net.Conn, r *received) bool {
				if leave == LeaveDrain {
					return play(c, r)
				}
				_, _ = io.WriteString(c, sseHead+chunk(tok("A")))
				r.gone()
				closed <- true
				return false
			}, func(c *Config) { c.Routes[0].Leave = leave })
			c := s.dial(t)
			in := bufio.NewReader(c)
			if leave == LeaveDrain {
				next <- struct{}{}
				next <- struct{}{}
			}
			resp := ask(t, c, in, post(chatPath, hello))
			if _, err := io.ReadFull(resp.Body, make([]byte, len(tok("A")))); err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if leave == LeaveDrain {
				<-(<-s.asked).Done()
				next <- struct{}{}
				next <- struct{}{}
			} else {
				<-closed
			}
			r := <-s.seen
			want(t, "outcome", r.Outcome, timeline.CancelledUser)
			want(t, "left", r.LeftUS.OK(), true)
			if leave == LeaveDrain {
				want(t, "tokens", r.Record.OutputTokens.Or(-1), 2)
				want(t, "delivered", r.Delivered.Or(-1), 1)
				want(t, "wasted", r.Wasted.Or(-1), 1)
			}
		})
	}
}

// What is compressed can decode to very much, and does not go the short way; nor
// does a reply whose parser needs long more than once.
func TestWhoGoesTheShortWay(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := httptest.NewRequest("POST", chatPath, nil)
	in = in.WithContext(ConnContext(in.Context(), conn))
	for coding, short := range map[string]bool{"": true, "identity": true, "Identity": true, "none": true, "gzip": false, "zstd": false, "identity, br": false} {
		d := &downstream{c: &call{w: httptest.NewRecorder()}}
		reply := &client.Passed{Status: 200, Header: http.Header{}}
		if coding != "" {
			reply.Header.Set("Content-Encoding", coding)
		}
		d.shortWay(reply, in)
		want(t, coding, d.direct.out != nil, short && runtime.GOOS == "linux")
	}
	d := &downstream{c: &call{meter: newMeter(clock.Start(), timeline.New(), api.OpenAIChat, api.StreamOptions{})}}
	d.c.meter.spent(int64(100 * time.Millisecond))
	want(t, "once late", d.heavy(10), false)
	d.c.meter.spent(int64(100 * time.Millisecond))
	want(t, "twice late", d.heavy(10), true)
}

// A client that does not read for a while gets every byte all the same, and
// its time is told apart.
func TestASlowReaderOnTheShortWay(t *testing.T) {
	var body strings.Builder
	for i := range 4000 {
		body.WriteString(tok(fmt.Sprint("word ", i, strings.Repeat("x", 100))))
	}
	body.WriteString(fin + done)
	written := make(chan bool, 1)
	s := pave(t, func(c net.Conn, _ *received) bool {
		_, _ = io.WriteString(c, sseHead)
		for event := range strings.SplitAfterSeq(body.String(), "\n\n") {
			if event != "" {
				if _, err := io.WriteString(c, chunk(event)); err != nil {
					return false
				}
			}
		}
		written <- true
		_, _ = io.WriteString(c, lastChunk)
		return true
	}, func(c *Config) { c.Routes[0].Usage = UsageOff })
	c := s.dial(t)
	resp := ask(t, c, bufio.NewReader(c), post(chatPath, hello))
	<-written
	time.Sleep(50 * time.Millisecond)
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != body.String() {
		t.Errorf("got %d bytes (%v), want %d", len(got), err, body.Len())
	}
	r := <-s.seen
	want(t, "outcome", r.Outcome, timeline.OK)
	want(t, "slow reader is told", r.SlowReaderUS > 0, true)
	want(t, "chunks", r.Record.OutputTokens.Or(-1) > 0, true)
}

// FuzzShortWay is FuzzBytesPassUnchanged over real sockets.
func FuzzShortWay(f *testing.F) {
	type reply struct{ body, cuts []byte }
	replies := make(chan reply, 1)
	s := pave(f, func(c net.Conn, _ *received) bool {
		r := <-replies
		head := "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
		if _, err := io.WriteString(c, head); err != nil {
			return false
		}
		least := 1 + len(r.body)/100 // not for ever
		for i := 0; len(r.body) > 0; i++ {
			n := len(r.body)
			if len(r.cuts) > 0 {
				n = min(n, least+int(r.cuts[i%len(r.cuts)]))
			}
			raw := chunk(string(r.body[:n]))
			r.body = r.body[n:]
			at := n % len(raw) // a read may end anywhere in the chunk
			for _, part := range []string{raw[:at], raw[at:]} {
				if _, err := io.WriteString(c, part); err != nil {
					return false
				}
				time.Sleep(20 * time.Microsecond)
			}
		}
		_, err := io.WriteString(c, lastChunk)
		return err == nil
	}, func(c *Config) { c.Routes[0].Usage = UsageOff })
	f.Add([]byte(role+tok("A")+ping+fin+usage(1, 2)+done), []byte{1, 7, 200})
	f.Add([]byte("\x00\x00\x00\x5b\x00\xff binary"), []byte{0})
	f.Add([]byte(strings.Repeat(tok("A"), 300)), []byte{})
	f.Add([]byte(strings.Repeat("x", 70_000)), []byte{255})
	f.Fuzz(func(t *testing.T, body, cuts []byte) {
		if len(body) > 1<<20 {
			return
		}
		c := s.dial(t)
		replies <- reply{body, cuts}
		resp := ask(t, c, bufio.NewReader(c), post(chatPath, hello))
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != string(body) {
			t.Errorf("got %q (%v), want %q", got, err, body)
		}
		<-s.seen
	})
}
