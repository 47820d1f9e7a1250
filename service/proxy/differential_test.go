package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// asking is a request of a client; its body has no usage asked for unless asks.
type asking struct {
	name, body string
	header     []string
	method     string // empty: POST
	proto      string // empty: HTTP/1.1
	packed     bool   // the body goes compressed
	asks       bool
	left       bool // it says something of usage that is left as it is
}

func chatOf(more string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + more + `}`
}

var askings = []asking{
	{name: "stream", body: chatOf(`,"stream":true`)},
	{name: "options null", body: chatOf(`,"stream":true,"stream_options":null`)},
	{name: "options empty", body: chatOf(`,"stream":true,"stream_options":{}`)},
	{name: "usage wanted", body: chatOf(`,"stream":true,"stream_options":{"include_usage":true}`), asks: true},
	{name: "usage refused", body: chatOf(`,"stream":true,"stream_options":{"include_usage":false}`), left: true},
	{name: "include null", body: chatOf(`,"stream":true,"stream_options":{"include_usage":null}`), left: true},
	{name: "continuous alone", body: chatOf(`,"stream":true,"stream_options":{"continuous_usage_stats":true}`), left: true},
	{name: "continuous usage", body: chatOf(`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`), asks: true},
	{name: "obfuscation", body: chatOf(`,"stream":true,"stream_options":{"include_obfuscation":false}`)},
	{name: "OpenRouter's", body: chatOf(`,"stream":true,"usage":{"include":true}`), asks: true},
	{name: "OpenRouter's no", body: chatOf(`,"stream":true,"usage":{"include":false}`), left: true},
	{name: "whole", body: chatOf(``)},
	{name: "whole, said", body: chatOf(`,"stream":false`)},
	{name: "no JSON", body: `{"stream":true,`},
	{name: "HTTP/1.0", body: chatOf(`,"stream":true`), proto: "HTTP/1.0"},
	{name: "HEAD", method: "HEAD"},
	{name: "packed", body: chatOf(`,"stream":true`), packed: true},
	{name: "Expect", body: chatOf(`,"stream":true`), header: []string{"expect: 100-continue"}},
	{name: "takes gzip", body: chatOf(`,"stream":true`), header: []string{"accept-encoding: gzip, br"}},
}

// bytesOf is the request on the wire.
func (a *asking) bytesOf() string {
	if a.method == "HEAD" {
		return "HEAD /v1/models HTTP/1.1\r\nhost: proxy\r\n\r\n"
	}
	body, header := a.body, a.header
	if a.packed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
		body, header = b.String(), append(slices.Clone(header), "content-encoding: gzip")
	}
	request := post(chatPath, body, header...)
	if a.proto != "" {
		request = strings.Replace(request, "HTTP/1.1", a.proto, 1)
	}
	return request
}

// directly is what the request gets without a proxy.
func directly(t *testing.T, serve func(net.Conn, *received) bool, request string) *reply {
	t.Helper()
	f := &upstreamFake{serve: serve}
	c, _ := f.dial(t.Context(), "", "")
	defer c.Close()
	go func() { _, _ = io.WriteString(c, request) }()
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	return &reply{Response: resp, body: string(body), err: err}
}

// same tells how a reply differs from the direct one; empty: not at all. Two things are
// listed in the docs: measured replies are asked for uncompressed, and which fields are of
// the connection.
func same(direct, got *reply) string {
	if got.Response == nil {
		return fmt.Sprint("no reply: ", got.err)
	}
	want, has := direct.Header.Clone(), got.Header.Clone()
	text := direct.body
	if want.Get("Content-Encoding") == "gzip" && has.Get("Content-Encoding") == "" {
		z, _ := gzip.NewReader(strings.NewReader(text))
		plain, _ := io.ReadAll(z)
		text = string(plain)
		want.Del("Content-Encoding")
		want.Del("Vary")
	}
	for _, h := range []http.Header{want, has} {
		h.Del("Connection")
		h.Del("Content-Length") // of the bodies' lengths themselves
		h.Del("Trailer")
	}
	switch {
	case direct.StatusCode != got.StatusCode:
		return fmt.Sprintf("status %d, directly %d", got.StatusCode, direct.StatusCode)
	case !maps.EqualFunc(want, has, slices.Equal[[]string]):
		return fmt.Sprintf("header %v, directly %v", has, want)
	case direct.Proto == got.Proto && !maps.EqualFunc(direct.Trailer, got.Trailer, slices.Equal[[]string]):
		return fmt.Sprintf("trailer %v, directly %v", got.Trailer, direct.Trailer)
	case (direct.err == nil) != (got.err == nil):
		return fmt.Sprintf("end %v, directly %v", got.err, direct.err)
	case text != got.body:
		return fmt.Sprintf("bytes\n%s\ndirectly\n%s", got.body, text)
	}
	return ""
}

