package client

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// B1: first byte and first token are two fields; every time is exact.
func TestB1ExactTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play(b1...)}
		c := pipeClient(t, f, nil)
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "text", tl.Text, "ABC")
		want(t, "clock", tl.Clock, timeline.User)
		wantUS(t, "sent", tl.SentUS, 0)
		wantUS(t, "head", tl.HeadUS, 5_000)
		wantUS(t, "close", tl.CloseUS, 255_000)
		if got := tokens(tl); !slices.Equal(got, []int64{214_000, 234_000, 254_000}) {
			t.Errorf("tokens at %v", got)
		}
		want(t, "reused", tl.Reused, timeline.Some(false))
		wantUS(t, "connect", tl.ConnectUS, 0)
		want(t, "attempts", tl.Attempts, 1)

		r := f.requests[0]
		want(t, "method", r.Method, "POST")
		want(t, "path", r.URL.Path, "/v1/chat/completions")
		want(t, "host", r.Host, "server")
		want(t, "accept-encoding", r.Header.Get("Accept-Encoding"), "identity")
		want(t, "content-type", r.Header.Get("Content-Type"), "application/json")
		want(t, "x-request-id", r.Header.Get("X-Request-Id"), tl.ID)
		if !strings.HasPrefix(r.Header.Get("User-Agent"), "tokenmeter/") || tl.ID == "" {
			t.Errorf("user agent %q, id %q", r.Header.Get("User-Agent"), tl.ID)
		}

		tl = send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "reused", tl.Reused, timeline.Some(true))
		want(t, "connect of a reused connection", tl.ConnectUS.OK(), false)
		want(t, "stats", c.Stats(), Stats{Opened: 1, Reused: 1, Idle: 1})
		wantUS(t, "close", tl.CloseUS, 255_000)
	})
}

// B39 and B48: how the bytes end decides the class.
func TestEnds(t *testing.T) {
	head := "100ms " + sseHead + chunk(tok("w"))
	for name, tc := range map[string]struct {
		writes []string
		class  timeline.Outcome
		close  int64
		tokens int
		flags  timeline.FlagSet
	}{
		"cut":                      {[]string{head, "150ms CUT"}, timeline.StreamTruncated, 150_000, 1, 0},
		"cut in a chunk":           {[]string{head, "120ms 40\r\ndata: {", "150ms CUT"}, timeline.StreamTruncated, 150_000, 1, 0},
		"clean end without finish": {[]string{head, "150ms " + lastChunk}, timeline.StreamTruncated, 150_000, 1, 0},
		"complete, then cut":       {[]string{head, "140ms " + chunk(fin+done), "150ms CUT"}, timeline.OK, 150_000, 1, timeline.DirtyClose},
		"complete, then silence":   {[]string{head, "140ms " + chunk(fin+done), "150ms KEEP"}, timeline.OK, 140_000, 1, timeline.LeftOpen},
		"until close":              {[]string{"100ms HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + tok("w") + fin + done, "150ms CUT"}, timeline.OK, 150_000, 1, 0},
		"content-length":           {[]string{"100ms " + whole("200 OK", "text/event-stream", tok("w")+fin+done)}, timeline.OK, 100_000, 1, 0},
		"no response":              {[]string{"150ms CUT"}, timeline.ConnReset, 150_000, 0, 0},
		"half a head":              {[]string{"100ms HTTP/1.1 200 OK\r\ncontent-", "150ms CUT"}, timeline.ConnReset, 150_000, 0, 0},
		"no HTTP":                  {[]string{"100ms SSH-2.0-OpenSSH_9.6\r\n"}, timeline.Parse, 100_000, 0, 0},
		"a negative chunk":         {[]string{head, "150ms -1\r\n"}, timeline.Parse, 150_000, 1, 0},
		"a negative length":        {[]string{"100ms HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"}, timeline.Parse, 100_000, 0, 0},
		"an endless extension":     {[]string{head, "150ms 5;" + strings.Repeat("a", 5000)}, timeline.Parse, 150_000, 1, 0},
		"a giant header":           {[]string{"100ms HTTP/1.1 200 OK\r\nx: " + strings.Repeat("a", 70_000)}, timeline.Parse, 100_000, 0, 0},
		"too many headers":         {[]string{"100ms HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", 300) + "\r\n"}, timeline.Parse, 100_000, 0, 0},
		"1xx first":                {[]string{"20ms HTTP/1.1 100 Continue\r\n\r\n", "30ms HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", head, "150ms " + chunk(fin+done) + lastChunk}, timeline.OK, 150_000, 1, 0},
		"http 500":                 {[]string{"20ms " + whole("500 Internal Server Error", "text/plain", "boom")}, timeline.HTTP5xx, 20_000, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, &fake{serve: play(tc.writes...)}, nil)
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, tc.class)
				wantUS(t, "close", tl.CloseUS, tc.close)
				want(t, "tokens", len(tokens(tl)), tc.tokens)
				want(t, "flags", tl.Flags, tc.flags)
				if tc.class != timeline.OK && (tl.Error == nil || tl.Error.Message == "") {
					t.Error("a failure without words")
				}
				if tl.HeadUS.OK() {
					if head := tl.HeadUS.Or(0); name == "http 500" && head != 20_000 || name != "http 500" && head != 100_000 {
						t.Errorf("head at %d µs", head)
					}
				}
				t.Log(tl.Error)
			})
		})
	}
}

