package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

var answerOK = play("5ms " + whole(200, "application/json", `{"choices":[{"index":0,"message":{"content":"A"},"finish_reason":"stop"}]}`))

// What two servers could read in two ways never reaches the upstream in a form
// that they could.
func TestRequestSmuggling(t *testing.T) {
	line := "POST " + chatPath + " HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\n"
	for name, tc := range map[string]struct {
		request string
		status  int // 0: the connection is closed without an answer
	}{
		"two lengths":               {line + "content-length: 4\r\ncontent-length: 5\r\n\r\n{}xx", 400},
		"two equal lengths":         {line + "content-length: 2\r\ncontent-length: 2\r\n\r\n{}", 200},
		"a list of lengths":         {line + "content-length: 2, 2\r\n\r\n{}", 400},
		"length and chunks":         {line + "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"chunks of HTTP/1.0":        {strings.Replace(line, "1.1", "1.0", 1) + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"both, of HTTP/1.0":         {strings.Replace(line, "1.1", "1.0", 1) + "connection: keep-alive\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"empty lines before":        {"\r\n\r\n" + line + "content-length: 2\r\n\r\n{}", 200},
		"trailers":                  {line + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\ncontent-length: 9\r\nauthorization: x\r\n\r\n", 200},
		"a trailer that is none":    {line + "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nno trailer\r\n\r\n", 400},
		"chunks twice":              {line + "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"chunked, and no coding":    {line + "transfer-encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"no coding, and chunked":    {line + "transfer-encoding: identity, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"no coding":                 {line + "transfer-encoding: identity\r\ncontent-length: 2\r\n\r\n{}", 501},
		"an empty coding":           {line + "transfer-encoding:\r\ncontent-length: 2\r\n\r\n{}", 501},
		"a coding, and a space":     {line + "transfer-encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"a tab before the coding":   {line + "transfer-encoding:\tchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200},
		"another coding":            {line + "transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"chunked, misspelt":         {line + "transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"a folded coding":           {line + "transfer-encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"a folded header":           {line + "x-a: one\r\n two\r\ncontent-length: 2\r\n\r\n{}", 200},
		"a bare LF between headers": {strings.ReplaceAll(line, "\r\n", "\n") + "content-length: 2\n\n{}", 200},
		"a bare LF in a chunk":      {line + "transfer-encoding: chunked\r\n\r\n2\n{}\n0\n\n", 400},
		"a bare LF in an extension": {line + "transfer-encoding: chunked\r\n\r\n2;a\n=b\r\n{}\r\n0\r\n\r\n", 400},
		"a size with a sign":        {line + "transfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n", 400},
		"a size of 0x":              {line + "transfer-encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n", 400},
		"a length in hex":           {line + "content-length: 0x2\r\n\r\n{}", 400},
		"no colon":                  {line + "transfer-encoding chunked\r\ncontent-length: 2\r\n\r\n{}", 400},
		"a fold before a header":    {strings.Replace(line, "host:", " host:", 1) + "content-length: 2\r\n\r\n{}", 400},
		"two hosts":                 {line + "host: elsewhere\r\ncontent-length: 2\r\n\r\n{}", 400},
		"two words in the path":     {strings.Replace(line, " HTTP/1.1", " x HTTP/1.1", 1) + "content-length: 2\r\n\r\n{}", 400},
		"a space before the colon":  {line + "content-length : 2\r\n\r\n{}", 400},
		"a plus in the length":      {line + "content-length: +2\r\n\r\n{}", 400},
		"a negative length":         {line + "content-length: -2\r\n\r\n{}", 400},
		"a bare CR in a header":     {line + "x-a: one\rtransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}", 400},
		"a NUL in a header":         {line + "x-a: o\x00ne\r\ncontent-length: 2\r\n\r\n{}", 400},
		"an absolute URL":           {"GET http://elsewhere/v1/models HTTP/1.1\r\nhost: elsewhere\r\n\r\n", 403},
		"an absolute URL, ours":     {"GET http://proxy/v1/models HTTP/1.1\r\nhost: proxy\r\n\r\n", 403},
		"another host's path":       {"GET //elsewhere/v1/models HTTP/1.1\r\nhost: proxy\r\n\r\n", 404},
		"the same, posted":          {"POST //elsewhere" + chatPath + " HTTP/1.1\r\nhost: proxy\r\ncontent-length: 2\r\n\r\n{}", 404},
		"encoded slashes":           {"GET /v1/models/..%2f..%2fadmin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"encoded twice":             {"GET /v1/models/%252e%252e/admin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"an encoded backslash":      {"GET /v1/models/..%5cadmin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"an encoded NUL":            {"GET /v1/models/a%00 HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"CONNECT":                   {"CONNECT elsewhere:443 HTTP/1.1\r\nhost: elsewhere:443\r\n\r\n", 403},
		"out of the allowed paths":  {"GET /v1/models/../../admin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"the same, encoded":         {"GET /v1/models/%2e%2e/admin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"with a path parameter":     {"GET /v1/models/..;x/admin HTTP/1.1\r\nhost: proxy\r\n\r\n", 400},
		"an upgrade with a body":    {line + "connection: Upgrade\r\nupgrade: websocket\r\ncontent-length: 36\r\n\r\nGET /admin HTTP/1.1\r\nhost: server\r\n\r\n", 400},
		"the same, in chunks":       {line + "connection: Upgrade\r\nupgrade: websocket\r\ntransfer-encoding: chunked\r\n\r\n" + chunk("GET /admin HTTP/1.1\r\nhost: server\r\n\r\n") + lastChunk, 400},
		"another upgrade":           {line + "connection: Upgrade\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\n{}", 200},
		"a path that is not listed": {"POST /invocations HTTP/1.1\r\nhost: proxy\r\ncontent-length: 2\r\n\r\n{}", 404},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, nil)
				got := h.talk(tc.request, 0)
				h.settled()
				if got.Response == nil {
					t.Fatalf("no response: %v", got.err)
				}
				want(t, "status", got.StatusCode, tc.status)
				sent := len(h.up.requests)
				if tc.status != 200 {
					want(t, "requests that got through", sent, 0)
					return
				}
				want(t, "requests that got through", sent, 1)
				up := h.up.last()
				want(t, "body", up.body, "{}")
				want(t, "length", up.ContentLength, 2)
				want(t, "codings", len(up.TransferEncoding), 0)
				if strings.ContainsAny(up.Header.Get("X-A"), "\r\n") {
					t.Error("a folded line went upstream")
				}
			})
		})
	}
}

// Bytes behind a request keep nobody from noticing that its client leaves.
func TestLeavingIsNoticedWhateverWasSentBefore(t *testing.T) {
	for name, extra := range map[string]string{"an empty line": "\r\n", "a byte": "G", "a request": "GET /v1/models HTTP/1.1\r\nhost: h\r\n\r\n", "much": strings.Repeat("x", 1<<20)} {
		for kind, answer := range map[string][]string{
			"silent": {}, "a head only": {"1ms " + sseHead}, "a token": {"1ms " + sseHead + chunk(tok("a"))}} {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan time.Duration, 1)
				h := open(t, func(c net.Conn, r *received) bool {
					play(answer...)(c, r)
					gone <- r.gone()
					return false
				}, func(c *Config) { c.MaxStreams = 1 })
				c := h.front.dial()
				_, _ = io.WriteString(c, post(chatPath, hello))
				go func() { _, _ = io.Copy(io.Discard, c) }()
				time.Sleep(time.Second)
				go func() { _, _ = io.WriteString(c, extra) }()
				time.Sleep(time.Second)
				_ = c.Close()
				if took := <-gone; took.Round(time.Second) != 2*time.Second {
					t.Errorf("%s, %s: upstream was let go after %v", kind, name, took)
				}
				h.settled()
				want(t, "outcome", h.sink.one(t).Outcome, timeline.CancelledUser)
			})
		}
	}
}

// A path that a prefix allows keeps its encoding.
func TestAPathIsPassedAsItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms "+whole(200, "application/json", "{}")), nil)
		got := h.talk("GET /v1/models/org%2Fname?x=%20y HTTP/1.1\r\nhost: proxy\r\n\r\n", 0)
		h.settled()
		want(t, "status", got.StatusCode, 200)
		want(t, "target", h.up.last().RequestURI, "/v1/models/org%2Fname?x=%20y")
		want(t, "records", h.p.Stats().Requests, 0)
		want(t, "passed", h.p.Stats().Passed, 1)
	})
}

