package proxy

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
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
