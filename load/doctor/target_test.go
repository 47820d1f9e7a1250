package doctor

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// server is a fake in virtual time. The zero value lists one model and streams.
type server struct {
	gets    map[string]string // path: body; missing ones get 404
	status  int               // of every GET, when set
	header  map[string]string // of every answer
	chat    func(w http.ResponseWriter, asked int)
	mu      sync.Mutex
	posts   []string // bodies
	methods []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.methods = append(s.methods, r.Method)
	if r.Method == http.MethodPost {
		s.posts = append(s.posts, string(body))
	}
	s.mu.Unlock()
	for name, value := range s.header {
		w.Header().Set(name, value)
	}
	w.Header()["Date"] = nil
	switch text, known := s.gets[r.URL.Path]; {
	case r.Method == http.MethodPost:
		var asked struct {
			MaxTokens int `json:"max_tokens"`
			Newer     int `json:"max_completion_tokens"`
		}
		_ = json.Unmarshal(body, &asked)
		if asked.MaxTokens == 0 {
			asked.MaxTokens = -asked.Newer
		}
		s.chat(w, asked.MaxTokens)
	case s.status != 0:
		w.WriteHeader(s.status)
		fmt.Fprintf(w, `{"error":{"message":"no entry for %s"}}`, r.Header.Get("Authorization"))
	case known:
		io.WriteString(w, text)
	case r.URL.Path == "/v1/models" && s.gets == nil:
		io.WriteString(w, `{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}`)
	default:
		http.NotFound(w, r)
	}
}

func event(w http.ResponseWriter, data string) {
	fmt.Fprintf(w, "data: %s\n\n", data)
	w.(http.Flusher).Flush()
}

// stream writes n tokens, one every gap, and the end.
func stream(w http.ResponseWriter, n int, gap time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range n {
		time.Sleep(gap)
		event(w, `{"choices":[{"index":0,"delta":{"content":"x "}}]}`)
	}
	event(w, `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`)
}

func usage(w http.ResponseWriter, in, out, cached int) {
	event(w, fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, in, out, in+out, cached))
	event(w, "[DONE]")
}

func good(w http.ResponseWriter, asked int) {
	stream(w, max(asked, -asked), 20*time.Millisecond)
	usage(w, 12, max(asked, -asked), 8)
}

// look looks at the fake in virtual time.
func look(t *testing.T, s *server, change func(*Options)) (target *Target, checks []Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		srv := &http.Server{Handler: s}
		go srv.Serve(ln)
		defer srv.Close()
		o := Options{Client: client.Config{BaseURL: "http://fake", Dial: ln.Dial, ConnectTimeout: time.Second}}
		if change != nil {
			change(&o)
		}
		target, checks = LookAt(t.Context(), o)
		time.Sleep(time.Second) // for handlers that are left
	})
	for _, c := range checks {
		if c.Of != OfTarget || c.Value == "" || c.Facts == nil || c.Verdict == Fail && c.Fix == "" && c.Name != "reach" {
			t.Errorf("%+v", c)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	return target, checks
}

func wantCheck(t *testing.T, checks []Check, name string, verdict Verdict, value string) {
	t.Helper()
	if c := find(t, checks, name); c.Verdict != verdict || !strings.Contains(c.Value, value) {
		t.Errorf("%s is %q: %q, want %q: %q", name, c.Verdict, c.Value, verdict, value)
	}
}

// A server with Nagle's algorithm on, as Python's http.server has it, sends in bursts though
// nothing stands before it. Source: CPython's socketserver, disable_nagle_algorithm = False.
func TestBurstsMayBeTheServersOwn(t *testing.T) {
	_, checks := look(t, &server{chat: func(w http.ResponseWriter, n int) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range n / 12 {
			time.Sleep(40 * time.Millisecond)
			fmt.Fprint(w, strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x \"}}]}\n\n", 12))
			w.(http.Flusher).Flush()
		}
		stream(w, 0, 0)
		usage(w, 1, n, 0)
	}}, probing)
	wantCheck(t, checks, "streaming", Warn, "24 events came in 2 bursts")
	if fix := find(t, checks, "streaming").Fix; !strings.Contains(fix, "TCP_NODELAY") || !strings.Contains(fix, "proxy_buffering off") {
		t.Errorf("fix %q", fix)
	}
}

