package engines

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tokenmeter/wire/api"
)

// server answers the GETs that it knows and 404 to every other one.
type server struct {
	answers map[string]Answer
	asked   []string
	fails   string // this path gets no answer at all
}

func (s *server) get(_ context.Context, path string) (Answer, error) {
	s.asked = append(s.asked, path)
	if path == s.fails {
		return Answer{}, errors.New("no answer")
	}
	if a, ok := s.answers[path]; ok {
		return a, nil
	}
	return Answer{Status: http.StatusNotFound}, nil
}

// A recorded server is found with few GETs; By is the answer with the surest sign.
func TestDetectRecordedServers(t *testing.T) {
	for _, c := range []struct {
		name, engine, version, model, api, by string
		files                                 map[string]string
		asked                                 []string
	}{
		{"llama.cpp", "llama.cpp", "b1-80fb11a", "tiny", "openai-chat", "/props",
			map[string]string{"/v1/models": "llama-server/models", "/props": "llama-server/props"},
			[]string{"/v1/models", "/props"}},
		{"ollama", "ollama", "0.17.4", "large:latest", "ollama-chat", "/api/version",
			map[string]string{"/v1/models": "ollama/v1-models", "/api/version": "ollama/version", "/api/tags": "ollama/tags"},
			[]string{"/v1/models", "/api/version"}},
		{"ollama of old", "ollama", "0.17.4", "large:latest", "ollama-chat", "/api/version",
			map[string]string{"/api/version": "ollama/version", "/api/tags": "ollama/tags"},
			[]string{"/v1/models", "/api/version", "/api/tags"}},
		{"vLLM, simulated", "vllm", "", "sim/tiny", "openai-chat", "/v1/models",
			map[string]string{"/v1/models": "llm-d-sim/models"},
			[]string{"/v1/models", "/version"}},
		{"node-llama-cpp", "node-llama-cpp", "", "m", "openai-chat", "/v1/models",
			map[string]string{"/v1/models": "inference-server-npm/models"},
			[]string{"/v1/models"}},
	} {
		s := &server{answers: map[string]Answer{}}
		for path, file := range c.files {
			s.answers[path] = recordedAnswer(t, file)
		}
		found, answers, err := Detect(t.Context(), s.get)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		checkServer(t, c.name, found, c.engine, c.version, c.model, c.api)
		if found.By != c.by || found.API() == nil || found.API().Name != c.api {
			t.Errorf("%s: %+v, want it told by %s", c.name, found, c.by)
		}
		if !slices.Equal(s.asked, c.asked) || len(answers) != len(s.asked) {
			t.Errorf("%s: asked %v, want %v", c.name, s.asked, c.asked)
		}
	}
}

func TestDetectWithoutAnswer(t *testing.T) {
	s := &server{}
	found, answers, err := Detect(t.Context(), s.get)
	if err != nil || found.API() != nil || len(answers) != len(api.Probes) || len(s.asked) != len(api.Probes) {
		t.Errorf("%+v, %d answers, %v", found, len(answers), err)
	}
	for _, status := range []int{401, 403} {
		s = &server{answers: map[string]Answer{"/v1/models": {Status: status}}}
		if found, _, err := Detect(t.Context(), s.get); err != nil || found.API() != nil || len(s.asked) != 1 {
			t.Errorf("HTTP %d: asked %v, %v", status, s.asked, err)
		}
	}
	s = &server{fails: "/api/tags"}
	if _, answers, err := Detect(t.Context(), s.get); err == nil || len(answers) != 2 || strings.Join(s.asked, " ") != "/v1/models /api/version /api/tags" {
		t.Errorf("asked %v, %v", s.asked, err)
	}
	// What was learnt before a failure is kept.
	s = &server{answers: map[string]Answer{"/v1/models": recordedAnswer(t, "llama-server/models")}, fails: "/props"}
	if found, _, err := Detect(t.Context(), s.get); err == nil || found.Engine != "llama.cpp" {
		t.Errorf("%+v, %v", found, err)
	}
}

// Open WebUI has a version at Ollama's path, its page at all others, and is no Ollama.
// Source: open-webui/open-webui, backend/open_webui/main.py, get_app_version
func TestOpenWebUIIsNoOllama(t *testing.T) {
	page := Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<!doctype html><title>Open WebUI</title>")}
	for version, want := range map[string]string{`{"version":"0.6.43","deployment_id":""}`: "", `{"version":"0.17.4"}`: "ollama"} {
		s := &server{answers: map[string]Answer{"/": page, "/v1/models": page, "/version": page, "/props": page,
			"/api/version": {Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(version)}}}
		found, _, err := Detect(t.Context(), s.get)
		if err != nil || found.Engine != want {
			t.Errorf("%s: %q, %v", version, found.Engine, err)
		}
	}
}
