package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
)

// Every way in which an upstream can fail has a class, one record, and is seen
// by the client for what it is.
func TestFaultsOfTheUpstream(t *testing.T) {
	head := "100ms " + sseHead + chunk(tok("w"))
	for name, tc := range map[string]struct {
		writes []string
		class  timeline.Outcome
		status int  // that the client sees; 0: a response broken off
		broken bool // the body does not end well
		change func(*Config)
	}{
		"whole":                     {[]string{head, "140ms " + chunk(fin+done) + lastChunk}, timeline.OK, 200, false, nil},
		"killed in the stream":      {[]string{head, "150ms CUT"}, timeline.StreamTruncated, 200, true, nil},
		"killed inside a chunk":     {[]string{head, "120ms 40\r\ndata: {", "150ms CUT"}, timeline.StreamTruncated, 200, true, nil},
		"killed after the answer":   {[]string{head, "140ms " + chunk(fin+done), "150ms CUT"}, timeline.OK, 200, true, nil},
		"clean end, no finish":      {[]string{head, "150ms " + lastChunk}, timeline.StreamTruncated, 200, false, nil},
		"killed at once":            {[]string{"150ms CUT"}, timeline.ConnReset, 502, false, nil},
		"killed in the head":        {[]string{"100ms HTTP/1.1 200 OK\r\ncontent-", "150ms CUT"}, timeline.ConnReset, 502, false, nil},
		"stalls in the stream":      {[]string{head, "150ms KEEP"}, timeline.TimeoutIdle, 200, true, nil},
		"heartbeats for ever":       {append([]string{head}, pings(700)...), timeline.TimeoutIdle, 200, true, nil},
		"heartbeats, never a token": {append([]string{"100ms " + sseHead}, pings(700)...), timeline.TimeoutIdle, 200, true, nil},
		"a head and no more":        {[]string{"100ms " + sseHead, "150ms KEEP"}, timeline.TimeoutIdle, 200, true, nil},
		"a role and no more":        {[]string{"100ms " + sseHead + chunk(role), "150ms KEEP"}, timeline.TimeoutIdle, 200, true, nil},
		"an answer of no bytes":     {[]string{"100ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n", "150ms KEEP"}, timeline.TimeoutIdle, 200, true, nil},
		"stalls before the head":    {[]string{"150ms KEEP"}, timeline.TimeoutTTFT, 504, false, nil},
		"too long":                  {append([]string{head}, pings(30)...), timeline.TimeoutTotal, 200, true, func(c *Config) { c.Routes[0].Timeout = 5 * time.Second }},
		"no HTTP":                   {[]string{"100ms SSH-2.0-OpenSSH_9.6\r\n"}, timeline.Parse, 502, false, nil},
		"a negative chunk":          {[]string{head, "150ms -1\r\n"}, timeline.Parse, 200, true, nil},
		"an endless head":           {[]string{"100ms HTTP/1.1 200 OK\r\nx: " + strings.Repeat("a", 70_000)}, timeline.Parse, 502, false, nil},
		"no JSON":                   {[]string{"100ms " + whole(200, "text/html", "<html>busy</html>")}, timeline.BadContentType, 200, false, nil},
		"an error in the stream":    {[]string{head, "140ms " + chunk(`data: {"error":{"message":"out of memory"}}`+"\n\n") + lastChunk}, timeline.StreamError, 200, false, nil},
		"429":                       {[]string{"100ms " + whole(429, "application/json", `{"error":{"message":"slow down"}}`)}, timeline.HTTP429, 429, false, nil},
		"400":                       {[]string{"100ms " + whole(400, "application/json", `{"error":{"message":"no"}}`)}, timeline.HTTP4xx, 400, false, nil},
		"503":                       {[]string{"100ms " + whole(503, "text/plain", "down")}, timeline.HTTP5xx, 503, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, play(tc.writes...), tc.change)
				got := h.talk(post(chatPath, hello), 0)
				h.settled()
				r := h.sink.one(t)
				want(t, "outcome", r.Outcome, tc.class)
				want(t, "has words", r.Error != nil && r.Error.Message != "", tc.class != timeline.OK)
				if got.Response == nil {
					t.Fatalf("no response: %v", got.err)
				}
				want(t, "status", got.StatusCode, tc.status)
				want(t, "breaks off", got.err != nil, tc.broken)
				if tc.status >= 502 && tc.status != 503 {
					want(t, "the error's code", got.Header.Get("X-Tokenmeter-Error"), string(tc.class))
				}
				want(t, "in flight", h.p.Stats().InFlight, 0)
				want(t, "unmeasured", r.Unmeasured, traffic.Reason(""))
			})
		})
	}
}

