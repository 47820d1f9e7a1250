package client

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// fill puts something in the place of what a provider's URL leaves open.
var fill = strings.NewReplacer("RESOURCE", "acme", "REGION", "us-east5", "PROJECT", "p1", "MODEL", "claude-x", "NAME", "gpt-x")

// Where each provider's own client sends a chat, by its documentation: the path
// to which an SDK with that base URL posts.
var chatPaths = map[string]string{
	"OpenAI":                          "/v1/chat/completions",
	"Azure OpenAI, v1":                "/openai/v1/chat/completions",
	"Azure OpenAI, deployments":       "/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21",
	"Azure AI Foundry":                "/openai/v1/chat/completions",
	"Azure AI Foundry, models":        "/models/chat/completions?api-version=2024-05-01-preview",
	"Google Gemini, OpenAI's path":    "/v1beta/openai/chat/completions",
	"Google Gemini":                   "/v1beta/models/m:streamGenerateContent?alt=sse",
	"Google Vertex AI, Gemini":        "/v1/projects/p1/locations/us-east5/publishers/google/models/m:streamGenerateContent?alt=sse",
	"Google Vertex AI, OpenAI's path": "/v1/projects/p1/locations/us-east5/endpoints/openapi/chat/completions",
	"Amazon Bedrock, OpenAI's path":   "/openai/v1/chat/completions",
	"Amazon Bedrock, Converse":        "/model/m/converse-stream",
	"Amazon Bedrock, Mantle":          "/v1/chat/completions",
	"Anthropic":                       "/v1/messages",
	"Anthropic on Vertex AI":          "/v1/projects/p1/locations/us-east5/publishers/anthropic/models/claude-x:streamRawPredict",
	"Anthropic on Bedrock":            "/anthropic/v1/messages",
	"Mistral":                         "/v1/chat/completions",
	"Mistral on Vertex AI":            "/v1/projects/p1/locations/us-east5/publishers/mistralai/models/claude-x:streamRawPredict",
	"IBM watsonx, gateway":            "/ml/gateway/v1/chat/completions",
	"IBM watsonx":                     "/ml/v1/text/chat_stream?version=2024-10-08",
	"Writer":                          "/v1/chat",
	"Cohere, compatibility":           "/compatibility/v1/chat/completions",
	"Cohere":                          "/v2/chat",
	"Ollama":                          "/api/chat",
	"DeepSeek":                        "/chat/completions",
	"xAI":                             "/v1/chat/completions",
	"Groq":                            "/openai/v1/chat/completions",
	"Cerebras":                        "/v1/chat/completions",
	"Together":                        "/v1/chat/completions",
	"Fireworks":                       "/inference/v1/chat/completions",
	"OpenRouter":                      "/api/v1/chat/completions",
	"Perplexity":                      "/chat/completions",
	"Z.ai (Zhipu)":                    "/api/paas/v4/chat/completions",
	"Zhipu, China":                    "/api/paas/v4/chat/completions",
	"Volcengine Ark":                  "/api/v3/chat/completions",
	"GitHub Models":                   "/inference/chat/completions",
	"MiniMax":                         "/v1/chat/completions",
	"Moonshot":                        "/v1/chat/completions",
	"Alibaba DashScope":               "/compatible-mode/v1/chat/completions",
}

