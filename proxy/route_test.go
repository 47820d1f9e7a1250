package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/live"
	"tokenmeter/timeline"
)

// named answers with a name, for whichever upstream it is.
func namedUpstream(name string) *upstreamFake {
	return &upstreamFake{serve: play("1ms " + whole(200, "application/json", `{"choices":[{"index":0,"message":{"content":"`+name+`"},"finish_reason":"stop"}]}`))}
}

func TestRoutesByModelAndWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ups := map[string]*upstreamFake{"stable": namedUpstream("stable"), "canary": namedUpstream("canary"), "big": namedUpstream("big")}
		h := open(t, nil, func(c *Config) {
			c.Upstreams = nil
			for _, name := range []string{"stable", "canary", "big"} {
				c.Upstreams = append(c.Upstreams, Upstream{Name: name, URL: "http://" + name, Dial: ups[name].dial})
			}
			c.Models = []string{"known"}
			c.Routes = []Route{
				{Name: "big", Models: []string{"llama-70b", "big-*"}, Upstreams: []Share{{"big", 1}}},
				{Name: "rest", Upstreams: []Share{{"stable", 95}, {"canary", 5}}},
			}
		})
		for range 100 {
			h.talk(post(chatPath, `{"model":"known"}`), 0)
		}
		h.talk(post(chatPath, `{"model":"llama-70b"}`), 0)
		h.talk(post(chatPath, `{"model":"big-x"}`), 0)
		h.talk(post(chatPath, `{"mod\u0065l":"a client's invention"}`), 0)
		h.settled()
		count := map[live.Labels]int{}
		for _, r := range h.sink.all {
			want(t, "outcome", r.Outcome, timeline.OK)
			count[live.Labels{Route: r.Labels.Route, Upstream: r.Labels.Upstream, Model: r.Labels.Model}]++
		}
		want(t, "stable", count[live.Labels{Route: "rest", Upstream: "stable", Model: "known"}], 95)
		want(t, "canary", count[live.Labels{Route: "rest", Upstream: "canary", Model: "known"}], 5)
		want(t, "by name", count[live.Labels{Route: "big", Upstream: "big", Model: "llama-70b"}], 1)
		want(t, "by pattern", count[live.Labels{Route: "big", Upstream: "big", Model: "big-*"}], 1)
		want(t, "unknown", count[live.Labels{Route: "rest", Upstream: "stable", Model: live.Other}], 1)
	})
}

func TestActiveHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sick atomic.Bool
		sick.Store(true)
		a, b := namedUpstream("a"), namedUpstream("b")
		plain := a.serve
		a.serve = func(c net.Conn, r *received) bool {
			if r.URL.Path == "/health" && sick.Load() {
				return play("1ms "+whole(503, "text/plain", "loading"))(c, r)
			}
			return plain(c, r)
		}
		h := open(t, nil, func(c *Config) {
			c.Upstreams = []Upstream{{Name: "a", URL: "http://a", Dial: a.dial, Health: Health{Path: "/health", Every: time.Second}}, {Name: "b", URL: "http://b", Dial: b.dial}}
			c.Routes[0].Upstreams = []Share{{"a", 1}, {"b", 1}}
		})
		time.Sleep(1500 * time.Millisecond)
		for range 4 {
			h.talk(post(chatPath, `{"model":"m"}`), 0)
		}
		sick.Store(false)
		time.Sleep(1500 * time.Millisecond)
		for range 4 {
			h.talk(post(chatPath, `{"model":"m"}`), 0)
		}
		h.settled()
		got := ""
		for _, r := range h.sink.all {
			got += r.Labels.Upstream
		}
		if got[:4] != "bbbb" || strings.Count(got[4:], "a") != 2 {
			t.Errorf("requests went to %s", got)
		}
	})
}

func TestWebSocketPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(c net.Conn, r *received) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\nhello")
			buf := make([]byte, 16)
			n, _ := c.Read(buf)
			_, _ = c.Write([]byte("got " + string(buf[:n])))
			return false
		}
		h := open(t, serve, func(c *Config) { c.Routes[0].Paths = []string{"/v1/realtime"} })
		c := h.front.dial()
		_, _ = io.WriteString(c, "GET /v1/realtime?model=m HTTP/1.1\r\nhost: proxy\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\n")
		in := bufio.NewReader(c)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status", resp.StatusCode, 101)
		want(t, "accept", resp.Header.Get("Sec-Websocket-Accept"), "x")
		want(t, "upgrade", resp.Header.Get("Upgrade"), "websocket")
		first := make([]byte, 5)
		_, _ = io.ReadFull(in, first)
		want(t, "what came with the head", string(first), "hello")
		_, _ = io.WriteString(c, "ping")
		rest, _ := io.ReadAll(in)
		want(t, "the rest", string(rest), "got ping")
		c.Close()
		h.settled()
		want(t, "key upstream", h.up.last().Header.Get("Sec-Websocket-Key"), "k")
		r := h.sink.one(t)
		want(t, "unmeasured", r.Unmeasured, live.Upgraded)
		want(t, "outcome", r.Outcome, timeline.OK)
		want(t, "bytes", r.ResponseBytes, 13)
		want(t, "bytes sent", r.RequestBytes, 4)
	})
}

func TestAPIsByPath(t *testing.T) {
	for path, name := range map[string]string{
		"/v1/chat/completions": "openai-chat", "/chat/completions": "openai-chat", "/openai/v1/chat/completions": "openai-chat",
		"/v1/completions": "openai-completions", "/completion": "llamacpp", "/v1/messages": "anthropic", "/v1/responses": "openai-responses",
		"/api/chat": "ollama-chat", "/api/generate": "ollama-generate", "/generate": "sglang", "/generate_stream": "tgi",
		"/v1/models": "", "/v1/embeddings": "", "/": "",
	} {
		got := ""
		if a := apiOf(path); a != nil {
			got = a.Name
		}
		want(t, path, got, name)
	}
}

func TestKeepIsAnEvenShare(t *testing.T) {
	p := &Proxy{cfg: Config{Keep: 0.25}, stats: &stats{}}
	n := 0
	for range 1000 {
		if p.keep() {
			n++
		}
	}
	want(t, "kept of 1000", n, 250)
}