func pings(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%dms %s", 1000+1000*i, chunk(ping)))
	}
	return all
}

func whole(status int, kind, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s", status, http.StatusText(status), kind, len(body), body)
}

// A refused connection is tried elsewhere; nobody loses a request.
func TestAnotherUpstreamGetsWhatTheFirstRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("5ms "+sseHead+chunk(tok("w")+fin+done)+lastChunk), func(c *Config) {
			c.Upstreams = append(c.Upstreams, Upstream{Name: "b", URL: "http://dead", Dial: refuse})
			c.Routes[0].Upstreams = []Share{{"b", 1}, {"a", 1}}
		})
		for range 10 {
			got := h.talk(post(chatPath, hello), 0)
			want(t, "status", got.StatusCode, 200)
		}
		h.settled()
		s := h.p.Stats()
		want(t, "records", s.Requests, 10)
		want(t, "upstream b is spared", s.Upstreams[1].Healthy, false)
		if s.Retries == 0 || s.Retries > 5 {
			t.Errorf("%d retries", s.Retries)
		}
	})
}

// What one upstream refuses is shared out among the others.
func TestTheOthersShareWhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := namedUpstream("b"), namedUpstream("d")
		h := open(t, nil, func(c *Config) {
			c.Upstreams = []Upstream{{Name: "dead", URL: "http://dead", Dial: refuse, Health: Health{Failures: 1000}},
				{Name: "b", URL: "http://b", Dial: b.dial}, {Name: "d", URL: "http://d", Dial: d.dial}}
			c.Routes[0].Upstreams = []Share{{"dead", 1}, {"b", 1}, {"d", 1}}
		})
		for range 60 {
			want(t, "status", h.talk(post(chatPath, hello), 0).StatusCode, 200)
		}
		h.settled()
		if n, m := len(b.requests), len(d.requests); n+m != 60 || max(n, m)-min(n, m) > 2 {
			t.Errorf("%d and %d requests", n, m)
		}
	})
}

// A dead idle connection is replaced, and the request sent again where that can
// do no harm. One that may have been taken is not: it would be made twice.
func TestAConnectionThatDiedInThePool(t *testing.T) {
	for request, wanted := range map[string]struct{ status, tries int }{
		post(chatPath, hello):                            {502, 2},
		post("/v1/messages/count_tokens", hello):         {502, 2},
		"GET /v1/models HTTP/1.1\r\nhost: proxy\r\n\r\n": {200, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int64
			h := open(t, func(c net.Conn, r *received) bool {
				if n.Add(1) == 2 {
					return false // closed as it is used
				}
				return play("5ms "+sseHead+chunk(tok("w")+fin+done)+lastChunk)(c, r)
			}, nil)
			want(t, "first", h.talk(request, 0).StatusCode, 200)
			want(t, "second", h.talk(request, 0).StatusCode, wanted.status)
			h.settled()
			want(t, "tries upstream", int(n.Load()), wanted.tries)
		})
	}
}