// Each provider is reached by the URL of the table, with a slash behind it, and by
// the whole endpoint, by its key in the header that it wants. The server answers
// one path only.
func TestProviders(t *testing.T) {
	if len(chatPaths) != len(api.Providers) {
		t.Errorf("%d paths for %d providers", len(chatPaths), len(api.Providers))
	}
	for _, p := range api.Providers {
		t.Run(p.Name, func(t *testing.T) {
			a := api.OpenAIChat
			if p.API != "" {
				a, _ = api.ByName(p.API)
			}
			path := chatPaths[p.Name]
			url := strings.Replace(fill.Replace(p.URL), "https://", "http://", 1)
			host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
			if got := api.ProviderOf(host); got == nil || got.KeyHeader != p.KeyHeader && p.API == "" {
				t.Errorf("%s is known as %+v", host, got)
			}
			base, query, _ := strings.Cut(url, "?")
			asked := []string{url, withQuery(base+"/", query), "http://" + host + path}
			if p.Bare != "" || p.Unversioned || strings.Count(url, "/") == 2 {
				if !strings.Contains(path, "deployments") {
					asked = append(asked, "http://"+host)
				}
			}
			for _, url := range asked {
				key, tl := askMock(t, url, host, path, a)
				if tl.Outcome != timeline.OK {
					t.Errorf("%s: %s %v", url, tl.Outcome, tl.Error)
				}
				want := "Authorization: Bearer sk-1234567"
				switch {
				case p.KeyHeader == "api-key":
					want = "Api-Key: sk-1234567"
				case p.API == "anthropic" && p.KeyHeader == "":
					want = "X-Api-Key: sk-1234567"
				case p.API == "gemini" && p.KeyHeader == "":
					want = "X-Goog-Api-Key: sk-1234567"
				}
				if key != want {
					t.Errorf("%s: key in %q, want %q", url, key, want)
				}
			}
		})
	}
}

// Azure takes a key for Claude in the header of Anthropic's own.
// Source: anthropic 2.14.0, lib/foundry.py: "The endpoint authenticates with x-api-key".
func TestKeysOfAzure(t *testing.T) {
	for url, want := range map[string]string{
		"http://r.services.ai.azure.com/anthropic":                  "X-Api-Key: sk-1234567",
		"http://r.services.ai.azure.com/anthropic/v1/messages":      "X-Api-Key: sk-1234567",
		"http://r.services.ai.azure.com":                            "Api-Key: sk-1234567",
		"http://r.cognitiveservices.azure.com/openai/deployments/m": "Api-Key: sk-1234567",
		"http://r.openai.azure.us":                                  "Api-Key: sk-1234567",
		"http://r.openai.azure.com.example.org/openai/v1":           "Authorization: Bearer sk-1234567",
	} {
		a := api.OpenAIChat
		if strings.Contains(url, "/anthropic") {
			a = api.Anthropic
		}
		if key, _ := askMock(t, url, "", "", a); key != want {
			t.Errorf("%s: key in %q, want %q", url, key, want)
		}
	}
}

