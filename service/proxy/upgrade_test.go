package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/client"
)

const (
	webSocket   = "GET /v1/realtime?model=m HTTP/1.1\r\nhost: proxy\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\n"
	switchesNow = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n"
)

func realtime(c *Config) { c.Routes[0].Paths = []string{"/v1/realtime"} }

// The stop of the proxy ends an upgraded connection, and that is no good end.
func TestAnUpgradeThatTheStopCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0ms "+switchesNow, "900000ms KEEP"), realtime)
		c := h.front.dial()
		defer c.Close()
		_, _ = io.WriteString(c, webSocket)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status", resp.StatusCode, 101)
		time.Sleep(time.Second)
		h.stop(client.ErrRunEnd)
		h.settled()
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.CancelledRunEnd)
		want(t, "close", r.CloseUS.Or(-1), 1_000_000)
		want(t, "unmeasured", r.Unmeasured, traffic.Upgraded)
	})
}

// What stands for a WebSocket in a path's methods is no method that a client may send.
func TestNobodyAsksByTheMarkOfAWebSocket(t *testing.T) {
	for _, path := range []string{"/v1/models", "/v1/responses", "/v1/realtime"} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, nil)
			want(t, path, h.talk(strings.Replace(get(path), "GET ", "WEBSOCKET ", 1), 0).StatusCode, 405)
			want(t, "requests upstream", len(h.up.requests), 0)
		})
	}
}

// OpenAI's, Azure's and Google's own clients open WebSockets at these paths, which a plain
// GET does not get through.
// Source: openai-python resources/realtime, openai/codex, google-genai live.py
func TestWebSocketsThatPassByDefault(t *testing.T) {
	for path, status := range map[string]int{
		"/v1/realtime?model=m": 101, "/openai/realtime?api-version=1&deployment=d": 101, "/v1/responses": 101, "/backend-api/codex/responses": 101,
		"/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent": 101, "/v1/models": 101, // as GET does
		"/v1/chat/completions": 405, "/v1/realtime/calls": 404, "/x": 404,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("1ms "+switchesNow), nil)
			c := h.front.dial()
			_, _ = io.WriteString(c, strings.Replace(webSocket, "/v1/realtime?model=m", path, 1))
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			want(t, path, resp.StatusCode, status)
			c.Close()
			h.settled()
			if status == 101 && path != "/v1/models" {
				got := h.talk(get(path), 0)
				want(t, path+" without an upgrade", got.StatusCode, 405)
				want(t, path+" allows", strings.Contains(got.Header.Get("Allow"), "WEBSOCKET"), false)
			}
		})
	}
}

// The headers of an upgrade get no plain answer where a plain GET gets none: what the
// upstream refuses is passed on.
func TestAnUpgradeThatIsAnswered(t *testing.T) {
	for _, tc := range []struct {
		path, status string
		want         int
		body         string
	}{
		{"/v1/responses", "200 OK", 502, "opened no WebSocket"}, {"/v1/realtime", "302 Found", 502, "opened no WebSocket"},
		{"/v1/realtime", "401 Unauthorized", 401, "secret"}, {"/v1/models", "200 OK", 200, "secret"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("1ms HTTP/1.1 "+tc.status+"\r\ncontent-length: 6\r\n\r\nsecret"), nil)
			got := h.talk(strings.Replace(webSocket, "/v1/realtime?model=m", tc.path, 1), 0)
			h.settled()
			if got.StatusCode != tc.want || !strings.Contains(got.body, tc.body) || tc.want == 502 && strings.Contains(got.body, "secret") {
				t.Errorf("%s, %s: %d %s", tc.path, tc.status, got.StatusCode, got.body)
			}
		})
	}
}

// One that ends its own direction still gets what the server has to say.
func TestAnUpgradedClientThatClosesItsDirection(t *testing.T) {
	ended, say := make(chan bool), make(chan bool)
	s := pave(t, func(c net.Conn, r *received) bool {
		_, _ = io.WriteString(c, switchesNow)
		r.gone() // the end of what the client sends
		close(ended)
		<-say
		_, _ = io.WriteString(c, "bye")
		return false
	}, realtime)
	c := s.dial(t)
	in := bufio.NewReader(c)
	want(t, "status", ask(t, c, in, webSocket).StatusCode, 101)
	_ = c.(*net.TCPConn).CloseWrite()
	<-ended
	want(t, "the request goes on", (<-s.asked).Err(), nil)
	close(say)
	rest, err := io.ReadAll(in)
	want(t, "end", err, nil)
	want(t, "the rest", string(rest), "bye")
	r := <-s.seen
	want(t, "outcome", r.Outcome, timeline.OK)
	want(t, "bytes", r.ResponseBytes, 3)
}

// Neither side of a WebSocket may hold the other for ever by reading nothing.
func TestAnUpgradedSideThatDoesNotRead(t *testing.T) {
	for name, tc := range map[string]struct {
		deaf    bool // the client is
		outcome timeline.Outcome
		limit   time.Duration
	}{
		"the client":   {true, timeline.CancelledUser, 5 * time.Minute},
		"the upstream": {false, timeline.TimeoutIdle, 10 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, func(c net.Conn, r *received) bool {
				_, _ = io.WriteString(c, switchesNow)
				if tc.deaf {
					_, _ = io.WriteString(c, "nobody reads this")
				}
				time.Sleep(time.Hour)
				return false
			}, realtime)
			c := h.front.dial()
			defer c.Close()
			want(t, name+": status", ask(t, c, bufio.NewReaderSize(c, 16), webSocket).StatusCode, 101)
			if !tc.deaf {
				_, _ = io.WriteString(c, strings.Repeat("x", 1<<20))
			}
			time.Sleep(30 * time.Minute)
			h.settled()
			r := h.sink.one(t)
			want(t, name+": outcome", r.Outcome, tc.outcome)
			if after := time.Duration(r.CloseUS.Or(-1)) * time.Microsecond; after < tc.limit || after > tc.limit+halfOpen {
				t.Errorf("%s: ended after %v", name, after)
			}
		})
	}
}