func TestLimits(t *testing.T) {
	start := "100ms " + sseHead + chunk(role)
	pings := []string{start}
	for at := 200; at < 20_000; at += 100 {
		pings = append(pings, time.Duration(at*int(time.Millisecond)).String()+" "+chunk(ping))
	}
	withToken := slices.Insert(slices.Clone(pings), 2, "210ms "+chunk(tok("w")))
	for name, tc := range map[string]struct {
		writes []string
		change func(*Config)
		class  timeline.Outcome
		close  int64
	}{
		"total":                     {withToken, func(c *Config) { c.Timeout = 2 * time.Second }, timeline.TimeoutTotal, 2_000_000},
		"total before a head":       {[]string{"0s KEEP"}, func(c *Config) { c.Timeout = 2 * time.Second }, timeline.TimeoutTotal, 2_000_000},
		"ttft":                      {pings, func(c *Config) { c.TTFTTimeout = 3 * time.Second }, timeline.TimeoutTTFT, 3_000_000},
		"ttft before a head":        {[]string{"0s KEEP"}, func(c *Config) { c.TTFTTimeout = 3 * time.Second }, timeline.TimeoutTTFT, 3_000_000},
		"idle, heartbeats go on":    {withToken, func(c *Config) { c.IdleTimeout = time.Second }, timeline.TimeoutIdle, 1_210_000},
		"idle before the first":     {pings, func(c *Config) { c.IdleTimeout = time.Second }, timeline.TimeoutIdle, 1_000_000},
		"ttft rules before a token": {pings, func(c *Config) { c.IdleTimeout, c.TTFTTimeout = time.Second, 5*time.Second }, timeline.TimeoutTTFT, 5_000_000},
		"idle after ttft":           {withToken, func(c *Config) { c.IdleTimeout, c.TTFTTimeout = time.Second, 5*time.Second }, timeline.TimeoutIdle, 1_210_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, &fake{serve: play(tc.writes...)}, tc.change)
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, tc.class)
				wantUS(t, "close", tl.CloseUS, tc.close)
				want(t, "idle connections", c.Stats().Idle, 0)
				t.Log(tl.Error)
			})
		})
	}
}