// A GET that may pass must not become a DELETE of a path that may not, by a header
// that a server behind the proxy obeys.
func TestRequestsStayWhatTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms "+whole(200, "application/json", "{}")), nil)
		got := h.talk("GET /v1/models/m HTTP/1.1\r\nhost: proxy\r\nx-http-method-override: DELETE\r\nX-HTTP-Method: PUT\r\nx-method-override: PATCH\r\n"+
			"x-original-url: /v1/files\r\nx-rewrite-url: /v1/files\r\nx-original-method: DELETE\r\nx-original-uri: /v1/files\r\nx-forwarded-method: DELETE\r\nx-forwarded-uri: /v1/files\r\n"+
			"x-envoy-original-path: /v1/files\r\nx-rewrite-path: /v1/files\r\nX_Forwarded_Method: DELETE\r\nx-forwarded-prefix: /kept\r\nx-method: kept\r\nX_HTTP_Method_Override: DELETE\r\nX-HTTP-Method_Override: DELETE\r\n"+
			"transfer_encoding: chunked\r\nContent_Length: 5\r\nx_api_key: another\r\nx_forwarded_for: 10.0.0.1\r\nsession_id: kept\r\n\r\n", 0)
		h.settled()
		want(t, "status", got.StatusCode, 200)
		up := h.up.last().Header
		for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url",
			"X-Original-Method", "X-Original-Uri", "X-Forwarded-Method", "X-Forwarded-Uri", "X-Envoy-Original-Path", "X-Rewrite-Path"} {
			want(t, name, up.Get(name), "")
		}
		want(t, "where the path was", up.Get("X-Forwarded-Prefix"), "/kept")
		for name := range up {
			if strings.Contains(name, "_") && !strings.EqualFold(name, "session_id") {
				t.Errorf("%s went upstream", name)
			}
		}
		want(t, "another header", up.Get("X-Method"), "kept")
		want(t, "one with an underscore", up.Get("session_id"), "kept")
	})
}