// asListed takes out of a reply what the docs say may differ for good.
func (f *family) asListed(a *asking, r *reply) *reply {
	if a.asks || r.Response == nil {
		return r
	}
	like := *r
	if f.nulls == ifAsked && !strings.Contains(f.head, "openai") {
		like.body = strings.ReplaceAll(like.body, `,"usage":null`, "")
	}
	if f.hides && strings.Contains(a.body, `"stream":true`) {
		var got []byte
		s := newStripper()
		write := func(p []byte) error { got = append(got, p...); return nil }
		_ = s.feed([]byte(like.body), write)
		like.body = string(got)
	}
	if f.unended {
		like.body = strings.TrimRight(like.body, "\r\n")
	}
	return &like
}

// rounds is how often a client asks: at the end all is learnt that can be.
const rounds = 4

// judge holds what a client gets, again and again, against the direct reply.
func (f *family) judge(t *testing.T, a *asking, ask func() *reply) {
	t.Helper()
	direct := f.asListed(a, directly(t, f.serve, a.bytesOf()))
	differing := 0
	for i := range rounds {
		why := same(direct, f.asListed(a, ask()))
		if why == "" {
			continue
		}
		if differing++; differing > f.differ || i == rounds-1 {
			t.Errorf("reply %d: %s", i, why)
		}
	}
}

// A client gets, through the proxy, what it would get from the server itself, but for what
// docs/proxy.md lists; and the tokens are known where the server tells them at all.
func TestClientsGetWhatTheServerSends(t *testing.T) {
	for _, f := range families {
		for _, a := range askings {
			t.Run(f.name+"/"+a.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := open(t, f.serve, nil)
					var got *reply
					f.judge(t, &a, func() *reply {
						got = h.talk(a.bytesOf(), 0)
						h.settled()
						return got
					})
					told := f.tells == always || f.tells != never && !f.blind && !a.left
					if a.method == "HEAD" || got.Response == nil || got.StatusCode != 200 || !told || a.name == "no JSON" {
						return
					}
					r := h.sink.at(t, rounds-1)
					want(t, "outcome", r.Outcome, timeline.OK)
					want(t, "source", source(r), string(metric.FromUsage))
					want(t, "tokens", r.Record.OutputTokens.Or(-1), 2)
				})
			})
		}
	}
}

// The same on the short way of chunks, which has real sockets only.
func TestClientsGetWhatTheServerSendsOnTheShortWay(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			s := pave(t, f.serve, nil)
			c := s.dial(t)
			in := bufio.NewReader(c)
			a := &askings[0]
			f.judge(t, a, func() *reply {
				resp := ask(t, c, in, a.bytesOf())
				body, err := io.ReadAll(resp.Body)
				<-s.seen // what it showed is known
				return &reply{Response: resp, body: string(body), err: err}
			})
		})
	}
}

// The same by HTTP/2.
func TestClientsGetWhatTheServerSendsByHTTP2(t *testing.T) {
	for _, f := range families {
		if f.zips == always {
			continue // Go's client decodes
		}
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, f.serve, nil)
				c, _ := h.dialler()
				a := &askings[0]
				f.judge(t, a, func() *reply {
					resp, err := c.Post("http://proxy"+chatPath, "application/json", strings.NewReader(a.body))
					if err != nil {
						t.Fatal(err)
					}
					body, err := io.ReadAll(resp.Body)
					h.settled()
					return &reply{Response: resp, body: string(body), err: err}
				})
			})
		})
	}
}

