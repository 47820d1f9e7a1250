package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPathOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8000":    "",
		"http://localhost:8000/":   "",
		"localhost:11434":          "",
		"http://h/v1?key=x":        "v1",
		"https://h/a/v1/messages/": "a/v1/messages",
		"h:8000/v1/completions":    "v1/completions",
		"unix:///run/llm.sock":     "",
		"http+unix://%2Frun%2Fs":   "",
	} {
		if got := pathOf(url); got != want {
			t.Errorf("pathOf(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestAPIOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:8000":                         "",
		"http://h:8000/v1":                      "",
		"unix:///run/v1/messages":               "",
		"http://h:8000/v1/completions":          "openai-completions",
		"http://h:8000/v1/chat/completions?a=b": "openai-chat",
		"http://h:8000/v1/messages":             "anthropic",
		"https://api.anthropic.com":             "anthropic",
		"http://h:11434/api/generate":           "ollama-generate",
		"http://localhost:11434/api":            "ollama-chat",
		"https://ollama.com/api/":               "ollama-chat",
		"https://ollama.com":                    "ollama-chat",
		"https://ollama.com/v1":                 "",
		"http://h:8080/api":                     "", // GETs tell
	} {
		var check checker
		got := ""
		if a := (&targetFlags{URL: url}).apiOf(&check); a != nil {
			got = a.Name
		}
		if got != want || check.err() != nil {
			t.Errorf("%s: %q, %v; want %q", url, got, check.err(), want)
		}
	}
}

// ollamaLike speaks Ollama's own API and knows nothing of OpenAI's.
func ollamaLike(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.17.4"}`)
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"tiny:latest","model":"tiny:latest","digest":"abc"}]}`)
	case "/api/chat":
		w.Header().Set("Content-Type", "application/x-ndjson")
		for range 3 {
			time.Sleep(10 * time.Millisecond)
			fmt.Fprintln(w, `{"model":"tiny:latest","message":{"role":"assistant","content":"x"},"done":false}`)
			w.(http.Flusher).Flush()
		}
		fmt.Fprintln(w, `{"model":"tiny:latest","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}`)
	default:
		http.NotFound(w, r)
	}
}

// bench finds out which API a server speaks and which model it has, and says
// how it knows.
func TestBenchFindsTheAPI(t *testing.T) {
	for _, test := range []struct {
		name, says, api, model string
		handler                http.HandlerFunc
		flags                  []string
		path                   string
	}{
		{"Ollama", "API ollama-chat: told by GET /api/version, as ollama 0.17.4 answers it (--api names another)",
			"ollama-chat", "tiny:latest", ollamaLike, nil, ""},
		{"Ollama's own base", "API ollama-chat: told by GET /api/version, as ollama 0.17.4 answers it (--api names another)",
			"ollama-chat", "tiny:latest", ollamaLike, nil, "/api"},
		{"OpenAI's list", "API openai-chat: told by GET /v1/models (--api names another)", "openai-chat", "m", answerer, nil, ""},
		{"nothing told", "API openai-chat: the default, no GET told which one the server speaks (--api names another)", "openai-chat", "m",
			func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					http.NotFound(w, r)
					return
				}
				answerer(w, r)
			}, []string{"--model", "m"}, ""},
		{"not asked", "API openai-chat: the default, the server was not asked (--api names another)", "openai-chat", "m", answerer,
			[]string{"--model", "m", "--preflight", "none"}, ""},
		{"named", "", "openai-chat", "m", answerer, []string{"--api", "openai-chat"}, ""},
		{"quiet", "", "ollama-chat", "tiny:latest", ollamaLike, []string{"--quiet"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := httptest.NewServer(test.handler)
			defer s.Close()
			dir := filepath.Join(t.TempDir(), "run")
			var stdout, stderr bytes.Buffer
			args := append([]string{"bench", s.URL + test.path, "--prompt", "hi", "--requests", "2", "--warmup", "0", "--out", dir}, test.flags...)
			if code := Main(args, &stdout, &stderr, os.LookupEnv); code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			r := load(t, dir)
			if r.Target.API != test.api || r.Target.Model != test.model || r.Requests.OK != 2 {
				t.Errorf("%+v, %d ok", r.Target, r.Requests.OK)
			}
			if first, _, _ := strings.Cut(stderr.String(), "\n"); strings.HasPrefix(first, "API ") != (test.says != "") || test.says != "" && first != test.says {
				t.Errorf("said %q, want %q", first, test.says)
			}
		})
	}
}