// Where the upstream has a key of its own, no other one goes there.
func TestOneKeyGoesUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.Upstreams[0].Key = "ours" })
		h.talk(post(chatPath+"?key=theirs&a=b&api%2dkey=theirs&API-KEY=theirs&Key=theirs&api_key=theirs&access_token=theirs&Subscription-Key=theirs&pageToken=p", hello, "sec-websocket-protocol: realtime, openai-insecure-api-key.theirs,x", "authorization: Bearer theirs", "x-api-key: theirs", "api-key: theirs", "x-goog-api-key: theirs", "ocp-apim-subscription-key: theirs"), 0)
		h.settled()
		up := h.up.last()
		want(t, "key", strings.Join(up.Header["Authorization"], ", "), "Bearer ours")
		want(t, "query", up.URL.RawQuery, "a=b&pageToken=p")
		want(t, "protocols", up.Header.Get("Sec-WebSocket-Protocol"), "realtime,x")
		for _, name := range keyHeaders[1:] {
			want(t, name, up.Header.Get(name), "")
		}
	})
}

// What a path means must not hang on how often it is decoded.
func TestAmbiguousPaths(t *testing.T) {
	for path, bad := range map[string]bool{
		"/v1/a:b": false, "/v1/ä": false, "/v1/a b": false, "/v1/arn:aws/m": false, "/v1/a..b": false, "/v1/.well": false,
		"/v1/files;a=b": true, "/flush_cache;x=/v1/chat/completions": true, "/v1/%66iles": true, "/%2e%2e/x%zz": true, "/v1/100%": true, "/v1/files ": true, "/v1/files./": true, "/v1/.. /x": true,
		"/x?/chat/completions": true, "/x#/chat/completions": true, "/x%3f/chat/completions": true, "/x%23/chat/completions": true, "/x\n/y": true, "/x%0d%0ay": true,
		"/x\x7f": true, "/\xc0\xae\xc0\xae/y": true, "/a/%2e%2e/b": true, "/a/..;b/c": true, "a": true,
	} {
		want(t, path, badPath(path), bad)
	}
}

func TestHopByHopHeadersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: x-private\r\nx-private: 1\r\nkeep-alive: timeout=5\r\nx-public: 2\r\ncontent-length: 2\r\n\r\n{}"), nil)
		got := h.talk(post(chatPath, `{"model":"m"}`, "connection: keep-alive, x-hop", "x-hop: 1", "te: trailers", "proxy-authorization: Basic eA==",
			"upgrade: h2c", "expect: 100-continue", "x-end: 2", "x-forwarded-for: 10.0.0.9", "accept-encoding: gzip"), 0)
		h.settled()
		up := h.up.last().Header
		for _, name := range []string{"X-Hop", "Te", "Proxy-Authorization", "Upgrade", "Expect", "Connection", "Keep-Alive", "Transfer-Encoding"} {
			if up.Get(name) != "" {
				t.Errorf("%s went upstream: %q", name, up.Get(name))
			}
		}
		want(t, "end-to-end", up.Get("X-End"), "2")
		want(t, "coding", up.Get("Accept-Encoding"), "identity")
		want(t, "host", h.up.last().Host, "server")
		want(t, "forwarded host", up.Get("X-Forwarded-Host"), "proxy")
		if !strings.HasPrefix(up.Get("X-Forwarded-For"), "10.0.0.9") || !strings.HasPrefix(up.Get("Via"), "1.1 tokenmeter-") {
			t.Errorf("forwarded for %q, via %q", up.Get("X-Forwarded-For"), up.Get("Via"))
		}
		want(t, "private", got.Header.Get("X-Private"), "")
		want(t, "keep-alive", got.Header.Get("Keep-Alive"), "")
		want(t, "public", got.Header.Get("X-Public"), "2")
		want(t, "no date is made up", got.Header.Get("Date"), "")
	})
}

func TestHopByHopHeadersOfInformationalResponsesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nconnection: x-private\r\nx-private: 1\r\nkeep-alive: timeout=5\r\n\r\n"+
			whole(200, "application/json", "{}")), nil)
		c := h.front.dial()
		defer c.Close()
		in := bufio.NewReader(c)
		hints := ask(t, c, in, post(chatPath, `{"model":"m"}`))
		want(t, "status", hints.StatusCode, 103)
		want(t, "link", hints.Header.Get("Link"), "</a>")
		for _, name := range []string{"Connection", "X-Private", "Keep-Alive"} {
			want(t, name, hints.Header.Get(name), "")
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status after it", resp.StatusCode, 200)
		want(t, "link after it", resp.Header.Get("Link"), "")
		_, _ = io.Copy(io.Discard, resp.Body)
	})
}

// Where an upstream says twice where its reply ends, what counts is passed on.
func TestReplySmuggling(t *testing.T) {
	const head = "1ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
	for name, reply := range map[string]string{
		"length and chunks": head + "content-length: 99\r\ntransfer-encoding: chunked\r\n\r\n" + chunk("{}") + lastChunk,
		"a shorter length":  head + "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n" + chunk("{}") + lastChunk,
		"two equal lengths": head + "content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
		"a list of lengths": head + "content-length: 2, 2\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, play(reply), nil)
				got := h.talk(post(unmeasured, hello), 0)
				h.settled()
				want(t, "end", got.err, nil)
				want(t, "body", got.body, "{}")
				want(t, "outcome", h.sink.one(t).Outcome, timeline.OK)
				want(t, "lengths", len(got.Header["Content-Length"]) <= 1, true)
			})
		})
	}
}

func TestALoopIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, nil)
		got := h.talk(post(chatPath, hello, "via: 1.1 "+h.p.via), 0)
		want(t, "status", got.StatusCode, 508)
	})
}

// A key that was sent is in no log, record or counter, even when the server
// repeats it.
func TestKeysAreNowhere(t *testing.T) {
	const canary = "canary-5f2e8b71c0d94a36"
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		serve := func(c net.Conn, r *received) bool {
			echo := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.URL.RawQuery
			return play("5ms "+whole(401, "application/json", `{"error":{"message":"bad key `+echo+`"}}`))(c, r)
		}
		h := open(t, serve, func(c *Config) {
			c.Session = "header:X-Session"
			c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		h.talk(post(chatPath+"?key="+canary, hello, "authorization: Bearer "+canary, "x-api-key: "+canary, "x-session: "+canary, "x-request-id: "+canary, "cookie: a="+canary), 0)
		h.talk(post("/not/"+canary, hello, "authorization: Bearer "+canary), 0)
		h.settled()
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.HTTP4xx)
		for what, text := range map[string]string{
			"log": log.String(), "record": fmt.Sprintf("%+v %+v", *r.Timeline, *r.Error), "labels": fmt.Sprintf("%+v", r.Labels), "stats": fmt.Sprintf("%+v", h.p.Stats()),
			"figures": fmt.Sprintf("%+v", r.Record),
		} {
			if strings.Contains(text, canary) {
				t.Errorf("the key is in the %s: %s", what, text)
			}
		}
		if len(r.Session) != 20 {
			t.Errorf("session %q", r.Session)
		}
	})
}

