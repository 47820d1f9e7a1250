package proxy

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// strict is a server that knows no stream_options, in the words of Azure's and of
// Mistral's API.
func strict(status int, words string) func(net.Conn, *received) bool {
	return func(c net.Conn, r *received) bool {
		if strings.Contains(r.body, "stream_options") {
			return play("1ms "+whole(status, "application/json", words))(c, r)
		}
		return play("5ms "+sseHead+chunk(tok("w")+fin+done)+lastChunk)(c, r)
	}
}

// A server that refuses the option that we added gets the request as the client sent
// it, and is not asked again.
func TestUpstreamThatKnowsNoStreamOptions(t *testing.T) {
	for name, serve := range map[string]func(net.Conn, *received) bool{
		"Azure":    strict(400, `{"error":{"code":"Invalid input","status":422,"message":"invalid input error","details":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}}`),
		"Mistral":  strict(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error"}`),
		"vLLM 0.4": strict(400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]","type":"BadRequestError","code":400}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, serve, nil)
				const body = `{"model":"m","stream":true}`
				for range 3 {
					got := h.talk(post(chatPath, body), 0)
					want(t, "status", got.StatusCode, http.StatusOK)
					want(t, "reply", got.body, tok("w")+fin+done)
				}
				h.settled()
				want(t, "requests at the server", len(h.up.requests), 4)
				want(t, "the last one", h.up.last().body, body)
				for i, attempts := range []int{2, 1, 1} {
					r := h.sink.at(t, i)
					want(t, "outcome", r.Outcome, timeline.OK)
					want(t, "attempts", r.Attempts, attempts)
					want(t, "bytes of the body that was taken", r.RequestBytes, int64(len(body)))
				}
			})
		})
	}
}

// Other refusals go to the client, byte for byte, and are asked once; so is what the
// client itself asked for.
func TestOtherRefusalsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const words = `{"error":{"message":"max_tokens is too large","code":400}}`
		answer := whole(400, "application/json", words)
		for _, writes := range [][]string{{"1ms " + answer}, {"1ms " + answer[:len(answer)-20], "9ms " + answer[len(answer)-20:]}, {"1ms HTTP/1.1 400 Bad Request\r\ntransfer-encoding: chunked\r\n\r\n" + chunk(words) + lastChunk}} {
			h := open(t, play(writes...), nil)
			got := h.talk(post(chatPath, `{"stream":true}`), 0)
			h.settled()
			if got.StatusCode != 400 || got.body != words || got.err != nil || len(h.up.requests) != 1 {
				t.Errorf("%d %q %v after %d requests", got.StatusCode, got.body, got.err, len(h.up.requests))
			}
			r := h.sink.one(t)
			want(t, "outcome", r.Outcome, timeline.HTTP4xx)
			want(t, "words", r.Error.Message, "HTTP 400 Bad Request: max_tokens is too large (code 400)")
		}
		h := open(t, strict(400, `{"detail":"stream_options: extra fields not permitted"}`), nil)
		got := h.talk(post(chatPath, `{"stream":true,"stream_options":{"include_usage":true}}`), 0)
		h.settled()
		want(t, "asked for by the client", got.StatusCode, 400)
		want(t, "requests at the server", len(h.up.requests), 1)
	})
}

// A refusal that breaks off is passed on as one that breaks off.
func TestRefusalThatBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms HTTP/1.1 400 Bad Request\r\ncontent-length: 90\r\n\r\n{\"error\"", "2ms CUT"), nil)
		got := h.talk(post(chatPath, `{"stream":true}`), 0)
		h.settled()
		if got.StatusCode != 400 || got.body != `{"error"` || got.err == nil {
			t.Errorf("%d %q %v", got.StatusCode, got.body, got.err)
		}
	})
}

// A client whose refused words name the option takes nobody else's usage away.
func TestRefusalThatRepeatsAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(c net.Conn, r *received) bool {
			if strings.Contains(r.body, "say stream_options") {
				return play("1ms "+whole(400, "application/json", `{"message":"no list: 'say stream_options'"}`))(c, r)
			}
			return play("5ms "+sseHead+chunk(tok("w")+fin+done)+lastChunk)(c, r)
		}, nil)
		got := h.talk(post(chatPath, `{"stream":true,"messages":"say stream_options"}`), 0)
		want(t, "status", got.StatusCode, 400)
		want(t, "reply", got.body, `{"message":"no list: 'say stream_options'"}`)
		h.talk(post(chatPath, `{"stream":true}`), 0)
		h.settled()
		want(t, "the next one", h.up.last().body, `{"stream":true,"stream_options":{"include_usage":true}}`)
	})
}

// What was added to a body is taken out again, and meanwhile the body is in memory once:
// all that wait for their first token hold theirs. A compressed one is there as it came,
// which the budget counts.
func TestABodyIsHeldOnce(t *testing.T) {
	for _, body := range []string{`{"stream":true}`, ` { "stream" : true } `, `{"stream":true,"stream_options":null}`, `{"stream_options": {} ,"stream":true}`, `{"stream_options":{"a":1},"stream":true}`} {
		for _, packed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, nil)
				sent, more := []byte(body), ""
				if packed {
					var b bytes.Buffer
					z := gzip.NewWriter(&b)
					_, _ = z.Write(sent)
					_ = z.Close()
					sent, more = b.Bytes(), "gzip"
				}
				in := httptest.NewRequest("POST", chatPath, bytes.NewReader(sent))
				if more != "" {
					in.Header.Set("Content-Encoding", more)
				}
				w := httptest.NewRecorder()
				held := &call{p: h.p, w: w, in: in, ctl: http.NewResponseController(w), api: api.OpenAIChat}
				held.route = held.p.routes[0]
				want(t, "read", held.readBody(held.p.routes), true)
				held.begin()
				want(t, "asked for usage", held.inject, true)
				want(t, "kept beside it", len(held.own) > 0, packed)
				held.asSent()
				want(t, "as it was sent", string(held.body), string(sent))
				want(t, "length", held.length, int64(len(sent)))
			})
		}
	}
}
