package proxy

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
)

// named answers with a name, for whichever upstream it is.
func namedUpstream(name string) *upstreamFake {
	return &upstreamFake{serve: play("1ms " + whole(200, "application/json", `{"choices":[{"index":0,"message":{"content":"`+name+`"},"finish_reason":"stop"}]}`))}
}

// What Google's and Bedrock's paths name is the model of what is no completion, too:
// a route's models hold for vectors and pictures as they do for words.
func TestRoutesByModelBesideCompletions(t *testing.T) {
	for path, status := range map[string]int{
		"/v1beta/models/cheap:predict":                                  200,
		"/v1beta/models/dear:predict":                                   404,
		"/v1beta/models/cheap:embedContent":                             200,
		"/v1beta/models/dear:batchEmbedContents":                        404,
		"/v1beta/models/dear:countTokens":                               404,
		"/v1/projects/p/locations/l/publishers/google/models/x:predict": 404,
		"/model/cheap/count-tokens":                                     200,
		"/model/dear/count-tokens":                                      404,
		"/model/cheap/invoke":                                           200,
		"/model/dear/invoke-with-response-stream":                       404,
		"/v1/models/dear/versions/3:predict":                            404, // TensorFlow Serving's
		"/v1/models/dear/labels/new:predict":                            404,
		"/v1/models/dear/models/cheap:predict":                          404,
		"/v1/models/dear:predict/models/cheap:predict":                  404,
		"/model/arn:aws:bedrock:eu:1:p%2Fdear/count-tokens":             404,
		"/model/dear/model/cheap/count-tokens":                          404,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Routes[0].Models = []string{"cheap"} })
			want(t, path, h.talk(post(path, `{"model":"cheap"}`), 0).StatusCode, status)
		})
	}
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
		count := map[traffic.Labels]int{}
		for _, r := range h.sink.all {
			want(t, "outcome", r.Outcome, timeline.OK)
			count[traffic.Labels{Route: r.Labels.Route, Upstream: r.Labels.Upstream, Model: r.Labels.Model}]++
		}
		want(t, "stable", count[traffic.Labels{Route: "rest", Upstream: "stable", Model: "known"}], 95)
		want(t, "canary", count[traffic.Labels{Route: "rest", Upstream: "canary", Model: "known"}], 5)
		want(t, "by name", count[traffic.Labels{Route: "big", Upstream: "big", Model: "llama-70b"}], 1)
		want(t, "by pattern", count[traffic.Labels{Route: "big", Upstream: "big", Model: "big-*"}], 1)
		want(t, "unknown", count[traffic.Labels{Route: "rest", Upstream: "stable", Model: traffic.Other}], 1)
	})
}

// A model or profile of Bedrock may be of any make, whose forms of InvokeModel are others:
// only a body in Anthropic's says that the answer is read so.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
func TestInvokeModelOfOtherMakesIsUnmeasured(t *testing.T) {
	for _, path := range []string{"/model/arn%3Aaws%3Abedrock%3Ar%3A1%3Aimported-model%2Fa/invoke", "/model/meta.llama3-8b-instruct-v1%3A0/invoke", "/model/amazon.titan-embed-text-v2%3A0/invoke"} {
		synctest.Test(t, func(t *testing.T) {
			answer := `{"generation":"Hi there","prompt_token_count":3,"generation_token_count":2,"stop_reason":"stop"}`
			h := open(t, play("1ms "+whole(200, "application/json", answer)), nil)
			got := h.talk(post(path, `{"prompt":"hi","max_gen_len":5}`), 0)
			h.settled()
			want(t, "status", got.StatusCode, 200)
			r := h.sink.one(t)
			want(t, "outcome", r.Outcome, timeline.OK)
			want(t, "reason", r.Unmeasured, traffic.UnknownAPI)
		})
	}
}

