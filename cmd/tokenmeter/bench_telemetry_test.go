//go:build !lean

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A Prometheus and a collector are told of a run while it goes on, and the last page
// has every request.
func TestBenchTells(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token(w)
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	var sent atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/metrics" {
			sent.Add(1)
		}
	}))
	defer collector.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()

	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		ended <- Main([]string{"bench", server.URL, "--model", "m", "--api", "openai-chat", "--requests", "40", "--concurrency", "1", "--warmup", "0",
			"--telemetry", address, "--telemetry", collector.URL, "--out", filepath.Join(t.TempDir(), "run")}, io.Discard, &stderr, func(string) (string, bool) { return "", false })
	}()
	var last string
	code := -1
	for code < 0 {
		if resp, err := http.Get("http://" + address + "/metrics"); err == nil {
			page, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			last = string(page)
		}
		select {
		case code = <-ended:
		default:
		}
	}
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if found := regexp.MustCompile(`(?m)^tokenmeter_requests_total\{.*source="bench".*\} 40$`).FindString(last); found == "" {
		t.Errorf("the last page has no 40 requests of the benchmark:\n%.2000s", last)
	}
	if sent.Load() == 0 {
		t.Error("the collector was told nothing")
	}
}

func TestTelemetryIsRefused(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--telemetry x", "neither the URL of a collector"},
		{"--telemetry ftp://h:1", "no URL of a collector"},
		{"--telemetry http://u:p@h:1", "password"},
		{"--telemetry :1 --telemetry :2", "one page is enough"},
		{"--telemetry :1 --telemetry-key-env NONE", "NONE is not set"},
		{"--telemetry :1 --repeat 2", "leave out --interleave and --repeat"},
		{"--telemetry 192.0.2.1:1", "--telemetry 192.0.2.1:1"},
	} {
		var stderr bytes.Buffer
		code := Main(append([]string{"bench", "http://127.0.0.1:1", "--model", "m", "--api", "openai-chat", "--preflight", "none", "--out", filepath.Join(t.TempDir(), "run")},
			strings.Fields(c.flags)...), io.Discard, &stderr, func(string) (string, bool) { return "", false })
		if code != exitUsage || !strings.Contains(strings.Join(strings.Fields(stderr.String()), " "), c.want) {
			t.Errorf("%s: exit code %d, %s", c.flags, code, stderr.String())
		}
	}
}

// No key that requests are sent with goes to those who are told of a run, and no name
// that acts on those who look at it: a server may call its model anything.
func TestTelemetryIsToldNoKeyAndNoWords(t *testing.T) {
	var mu sync.Mutex
	told := map[string][]byte{}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		data, _ := io.ReadAll(body)
		mu.Lock()
		defer mu.Unlock()
		told[r.URL.Path] = append(told[r.URL.Path], fmt.Sprint(r.Header, string(data))...)
		if strings.HasSuffix(r.URL.Path, "/runs/create") {
			_, _ = io.WriteString(w, `{"run":{"info":{"run_id":"5"}}}`)
		}
	}))
	defer receiver.Close()
	for _, server := range []*httptest.Server{parrot(), jester()} {
		defer server.Close()
		var out bytes.Buffer
		if code := Main([]string{"bench", server.URL + "?key=" + canaryKeys["query"], "--api-key-env", "CANARY", "--header", "X-Auth-Token: " + canaryKeys["header"],
			"--requests", "9", "--concurrency", "1", "--warmup", "0", "--telemetry", receiver.URL, "--telemetry", receiver.URL + "/api/v1/write",
			"--telemetry", receiver.URL + "/api/2.0/mlflow", "--out", filepath.Join(t.TempDir(), "run")}, &out, &out, func(name string) (string, bool) {
			return canaryKeys["environment"], name == "CANARY"
		}); code != exitOK {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
	}
	for _, path := range []string{"/v1/metrics", "/api/v1/write", "/api/2.0/mlflow/runs/log-batch", "/api/2.0/mlflow/runs/update"} {
		data := told[path]
		if len(data) == 0 {
			t.Errorf("nothing was sent to %s", path)
		}
		holdsNoKey(t, path, data)
		for _, word := range []string{"\x1b[2J", "\u202e", "\u009b", `\u001b`, `\u202e`} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s was sent %q, which acts on a terminal", path, word)
			}
		}
	}
}