func TestCancel(t *testing.T) {
	for name, tc := range map[string]struct {
		cause error
		class timeline.Outcome
	}{
		"run end": {ErrRunEnd, timeline.CancelledRunEnd},
		"user":    {ErrUser, timeline.CancelledUser},
		"unnamed": {nil, timeline.CancelledUser},
	} {
		for at, tokensGot := range map[time.Duration]int{2 * time.Millisecond: 0, 220 * time.Millisecond: 1} {
			t.Run(name+at.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := pipeClient(t, &fake{serve: play(b1...)}, nil)
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(at, func() { cancel(tc.cause) })
					tl := send(ctx, c)
					want(t, "outcome", tl.Outcome, tc.class)
					wantUS(t, "close", tl.CloseUS, at.Microseconds())
					want(t, "tokens", len(tokens(tl)), tokensGot)
					want(t, "idle connections", c.Stats().Idle, 0)
				})
			})
		}
	}
}

// B52: the server closed the idle connection as the next request came.
func TestB52KeepAliveRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := play(b1...)
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			if r.nth == 1 {
				return false // reads the request on the old connection and closes
			}
			return answer(f, c, r)
		}}
		c := pipeClient(t, f, nil)
		want(t, "outcome", send(t.Context(), c).Outcome, timeline.OK)
		time.Sleep(5 * time.Second)
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "retries", tl.ConnRetries, 1)
		want(t, "attempts", tl.Attempts, 1)
		want(t, "reused", tl.Reused, timeline.Some(false))
		want(t, "first token", tokens(tl)[0], 214_000)
		want(t, "stats", c.Stats(), Stats{Opened: 2, Reused: 1, Dead: 1, Idle: 1})
	})
}

// B52: a second loss, on a fresh connection, is a failure.
func TestB52LossOnFreshConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := play(b1...)
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool { return r.nth == 0 && answer(f, c, r) }}
		c := pipeClient(t, f, nil)
		want(t, "outcome", send(t.Context(), c).Outcome, timeline.OK)
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.ConnReset)
		want(t, "retries", tl.ConnRetries, 1)
		want(t, "requests", len(f.requests), 3)
	})
}

// A server that had the request for longer than a close can be on its way has lost it:
// asking once more would hide a failure, and the time that it took.
func TestLossLongAfterTheRequestIsAFailure(t *testing.T) {
	for after, want := range map[time.Duration]timeline.Outcome{900 * time.Millisecond: timeline.OK, 20 * time.Second: timeline.ConnReset} {
		synctest.Test(t, func(t *testing.T) {
			answer := play(b1...)
			f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
				if r.nth == 1 {
					time.Sleep(after)
					return false
				}
				return answer(f, c, r)
			}}
			c := pipeClient(t, f, nil)
			send(t.Context(), c)
			if tl := send(t.Context(), c); tl.Outcome != want || len(f.requests) != 2+tl.ConnRetries {
				t.Errorf("lost after %v: %s, %d retries, the server had %d requests", after, tl.Outcome, tl.ConnRetries, len(f.requests))
			}
		})
	}
}

// A connection that began to answer is not replaced.
func TestNoRedialAfterAByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := play(b1...), play("10ms HTTP", "20ms CUT")
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			if r.nth == 0 {
				return first(f, c, r)
			}
			return second(f, c, r)
		}}
		c := pipeClient(t, f, nil)
		send(t.Context(), c)
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.ConnReset)
		want(t, "retries", tl.ConnRetries, 0)
		want(t, "requests", len(f.requests), 2)
	})
}