func probing(o *Options) { o.Probe = true }

func TestWithoutProbeOnlyGETsAreSent(t *testing.T) {
	s := &server{}
	target, checks := look(t, s, nil)
	if len(s.posts) > 0 || slices.ContainsFunc(s.methods, func(m string) bool { return m != "GET" && m != "PRI" }) {
		t.Errorf("sent %v", s.methods)
	}
	if target.API != "openai-chat" || target.Engine != "vllm" || target.Probed || !slices.Equal(target.Models, []string{"m"}) || target.URL != "http://fake/v1/chat/completions" {
		t.Errorf("%+v", target)
	}
	wantCheck(t, checks, "reach", OK, "connection 0 ms")
	wantCheck(t, checks, "access", OK, "HTTP 200")
	wantCheck(t, checks, "server", OK, "vllm")
	wantCheck(t, checks, "api", OK, "openai-chat, told by GET /v1/models; also openai-completions")
	wantCheck(t, checks, "models", OK, "m")
	wantCheck(t, checks, "keep_alive", OK, "are kept")
	wantCheck(t, checks, "path_stamps", Warn, "when they are read") // a pipe has no stamps
	wantCheck(t, checks, "http2", OK, "not spoken")
	wantCheck(t, checks, "compression", OK, "none")
}

func TestAGoodStream(t *testing.T) {
	s := &server{chat: good}
	target, checks := look(t, s, probing)
	if len(s.posts) != 1 || !target.Probed {
		t.Errorf("%d completions", len(s.posts))
	}
	wantCheck(t, checks, "completion", OK, "first token after 20 ms, last after 480 ms")
	wantCheck(t, checks, "streaming", OK, "24 events, one every 20 ms")
	wantCheck(t, checks, "ending", OK, "length")
	wantCheck(t, checks, "usage", OK, "12 tokens in, 24 out; chunks: 24")
	wantCheck(t, checks, "output_length", OK, "kept: 24 tokens")
	wantCheck(t, checks, "prompt_cache", OK, "8 of 12 prompt tokens")
	wantCheck(t, checks, "server_times", "", "does not report")
	wantCheck(t, checks, "stream_keep_alive", OK, "is kept")
	if !strings.Contains(s.posts[0], `"include_usage":true`) || !strings.Contains(s.posts[0], `"max_tokens":24`) {
		t.Errorf("asked %s", s.posts[0])
	}
	if f := find(t, checks, "completion").Facts; f["ttft_ms"] != 20.0 || f["e2e_ms"] != 480.0 {
		t.Errorf("%v", f)
	}
}

