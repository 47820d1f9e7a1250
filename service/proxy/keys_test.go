package proxy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
)

func get(target string, header ...string) string {
	return "GET " + target + " HTTP/1.1\r\nhost: proxy\r\n" + joined(header) + "\r\n"
}

// A listener that wants keys lets nobody else in, and keeps them to itself.
func TestClientKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		request string
		status  int
	}{
		"none":       {get("/v1/models"), 401},
		"another":    {get("/v1/models", "authorization: Bearer canary-x"), 401},
		"its prefix": {get("/v1/models", "authorization: Bearer canary"), 401},
		"bearer":     {get("/v1/models?a=b", "authorization: bearer canary-1"), 200},
		"x-api-key":  {get("/v1/models?a=b", "x-api-key: canary-1"), 200},
		"azure's":    {get("/v1/models?a=b", "api-key: canary-1"), 200},
		"google's":   {get("/v1/models?a=b", "x-goog-api-key: canary-1"), 200},
		"query":      {get("/v1/models?key=canary-1&a=b"), 200},
		"Azure's":    {get("/v1/models?api-key=canary-1&a=b"), 200},
		"encoded":    {get("/v1/models?a=b&%6bey=canary-1"), 200},
		"two":        {get("/v1/models?a=b&key=canary-1", "authorization: Bearer canary-2"), 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Keys = []Key{{Name: "one", SHA256: sha256.Sum256([]byte("canary-1"))}} })
			got := h.talk(tc.request, 0)
			h.settled()
			want(t, name, got.StatusCode, tc.status)
			if tc.status != 200 {
				want(t, name+": requests that got through", len(h.up.requests), 0)
				return
			}
			up := h.up.last()
			if text := fmt.Sprint(up.Header, up.RequestURI); strings.Contains(text, "canary") || up.RequestURI != "/v1/models?a=b" {
				t.Errorf("%s: upstream got %s", name, text)
			}
		})
	}
}

// Each key has limits of its own, and one's do not touch another.
func TestKeysHaveLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1s "+whole(200, "application/json", "{}")), func(c *Config) {
			c.Keys = []Key{{Name: "rate", SHA256: sha256.Sum256([]byte("r")), Rate: 2}, {Name: "streams", SHA256: sha256.Sum256([]byte("s")), Streams: 3}}
		})
		try := func(key string, n int) (good, limited int) {
			answers := make(chan *reply, n)
			for range n {
				go func() { answers <- h.talk(get("/v1/models", "authorization: Bearer "+key), 0) }()
			}
			for range n {
				switch got := <-answers; {
				case got.StatusCode == 200:
					good++
				case got.StatusCode == 429 && got.Header.Get("Retry-After") != "":
					limited++
				}
			}
			return good, limited
		}
		good, limited := try("r", 10)
		want(t, "within the rate", good, 2)
		want(t, "beyond it", limited, 8)
		good, limited = try("s", 10)
		want(t, "within the streams", good, 3)
		want(t, "beyond them", limited, 7)
		time.Sleep(10 * time.Second)
		good, _ = try("r", 10)
		want(t, "later", good, 2)
		good, _ = try("s", 3)
		want(t, "streams are given back", good, 3)
	})
}

// Why the proxy refuses a request stands where the clients of OpenAI and those like it look,
// and where those of Amazon and Cohere do.
// Source: botocore/parsers.py, BaseJSONParser: body.get("message", body.get("Message", ""))
func TestRefusalsAreReadByAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, nil)
		var got struct {
			Message string
			Error   struct{ Message, Code string }
		}
		if err := json.Unmarshal([]byte(h.talk(post("/guardrail/g/version/1/apply", `{}`), 0).body), &got); err != nil {
			t.Fatal(err)
		}
		want(t, "code", got.Error.Code, "refused_path")
		want(t, "words at the top", got.Message, got.Error.Message)
		want(t, "words", got.Error.Message, "tokenmeter: no route lets this path through")
	})
}