// MLflow's users go by a run's status: only one that did what it was asked has finished.
func TestStatusOfRunsInMLflow(t *testing.T) {
	for _, c := range []struct {
		answered    int64 // requests; the rest fail
		flags, want string
	}{
		{40, "", "FINISHED"},
		{39, "", "FINISHED"},
		{0, "", "FAILED"},
		{10, "--max-failures 0.2", "FAILED"}, // it was stopped early
	} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > c.answered {
				http.Error(w, "no", http.StatusInternalServerError)
				return
			}
			token(w)
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}))
		statuses := make(chan string, 9)
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Status string }
			if strings.HasSuffix(r.URL.Path, "/runs/update") && json.NewDecoder(r.Body).Decode(&body) == nil {
				statuses <- body.Status
			}
			_, _ = io.WriteString(w, `{"run":{"info":{"run_id":"5"}}}`)
		}))
		var out bytes.Buffer
		Main(append([]string{"bench", server.URL, "--model", "m", "--api", "openai-chat", "--preflight", "none", "--requests", "40", "--concurrency", "1",
			"--warmup", "0", "--telemetry", receiver.URL + "/api/2.0/mlflow", "--out", filepath.Join(t.TempDir(), "run")}, strings.Fields(c.flags)...),
			&out, &out, func(string) (string, bool) { return "", false })
		server.Close()
		receiver.Close()
		if close(statuses); <-statuses != c.want || len(statuses) != 0 {
			t.Errorf("%d of 40 answered %s: not %s\n%s", c.answered, c.flags, c.want, out.String())
		}
	}
}

// Keys go to the collectors that they are for, and into nothing that is written.
func TestCollectorKeys(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token(w)
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer server.Close()
	var keys sync.Map // path → what came as Authorization
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.Store(r.URL.Path, r.Header.Get("Authorization"))
		http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusForbidden) // a receiver that repeats it
	}))
	defer collector.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	dead := gone.URL
	for _, c := range []struct {
		flags          []string
		otlp, receiver string
	}{
		{nil, "Api canary-otlp", ""},
		{[]string{"--telemetry-key-env", "KEY"}, "Bearer canary-key", "Bearer canary-key"},
	} {
		env := func(name string) (string, bool) {
			v, ok := map[string]string{"KEY": "canary-key", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Api%20canary-otlp"}[name]
			return v, ok
		}
		dir := t.TempDir()
		var out bytes.Buffer
		code := Main(append([]string{"bench", server.URL, "--model", "m", "--api", "openai-chat", "--requests", "3", "--warmup", "0", "--html",
			"--telemetry", collector.URL, "--telemetry", collector.URL + "/api/v1/write", "--telemetry", dead + "/api/v1/write?token=canary-query", "--out", filepath.Join(dir, "run")}, c.flags...), &out, &out, env)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
		for path, want := range map[string]string{"/v1/metrics": c.otlp, "/api/v1/write": c.receiver} {
			if got, ok := keys.Load(path); !ok || got != want {
				t.Errorf("%v: %s got %v, want %q", c.flags, path, got, want)
			}
		}
		texts := out.String()
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				data, _ := os.ReadFile(path)
				texts += string(data)
			}
			return err
		})
		if strings.Contains(texts, "canary") {
			t.Errorf("%v: a key of a collector is in what was written", c.flags)
		}
		for _, why := range []string{"not got the last figures: 127.0.0.1:", "not got the last figures: dial tcp"} {
			if !strings.Contains(out.String(), why) {
				t.Errorf("%q is not said: %s", why, out.String())
			}
		}
	}
}
