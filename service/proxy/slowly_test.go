package proxy

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

const unmeasured = "/v1/messages/count_tokens"

// An upload that its client, or our stop, ends is a request of the record. What
// is refused is not.
func TestAnUploadThatEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome timeline.Outcome
		end     func(h *house, c net.Conn)
	}{
		"the client hangs up":  {timeline.CancelledUser, func(_ *house, c net.Conn) { _ = c.Close() }},
		"the proxy is stopped": {timeline.CancelledRunEnd, func(h *house, _ net.Conn) { h.stop(client.ErrRunEnd) }},
	} {
		for _, head := range []string{"content-length: 5000\r\n\r\n", "transfer-encoding: chunked\r\n\r\n5\r\n"} {
			for _, leave := range []Leave{LeaveCancel, LeaveDrain} {
				t.Run(fmt.Sprint(name, ", ", leave, ", ", head[:14]), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						h := open(t, answerOK, func(c *Config) { c.Routes[0].Leave = leave })
						c := h.front.dial()
						defer c.Close()
						go func() { _, _ = io.Copy(io.Discard, c) }()
						_, _ = io.WriteString(c, "POST "+unmeasured+" HTTP/1.1\r\nhost: p\r\n"+head+"{")
						time.Sleep(time.Second)
						tc.end(h, c)
						h.settled()
						r := h.sink.one(t)
						want(t, "outcome", r.Outcome, tc.outcome)
						want(t, "close", r.CloseUS.Or(-1), 1_000_000)
						want(t, "left", r.LeftUS.OK(), tc.outcome == timeline.CancelledUser)
						want(t, "refused", h.p.Stats().Refused["body"], 0)
						want(t, "the upstream is well", h.p.Stats().Upstreams[0].Healthy, true)
					})
				})
			}
		}
	}
}

// Over HTTP/2 it is the stream that ends, or the connection with all of them.
func TestAnUploadThatEndsOverHTTP2(t *testing.T) {
	for name, end := range map[string]func(f *frames){
		"a reset":       func(f *frames) { f.send(frameReset, 0, 1, []byte{0, 0, 0, resetCancel}) },
		"all of it":     func(f *frames) { _ = f.c.Close() },
		"a false count": func(f *frames) { f.send(frameData, flagEndStream, 1, []byte("{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, nil)
				f := h.frames()
				f.send(frameHeaders, flagEndHeaders, 1, literals([]string{":method", "POST", ":scheme", "http", ":authority", "proxy",
					":path", unmeasured, "content-length", "5000"}))
				f.send(frameData, 0, 1, []byte("{"))
				time.Sleep(time.Second)
				end(f)
				h.settled()
				want(t, "outcome", h.sink.one(t).Outcome, timeline.CancelledUser)
				want(t, "refused", h.p.Stats().Refused["body"], 0)
			})
		})
	}
}

// A body that is passed on goes to another upstream, too, as long as nothing of
// it was read.
func TestAnUploadGoesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms "+whole(200, "application/json", "{}")), func(c *Config) {
			c.Upstreams = append(c.Upstreams, Upstream{Name: "b", URL: "http://dead", Dial: refuse})
			c.Routes[0].Upstreams = []Share{{"b", 1}, {"a", 1}}
		})
		for range 4 {
			want(t, "status", h.talk(post(unmeasured, hello), 0).StatusCode, 200)
			want(t, "body", h.up.last().body, hello)
		}
		h.settled()
		if h.p.Stats().Retries == 0 {
			t.Error("no request went to the dead upstream first")
		}
	})
}

// An upstream that stops taking a request is given up after as long as it may
// think about an answer.
func TestAnUpstreamThatTakesNothing(t *testing.T) {
	body := `{"model":"m","input":"` + strings.Repeat("a", 100_000) + `"}`
	for _, path := range []string{chatPath, unmeasured} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, nil, func(c *Config) {
					c.BodyTimeout = time.Hour
					c.Upstreams[0].HeadTimeout, c.Upstreams[0].Health.Failures = 20*time.Second, 1
					c.Upstreams[0].Dial = silent
				})
				got := h.talk(post(path, body), 0)
				h.settled()
				want(t, "status", got.StatusCode, 504)
				want(t, "code", got.Header.Get("X-Tokenmeter-Error"), string(timeline.TimeoutTTFT))
				r := h.sink.one(t)
				want(t, "outcome", r.Outcome, timeline.TimeoutTTFT)
				want(t, "close", r.CloseUS.Or(-1) < 21_000_000, true)
				want(t, "the upstream is well", h.p.Stats().Upstreams[0].Healthy, false)
			})
		})
	}
}