// What writes with the operator's key is refused where nobody asked for it.
func TestMethodsAreListed(t *testing.T) {
	for request, status := range map[string]int{
		"GET /v1/models": 200, "HEAD /v1/models/m": 200, "OPTIONS /v1/models": 200, "GET /v1beta/models": 200, "GET /api/tags": 200, "GET /health": 200, "GET /ping": 200, "GET /version": 200, "GET /api/version": 200, "HEAD /": 200, "GET /": 200,
		"POST /": 200, "DELETE /": 405, "POST /infill": 200, "POST /x/infill": 404, "GET /infill": 405, // TGI's clients, and editors at llama.cpp
		"GET /api/v0/models": 200, "GET /api/v0/models/m": 200, "POST /api/v0/models": 405, "GET /info": 200, "GET /get_model_info": 200, "GET /model_info": 200, "POST /info": 405,
		"POST /anthropic/v1/messages/count_tokens": 200, "POST /v1beta/models/g:countTokens": 200, // Claude Code's and Google's clients count before they ask
		"POST /v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict": 200, "POST /v1/responses/input_tokens": 200,
		"POST /v1/responses/compact": 200, "POST /openai/v1/responses/compact": 200, "POST /v1/responses/resp_1/cancel": 404, // Codex's, when its context is full
		"POST /v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict": 200, "POST /model/us.anthropic.c/invoke-with-response-stream": 200, "GET /model/us.anthropic.c/invoke": 405,
		"POST /model/us.anthropic.c/invoke": 200, "POST /bedrock/model/arn:aws:bedrock:r:1:inference-profile%2Fus.anthropic.c/invoke": 200, "POST /v2/models/m/versions/1/generate": 200, "POST /v1beta/models/g:generateContent": 200, "POST /model/m/converse": 200,
		"POST /model/arn%3Aaws%3Abedrock%3Ar%3A1%3Aapplication-inference-profile%2Fabcd/invoke-with-response-stream": 200, "POST /model/arn%3Aaws%3Abedrock%3Ar%3A1%3Aimported-model%2Fabcd/invoke": 200,
		"POST /bedrock/model/arn:aws:bedrock:r:1:provisioned-model/p/invoke": 200, "GET /model/arn:aws:bedrock:r:1:provisioned-model/p/invoke": 405,
		"POST /model/arn:aws:bedrock:r:1:provisioned-model/p": 404, "POST /model/arn:aws:bedrock:r:1:provisioned-model/p/async-invoke": 404, "POST /arn:aws:bedrock:r:1:x/p/invoke": 404, "POST /foundation-models/arn:aws:x/invoke": 404,
		"POST /x/invoke": 404, "POST /invoke": 404, "POST /model/meta.llama3/invoke": 200, "POST /model/amazon.titan-embed-text-v2%3A0/invoke": 200, "POST /model/amazon.nova/invoke-with-response-stream": 200, "GET /model/meta.llama3/invoke": 405, "POST /model/meta.llama3/async-invoke": 404, "POST /guardrail/g/version/1/apply": 404, "POST /model/invoke": 404, "POST /x/anthropic.y/invoke": 404, "POST /x/generate": 404, "POST /inference/v1/generate": 200, "POST /x/generate_stream": 404,
		"POST /v1/projects/p/locations/l/publishers/mistralai/models/c:rawPredict": 200, "POST /serving-endpoints/m/invocations": 200, "POST /x/invocations": 404, "POST /v1/sonar": 200,
		"POST /v4/embeddings": 200, "POST /api/v3/embeddings": 200, "POST /api/v3/embeddings/multimodal": 200, "POST /api/paas/v4/rerank": 200, "POST /reranking": 200, "POST /v1/reranking": 200, "GET /reranking": 405, "POST /embeddings": 200,
		"POST /ml/v1/text/chat_stream": 200, "POST /v1/text/chatcompletion_v2": 200, "POST /api/embed": 200, "POST /v2/embed": 200, "POST /v1/embed-jobs": 404, "GET /serving-endpoints/m/invocations": 405, "POST /v1/projects/p/locations/l/endpoints/e:rawPredict": 404, "POST /x:streamRawPredict": 404,
		"GET /openai/v1/models": 200, "GET /openai/v1/models/llama": 200, "GET /openai/models?api-version=2024-10-21": 200, "GET /v1beta/openai/models": 200, "GET /v1beta/openai/models/gemini": 200, "GET /api/v1/models": 200,
		"GET /models": 200, "GET /models/deepseek-chat": 200, "POST /models": 405, "DELETE /models/ft": 405, "GET /models/a/b": 200, // clients whose base has no version
		"GET /api/paas/v4/models": 200, "GET /api/v3/models": 200, "GET /v2/models": 200, "POST /api/v3/models": 405, "GET /api/v3/models/m": 404, "GET /x/models": 404,
		"POST /openai/v1/models": 405, "DELETE /openai/v1/models/ft": 405, "DELETE /openai/models/ft?api-version=2024-10-21": 405, "GET /api/v1/models/x": 404, "GET /v1/organization/models": 404,
		"POST /v1beta/models/e:embedContent": 200, "POST /v1beta/models/e:batchEmbedContents": 200, "POST /v1beta/models/imagen:predict": 200, "POST /v1/projects/p/locations/l/publishers/google/models/e:predict": 200, "POST /model/us.anthropic.c-v1:0/count-tokens": 200,
		"POST /v1beta/models/veo:predictLongRunning": 405, "POST /v1beta/models/g:batchGenerateContent": 405, "POST /v1beta/models/e:asyncBatchEmbedContent": 405, "POST /v1/projects/p/locations/l/endpoints/1:predict": 404, "PUT /v1beta/models/e:embedContent": 405, "POST /v1beta/tunedModels/t:transferOwnership": 404,
		"DELETE /v1/models/m": 405, "PUT /v1/models/m": 405, "POST /v1/models": 405, "POST /v1/models/m": 405, "PATCH /v1/models/m": 405, "DELETE /api/tags": 405, "GET " + chatPath: 405, "DELETE " + chatPath: 405, "POST /health": 405,
		"POST /v1/async/chat/completions": 404, "POST /api/paas/v4/async/chat/completions": 404, "POST /queue/chat/completions": 404, "POST /Async/v1/messages": 404, "POST /async/images/generations": 404, // a job, kept for whoever has the key
		"POST /v1/async/responses": 404, "GET /v1/async/chat/completions/id": 404, "POST /team-async/v1/chat/completions": 200, "GET /async/v1/models": 200,
		"POST /openai/deployments/async-gpt/chat/completions": 200, "POST /openai/deployments/queue/chat/completions": 200, "POST /model/async-x/invoke": 200, "POST /v1beta/models/async-9b:generateContent": 200, // names are the users' own
		"POST /model/async-x/async-invoke": 404, "POST /deployments/async-gpt/async/chat/completions": 404, "POST /v1/async-chat/chat/completions": 404,
		"TRACE /v1/models": 405, "TRACE " + chatPath: 405, "GET /v1/files": 404, "POST /v1/fine_tuning/jobs": 404,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, nil)
			got := h.talk(request+" HTTP/1.1\r\nhost: proxy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", 0)
			h.settled()
			want(t, request, got.StatusCode, status)
			if passed := len(h.up.requests) > 0; passed != (status == 200) {
				t.Errorf("%s: passed is %v", request, passed)
			}
		})
	}
	for _, tc := range []struct {
		paths  string
		method string
		path   string
		passes bool
	}{
		{"/v1/*", "POST", "/v1/audio/speech", true}, {"/v1/*", "DELETE", "/v1/responses/x", false}, {"/v1/*", "POST", "/v1/files", false}, {"/v1/*", "GET", "/v1/files", true},
		{"/*", "POST", "/proxy/v1/fine_tuning/jobs", false}, {"/*", "POST", "/v1beta/models/g:generateContent", true}, {"/*", "POST", "/v1beta/models/g", false},
		{"/*", "POST", "/v1beta/tunedModels", false}, {"/*", "POST", "/v1beta/cachedContents", false}, {"/*", "POST", "/api/pull", false}, {"/*", "POST", "/api/Create", false}, {"/*", "POST", "/api/chat", true}, {"/*", "POST", "/x/create", true},
		{"/*", "POST", "/v1/load_lora_adapter", false},
		{"/*", "POST", "/v1beta/models/g:batchGenerateContent", false}, {"/*", "POST", "/v1beta/models/e:asyncBatchEmbedContent", false}, {"/*", "POST", "/v1beta/models/veo:predictLongRunning", false},
		{"/*", "POST", "/v1/projects/p/locations/l/publishers/google/models/veo:predictLongRunning", false}, {"/*", "POST", "/v1/projects/p/locations/l/models/m:export", false}, {"/*", "POST", "/v1/projects/p/locations/l/batchPredictionJobs", false},
		{"/*", "POST", "/v1beta/models/e:batchEmbedContents", true}, {"/*", "POST", "/v1beta/models/g:streamGenerateContent", true}, {"/*", "POST", "/v1beta/models/imagen:predict", true}, {"/*", "POST", "/v1beta/models/g:countTokens", true},
		{"/*", "POST", "/api//pull", false}, {"/*", "POST", "/api/v3/contents/generations/tasks", false}, {"/*", "POST", "/v1/video/generations", false},
		{"/*", "POST", "/api/v1/services/aigc/video-generation/video-synthesis", false}, {"/*", "POST", "/v1/threads/t1/runs", false}, {"/*", "POST", "/v1/images/generations", true},
		{"/*", "POST", "/v1/videos", false}, {"/*", "POST", "/v1/batch/jobs", false}, {"/*", "POST", "/v1/messages/batches", false}, {"/*", "POST", "/v1/embed-jobs", false}, {"/*", "POST", "/async-invoke", false}, {"/*", "POST", "/model-invocation-job", false},
		{"/*", "POST", "/v1/async-chat/chat/completions", false}, {"/*", "POST", "/openai/deployments/async-gpt/chat/completions", true}, {"/*", "POST", "/openai/deployments/batch/chat/completions", true},
		{"/*", "POST", "/model/tasks/converse", true}, {"/*", "POST", "/v1/models//async", false}, {"/*", "POST", "/model/models/batches", false}, {"POST */chat/completions", "POST", "/deployments/model/async/chat/completions", false}, {"/*", "POST", "/v1/models/x/async", false},
		{"/*", "POST", "/v1/async/chat/completions", false}, {"/*", "POST", "/v1/video_generation", false}, {"/*", "POST", "/api/v1/services/aigc/text2image/image-synthesis", false}, {"/*", "POST", "/v1/conversations", false},
		{"POST */chat/completions", "POST", "/v1/async/chat/completions", false}, {"POST */async/chat/completions", "POST", "/v1/async/chat/completions", true}, {"POST /v1/async/*", "POST", "/v1/async/chat/completions", true},
		{"*/chat/completions", "POST", "/queue/chat/completions", false}, {"* */chat/completions", "POST", "/queue/chat/completions", true}, {"POST /*", "POST", "/queue/chat/completions", true}, {"/*", "POST", "/v1/queue/chat/completions", false},
		{"/*", "POST", "/api/v3/batch/chat/completions", true}, {"POST /*", "POST", "/v1beta/models/g:batchGenerateContent", true},
		{"/*", "POST", "/v1/projects/p/locations/l/endpoints/openapi/chat/completions", true}, {"/*", "POST", "/api/projects/p/openai/v1/responses", true}, {"/*", "POST", "/v1/projects/p", false},
		{"POST,DELETE /v1/files*", "DELETE", "/v1/files/x", true}, {"POST /v1/files*", "GET", "/v1/files/x", false}, {"* /v1/*", "PATCH", "/v1/models/x", true},
		{"/a/*/b", "POST", "/a/x/y/b", true}, {"/a/*/b", "POST", "/a/b", false}, {"/a/*/b", "POST", "/a/x/b/c", false}, {"*/m/*x.*/go", "POST", "/p/m/a.x.b/go", true}, {"*/m/*x.*/go", "POST", "/p/m/a/go", false}, {"*/m/*x.*/go", "POST", "//p/m/x.b/go", false}, {"/a*a", "POST", "/a", false},
	} {
		rule, err := parsePath(tc.paths)
		if passes := matches(rule.pattern, tc.path) && rule.allows(tc.method, tc.path); err != nil || passes != tc.passes {
			t.Errorf("%s: %s %s, %v", tc.paths, tc.method, tc.path, err)
		}
	}
	for _, bad := range []string{"x", "GET x", "get /x", "GET, /x", "a*b", "*a/b", " /x"} {
		if CheckPath(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A name that a browser's page made lead to a local address is refused.
func TestHosts(t *testing.T) {
	for host, status := range map[string]int{"localhost": 200, "LOCALHOST:8088": 200, "127.0.0.1": 200, "127.9.9.9:1": 200, "[::1]:8088": 200, "a.localhost": 200, "Ours.example:80": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "10.0.0.1": 421, "0.0.0.0": 421} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Hosts = []string{"ours.example"} })
			want(t, host, h.talk(strings.Replace(get("/v1/models"), "proxy", host, 1), 0).StatusCode, status)
		})
	}
}