func TestWhatStreamsDoWrong(t *testing.T) {
	for _, test := range []struct {
		name  string
		chat  func(w http.ResponseWriter, asked int)
		check string
		v     Verdict
		value string
	}{
		{"a proxy holds all", func(w http.ResponseWriter, n int) {
			time.Sleep(2 * time.Second)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x \"}}]}\n\n", n)+
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}, "streaming", Warn, "all 24 events came within 0 ms"},
		{"a proxy holds some", func(w http.ResponseWriter, n int) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range n / 4 {
				time.Sleep(100 * time.Millisecond)
				fmt.Fprint(w, strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x \"}}]}\n\n", 4))
				w.(http.Flusher).Flush()
			}
			stream(w, 0, 0)
			usage(w, 1, n, 0)
		}, "streaming", Warn, "24 events came in 6 bursts"},
		{"no stream", func(w http.ResponseWriter, n int) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"choices":[{"index":0,"message":{"content":"one two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`)
		}, "streaming", Warn, "the answer came in one body"},
		{"short", func(w http.ResponseWriter, n int) { stream(w, 2, time.Millisecond); usage(w, 1, 2, 0) }, "streaming", "", "too few events to tell: 2"},
		{"short", func(w http.ResponseWriter, n int) { stream(w, 2, time.Millisecond); usage(w, 1, 2, 0) }, "output_length", OK, "by itself after 2 of 24"},
		{"no usage", func(w http.ResponseWriter, n int) { stream(w, n, time.Millisecond); event(w, "[DONE]") }, "usage", Warn, "no token counts"},
		{"no usage", func(w http.ResponseWriter, n int) { stream(w, n, time.Millisecond); event(w, "[DONE]") }, "output_length", "", "not known"},
		{"no usage", func(w http.ResponseWriter, n int) { stream(w, n, time.Millisecond); event(w, "[DONE]") }, "prompt_cache", "", "does not tell"},
		{"too long", func(w http.ResponseWriter, n int) { stream(w, 60, time.Millisecond); usage(w, 1, 60, 0) }, "output_length", Warn, "24 tokens were asked for, 60 came"},
		{"a limit for the answer alone", func(w http.ResponseWriter, n int) {
			stream(w, n, time.Millisecond)
			event(w, `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":24,"total_tokens":353,"completion_tokens_details":{"reasoning_tokens":317}}}`)
			event(w, "[DONE]")
		}, "output_length", OK, "kept by the answer: 24 tokens; 317 of reasoning came besides"},
		{"no [DONE]", func(w http.ResponseWriter, n int) { stream(w, n, time.Millisecond) }, "ending", OK, "no terminator after it"},
		{"closes", func(w http.ResponseWriter, n int) { w.Header().Set("Connection", "close"); good(w, n) }, "stream_keep_alive", Warn, "closes the connection"},
		{"an error", func(w http.ResponseWriter, n int) {
			w.WriteHeader(500)
			io.WriteString(w, `{"error":{"message":"worker died"}}`)
		}, "completion", Fail, "worker died"},
		{"nothing but reasoning", func(w http.ResponseWriter, n int) {
			stream(w, 0, 0)
			event(w, `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":24,"total_tokens":36,"completion_tokens_details":{"reasoning_tokens":24}}}`)
			event(w, "[DONE]")
		}, "completion", Warn, "all 24 that usage counts were reasoning"},
		{"thoughts in the total", func(w http.ResponseWriter, n int) {
			stream(w, 0, 0)
			event(w, `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":0,"total_tokens":36}}`)
			event(w, "[DONE]")
		}, "completion", Warn, "all 24 that usage counts were reasoning"},
		{"nothing at all", func(w http.ResponseWriter, n int) { stream(w, 0, 0); usage(w, 12, 0, 0) }, "completion", Fail, "has no token"},
		{"compressed", func(w http.ResponseWriter, n int) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range n {
				time.Sleep(20 * time.Millisecond)
				io.WriteString(z, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x \"}}]}\n\n")
				z.Flush()
				w.(http.Flusher).Flush()
			}
			io.WriteString(z, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			z.Close()
		}, "compression", Warn, "a stream is answered with compressed"},
	} {
		_, checks := look(t, &server{chat: test.chat}, probing)
		t.Run(test.name, func(t *testing.T) { wantCheck(t, checks, test.check, test.v, test.value) })
	}
}