// A server that closes each connection right after its response, though it
// promised to keep it, loses one request at most. One that did so once gets its
// connections back.
func TestAServerThatClosesEarly(t *testing.T) {
	const requests = 50
	reply := whole(200, "application/json", `{"choices":[{"message":{"content":"w"},"finish_reason":"stop"}]}`)
	for name, tc := range map[string]struct {
		closes        func(n int64) bool
		pause         time.Duration
		lost, dialled int // at most
	}{
		"always": {func(int64) bool { return true }, 0, 1, requests},
		"once":   {func(n int64) bool { return n == 1 }, 10 * time.Millisecond, 1, 15},
		"never":  {func(int64) bool { return false }, 0, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int64
			h := open(t, func(c net.Conn, r *received) bool {
				_, _ = io.WriteString(c, reply)
				if !tc.closes(n.Add(1)) {
					return true
				}
				time.Sleep(time.Millisecond) // the next one is on its way
				return false
			}, nil)
			c, lost := h.front.dial(), 0
			defer c.Close()
			in := bufio.NewReader(c)
			for range requests {
				got := ask(t, c, in, post(chatPath, hello))
				_, _ = io.Copy(io.Discard, got.Body)
				if got.StatusCode != 200 {
					lost++
				}
				time.Sleep(tc.pause)
			}
			h.settled()
			if h.up.dialled > tc.dialled || lost > tc.lost {
				t.Errorf("%s: %d requests were lost, %d connections opened", name, lost, h.up.dialled)
			}
		})
	}
}

// A reader that does not read holds up its own stream only, and it is its own
// time, not the server's.
func TestASlowReaderIsToldFromTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0ms "+sseHead, "100ms "+chunk(tok("A")), "200ms "+chunk(tok("B")+fin+done)+lastChunk), nil)
		c := h.front.dial()
		_, _ = io.WriteString(c, post(chatPath, hello))
		time.Sleep(2 * time.Second)
		_, err := io.ReadAll(&until{c, "[DONE]"})
		want(t, "read", err, nil)
		h.settled()
		c.Close()
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.OK)
		if r.SlowReaderUS < 1_800_000 {
			t.Errorf("slow reader: %d µs", r.SlowReaderUS)
		}
		if r.Delay.MaxUS > 2_000 {
			t.Errorf("our own delay: %d µs", r.Delay.MaxUS)
		}
	})
}

// until reads up to a word.
type until struct {
	r    io.Reader
	word string
}

func (u *until) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if strings.Contains(string(p[:n]), u.word) {
		return n, io.EOF
	}
	return n, err
}

// The end of a reply has its time, too, after a silence that was longer than a
// client may take.
func TestACleanEndAfterALongSilence(t *testing.T) {
	for _, usage := range []Usage{UsageOff, UsageStrip} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("0ms "+sseHead, "100ms "+chunk(tok("A")+fin+done+"data: {"), "400000ms "+lastChunk), func(c *Config) {
				c.ReaderTimeout = time.Minute
				c.Routes[0].Usage = usage
			})
			got := h.talk(post(chatPath, hello), 0)
			h.settled()
			want(t, "end", got.err, nil)
			want(t, "body", got.body, tok("A")+fin+done+"data: {")
			two := h.frames()
			two.ask(1, hello)
			time.Sleep(10 * time.Minute)
			status, body, ended, reset := two.got(1)
			want(t, "status over HTTP/2", status, status200)
			want(t, "body over HTTP/2", body, got.body)
			want(t, "ended over HTTP/2", ended, true)
			want(t, "reset", reset, -1)
		})
	}
}

// One that never reads is given up.
func TestAReaderThatNeverReadsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0ms "+sseHead, "100ms "+chunk(tok("A")), "200ms "+chunk(tok("B")), "900000ms KEEP"), func(c *Config) { c.ReaderTimeout = time.Minute })
		c := h.front.dial()
		defer c.Close()
		_, _ = io.WriteString(c, post(chatPath, hello))
		time.Sleep(10 * time.Minute)
		h.settled()
		want(t, "outcome", h.sink.one(t).Outcome, timeline.CancelledUser)
		want(t, "in flight", h.p.Stats().InFlight, 0)
	})
}