// A proxy's key goes in the header that the vendor takes at the path that is asked for.
// Sources: https://docs.anthropic.com/en/api/overview (x-api-key; its OpenAI path takes a
// bearer), https://ai.google.dev/api (x-goog-api-key), anthropic 2.14.0 lib/foundry.py.
func TestKeysOfPassedRequests(t *testing.T) {
	for _, tc := range [][3]string{ // upstream, asked, the key's field
		{"http://api.anthropic.com", "/v1/messages", "x-api-key: sk-1234567"},
		{"http://api.anthropic.com", "/v1/messages/count_tokens?beta=true", "x-api-key: sk-1234567"},
		{"http://api.anthropic.com", "/v1/models", "x-api-key: sk-1234567"},
		{"http://api.anthropic.com", "/v1/chat/completions", "authorization: Bearer sk-1234567"},
		{"http://r.services.ai.azure.com", "/anthropic/v1/messages", "x-api-key: sk-1234567"},
		{"http://r.services.ai.azure.com/anthropic", "/v1/messages", "x-api-key: sk-1234567"},
		{"http://r.services.ai.azure.com", "/openai/v1/chat/completions", "api-key: sk-1234567"},
		{"http://r.openai.azure.com", "/openai/deployments/d/chat/completions", "api-key: sk-1234567"},
		{"http://generativelanguage.googleapis.com", "/v1beta/models/g:streamGenerateContent?alt=sse", "x-goog-api-key: sk-1234567"},
		{"http://generativelanguage.googleapis.com", "/v1beta/models/g:countTokens", "x-goog-api-key: sk-1234567"},
		{"http://generativelanguage.googleapis.com", "/v1beta/openai/chat/completions", "authorization: Bearer sk-1234567"},
		{"http://h", "/v1/messages", "authorization: Bearer sk-1234567"}, // vLLM's and gateways'
		{"http://openrouter.ai/api", "/v1/messages", "authorization: Bearer sk-1234567"},
		{"http://aiplatform.googleapis.com", "/v1/publishers/google/models/g:generateContent", "x-goog-api-key: sk-1234567"},
		{"http://aiplatform.googleapis.com/v1/publishers/google", "/v1/publishers/google/models/g:generateContent", "x-goog-api-key: sk-1234567"},
		{"http://eu-aiplatform.googleapis.com", "/v1/projects/p/locations/eu/publishers/google/models/g:generateContent", "authorization: Bearer sk-1234567"},
		{"http://eu-aiplatform.googleapis.com", "/v1/projects/p/locations/eu/publishers/anthropic/models/c:rawPredict", "authorization: Bearer sk-1234567"},
	} {
		c, err := New(Config{BaseURL: tc[0], API: api.OpenAIChat, Key: "sk-1234567", Form: PlainForm})
		if err != nil {
			t.Fatal(err)
		}
		head := string(c.passHead(nil, &Passing{Method: "POST", Path: tc[1]}))
		if n := strings.Count(head, "sk-1234567"); n != 1 || !strings.Contains(strings.ToLower(head), "\r\n"+strings.ToLower(tc[2])+"\r\n") {
			t.Errorf("%s on %s: %q, want %s", tc[1], tc[0], head, tc[2])
		}
		c.Close()
	}
	// What the configuration names itself stays as it is.
	c, err := New(Config{BaseURL: "http://api.anthropic.com", API: api.OpenAIChat, Key: "sk-1234567", Form: PlainForm, Header: http.Header{"X-Second": {"sk-1234567"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if head := strings.ToLower(string(c.passHead(nil, &Passing{Method: "POST", Path: "/v1/messages"}))); !strings.Contains(head, "\r\nx-api-key: sk-1234567\r\n") ||
		!strings.Contains(head, "\r\nx-second: sk-1234567\r\n") || strings.Contains(head, "authorization") {
		t.Errorf("%q", head)
	}
}

// Vendors that tell a stream's usage anyway are not asked: Mistral refuses it.
func TestVendorsThatTellUsageAreNotAsked(t *testing.T) {
	for url, asked := range map[string]bool{"https://api.openai.com": true, "http://localhost:8000": true, "https://api.mistral.ai/v1": false, "https://openrouter.ai": false} {
		c, err := New(Config{BaseURL: url, API: api.OpenAIChat})
		if err != nil {
			t.Fatal(err)
		}
		curl, err := c.DryRun(&api.Request{Model: "m", Stream: true, Messages: []api.Message{{Role: "user", Content: "hi"}}})
		if err != nil || strings.Contains(curl, "stream_options") != asked {
			t.Errorf("%s: %s %v", url, curl, err)
		}
	}
}

// mockReply is a stream of one word in an API.
func mockReply(a *api.API) (contentType, body string) {
	const events = "text/event-stream"
	switch a {
	case api.Anthropic:
		return events, "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"w\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	case api.Gemini:
		return events, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"w\"}]},\"finishReason\":\"STOP\"}]}\n\n"
	case api.Cohere:
		return events, "data: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"w\"}}}}\n\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\"}}\n\n"
	case api.OllamaChat:
		return "application/x-ndjson", `{"message":{"content":"w"},"done":false}` + "\n" + `{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n"
	case api.Bedrock:
		return "application/vnd.amazon.eventstream", amazonMessage("contentBlockDelta", `{"delta":{"text":"w"}}`) + amazonMessage("messageStop", `{"stopReason":"end_turn"}`)
	}
	return events, tok("w") + fin + done
}

// amazonMessage writes an event of Amazon's event stream.
func amazonMessage(event, payload string) string {
	const name = ":event-type"
	headers := append([]byte{byte(len(name))}, name...)
	headers = append(headers, 7) // text
	headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(event))), event...)
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// askMock sends one request to a server that answers the path only, and returns
// the header with the key.
func askMock(t *testing.T, url, host, path string, a *api.API) (key string, tl *timeline.Timeline) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
			if v := r.Header.Get(name); v != "" {
				key += name + ": " + v
			}
		}
		if r.Host != host || r.RequestURI != path {
			http.NotFound(w, r)
			return
		}
		kind, body := mockReply(a)
		w.Header().Set("Content-Type", kind)
		w.Write([]byte(body))
	}))
	defer server.Close()
	c, err := New(Config{BaseURL: url, API: a, Key: "sk-1234567", Form: PlainForm,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return net.Dial(network, server.Listener.Addr().String())
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tl = timeline.New()
	tl.DueUS = c.cfg.Clock.US()
	tl.StartUS = tl.DueUS
	c.Do(t.Context(), hello, tl)
	return key, tl
}

// Addresses of servers that are no provider's: what decides is the path.
func TestAddresses(t *testing.T) {
	const chat, messages, responses = "/v1/chat/completions", "/v1/messages", "/v1/responses"
	for _, tc := range [][4]string{ // URL, the API's path, where it is posted, where the models are
		{"http://h/v4", chat, "/v4/chat/completions", "/v4/models"},
		{"http://h/api/paas/v4/", chat, "/api/paas/v4/chat/completions", "/api/paas/v4/models"},
		{"http://h/v1beta/openai", chat, "/v1beta/openai/chat/completions", "/v1beta/openai/models"},
		{"http://h/api/v3", responses, "/api/v3/responses", "/api/v3/models"},
		{"http://h/v1.0", chat, "/v1.0/chat/completions", "/v1.0/models"},
		{"http://h/client/v4/accounts/a1/ai/v1", chat, "/client/v4/accounts/a1/ai/v1/chat/completions", "/client/v4/accounts/a1/ai/v1/models"},
		{"http://h/v1/a1/gw/openai", chat, "/v1/a1/gw/openai/chat/completions", "/v1/a1/gw/openai/models"},
		{"http://h/v1/a1/gw/anthropic", messages, "/v1/a1/gw/anthropic/v1/messages", "/v1/a1/gw/anthropic/v1/models"},
		{"http://h/anthropic/v1", messages, "/anthropic/v1/messages", "/anthropic/v1/models"},
		{"http://h/openai/deployments/chat?api-version=1", chat, "/openai/deployments/chat/chat/completions?api-version=1", "/openai/models?api-version=1"},
		{"http://h/openai/deployments/v1", chat, "/openai/deployments/v1/chat/completions", "/openai/models"},
		{"http://h/serving-endpoints", chat, "/serving-endpoints/chat/completions", "/serving-endpoints/models"},

		{"http://h/chat/completions", chat, "/chat/completions", "/models"},
		{"http://h/inference/chat/completions/", chat, "/inference/chat/completions/", "/inference/models"},
		{"http://h/v4/chat/completions?key=k", chat, "/v4/chat/completions?key=k", "/v4/models?key=k"},
		{"http://h/openai/deployments/d/chat/completions?api-version=1", chat, "/openai/deployments/d/chat/completions?api-version=1", "/openai/models?api-version=1"},
		{"http://h/serving-endpoints/m/invocations", chat, "/serving-endpoints/m/invocations", "/serving-endpoints/m/models"},
		{"http://h/x/completions", "/v1/completions", "/x/completions", "/x/models"},
		{"http://h/x/responses", responses, "/x/responses", "/x/models"},
		{"http://h/x/messages", messages, "/x/messages", "/x/models"},
		{"http://h/x/v2/messages", messages, "/x/v2/messages", "/x/v2/models"},

		{"http://h", "/v1beta/models/MODEL:streamGenerateContent", "/v1beta/models/MODEL:streamGenerateContent", "/v1beta/models"},
		{"http://h/v1beta", "/v1beta/models/MODEL:streamGenerateContent", "/v1beta/models/MODEL:streamGenerateContent", "/v1beta/models"},
		{"http://h/v1", "/v1beta/models/MODEL:streamGenerateContent", "/v1/models/MODEL:streamGenerateContent", "/v1/models"},
		{"http://h/gw", "/v1beta/interactions", "/gw/v1beta/interactions", "/gw/v1beta/models"},

		{"http://h:11434/v1", "/api/chat", "/api/chat", "/v1/models"},
		// Ollama's own base. Source: docs.ollama.com/api/introduction
		{"http://localhost:11434/api", "/api/chat", "/api/chat", "/v1/models"},
		{"http://localhost:11434/api/", chat, "/v1/chat/completions", "/v1/models"},
		{"http://localhost:11434/api", messages, "/v1/messages", "/v1/models"},
		{"http://ollama.com/api", "/api/generate", "/api/generate", "/v1/models"},
		{"http://ollama.com/api", chat, "/v1/chat/completions", "/v1/models"},
		{"http://ollama.com/v1", chat, "/v1/chat/completions", "/v1/models"},
		// Source: api-docs.deepseek.com/guides/anthropic_api, docs.z.ai, platform.moonshot.ai, platform.minimax.io (Claude Code)
		{"http://api.deepseek.com", messages, "/anthropic/v1/messages", "/anthropic/v1/models"},
		{"http://api.deepseek.com/anthropic", messages, "/anthropic/v1/messages", "/anthropic/v1/models"},
		{"http://api.z.ai/", messages, "/api/anthropic/v1/messages", "/api/anthropic/v1/models"},
		{"http://api.minimaxi.com", messages, "/anthropic/v1/messages", "/anthropic/v1/models"},
		{"http://api.moonshot.cn", messages, "/anthropic/v1/messages", "/anthropic/v1/models"},
		{"http://openrouter.ai", messages, "/api/v1/messages", "/api/v1/models"}, // openrouter.ai/docs, Claude Code
		{"http://api.x.ai", messages, "/v1/messages", "/v1/models"},
		{"http://localhost:11434/team/api", chat, "/team/api/v1/chat/completions", "/team/api/v1/models"},
		{"http://h/api", "/api/chat", "/api/chat", "/api/v1/models"},
		{"http://h/api", chat, "/api/v1/chat/completions", "/api/v1/models"}, // of any other a prefix
		{"http://h/ollama/api/generate", "/api/generate", "/ollama/api/generate", "/ollama/v1/models"},
		{"http://h/tgi", "/generate_stream", "/tgi/generate_stream", "/tgi/v1/models"},
		{"http://h/generate_stream", "/generate", "/generate", "/v1/models"},
		{"http://h/llama/v1", "/completion", "/llama/completion", "/llama/v1/models"},

		{"http://h/very", chat, "/very/v1/chat/completions", "/very/v1/models"},
		{"http://h/v2ray", chat, "/v2ray/chat/completions", "/v2ray/models"}, // reads like a version
		{"http://h/vllm", chat, "/vllm/v1/chat/completions", "/vllm/v1/models"},
	} {
		got, err := JoinURL(tc[0], tc[1])
		if _, path, _ := strings.Cut(strings.TrimPrefix(got, "http://"), "/"); err != nil || "/"+path != tc[2] {
			t.Errorf("%s with %s: got %q (%v), want %q", tc[0], tc[1], got, err, tc[2])
		}
		if got, err := LookupPath(tc[0], tc[1], "/v1/models"); err != nil || got != tc[3] {
			t.Errorf("models of %s: got %q (%v), want %q", tc[0], got, err, tc[3])
		}
	}
}

// Requests that a proxy passes on, by the same rule.
func TestPassedAddresses(t *testing.T) {
	for _, tc := range [][3]string{ // upstream, asked, sent
		{"http://h", "/v1/chat/completions", "/v1/chat/completions"},
		{"http://h", "/v4/anything/", "/v4/anything/"},
		{"http://h/v4", "/v1/chat/completions", "/v4/chat/completions"},
		{"http://h/api/paas/v4", "/v1/models", "/api/paas/v4/models"},
		{"http://h/api/paas/v4", "/api/paas/v4/chat/completions", "/api/paas/v4/chat/completions"},
		{"http://h/api/paas/v4", "/chat/completions", "/api/paas/v4/chat/completions"},
		{"http://h/v1beta/openai", "/v1beta/openai/chat/completions", "/v1beta/openai/chat/completions"},
		{"http://h/v1beta/openai", "/v1/chat/completions?a=b", "/v1beta/openai/chat/completions?a=b"},
		{"http://h/v4/chat/completions", "/v1/chat/completions", "/v4/chat/completions"},
		{"http://h/v4/chat/completions?key=k", "/v1/chat/completions?a=b", "/v4/chat/completions?a=b&key=k"},
		{"http://h/v4/chat/completions", "/v1/embeddings", "/v4/embeddings"},
		{"http://h/chat/completions", "/v1/chat/completions", "/chat/completions"},
		{"http://h/openai/deployments/d?api-version=1", "/v1/chat/completions", "/openai/deployments/d/chat/completions?api-version=1"},
		{"http://h/openai/deployments/d?api-version=1", "/v1/models", "/openai/models?api-version=1"},
		{"http://h", "/openai/deployments/d/chat/completions?api-version=1", "/openai/deployments/d/chat/completions?api-version=1"},
		// A parameter that both have is the configuration's.
		{"http://h?api-version=9", "/openai/deployments/d/chat/completions?api-version=7", "/openai/deployments/d/chat/completions?api-version=9"},
		{"http://h?api-version=9", "/v1/models?after=m&api%2Dversion=7&api-version=8&limit=2", "/v1/models?after=m&limit=2&api-version=9"},
		{"http://h?api-version=9", "/v1/models?limit=2#", "/v1/models?limit=2%23&api-version=9"}, // servers drop what is behind a #
		{"http://h?key=k&tag=a&tag=b", "/v1/models?tag=c&flag&bad=%zz", "/v1/models?flag&bad=%zz&key=k&tag=a&tag=b"},
		{"http://h/v1", "/health", "/health"},
		{"http://h/v1", "/api/chat", "/api/chat"},
		{"http://h:11434/api", "/api/chat", "/api/chat"},
		{"http://api.deepseek.com", "/v1/messages", "/anthropic/v1/messages"},
		{"http://api.deepseek.com", "/v1/messages/count_tokens", "/anthropic/v1/messages/count_tokens"},
		{"http://api.deepseek.com", "/anthropic/v1/messages", "/anthropic/v1/messages"},
		{"http://api.deepseek.com", "/v1/chat/completions", "/chat/completions"},
		{"http://h:11434/api", "/v1/chat/completions", "/v1/chat/completions"},
		{"http://h/x", "/health", "/x/health"},
		{"http://h/x", "/v1/chat/completions", "/x/v1/chat/completions"},
		{"http://h/anthropic", "/v1/messages", "/anthropic/v1/messages"},
		{"http://api.groq.com", "/v1/chat/completions", "/openai/v1/chat/completions"},
		{"http://api.groq.com", "/openai/v1/chat/completions", "/openai/v1/chat/completions"},
		// google-genai with api_version v1, and OpenAI's client, at any base of Google's.
		{"http://generativelanguage.googleapis.com", "/v1/models/g:generateContent", "/v1/models/g:generateContent"},
		{"http://generativelanguage.googleapis.com/v1", "/v1/models/g:generateContent", "/v1/models/g:generateContent"},
		{"http://generativelanguage.googleapis.com/v1beta", "/v1beta/models/g:countTokens", "/v1beta/models/g:countTokens"},
		{"http://generativelanguage.googleapis.com/v1", "/v1/chat/completions", "/v1beta/openai/chat/completions"},
		{"http://generativelanguage.googleapis.com", "/v1/models", "/v1beta/openai/models"},
		{"http://api.cohere.com/v1", "/v1/chat", "/v1/chat"},
		{"http://api.cohere.com/v2", "/v2/chat", "/v2/chat"},
		{"http://api.cohere.com/v2", "/v2/embed", "/v2/embed"},
		{"http://api.cohere.com/v2", "/v1/chat/completions", "/compatibility/v1/chat/completions"},
		{"http://api.writer.com", "/v1/chat", "/v1/chat"},
		{"http://api.writer.com", "/v1/chat/completions", "/v1/chat"},
		{"http://api.writer.com/v1", "/v1/models", "/v1/models"},
		{"http://api.writer.com/v1/chat", "/v1/completions", "/v1/completions"},
		{"http://r.services.ai.azure.com/api/projects/p", "/v1/chat/completions", "/api/projects/p/openai/v1/chat/completions"},
		{"http://api.perplexity.ai", "/v1/chat/completions", "/chat/completions"},
		{"http://api.deepseek.com/anthropic", "/v1/messages", "/anthropic/v1/messages"},
	} {
		tg, err := parseTarget(tc[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := tg.passPath(tc[1]); got != tc[2] {
			t.Errorf("%s on %s: got %q, want %q", tc[1], tc[0], got, tc[2])
		}
	}
}