// Anthropic's models on Vertex AI and Bedrock are named by the path, not by the body.
func TestRoutesByModelInThePath(t *testing.T) {
	for path, model := range map[string]string{
		"/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@20260101:rawPredict": "claude-x@20260101",
		"/model/us.anthropic.claude-x-v1:0/invoke":                                            "us.anthropic.claude-x-v1:0",
		"/model/arn:aws:bedrock:r:1:application-inference-profile%2Fa/invoke":                 "arn:aws:bedrock:r:1:application-inference-profile/a",
	} {
		synctest.Test(t, func(t *testing.T) {
			answer := `{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`
			h := open(t, play("1ms "+whole(200, "application/json", answer)), func(c *Config) {
				c.Routes = []Route{{Name: "claude", Models: []string{model}, Upstreams: c.Routes[0].Upstreams}, {Name: "rest", Upstreams: c.Routes[0].Upstreams}}
			})
			h.talk(post(path, `{"anthropic_version":"x","max_tokens":1,"messages":[]}`), 0)
			h.settled()
			r := h.sink.one(t)
			want(t, "outcome", r.Outcome, timeline.OK)
			want(t, "route", r.Labels.Route, "claude")
			want(t, "model", r.Labels.Model, model)
		})
	}
}

// Where all routes are for some models, no request gets through that a server could take
// for one to another model.
func TestModelsOfRoutesHold(t *testing.T) {
	const mine, other = `{"model":"mine"}`, `{"model":"other"}`
	wide := string(append([]byte{0xff, 0xfe}, strings.Join(strings.Split(other, ""), "\x00")+"\x00"...)) // UTF-16
	for name, tc := range map[string]struct {
		path, body, header string
		passes             bool
	}{
		"mine":                       {chatPath, mine, "", true},
		"other":                      {chatPath, other, "", false},
		"twice, other first":         {chatPath, `{"model":"other","model":"mine"}`, "", false}, // RapidJSON takes the first
		"twice, in capitals":         {chatPath, `{"model":"mine","MODEL":"other"}`, "", false}, // Go takes any case
		"twice, escaped":             {chatPath, `{"model":"mine","mod\u0065l":"other"}`, "", false},
		"twice the same":             {chatPath, `{"model":"mine","Model":"mine"}`, "", true},
		"a list":                     {"/tokenize", `{"model":["other"]}`, "", false},
		"null, then other":           {"/tokenize", `{"model":null,"model":"other"}`, "", false},
		"none":                       {"/tokenize", `{"prompt":"x"}`, "", true},
		"no body":                    {"/tokenize", ``, "", true},
		"UTF-16":                     {"/tokenize", wide, "", false}, // Python's json takes it
		"no object":                  {"/tokenize", `[` + other + `]`, "", false},
		"a form":                     {"/v1/audio/translations", "--x\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\nother\r\n--x--\r\n", "content-type: multipart/form-data; boundary=x", false},
		"an unknown coding":          {"/tokenize", other, "content-encoding: x", false},
		"Gemini, mine":               {"/v1beta/models/mine:generateContent", `{"model":"models/mine"}`, "", true},
		"Gemini, other in the path":  {"/v1beta/models/other:generateContent", mine, "", false},
		"Bedrock, other in the path": {"/model/other/converse", mine, "", false},
		"Vertex, other in the path":  {"/v1/projects/p/locations/l/publishers/anthropic/models/other:rawPredict", mine, "", false},
		"Azure, mine":                {"/openai/deployments/mine/chat/completions", mine, "", true},
		"Azure, mine in the path":    {"/openai/deployments/mine/chat/completions", `{}`, "", true},
		"Azure, other in the path":   {"/openai/Deployments/other/chat/completions", mine, "", false},
		"Azure, other in the body":   {"/openai/deployments/mine/chat/completions", other, "", false},
		"a very long name":           {chatPath, `{"model":"mine` + strings.Repeat("e", 2000) + `"}`, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) {
				c.Routes[0].Paths, c.Routes[0].Models = []string{"/*"}, []string{"mine*"}
			})
			status := 404
			if tc.passes {
				status = 200
			}
			want(t, name, h.talk(post(tc.path, tc.body, cmp.Or(tc.header, "x-a: b")), 0).StatusCode, status)
			h.settled()
			want(t, name+": requests that got through", len(h.up.requests) > 0, tc.passes)
		})
	}
}