// Every page of a browser can send requests to a local address, and hold a WebSocket: it
// says whose it is. Who must show a key has nothing to fear of pages that have none.
func TestOrigins(t *testing.T) {
	for origin, status := range map[string]int{"http://localhost:3000": 200, "https://127.0.0.1": 200, "http://[::1]:1": 200, "https://ours.example": 200, "https://OURS.example:81": 200,
		"vscode-webview://abc": 200, "chrome-extension://abc": 200,
		"https://evil.example": 403, "https://localhost.evil.example": 403, "https://evil.example:8088": 403, "null": 403, "": 403, "http://%": 403, "//localhost": 403, "https://localhost@evil.example": 403} {
		for _, request := range []string{post(chatPath, hello, "origin: "+origin, "content-type: text/plain"), strings.Replace(webSocket, "\r\n", "\r\norigin: "+origin+"\r\n", 1)} {
			for _, keys := range [][]Key{nil, {{Name: "one", SHA256: sha256.Sum256([]byte("k"))}}} {
				synctest.Test(t, func(t *testing.T) {
					h := open(t, answerOK, func(c *Config) {
						c.Hosts, c.Keys, c.Routes[0].Paths = []string{"ours.example"}, keys, []string{"/*"}
					})
					want := status
					if keys != nil {
						want = 200
					}
					request := strings.Replace(strings.Replace(request, "host: proxy", "host: 127.0.0.1", 1), "\r\n\r\n", "\r\nx-api-key: k\r\n\r\n", 1)
					if got := h.talk(request, 0).StatusCode; got != want {
						t.Errorf("%q, %d keys: %d, want %d", origin, len(keys), got, want)
					}
					h.settled()
					if passed := len(h.up.requests) > 0; passed != (want == 200) {
						t.Errorf("%q: passed is %v", origin, passed)
					}
				})
			}
		}
	}
}