// A flood beyond the limits is refused, in words, and none of it is lost.
func TestAFloodIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0ms "+sseHead, "1000ms "+chunk(tok("A")+fin+done)+lastChunk), func(c *Config) { c.Routes[0].MaxStreams = 10 })
		var all sync.WaitGroup
		var mu sync.Mutex
		seen := map[int]int{}
		for range 50 {
			all.Go(func() {
				got := h.talk(post(chatPath, hello), 0)
				mu.Lock()
				defer mu.Unlock()
				seen[got.StatusCode]++
			})
		}
		all.Wait()
		h.settled()
		want(t, "served", seen[200], 10)
		want(t, "refused", seen[503], 40)
		s := h.p.Stats()
		want(t, "records", s.Requests, 10)
		want(t, "counted as refused", s.Refused["streams"], 40)
	})
}

// An event over the cap, and a parser that fails, end the measurement and
// nothing else.
func TestWhatIsNotUnderstoodPasses(t *testing.T) {
	t.Run("too large", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			big := tok(strings.Repeat("x", 10_000))
			h := open(t, play("5ms "+sseHead+chunk(tok("w")), "10ms "+chunk(big+fin+done)+lastChunk), func(c *Config) { c.MaxEvent = 4096 })
			got := h.talk(post(chatPath, hello), 0)
			h.settled()
			want(t, "bytes", got.body, tok("w")+big+fin+done)
			want(t, "unmeasured", h.sink.one(t).Unmeasured, traffic.TooLarge)
			want(t, "outcome", h.sink.one(t).Outcome, timeline.OK)
			want(t, "counted", h.p.Stats().Unmeasured[traffic.TooLarge], 1)
		})
	})
	t.Run("unknown API", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("5ms "+whole(200, "application/json", `{"data":[]}`)), nil)
			got := h.talk(post("/v1/messages/count_tokens", `{"model":"m","input":"x"}`), 0)
			h.settled()
			want(t, "body", got.body, `{"data":[]}`)
			want(t, "unmeasured", h.sink.one(t).Unmeasured, traffic.UnknownAPI)
		})
	})
	t.Run("a crash", func(t *testing.T) {
		m := newMeter(nil, timeline.New(), api.OfPath(chatPath), api.StreamOptions{})
		m.guard(func() { panic("boom") })
		want(t, "reason", m.reason, traffic.Crashed)
		m.guard(func() { t.Error("it goes on") })
	})
}

// Garbage of any kind passes byte for byte.
func TestGarbagePassesUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		garbage := bytes.Repeat([]byte{0, 0xff, '\r', '\n', '{', 'd', 'a', 't', 'a', ':', 0x80}, 3000)
		h := open(t, play("5ms "+sseHead, "10ms "+chunk(string(garbage)), "20ms "+lastChunk), nil)
		got := h.talk(post(chatPath, hello), 0)
		h.settled()
		want(t, "same bytes", got.body == string(garbage), true)
		want(t, "failed", h.sink.one(t).Outcome.Failed(), true)
	})
}

// The limit of one write does not outlive its request: a connection may be used
// again whenever its client likes.
func TestAConnectionIsUsedAgainMuchLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("5ms "+sseHead+chunk(tok("w")+fin+done)+lastChunk), func(c *Config) { c.Upstreams[0].HeadTimeout = 20 * time.Minute })
		c := h.front.dial()
		defer c.Close()
		in := bufio.NewReader(c)
		ask := func(request string, status int) {
			t.Helper()
			_, _ = io.WriteString(c, request)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			want(t, "end", err, nil)
			want(t, "status", resp.StatusCode, status)
		}
		ask(post(chatPath, hello), 200)
		time.Sleep(10 * time.Minute)
		ask(post("/nowhere", hello), 404)
		time.Sleep(10 * time.Minute)
		h.up.serve = play("900000ms " + sseHead + chunk(tok("w")+fin+done) + lastChunk)
		ask(post(chatPath, hello), 200)
		h.up.serve = play("1500000ms CUT")
		ask(post(chatPath, hello), 504)
	})
}
