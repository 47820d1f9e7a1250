package engines

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"tokenmeter/wire/api"
)

// recordedAnswer reads a GET's answer as curl printed it.
func recordedAnswer(t *testing.T, name string) Answer {
	data, err := os.ReadFile("testdata/probes/" + name + ".http")
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(data, []byte("\r\n\r\n"))
	head = bytes.ReplaceAll(head, []byte("Transfer-Encoding: chunked"), []byte("X: y")) // curl undid it
	resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(head), strings.NewReader("\r\n\r\n"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, body}
}

func TestSniffRecordedServers(t *testing.T) {
	cases := []struct {
		name    string
		answers map[string]string
		engine  string
		version string
		model   string
		api     string
	}{
		{"llama.cpp", map[string]string{"/v1/models": "llama-server/models", "/props": "llama-server/props", "/api/version": "llama-server/err-not-found"}, "llama.cpp", "b1-80fb11a", "tiny", "openai-chat"},
		{"llama.cpp by its models", map[string]string{"/v1/models": "llama-server/models"}, "llama.cpp", "", "tiny", "openai-chat"},
		{"ollama", map[string]string{"/v1/models": "ollama/v1-models", "/api/version": "ollama/version", "/api/tags": "ollama/tags"}, "ollama", "0.17.4", "large:latest", "ollama-chat"},
		{"ollama by its tags", map[string]string{"/api/tags": "ollama/tags"}, "ollama", "", "large:latest", "ollama-chat"},
		{"ollama by its root", map[string]string{"/": "ollama/root"}, "ollama", "", "", "ollama-chat"},
		{"ollama by its models", map[string]string{"/v1/models": "ollama/v1-models"}, "ollama", "", "large:latest", "ollama-chat"},
		{"vLLM, simulated", map[string]string{"/v1/models": "llm-d-sim/models"}, "vllm", "", "sim/tiny", "openai-chat"},
		{"node-llama-cpp", map[string]string{"/v1/models": "inference-server-npm/models"}, "node-llama-cpp", "", "m", "openai-chat"},
	}
	for _, c := range cases {
		answers := map[string]Answer{}
		for path, file := range c.answers {
			answers[path] = recordedAnswer(t, file)
		}
		checkServer(t, c.name, Sniff(answers), c.engine, c.version, c.model, c.api)
	}
}

// Lists of models in the vendors' own forms, with the pages that follow.
func TestModelListsOfVendors(t *testing.T) {
	for _, c := range []struct {
		list, models string
		more         bool
	}{
		{`{"models":[{"name":"models/gemini-2.5-pro","supportedGenerationMethods":["generateContent"]},{"name":"models/gemini-embedding-001"}],"nextPageToken":"x"}`, "models/gemini-2.5-pro models/gemini-embedding-001", true},
		{`{"object":"list","data":[{"id":"tiny:latest","object":"model","owned_by":"library"}]}`, "tiny:latest", false}, // Ollama's, where tiny is the same
		{`{"models":[{"name":"models/gemini-2.5-pro"}]}`, "models/gemini-2.5-pro", false},
		{`{"models":[{"name":"command-a-03-2025","endpoints":["chat"]}],"next_page_token":"x"}`, "command-a-03-2025", true},
		{`{"models":[{"name":"command-a-03-2025"}],"next_page_token":""}`, "command-a-03-2025", false},
		{`{"data":[{"type":"model","id":"c"}],"has_more":true}`, "c", true},
		{`[{"id":"org/m","object":"model","type":"chat"}]`, "org/m", false}, // Together's
		{`{"models":["m"]}`, "m", false},
		{`{"object":"list","data":[{"id":"models/gemini-2.5-pro","object":"model"}]}`, "models/gemini-2.5-pro", false}, // Gemini's by OpenAI's API
	} {
		s := Sniff(map[string]Answer{"/v1/models": {Status: 200, Body: []byte(c.list)}})
		if got := strings.Join(s.Models, " "); got != c.models || s.More != c.more {
			t.Errorf("%s: %s, more %v", c.list, got, s.More)
		}
		if known := strings.TrimSuffix(strings.TrimPrefix(s.Models[0], "models/"), ":latest"); !s.MayHave(known) || s.MayHave("gpt-5") != c.more {
			t.Errorf("%s may have %s: %v, another: %v", c.list, known, s.MayHave(known), s.MayHave("gpt-5"))
		}
	}
}