// A route for any model takes what names none that can be read.
func TestARouteOfAnyModel(t *testing.T) {
	for name, request := range map[string]string{
		"a form":           post("/v1/audio/transcriptions", "--x\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\nother\r\n--x--\r\n", "content-type: multipart/form-data; boundary=x"),
		"two":              post(chatPath, `{"model":"other","model":"mine"}`),
		"an unread coding": post(chatPath, "x", "content-encoding: x"),
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Routes[0].Paths, c.Routes[0].Models = []string{"/*"}, []string{"mine", "*"} })
			want(t, name, h.talk(request, 0).StatusCode, 200)
			h.settled()
		})
	}
}

// What a WebSocket asks for is inside, where nobody looks.
func TestAWebSocketGoesToNoRouteOfModels(t *testing.T) {
	for _, models := range [][]string{{"m"}, nil} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("0ms "+switchesNow, "1h KEEP"), func(c *Config) {
				realtime(c)
				c.Routes[0].Models = models
			})
			c := h.front.dial()
			want(t, "status", ask(t, c, bufio.NewReader(c), webSocket).StatusCode, map[bool]int{true: 404, false: 101}[models != nil])
			_ = c.Close()
			h.settled()
			want(t, "requests that got through", len(h.up.requests) > 0, models == nil)
		})
	}
}

// A route's limit of requests at once holds over a reload: those that began
// before it count.
func TestStreamsOfARouteOverAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cfg Config
		h := open(t, play("5s "+whole(200, "application/json", `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]}`)), func(c *Config) {
			c.Routes[0].MaxStreams = 1
			cfg = *c
		})
		p, err := New(cfg, h.p)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Retire(nil)
		status := func() int {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(`{"model":"m"}`)))
			return w.Code
		}
		ended := make(chan *reply)
		go func() { ended <- h.talk(post(chatPath, `{"model":"m"}`), 0) }()
		time.Sleep(time.Second)
		want(t, "while one of before goes on", status(), http.StatusServiceUnavailable)
		want(t, "the one of before", (<-ended).StatusCode, http.StatusOK)
		h.settled()
		want(t, "when it has ended", status(), http.StatusOK)
	})
}

// Where several routes let a path through, the body's limit is that of the route
// that takes the request.
func TestBodyLimitIsTheRoutes(t *testing.T) {
	model := func(name string, size int) string {
		return fmt.Sprintf(`{"model":%q,"prompt":%q}`, name, strings.Repeat("x", size))
	}
	sized := func(path, body string) string { return post(path, body) }
	for name, tc := range map[string]struct {
		form   func(path, body string) string
		path   string
		body   string
		status int
	}{
		"small, within":           {sized, chatPath, model("small", 10), 200},
		"small, beyond":           {sized, chatPath, model("small", 500), 413},
		"small, beyond, unsaid":   {chunked, chatPath, model("small", 500), 413},
		"another, within":         {sized, chatPath, model("other", 500), 200},
		"another, beyond":         {sized, chatPath, model("other", 2000), 413},
		"no completion, within":   {sized, "/v1/messages/count_tokens", model("small", 500), 200},
		"no completion, beyond":   {sized, "/v1/messages/count_tokens", model("large", 2000), 413},
		"no completion, unsaid":   {chunked, "/v1/messages/count_tokens", model("large", 2000), 413},
		"large, within":           {sized, chatPath, model("large", 2000), 200},
		"large, beyond all":       {sized, chatPath, model("large", 3500), 413},
		"large, beyond, unsaid":   {chunked, chatPath, model("large", 3500), 413},
		"no completion, in drops": {chunked, "/v1/messages/count_tokens", model("other", 500), 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, func(c *Config) {
					share := []Share{{"a", 1}}
					c.Routes = []Route{
						{Name: "small", Models: []string{"small"}, MaxBody: 100, Upstreams: share},
						{Name: "large", Models: []string{"large"}, MaxBody: 3000, Upstreams: share},
						{Name: "rest", MaxBody: 1000, Upstreams: share},
					}
				})
				want(t, "status", h.talk(tc.form(tc.path, tc.body), 0).StatusCode, tc.status)
			})
		})
	}
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
		want(t, "unmeasured", r.Unmeasured, traffic.Upgraded)
		want(t, "outcome", r.Outcome, timeline.OK)
		want(t, "bytes", r.ResponseBytes, 13)
		want(t, "bytes sent", r.RequestBytes, 4)
	})
}