// A refused max_tokens is no completion: the other name is tried.
func TestTheNewerLengthField(t *testing.T) {
	s := &server{chat: func(w http.ResponseWriter, asked int) {
		if asked > 0 {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`)
			return
		}
		good(w, asked)
	}}
	_, checks := look(t, s, probing)
	wantCheck(t, checks, "output_length", OK, "kept: 24 tokens; max_tokens is refused, max_completion_tokens works")
	if len(s.posts) != 2 {
		t.Errorf("%d requests", len(s.posts))
	}
}

func TestServersThatAnswerBadly(t *testing.T) {
	for _, test := range []struct {
		name  string
		s     *server
		check string
		v     Verdict
		value string
		fix   string
	}{
		{"no key", &server{status: 401}, "access", Fail, "HTTP 401", "--api-key-env"},
		{"forbidden", &server{status: 403}, "access", Warn, "HTTP 403", "--model"},
		{"limited", &server{status: 429}, "access", Warn, "HTTP 429", "limits requests"},
		{"loading", &server{status: 503}, "access", Fail, "HTTP 503", "--wait-ready"},
		{"broken", &server{status: 500}, "access", Warn, "HTTP 500", "log"},
		{"moved", &server{status: 301, header: map[string]string{"Location": "https://u:secretpw@h/v1/models?key=sekret12"}}, "reach", Fail, "HTTP 301 redirects to https://u:***@h/v1/models?key=*** and would turn the POST into a GET; use that URL", ""},
		{"web server", &server{gets: map[string]string{}}, "access", Warn, "GET /v1/models answers HTTP 404", "no inference server: check host, port and path"},
		{"web pages for all", &server{gets: map[string]string{"/v1/models": "<html>"}}, "access", Warn, "HTTP 200", "no inference server"},
		{"no OpenAI list", &server{gets: map[string]string{"/api/version": `{"version":"0.17.4"}`}}, "access", OK, "HTTP 404", ""},
		{"nothing told", &server{gets: map[string]string{}}, "api", Warn, "the default", "--api"},
		{"nothing told", &server{gets: map[string]string{}}, "models", Warn, "none are listed", "--model"},
		{"nothing told", &server{gets: map[string]string{}, header: map[string]string{"Server": "nginx"}}, "server", "", `says "nginx"`, ""},
		{"two models", &server{gets: map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`}}, "models", OK, "a, b", "--model"},
		{"closes", &server{header: map[string]string{"Connection": "close"}}, "keep_alive", Warn, "closes the connection", "new connection"},
		{"announces", &server{header: map[string]string{"Keep-Alive": "timeout=5, max=100"}}, "keep_alive", OK, "after 5 s", ""},
		{"compressed", &server{header: map[string]string{"Content-Encoding": "br"}}, "compression", Warn, "br although it was declined", "text/event-stream"},
	} {
		_, checks := look(t, test.s, nil)
		t.Run(test.name, func(t *testing.T) {
			wantCheck(t, checks, test.check, test.v, test.value)
			if c := find(t, checks, test.check); !strings.Contains(c.Fix, test.fix) {
				t.Errorf("fix %q", c.Fix)
			}
		})
	}
}

// A list of models tells that chat is spoken, not that nothing else is, and engines
// learn the APIs that many servers share.
func TestAnAPIThatIsAskedIsNotDoubted(t *testing.T) {
	openai, vllm := `{"object":"list","data":[{"id":"m","owned_by":"openai"}]}`, `{"data":[{"id":"m","owned_by":"vllm"}]}`
	for _, test := range []struct {
		name, list string
		asked      *api.API
		v          Verdict
	}{
		{"OpenAI's responses", openai, api.OpenAIResponses, OK},
		{"OpenAI's transcriptions", openai, api.Transcription, OK},
		{"a gateway with Anthropic's API", openai, api.Anthropic, OK},
		{"TensorRT-LLM's responses", `{"data":[{"id":"m","owned_by":"tensorrt_llm"}]}`, api.OpenAIResponses, OK},
		{"vLLM's transcriptions", vllm, api.Transcription, OK},
		{"another engine's own", vllm, api.TGI, Warn},
	} {
		_, checks := look(t, &server{gets: map[string]string{"/v1/models": test.list}}, func(o *Options) { o.Client.API = test.asked })
		t.Run(test.name, func(t *testing.T) { wantCheck(t, checks, "api", test.v, test.asked.Name+", as the URL or --api says") })
	}
}