// verbatim are replies in which nothing is to be taken out: of other APIs, failures, and
// whatever else servers answer.
var verbatim = map[string]struct{ path, head, body string }{
	"Anthropic":   {"/v1/messages", "200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nrequest-id: req_1\r\n", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":2}}\n\n"},
	"Gemini":      {"/v1beta/models/g:streamGenerateContent?alt=sse", "200 OK\r\ncontent-type: text/event-stream\r\n", "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Hi\"}]}}],\"usageMetadata\": {\"promptTokenCount\": 10}}\r\n\r\n"},
	"Gemini list": {"/v1beta/models/g:streamGenerateContent", "200 OK\r\ncontent-type: application/json\r\n", "[{\"candidates\": [],\n\"usage\":{}}\n,\r\n{\"candidates\": []}]\n"},
	"Bedrock":     {"/model/m/converse-stream", "200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nx-amzn-requestid: 1\r\n", "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"},
	"Ollama":      {"/api/chat", "200 OK\r\ncontent-type: application/x-ndjson\r\n", "{\"message\":{\"content\":\"Hi\"},\"done\":false}\n{\"done\":true,\"usage\":{},\"eval_count\":2}\n"},
	"Responses":   {"/v1/responses", "200 OK\r\ncontent-type: text/event-stream\r\n", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":2}}}\n\n"},
	"lines":       {chatPath, "200 OK\r\ncontent-type: application/x-ndjson\r\n", "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n{\"choices\":[],\"usage\":{}}\n"},
	"whole":       {chatPath, "200 OK\r\ncontent-type: application/json\r\n", "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}"},
	"refused":     {chatPath, "400 Bad Request\r\ncontent-type: application/json\r\n", "{\"error\":{\"message\":\"no\"},\"usage\":{}}"},
	"words":       {chatPath, "422 Unprocessable\r\ncontent-type: text/html\r\n", "<h1>stream_options</h1>"},
	"limited":     {chatPath, "429 Slow Down\r\nretry-after: 3\r\nx-ratelimit-reset: 1s\r\ncontent-type: text/event-stream\r\n", "data: {\"choices\":[],\"usage\":{}}\n\n"},
	"broken":      {chatPath, "500 Oh\r\n", "\n\n"},
	"created":     {chatPath, "201 Created\r\nlocation: http://server/v1/x\r\ncontent-type: text/event-stream\r\n", "data: {\"choices\":[],\"usage\":{}}\n\n"},
	"moved":       {chatPath, "307 Temporary Redirect\r\nlocation: /v2\r\n", "xy"},
	"nothing":     {chatPath, "204 No Content\r\nx-a: 1\r\n", ""},
	"empty":       {chatPath, "200 OK\r\ncontent-type: text/event-stream\r\n", ""},
	"error event": {chatPath, "200 OK\r\ncontent-type: text/event-stream\r\n", tok("A") + "data: {\"error\":{\"message\":\"no\",\"code\":500}}\n\nevent: error\ndata: no\n\n"},
	"garbage":     {chatPath, "200 OK\r\ncontent-type: text/event-stream\r\n", "\ufeffdata: {\"usage\":{\"a\r\n\r\ndata\ndata:\r\r\x00\xff"},
	"moderated":   {chatPath, "200 OK\r\ncontent-type: text/event-stream\r\ndate: Mon, 01 Jan 2024 00:00:00 GMT\r\nvary: a\r\nvary: b\r\n", "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":{}\"}}]}\n\ndata:{\"choices\":[{\"delta\":{},\"usage\":{}}]}\n\n"},
}

func TestRepliesPassVerbatim(t *testing.T) {
	for name, v := range verbatim {
		for _, ends := range []string{"chunks", "length", "close"} {
			for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
				t.Run(name+"/"+ends+"/"+proto, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						serve := func(c net.Conn, r *received) bool {
							head := "HTTP/1.1 " + v.head
							switch {
							case strings.HasPrefix(v.head, "204"):
								return play("1ms "+head+"\r\n")(c, r)
							case ends == "length":
								return play(fmt.Sprintf("1ms %scontent-length: %d\r\n\r\n%s", head, len(v.body), v.body))(c, r)
							case ends == "close" || r.ProtoMinor == 0:
								return play("1ms "+head+"\r\n"+v.body, "2ms CUT")(c, r)
							case v.body == "":
								return play("1ms "+head+"transfer-encoding: chunked\r\n\r\n"+lastChunk)(c, r)
							}
							half := len(v.body) / 2
							return play("1ms "+head+"transfer-encoding: chunked\r\n\r\n"+chunk(v.body[:half]), "2ms "+chunk(v.body[half:])+lastChunk)(c, r)
						}
						request := strings.Replace(post(v.path, chatOf(`,"stream":true`)), "HTTP/1.1", proto, 1)
						h := open(t, serve, nil)
						got := h.talk(request, 0)
						h.settled()
						if why := same(directly(t, serve, request), got); why != "" {
							t.Error(why)
						}
					})
				})
			}
		}
	}
}