// Where any host may be named, so may any page.
func TestAnyOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.Hosts = []string{"*"} })
		for _, origin := range []string{"https://any.example", "null"} {
			want(t, origin, h.talk(post(chatPath, hello, "origin: "+origin), 0).StatusCode, 200)
		}
		h.settled()
	})
}

// Bodies of all clients have one budget; what needs no reading needs none of it.
func TestBodiesHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(512 << 10)
		h := open(t, play("10s "+whole(200, "application/json", "{}")), func(c *Config) { c.Bodies = budget })
		large := `{"model":"m","prompt":"` + strings.Repeat("x", 200<<10) + `"}`
		try := func(n int, path string, form func(path, body string) string) (good, refused int) {
			answers := make(chan *reply, n)
			for range n {
				go func() { answers <- h.talk(form(path, large), 0) }()
			}
			for range n {
				switch got := <-answers; {
				case got.Response == nil:
				case got.StatusCode == 200:
					good++
				case got.StatusCode == 503 && got.Header.Get("Retry-After") != "":
					refused++
				}
			}
			return good, refused
		}
		sized := func(path, body string) string { return post(path, body) }
		good, refused := try(10, chatPath, sized)
		want(t, "answered", good+refused, 10)
		if good < 1 || good > 2 { // bodies that come together may each have a part of the room
			t.Errorf("%d of known length fit", good)
		}
		good, refused = try(10, chatPath, chunked)
		want(t, "in chunks, within", good+refused, 10)
		if good < 1 || good > 2 {
			t.Errorf("%d of unknown length fit", good)
		}
		good, _ = try(10, "/v1/messages/count_tokens", sized)
		want(t, "that need no reading", good, 10)
		h.settled()
		want(t, "held at the end", budget.used.Load(), 0)
		want(t, "counted", h.p.Stats().Refused["memory"] >= 16, true)
	})
}