// Lists in Google's and Cohere's form are read; one with further pages denies no model.
func TestModelListsOfVendors(t *testing.T) {
	for _, c := range []struct {
		a          *api.API
		path, list string
		model      string
		verdict    Verdict
		value      string
	}{
		{api.Gemini, "/v1beta/models", `{"models":[{"name":"models/g-1"},{"name":"models/g-2"}]}`, "g-1", OK, "models/g-1, models/g-2"},
		{api.Gemini, "/v1beta/models", `{"models":[{"name":"models/g-1"}]}`, "g-3", Warn, "g-3 is not among them"},
		{api.Gemini, "/v1beta/models", `{"models":[{"name":"models/g-1"}],"nextPageToken":"t"}`, "g-3", OK, "models/g-1, and more on further pages"},
		{api.Cohere, "/v1/models", `{"models":[{"name":"command-x","endpoints":["chat"]}]}`, "command-x", OK, "command-x"},
	} {
		_, checks := look(t, &server{gets: map[string]string{c.path: c.list}}, func(o *Options) { o.Client.API, o.Model = c.a, c.model })
		wantCheck(t, checks, "models", c.verdict, c.value)
	}
}

// A server that speaks HTTP/2 alone is no wrong address.
func TestHTTP2Alone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		srv := &http.Server{Handler: &server{}, Protocols: new(http.Protocols)}
		srv.Protocols.SetUnencryptedHTTP2(true)
		go srv.Serve(ln)
		defer srv.Close()
		o := Options{Client: client.Config{BaseURL: "http://fake", Dial: ln.Dial, ConnectTimeout: time.Second}}
		_, checks := LookAt(t.Context(), o)
		if c := checks[0]; c.Name != "reach" || c.Verdict != Fail || !strings.Contains(c.Fix, "--http2") {
			t.Errorf("%+v", c)
		}
		o.Client.HTTP2 = true
		_, checks = LookAt(t.Context(), o)
		wantCheck(t, checks, "access", OK, "HTTP 200")
		time.Sleep(time.Second)
	})
}

// Providers that list no models as OpenAI does are no mistake in the host.
func TestProvidersWithoutAList(t *testing.T) {
	for host, want := range map[string]Verdict{"api.perplexity.ai": OK, "generativelanguage.googleapis.com": OK, "example.com": Warn} {
		_, checks := look(t, &server{gets: map[string]string{}}, func(o *Options) { o.Client.BaseURL = "http://" + host })
		t.Run(host, func(t *testing.T) { wantCheck(t, checks, "access", want, "answers HTTP 404") })
	}
	s := &server{gets: map[string]string{}, chat: good}
	_, checks := look(t, s, func(o *Options) { o.Probe, o.Model = true, "m" })
	wantCheck(t, checks, "access", OK, "answers HTTP 404")
}

// What is said of a GET names the path that was asked.
func TestPathBeforeTheAPIs(t *testing.T) {
	s := &server{gets: map[string]string{}}
	_, checks := look(t, s, func(o *Options) { o.Client.BaseURL += "/nope" })
	wantCheck(t, checks, "access", Warn, "GET /nope/v1/models answers HTTP 404")
}