func TestAPIsByPath(t *testing.T) {
	for path, name := range map[string]string{
		"/v1/chat/completions": "openai-chat", "/chat/completions": "openai-chat", "/openai/v1/chat/completions": "openai-chat",
		"/v1/completions": "openai-completions", "/completion": "llamacpp", "/v1/messages": "anthropic", "/v1/responses": "openai-responses",
		"/api/chat": "ollama-chat", "/api/generate": "ollama-generate", "/generate": "sglang", "/inference/v1/generate": "openai-completions", "/x/inference/v1/generate": "openai-completions", "/generate_stream": "tgi",
		"/v1/models": "", "/v1/messages/count_tokens": "", "/": "",
		"/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict": "", "/model/anthropic.c/count-tokens": "",
		"/v1/embeddings": "embeddings", "/api/v3/embeddings/multimodal": "embeddings", "/api/embed": "embeddings", "/v1/rerank": "rerank", "/v2/rerank": "rerank",
	} {
		got := ""
		if a := api.OfPath(path); a != nil {
			got = a.Name
		}
		want(t, path, got, name)
	}
	for path, name := range map[string]string{"/": "tgi", "/v2/embed": "embeddings", "/cohere/v2/embed": "embeddings", "/v1/rerank": "rerank"} { // met by a proxy alone
		r := &route{targets: []*target{{up: &upstream{}}}}
		want(t, path, r.ofPath(path).Name, name)
	}
}

// Writer has chat completions at /v1/chat, Cohere the first version of its API; of others nobody knows.
func TestVendorsOwnChatIsMeasured(t *testing.T) {
	for host, reason := range map[string]traffic.Reason{"http://api.writer.com": "", "http://api.writer.com/v1/chat": "", "http://api.cohere.com": "", "http://api.cohere.ai": "", "http://h": traffic.UnknownAPI} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Upstreams[0].URL = host })
			want(t, "status", h.talk(post("/v1/chat", `{"model":"palmyra-x5","messages":[]}`), 0).StatusCode, 200)
			h.settled()
			want(t, host, h.sink.one(t).Unmeasured, reason)
		})
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

// chunked is post without a length.
func chunked(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nhost: proxy\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", path, len(body), body)
}

// What the proxy asks an upstream by itself says that it is no user's, under the name
// that the configuration gives the header; users' requests don't.
func TestOwnLookupsAreProbes(t *testing.T) {
	for _, header := range []string{DefaultProbe, "X-Ours", ""} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) {
				c.Probe = header
				c.Upstreams[0].LearnModels, c.Upstreams[0].Health = true, Health{Path: "/health", Every: time.Second}
			})
			time.Sleep(1500 * time.Millisecond)
			h.talk("GET /v1/models HTTP/1.1\r\nhost: proxy\r\nconnection: close\r\n\r\n", 0)
			h.settled()
			h.up.mu.Lock()
			defer h.up.mu.Unlock()
			own := map[string]int{}
			for _, r := range h.up.requests {
				if header != "" && r.Header.Get(header) == "1" {
					own[r.URL.Path]++
				} else {
					own["not "+r.URL.Path]++
				}
			}
			want := "map[/health:2 /v1/models:1 not /v1/models:1]"
			if header == "" {
				want = "map[not /health:2 not /v1/models:2]"
			}
			if got := fmt.Sprint(own); got != want {
				t.Errorf("%q: %s, want %s", header, got, want)
			}
		})
	}
}