func TestSniff(t *testing.T) {
	cases := []struct {
		name                        string
		answers                     map[string]string // status 200
		engine, version, model, api string
	}{
		{"SGLang", map[string]string{"/get_server_info": `{"model_path":"m","version":"0.5.2"}`, "/get_model_info": `{"model_path":"org/m"}`}, "sglang", "0.5.2", "org/m", "openai-chat"},
		{"TGI", map[string]string{"/info": `{"model_id":"org/m","version":"3.3.4","max_total_tokens":4096,"router":"text-generation-router"}`}, "tgi", "3.3.4", "org/m", "openai-chat"},
		{"vLLM", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}`, "/version": `{"version":"0.11.0"}`}, "vllm", "0.11.0", "m", "openai-chat"},
		{"Triton", map[string]string{"/v2": `{"name":"triton","version":"2.60.0"}`}, "triton", "2.60.0", "", "triton"},
		{"Anthropic", map[string]string{"/v1/models": `{"data":[{"type":"model","id":"c"}],"has_more":false}`}, "anthropic", "", "c", "anthropic"},
		{"some server", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"a","owned_by":"me"},{"id":"b"}]}`}, "", "", "a", "openai-chat"},
		{"a list alone", map[string]string{"/v1/models": `[{"id":"a"},{"id":"b"}]`}, "", "", "a", "openai-chat"},
		{"some other list", map[string]string{"/v1/models": `[{"x":"a"}]`}, "", "", "", ""},
		{"no models", map[string]string{"/v1/models": `{"object":"list","data":[]}`}, "", "", "", "openai-chat"},
		{"a web page", map[string]string{"/v1/models": "<html>", "/info": "<html>", "/": "<html>"}, "", "", "", ""},
		{"odd JSON", map[string]string{"/v1/models": `[7]`, "/info": `null`, "/api/tags": `{"models":"x"}`, "/api/version": `{"v":1}`}, "", "", "", ""},
		{"nothing", nil, "", "", "", ""},
	}
	for _, c := range cases {
		answers := map[string]Answer{}
		for path, body := range c.answers {
			answers[path] = Answer{200, nil, []byte(body)}
		}
		checkServer(t, c.name, Sniff(answers), c.engine, c.version, c.model, c.api)
	}
	if s := Sniff(map[string]Answer{"/api/version": {404, nil, []byte(`{"version":"1"}`)}}); s.Engine != "" {
		t.Errorf("an answer of status 404 made %+v", s)
	}
}

func checkServer(t *testing.T, name string, s Server, engine, version, model, api string) {
	t.Helper()
	first := func(l []string) string { return append(slices.Clone(l), "")[0] }
	if s.Engine != engine || s.Version != version || first(s.Models) != model || first(s.APIs) != api {
		t.Errorf("%s: %+v, want %s %s with model %s and API %s", name, s, engine, version, model, api)
	}
}

// Every engine has a name, signs and APIs that exist.
func TestSniffTables(t *testing.T) {
	named := map[string]bool{}
	for _, e := range engines {
		if named[e.name] || e.title == "" || len(e.speaks) == 0 || len(e.signs)+len(e.owners) == 0 {
			t.Errorf("%q: its name, title, APIs and signs are not all there, or stand twice", e.name)
		}
		named[e.name] = true
		for _, name := range e.speaks {
			if _, err := api.ByName(name); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
		}
	}
}