// Requests that are there have a memory, and large heads of them more: who finds none is
// told, and all is given back.
func TestRequestsHaveAMemory(t *testing.T) {
	large := strings.Repeat("x-a: "+strings.Repeat("a", 900)+"\r\n", 40) + "x-b: c"
	for name, tc := range map[string]struct {
		header string
		fit    int
	}{"small heads": {"x-a: b", 36}, "large heads": {large, 8}} { // 1 MiB of 28 KiB each, and three times 36 KiB less 12
		synctest.Test(t, func(t *testing.T) {
			budget := NewBudget(1 << 20)
			h := open(t, play("10s "+whole(200, "application/json", "{}")), func(c *Config) { c.Clients = budget })
			const n = 60
			answers := make(chan *reply, n)
			for range n {
				go func() { answers <- h.talk(post(chatPath, `{"model":"m"}`, tc.header), 0) }()
			}
			good, refused := 0, 0
			for range n {
				switch got := <-answers; {
				case got.Response == nil:
				case got.StatusCode == 200:
					good++
				case got.StatusCode == 503 && got.Header.Get("Retry-After") != "":
					refused++
				}
			}
			want(t, name+": answered", good+refused, n)
			if good < tc.fit-2 || good > tc.fit+1 {
				t.Errorf("%s: %d fit, want some %d", name, good, tc.fit)
			}
			h.settled()
			want(t, name+": held at the end", budget.used.Load(), 0)
			want(t, name+": counted", h.p.Stats().Refused["memory"], int64(refused))
		})
	}
}