func TestProbeNeedsAModel(t *testing.T) {
	s := &server{gets: map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`}, chat: good}
	_, checks := look(t, s, probing)
	wantCheck(t, checks, "completion", Fail, "no single model is known")
	if len(s.posts) > 0 {
		t.Error("a completion was sent")
	}
	_, checks = look(t, s, func(o *Options) { o.Probe, o.Model = true, "b" })
	wantCheck(t, checks, "completion", OK, "first token")
	_, checks = look(t, s, func(o *Options) { o.Model = "c" })
	wantCheck(t, checks, "models", Warn, "c is not among them: a, b")
}

// The API is found out, and the completion then sent in it.
func TestOllamaIsFound(t *testing.T) {
	s := &server{gets: map[string]string{"/api/version": `{"version":"0.17.4"}`, "/api/tags": `{"models":[{"name":"tiny:latest","digest":"x"}]}`},
		chat: func(w http.ResponseWriter, asked int) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			for range 24 {
				time.Sleep(10 * time.Millisecond)
				fmt.Fprintln(w, `{"model":"tiny","message":{"role":"assistant","content":"x"},"done":false}`)
				w.(http.Flusher).Flush()
			}
			fmt.Fprintln(w, `{"model":"tiny","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":9,"eval_count":24,"eval_duration":1000000,"total_duration":5000000}`)
		}}
	target, checks := look(t, s, probing)
	if target.API != "ollama-chat" || target.Engine != "ollama" || target.Version != "0.17.4" || target.URL != "http://fake/api/chat" {
		t.Errorf("%+v", target)
	}
	wantCheck(t, checks, "api", OK, "ollama-chat, told by GET /api/version")
	wantCheck(t, checks, "models", OK, "tiny:latest")
	wantCheck(t, checks, "usage", OK, "9 tokens in, 24 out")
	wantCheck(t, checks, "server_times", OK, "reports its own times")
	if len(s.posts) != 1 || !strings.Contains(s.posts[0], `"num_predict":24`) {
		t.Errorf("sent %q", s.posts)
	}
	_, checks = look(t, s, func(o *Options) { o.Client.API = api.TGI })
	wantCheck(t, checks, "api", Warn, "tgi, as the URL or --api says; this server is known to speak ollama-chat")
}

func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		ln.Close()
		_, checks := LookAt(t.Context(), Options{Probe: true, Client: client.Config{BaseURL: "http://fake", Dial: ln.Dial}})
		if len(checks) != 1 {
			t.Errorf("%+v", checks)
		}
		c := find(t, checks, "reach")
		if c.Verdict != Fail || c.Facts["class"] == nil || c.Fix == "" {
			t.Errorf("%+v", c)
		}
	})
	_, checks := LookAt(t.Context(), Options{Client: client.Config{BaseURL: "ftp://x"}})
	wantCheck(t, checks, "reach", Fail, "not supported")
}

// A server that hangs costs no more than the limits.
func TestASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		go srv.Serve(ln)
		defer srv.Close()
		start := time.Now()
		_, checks := LookAt(t.Context(), Options{Client: client.Config{BaseURL: "http://fake", Dial: ln.Dial}})
		wantCheck(t, checks, "reach", Fail, "")
		if d := time.Since(start); d != getTime {
			t.Errorf("took %v", d)
		}
	})
}

func TestNoSecretComesBack(t *testing.T) {
	const key = "sk-doctor-0123456789abcdef"
	s := &server{chat: func(w http.ResponseWriter, n int) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, key)
	}, header: map[string]string{"Server": key}, gets: map[string]string{"/v1/models": `{"data":[{"id":"m-` + key + `"}]}`}}
	target, checks := look(t, s, func(o *Options) {
		o.Probe, o.Client.Key, o.Client.BaseURL = true, key, "http://user:passw0rd@fake/v1?api_key=abcdef123456"
	})
	r := Report{Schema: Schema, Target: target, Checks: checks, Verdict: worst(checks)}
	var out strings.Builder
	if err := r.JSON(&out); err != nil {
		t.Fatal(err)
	}
	if err := r.Table(&out, Form{}); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key, "passw0rd", "abcdef123456"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is shown:\n%s", secret, out.String())
		}
	}
	if r.Verdict != Fail {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// The simulated server is a good patient.
func TestTheSimulator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		preset, _ := sim.FindPreset("default")
		s := sim.New(preset.Config)
		go s.Serve(ln)
		defer s.Close()
		target, checks := LookAt(t.Context(), Options{Probe: true, Client: client.Config{BaseURL: "http://sim", Dial: ln.Dial}})
		if !target.Probed || worst(checks) == Fail {
			t.Errorf("%+v", checks)
		}
		for _, name := range []string{"completion", "streaming", "usage", "output_length", "stream_keep_alive", "ending"} {
			wantCheck(t, checks, name, OK, "")
		}
	})
}

// What we end or close ourselves is not told of the server: another API than the
// first guess has a client, and so a connection, of its own.
func TestOurOwnClosingIsNotTheServers(t *testing.T) {
	for name, gets := range map[string]map[string]string{
		"ollama": {"/api/version": `{"version":"0.6.5"}`, "/api/tags": `{"models":[{"name":"m","digest":"d"}]}`},
		"tgi":    {"/info": `{"model_id":"m","max_total_tokens":10,"router":"text-generation-router"}`},
		"sglang": {"/get_model_info": `{"model_path":"m"}`},
	} {
		_, checks := look(t, &server{gets: gets}, nil)
		if c := find(t, checks, "keep_alive"); c.Verdict != OK {
			t.Errorf("%s: %s", name, c.Value)
		}
	}
	s := &server{chat: func(w http.ResponseWriter, asked int) {
		good(w, asked)
		time.Sleep(500 * time.Millisecond)
	}}
	_, checks := look(t, s, probing)
	wantCheck(t, checks, "ending", Warn, "left the stream open, and we ended it")
	if slices.ContainsFunc(checks, func(c Check) bool { return c.Name == "stream_keep_alive" }) {
		t.Error("it is judged by a connection that we closed")
	}
}

// Whether connections outlive a GET says nothing of a WebSocket's, which a
// conversation keeps.
func TestKeepAliveIsNotOfWebSockets(t *testing.T) {
	s := &server{header: map[string]string{"Connection": "close"}}
	_, checks := look(t, s, func(o *Options) {
		o.Client.BaseURL, o.Client.API = "ws://fake/v1/responses", api.OpenAIResponses
	})
	for _, c := range checks {
		if c.Name == "keep_alive" {
			t.Errorf("%+v", c)
		}
	}
	wantCheck(t, checks, "reach", OK, "connection")
}

// A server that refuses options which we add is asked without them, and what that
// means for a run is said: the words are those of FastAPI's validation.
func TestOptionsThatAreRefused(t *testing.T) {
	refuses := func(names ...string) *server {
		s := &server{}
		s.chat = func(w http.ResponseWriter, n int) {
			for _, name := range names {
				if strings.Contains(s.posts[len(s.posts)-1], `"`+name+`"`) {
					w.WriteHeader(422)
					fmt.Fprintf(w, `{"detail":[{"type":"extra_forbidden","loc":["body","%s"],"msg":"Extra inputs are not permitted"}]}`, name)
					return
				}
			}
			stream(w, max(n, -n), time.Millisecond)
			event(w, "[DONE]")
		}
		return s
	}
	for _, names := range [][]string{{"stream_options"}, {"stream_options", "max_tokens"}, {"max_tokens", "stream_options"}} {
		s := refuses(names...)
		_, checks := look(t, s, probing)
		wantCheck(t, checks, "completion", OK, "first token")
		wantCheck(t, checks, "usage", Warn, "refuses stream_options")
		if len(s.posts) < 1+len(names) || strings.Contains(s.posts[len(names)], "stream_options") {
			t.Errorf("%v: %d requests, the last %s", names, len(s.posts), s.posts[len(s.posts)-1])
		}
	}
	s := refuses("messages")
	_, checks := look(t, s, probing)
	wantCheck(t, checks, "completion", Fail, "Extra inputs are not permitted (type extra_forbidden, loc body.messages)")
	if len(s.posts) != 1 {
		t.Errorf("%d requests", len(s.posts))
	}
}