func TestIdentities(t *testing.T) {
	key := []byte("k")
	h := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "X-S": {"s1"}}
	trace, header, user := Identity("traceparent").of(h, "", key), Identity("header:X-S").of(h, "", key), Identity("user").of(h, "u", key)
	for _, id := range []string{trace, header, user} {
		if len(id) != 20 || strings.Contains(id, "s1") {
			t.Errorf("id %q", id)
		}
	}
	want(t, "the same again", Identity("header:x-s").of(h, "", key), header)
	want(t, "another key", Identity("header:x-s").of(h, "", []byte("l")) == header, false)
	want(t, "none", Identity("user").of(h, "", key), "")
	if Identity("cookie").Check() == nil {
		t.Error("cookie was taken")
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.Routes[0].MaxBody = 100; c.BodyTimeout = 5 * time.Second })
		big := `{"model":"m","x":"` + strings.Repeat("a", 100) + `"}`
		want(t, "a long body", h.talk(post(chatPath, big), 0).StatusCode, 413)
		chunked := "POST " + chatPath + " HTTP/1.1\r\nhost: p\r\ntransfer-encoding: chunked\r\n\r\n" + chunk(big) + lastChunk
		want(t, "a long body of unknown length", h.talk(chunked, 0).StatusCode, 413)
		c := h.front.dial()
		_, _ = io.WriteString(c, "POST "+chatPath+" HTTP/1.1\r\nhost: p\r\ncontent-length: 50\r\n\r\n{")
		time.Sleep(time.Minute)
		c.Close()
		h.settled()
		want(t, "a body that does not come", h.p.Stats().Refused["body"], 3)
		want(t, "records", h.p.Stats().Requests, 0)
	})
}

// A body that is said to come and does not costs neither memory nor a place for
// long, whatever becomes of its request.
func TestHalfARequest(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		why  string // counted as refused
	}{
		"a completion":   {"POST " + chatPath, "body"},
		"a refused path": {"POST /elsewhere", "path"},
		"another API":    {"POST /v1/messages/count_tokens", "body"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, func(c *Config) { c.BodyTimeout = 10 * time.Second })
				const clients = 100
				gone := make(chan time.Duration, clients)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range clients {
					c := h.front.dial()
					_, _ = io.WriteString(c, tc.head+" HTTP/1.1\r\nhost: p\r\ncontent-length: 33000000\r\n\r\n{")
					start := time.Now()
					go func() {
						_, _ = io.Copy(io.Discard, c)
						gone <- time.Since(start)
					}()
				}
				synctest.Wait()
				runtime.ReadMemStats(&after)
				if spent := (after.TotalAlloc - before.TotalAlloc) / clients; spent > 512<<10 {
					t.Errorf("%d bytes a request", spent)
				}
				for range clients {
					if d := <-gone; d > 25*time.Second {
						t.Fatalf("closed after %v", d)
					}
				}
				h.settled()
				want(t, "in flight", h.p.Stats().InFlight, 0)
				want(t, "refused", h.p.Stats().Refused[tc.why], clients)
				want(t, "records", h.p.Stats().Requests, 0)
			})
		})
	}
}