// Clients that wait with long bodies, and with further requests behind them, take no more
// memory than the same number that sent little, but for the budget.
func TestWaitingClientsStayWithinTheBudget(t *testing.T) {
	const most, clients = 4 << 20, 80
	heap := func(request string) (bytes, held int64) {
		synctest.Test(t, func(t *testing.T) {
			budget := NewBudget(most)
			h := open(t, play("1s KEEP"), func(c *Config) { c.Bodies, c.Upstreams[0].Dial = budget, silent })
			data := []byte(request)
			for range clients {
				c := h.front.dial()
				t.Cleanup(func() { _ = c.Close() })
				go func() { _, _ = c.Write(data) }()
				go func() { _, _ = io.Copy(io.Discard, c) }()
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what is pooled goes with the second
			runtime.ReadMemStats(&m)
			bytes, held = int64(m.HeapAlloc), budget.used.Load()
		})
		return bytes, held
	}
	behind := strings.Repeat(get("/v1/models"), 3000)
	heap(post(chatPath, `{"model":"m"}`)) // what is made once is made
	few, _ := heap(post(chatPath, `{"model":"m"}`))
	for name, request := range map[string]string{
		"long bodies":     post(chatPath, `{"model":"m","prompt":"`+strings.Repeat("x", 300<<10)+`"}`),
		"requests behind": post(chatPath, `{"model":"m"}`) + behind,
		"both":            post(chatPath, `{"model":"m","prompt":"`+strings.Repeat("x", 30<<10)+`"}`) + behind,
	} {
		bytes, held := heap(request)
		if held < most*3/8 || held > most {
			t.Errorf("%s: %d of %d are held: this test fills nothing", name, held, most)
		}
		if more := bytes - few; more > most+most/4 {
			t.Errorf("%s: %d KiB more than clients that sent little, want at most %d", name, more>>10, most>>10)
		}
	}
}

// A body that a sink is to get stays until the reply has ended, and so does its share of
// the budget; without such a sink both go as soon as the upstream has it.
func TestBodiesForASinkAreCounted(t *testing.T) {
	for _, asked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			budget := NewBudget(1 << 20)
			reply := whole(200, "application/json", "{}")
			h := open(t, play("1ms "+reply[:len(reply)-1], "10s "+reply[len(reply)-1:]), func(c *Config) { c.Bodies, c.Asked = budget, asked })
			go h.talk(post(chatPath, `{"model":"m","prompt":"`+strings.Repeat("x", 200<<10)+`"}`), 0)
			time.Sleep(time.Second)
			want(t, "held while the reply comes", budget.used.Load() >= 200<<10, asked)
			time.Sleep(time.Minute)
			h.settled()
			want(t, "held at the end", budget.used.Load(), 0)
		})
	}
}

// What a server says behind a body changes nothing of how the reply is read, and
// a header with a NUL is no header.
func TestTrailersAndNULs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"+chunk("{}")+
			"0\r\nx-sum: 1\r\ncontent-length: 99\r\ntransfer-encoding: chunked\r\nset-cookie: a=b\r\nauthorization: x\r\nhost: evil\r\n\r\n"), nil)
		got := h.talk(get("/v1/models"), 0)
		h.settled()
		want(t, "trailers", len(got.Trailer), 1)
		want(t, "what may follow", got.Trailer.Get("X-Sum"), "1")
	})
	for _, header := range []string{"x: a\x00b", "content-type: a\x00", "x: a\rset-cookie: b"} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("1ms HTTP/1.1 200 OK\r\n"+header+"\r\ncontent-length: 2\r\n\r\n{}"), nil)
			want(t, header, h.talk(get("/v1/models"), 0).StatusCode, 502)
		})
	}
}

// A panic in measuring is told with its value and where it was.
func TestAPanicIsTold(t *testing.T) {
	m := newMeter(clock.Start(), timeline.New(), api.OpenAIChat, api.StreamOptions{MaxEvent: 1 << 20})
	var told string
	m.crashed = func(what any, stack []byte) { told = fmt.Sprint(what) + string(stack) }
	m.guard(func() { panic("canary 42") })
	want(t, "why", m.reason, traffic.Crashed)
	if !strings.Contains(told, "canary 42") || !strings.Contains(told, "keys_test.go") {
		t.Errorf("told %q", told)
	}
}