func TestB46RetryAfter(t *testing.T) {
	busy := `{"error":{"message":"slow down","type":"rate_limit_error"}}`
	for name, tc := range map[string]struct {
		header  []string
		retries int
		class   timeline.Outcome
		ttft    int64
		after   int64
		count   int
	}{
		"a":                     {[]string{"retry-after: 2"}, 0, timeline.HTTP429, 0, 2_000_000, 1},
		"b":                     {[]string{"retry-after: 2"}, 1, timeline.OK, 2_200_000, 2_000_000, 2},
		"c":                     {[]string{"date: Thu, 01 Jan 2026 00:00:00 GMT", "retry-after: Thu, 01 Jan 2026 00:00:02 GMT"}, 1, timeline.OK, 2_200_000, 2_000_000, 2},
		"longer than the limit": {[]string{"retry-after: 3600"}, 1, timeline.HTTP429, 0, 3_600_000_000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := play("50ms " + whole("429 Too Many Requests", "application/json", busy, tc.header...))
				then := play("150ms "+sseHead+chunk(tok("w")), "170ms "+chunk(fin+done)+lastChunk)
				f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
					if r.nth == 0 {
						return first(f, c, r)
					}
					return then(f, c, r)
				}}
				c := pipeClient(t, f, func(c *Config) { c.Retries = tc.retries })
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, tc.class)
				want(t, "attempts", tl.Attempts, tc.count)
				wantUS(t, "retry after", tl.RetryAfterUS, tc.after)
				if tc.class == timeline.OK {
					want(t, "ttft", tokens(tl)[0], tc.ttft)
					wantUS(t, "sent", tl.SentUS, 2_050_000)
					want(t, "status", tl.HTTPStatus, 200)
					want(t, "connections", f.dialled, 1)
				} else if !strings.Contains(tl.Error.Message, "slow down") {
					t.Errorf("message %q", tl.Error.Message)
				}
			})
		})
	}
}

// Anthropic's overload, with and without a time to wait, is tried again; a 500 is not.
func TestOverloadIsTriedAgain(t *testing.T) {
	for head, again := range map[string]bool{"529 Overloaded": true, "503 Service Unavailable": true, "500 Internal Server Error": false} {
		synctest.Test(t, func(t *testing.T) {
			first := play("50ms " + whole(head, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "retry-after: 2"))
			then := play("150ms "+sseHead+chunk(tok("w")), "170ms "+chunk(fin+done)+lastChunk)
			f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
				if r.nth == 0 {
					return first(f, c, r)
				}
				return then(f, c, r)
			}}
			tl := send(t.Context(), pipeClient(t, f, func(c *Config) { c.Retries = 1 }))
			if ok := tl.Outcome == timeline.OK; ok != again || tl.Attempts != map[bool]int{true: 2, false: 1}[again] {
				t.Errorf("%s: %s after %d attempts", head, tl.Outcome, tl.Attempts)
			}
		})
	}
}

func TestB49Redirects(t *testing.T) {
	for name, tc := range map[string]struct {
		status, location string
		follow           bool
		class            timeline.Outcome
		sent             int
	}{
		"301":                   {"301 Moved Permanently", "https://h/v1/chat/completions", false, timeline.RedirectRefused, 1},
		"301 with the option":   {"301 Moved Permanently", "/elsewhere", true, timeline.RedirectRefused, 1},
		"307 same host":         {"307 Temporary Redirect", "/elsewhere?a=b", true, timeline.OK, 2},
		"308 same host, whole":  {"308 Permanent Redirect", "http://server:80/elsewhere?a=b", true, timeline.OK, 2},
		"307 not asked":         {"307 Temporary Redirect", "/elsewhere", false, timeline.RedirectRefused, 1},
		"301 not asked":         {"301 Moved Permanently", "/elsewhere", false, timeline.RedirectRefused, 1},
		"307 elsewhere unasked": {"307 Temporary Redirect", "http://other/v1", false, timeline.RedirectRefused, 1},
		"307 other host":        {"307 Temporary Redirect", "http://other/v1", true, timeline.RedirectRefused, 1},
		"307 other port":        {"307 Temporary Redirect", "http://server:81/v1", true, timeline.RedirectRefused, 1},
		"307 other scheme":      {"307 Temporary Redirect", "https://server/v1", true, timeline.RedirectRefused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := play("10ms " + whole(tc.status, "text/html", "<p>moved</p>", "location: "+tc.location))
				then := play(b1...)
				f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
					if r.nth == 0 {
						return first(f, c, r)
					}
					return then(f, c, r)
				}}
				c := pipeClient(t, f, func(c *Config) { c.FollowRedirects, c.Key = tc.follow, "sk-TESTSECRET123" })
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, tc.class)
				want(t, "requests", len(f.requests), tc.sent)
				if tc.class != timeline.OK {
					if !strings.Contains(tl.Error.Message, tc.location) {
						t.Errorf("location not shown: %q", tl.Error.Message)
					}
					// The way is named where it would have helped, and only there.
					named := strings.Contains(tl.Error.Message, "let redirects be followed")
					want(t, "way named", named, name == "307 not asked")
					return
				}
				r := f.requests[1]
				want(t, "redirects", tl.Redirects, 1)
				want(t, "method", r.Method, "POST")
				want(t, "target", r.RequestURI, "/elsewhere?a=b")
				want(t, "body", r.body, f.requests[0].body)
				want(t, "ttft", tokens(tl)[0], 224_000)
			})
		})
	}
}

func TestRedirectLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play("10ms " + whole("307 Temporary Redirect", "text/plain", "", "location: /again"))}
		c := pipeClient(t, f, func(c *Config) { c.FollowRedirects = true })
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.RedirectRefused)
		want(t, "redirects", tl.Redirects, maxRedirects)
	})
}

// B106: a server that repeats the key does not get it into the record.
func TestB106KeyInErrorBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "sk-TESTSECRET123"
		f := &fake{serve: play("10ms " + whole("401 Unauthorized", "application/json",
			`{"error":{"message":"Incorrect API key provided: `+key+`, query TESTQUERY456"}}`))}
		c := pipeClient(t, f, func(c *Config) {
			c.Key = key
			c.BaseURL = "http://server/v1?key=TESTQUERY456"
		})
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.HTTP4xx)
		want(t, "authorization", f.requests[0].Header.Get("Authorization"), "Bearer "+key)
		want(t, "target", f.requests[0].RequestURI, "/v1/chat/completions?key=TESTQUERY456")
		dry, err := c.DryRun(hello)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{tl.Error.Message, dry, c.URL()} {
			if strings.Contains(text, "TESTSECRET") || strings.Contains(text, "TESTQUERY") {
				t.Errorf("a secret in %q", text)
			}
		}
		if !strings.Contains(tl.Error.Message, "***") {
			t.Errorf("message %q", tl.Error.Message)
		}
		t.Log(dry)
	})
}

func TestDialFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		for name, tc := range map[string]struct {
			change func(*Config)
			class  timeline.Outcome
			close  int64
		}{
			"connect limit": {func(c *Config) {}, timeline.TimeoutConnect, 10_000_000},
			"total limit":   {func(c *Config) { c.Timeout = time.Second }, timeline.TimeoutTotal, 1_000_000},
			"ttft limit":    {func(c *Config) { c.TTFTTimeout = time.Second }, timeline.TimeoutTTFT, 1_000_000},
		} {
			c := pipeClient(t, &fake{}, func(c *Config) { c.Dial = hang; tc.change(c) })
			tl := send(t.Context(), c)
			want(t, name, tl.Outcome, tc.class)
			wantUS(t, name, tl.CloseUS, tc.close)
			want(t, name+": connected", tl.ConnectUS.OK(), false)
		}
		c := pipeClient(t, &fake{}, func(c *Config) { c.Dial = hang })
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ErrRunEnd) })
		want(t, "run end", send(ctx, c).Outcome, timeline.CancelledRunEnd)
		want(t, "already over", send(ctx, c).Outcome, timeline.CancelledRunEnd)
	})
}

func TestGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			return play("1ms "+whole("200 OK", "application/json", `{"path":"`+r.RequestURI+`"}`))(f, c, r)
		}}
		c := pipeClient(t, f, nil)
		got, err := c.Get(t.Context(), "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status", got.Status, 200)
		want(t, "body", string(got.Body), `{"path":"/v1/models"}`)
		want(t, "url", got.URL, "http://server/v1/models")
		want(t, "method", f.requests[0].Method, "GET")

		got, err = c.Get(t.Context(), "/health")
		if err != nil {
			t.Fatal(err)
		}
		want(t, "body", string(got.Body), `{"path":"/health"}`)
		want(t, "connections", f.dialled, 1)
	})
}

func TestGetFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeClient(t, &fake{serve: play("1ms CUT")}, nil)
		_, err := c.Get(t.Context(), "/v1/models")
		var e *Error
		if !errors.As(err, &e) || e.Class != timeline.ConnReset {
			t.Errorf("got %v", err)
		}
	})
}

func TestPreconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play(b1...)}
		c := pipeClient(t, f, nil)
		n, us, err := c.Preconnect(t.Context(), 5)
		if err != nil || n != 5 {
			t.Fatalf("%d connections, %v", n, err)
		}
		want(t, "the shortest connect, in virtual time", us, timeline.Some(int64(0)))
		tl := send(t.Context(), c)
		want(t, "connections", f.dialled, 5)
		want(t, "reused", tl.Reused, timeline.Some(false))
		want(t, "connect time", tl.ConnectUS.OK(), false)
	})
}

func TestNoKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play(b1...)}
		c := pipeClient(t, f, func(c *Config) { c.NoKeepAlive = true })
		for range 3 {
			want(t, "reused", send(t.Context(), c).Reused, timeline.Some(false))
		}
		want(t, "connections", f.dialled, 3)
		want(t, "connection header", f.requests[0].Header.Get("Connection"), "close")
	})
}

// Sessions keep to their own connections and close them at their end; what
// belongs to no session shares the others.
func TestConnectionsOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play(b1...)}
		c := pipeClient(t, f, func(c *Config) { c.PerSession = true })
		ask := func(session, task string, reused bool) {
			t.Helper()
			tl := timeline.New()
			tl.Session, tl.Task = session, task
			now := c.clk.US()
			tl.DueUS, tl.StartUS = now, now
			c.Do(t.Context(), hello, tl)
			want(t, "outcome", tl.Outcome, timeline.OK)
			want(t, "reused", tl.Reused, timeline.Some(reused))
		}
		ask("1", "", false)
		ask("2", "2", false)
		ask("", "3", false)
		ask("1", "", true)
		ask("2", "2", true)
		ask("", "", false)
		ask("", "3", true)
		want(t, "idle", c.Stats().Idle, 4)
		c.EndSession("2")
		c.EndSession("nobody")
		want(t, "idle after an end", c.Stats().Idle, 3)
		ask("2", "", false)
		ask("", "", true)
		want(t, "connections", f.dialled, 5)
	})
}

// An announced idle time that has passed is respected before the server acts.
func TestKeepAliveTimeoutIsRespected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play("10ms " + whole("200 OK", "text/event-stream", tok("w")+fin+done, "keep-alive: timeout=5, max=100"))}
		c := pipeClient(t, f, nil)
		send(t.Context(), c)
		time.Sleep(4 * time.Second)
		want(t, "reused after 4 s", send(t.Context(), c).Reused, timeline.Some(true))
		time.Sleep(4900 * time.Millisecond)
		tl := send(t.Context(), c)
		want(t, "reused after 4.9 s", tl.Reused, timeline.Some(false))
		want(t, "retries", tl.ConnRetries, 0)
	})
}

func TestServerClosesPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{serve: play("10ms " + whole("200 OK", "text/event-stream", tok("w")+fin+done, "connection: close"))}
		c := pipeClient(t, f, nil)
		send(t.Context(), c)
		want(t, "idle", c.Stats().Idle, 0)
	})
}