// A body that is refused while it is passed on is answered as one that is read
// first, and is no request of the record.
func TestABodyThatIsRefusedOnTheWay(t *testing.T) {
	for _, path := range []string{chatPath, "/v1/messages/count_tokens"} {
		for name, tc := range map[string]struct {
			body   string
			status int
		}{
			"too large":    {chunk(strings.Repeat("a", 80)) + chunk(strings.Repeat("b", 80)) + lastChunk, 413},
			"it stalls":    {chunk(strings.Repeat("a", 80)), 408},
			"no chunk":     {chunk(strings.Repeat("a", 80)) + "zz\r\n", 400},
			"as it may be": {chunk(strings.Repeat(" ", 80)+"{}") + lastChunk, 200},
		} {
			t.Run(path+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := open(t, answerOK, func(c *Config) { c.Routes[0].MaxBody = 100; c.BodyTimeout = 5 * time.Second })
					got := h.talk("POST "+path+" HTTP/1.1\r\nhost: p\r\ntransfer-encoding: chunked\r\n\r\n"+tc.body, 0)
					h.settled()
					if got.Response == nil {
						t.Fatalf("no response: %v", got.err)
					}
					want(t, "status", got.StatusCode, tc.status)
					refused := int64(1)
					if tc.status == 200 {
						refused = 0
					}
					want(t, "refused", h.p.Stats().Refused["body"], refused)
					want(t, "records", h.p.Stats().Requests, 1-refused)
					want(t, "says why", strings.Contains(got.body, "request's body"), refused > 0)
					want(t, "the upstream is well", h.p.Stats().Upstreams[0].Healthy, true)
				})
			})
		}
	}
}

// One that comes in drops does not hold its place for ever either.
func TestABodyInDrops(t *testing.T) {
	for _, path := range []string{chatPath, "/v1/messages/count_tokens"} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.BodyTimeout = 10 * time.Second })
			c := h.front.dial()
			defer c.Close()
			go func() { _, _ = io.Copy(io.Discard, c) }()
			start := time.Now()
			_, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\nhost: p\r\ncontent-length: 5000\r\n\r\n")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(c, " ")
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("%s: it went on for %v", path, d)
			}
		})
	}
}

// A limit of time that a client's slow body took is no failure of the server; one that
// the server took is.
func TestWhoTookTheTimeOfARequest(t *testing.T) {
	hangs := func(net.Conn, *received) bool {
		time.Sleep(time.Minute)
		return false
	}
	for _, tc := range []struct {
		drops, status    int // seconds that the body takes
		refused, records int64
		well             bool // the upstream, as others of its requests are told
	}{{20, 408, 1, 0, true}, {9, 408, 1, 0, true}, {2, 504, 0, 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, hangs, func(c *Config) {
				c.Routes[0].Timeout = 10 * time.Second
				c.BodyTimeout = time.Minute
				c.Upstreams[0].Health.Failures = 1
			})
			c := h.front.dial()
			defer c.Close()
			go func() {
				_, _ = fmt.Fprintf(c, "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: p\r\ncontent-length: %d\r\n\r\n", tc.drops)
				for range tc.drops {
					time.Sleep(time.Second)
					_, _ = io.WriteString(c, " ")
				}
			}()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			h.settled()
			want(t, "status", resp.StatusCode, tc.status)
			want(t, "refused", h.p.Stats().Refused["body"], tc.refused)
			want(t, "records", h.p.Stats().Requests, tc.records)
			want(t, "well", h.p.ups[0].healthy(h.p.clk.NS()), tc.well)
		})
	}
}

// A body that is large and comes steadily has the time that it needs.
func TestALargeBodyHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.BodyTimeout = 10 * time.Second })
		c := h.front.dial()
		defer c.Close()
		_, _ = io.WriteString(c, "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: p\r\ncontent-length: 120000\r\n\r\n")
		for range 60 {
			time.Sleep(time.Second)
			_, _ = io.WriteString(c, strings.Repeat(" ", 2000))
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status", resp.StatusCode, 200)
	})
}

// A head of many small fields is refused, whether they have one name or many.
func TestManyFields(t *testing.T) {
	for n, status := range map[int]int{100: 200, mostFields + 1: 431, 5000: 431} {
		for name, field := range map[string]string{"one name": "a: x", "many": "a%d: x"} {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, nil)
				var all []string
				for i := range n {
					all = append(all, strings.Replace(field, "%d", strconv.Itoa(i), 1))
				}
				want(t, name, h.talk(post(chatPath, hello, all...), 0).StatusCode, status)
				h.settled()
				want(t, name+": passed", len(h.up.requests) > 0, status == 200)
			})
		}
	}
}
