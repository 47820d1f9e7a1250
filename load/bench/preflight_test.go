package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

func models(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

func TestPreflightModels(t *testing.T) {
	two := `{"data":[{"id":"a"},{"id":"b"}]}`
	cases := []struct {
		name    string
		plan    Plan
		status  int
		text    string
		model   string // that is measured; empty: it fails
		usage   bool
		message string // part of the error, or of the log
	}{
		{"one model", Plan{}, 200, `{"data":[{"id":"only"}]}`, "only", false, ""},
		{"several", Plan{}, 200, two, "", true, "a, b"},
		{"named", Plan{Model: "b"}, 200, two, "b", false, ""},
		{"named, not listed", Plan{Model: "c"}, 200, two, "c", false, "does not list the model"},
		{"none listed", Plan{}, 200, `{"data":[]}`, "", false, "--model"},
		{"no list", Plan{}, 404, `nope`, "", false, "HTTP 404"},
		{"no list, named", Plan{Model: "m"}, 404, `nope`, "m", false, ""},
		{"not JSON, named", Plan{Model: "m"}, 200, `<html>`, "m", false, ""},
		{"wrong key", Plan{Model: "m"}, 401, `{"error":{"message":"Incorrect API key"}}`, "", false, "Incorrect API key"},
		{"may not list, named", Plan{Model: "m"}, 403, `{"detail":"no"}`, "m", false, ""},
		{"may not list", Plan{}, 403, `{"error":"scoped"}`, "", false, "scoped"},
		{"a page of a gateway", Plan{}, 403, "<!DOCTYPE html><title>Just a moment...</title>", "", false, "a web page"},
		{"loading", Plan{Model: "m"}, 503, `{"error":{"message":"Loading model"}}`, "", false, "--wait-ready"},
		{"broken list, named", Plan{Model: "m"}, 500, ``, "m", false, "HTTP 500"},
	}
	for _, c := range cases {
		f := &fake{chat: echo, models: models(c.status, c.text)}
		c.plan.Requests, c.plan.Warmup = 2, Warmup{Off: true}
		res := virtual(t, f, c.plan, nil)
		if c.model == "" {
			var usage *UsageError
			var target *TargetError
			if len(f.bodies) != 0 || c.usage && !asError(res.err, &usage) || !c.usage && !asError(res.err, &target) || !hasText(res.err.Error(), c.message) {
				t.Errorf("%s: %d requests, %v", c.name, len(f.bodies), res.err)
			}
			continue
		}
		if res.err != nil || res.run.Target.Model != c.model || f.bodies[0].Model != c.model || !hasText(res.log, c.message) {
			t.Errorf("%s: %v, log %q", c.name, res.err, res.log)
		}
	}
}

// What is said of a GET names the path that was asked.
func TestPathBeforeTheAPIs(t *testing.T) {
	for base, want := range map[string]string{
		"http://fake/nope":    "(GET /nope/v1/models answered HTTP 404); is the path /nope right? Else name the model with --model",
		"http://fake/v4":      "(GET /v4/models answered HTTP 404); name one with --model, and check the URL",
		"http://fake/nope/v1": "(GET /nope/v1/models answered HTTP 404); is the path /nope right? Else name the model with --model",
		"http://fake/v1":      "(GET /v1/models answered HTTP 404); name one with --model, and check the URL",
	} {
		f := &fake{chat: echo, models: models(404, "nope")}
		res := virtual(t, f, Plan{Client: client.Config{BaseURL: base}}, nil)
		if res.err == nil || !hasText(res.err.Error(), want) {
			t.Errorf("%s: %v, want %s", base, res.err, want)
		}
	}
}

// A server that has not the path of an API is told by its model list.
func TestAnotherAPI(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) { s.fail(404, "no such path") },
		models: models(200, `{"data":[{"type":"model","id":"m"}],"has_more":false}`)}
	want := "the server answers GET /v1/models like anthropic: leave --api out, or give --api anthropic"
	if res := virtual(t, f, Plan{}, nil); res.err == nil || !hasText(res.err.Error(), want) {
		t.Errorf("%v", res.err)
	}
	f.models = nil // the list of one model, as OpenAI's servers have it
	if res := virtual(t, f, Plan{}, nil); res.err == nil || hasText(res.err.Error(), "--api") {
		t.Errorf("%v", res.err)
	}
}

// A server that refuses the field that asks for usage is told how to be asked without it.
func TestStreamOptionsRefused(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) { s.fail(400, "unknown parameter: stream_options") }}
	if res := virtual(t, f, Plan{}, nil); res.err == nil || !hasText(res.err.Error(), `--parameters '{"stream_options": null}'`) {
		t.Errorf("%v", res.err)
	}
}

func TestPreflightNone(t *testing.T) {
	f := &fake{chat: echo, models: models(500, "")}
	res := virtual(t, f, Plan{Model: "m", Load: Load{Requests: 1, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "none"}}, nil)
	if res.err != nil || f.lookups != 0 {
		t.Errorf("%d lookups, %v", f.lookups, res.err)
	}
	var usage *UsageError
	if res = virtual(t, f, Plan{Conditions: Conditions{Preflight: "none"}}, nil); !asError(res.err, &usage) {
		t.Errorf("%v", res.err)
	}
}

func TestEngineAndVersion(t *testing.T) {
	for _, c := range []struct{ owner, header, path, answer, want string }{
		{"vllm", "uvicorn", "/version", `{"version":"0.11.2"}`, "vLLM 0.11.2"},
		{"sglang", "uvicorn", "/get_server_info", `{"version":"0.5.4"}`, "SGLang 0.5.4"},
		{"llamacpp", "llama.cpp", "/props", `{"build_info":"b7000-abc"}`, "llama.cpp b7000-abc"},
		{"library", "", "/api/version", `{"version":"0.12.0"}`, "Ollama 0.12.0"},
		{"vllm", "uvicorn", "/nowhere", `{}`, "vLLM"},
		{"tensorrt_llm", "BaseHTTP/0.6", "", ``, "TensorRT-LLM"},
		{"someone", "gateway/1", "/version", `{"version":"1"}`, "gateway/1"},
		{"someone", "", "", ``, ""},
	} {
		f := &fake{chat: echo, models: func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Server", c.header)
			switch req.URL.Path {
			case modelsPath:
				io.WriteString(w, `{"data":[{"id":"m","owned_by":"`+c.owner+`"}]}`)
			case c.path:
				io.WriteString(w, c.answer)
			default:
				w.WriteHeader(404)
			}
		}}
		res := virtual(t, f, Plan{Load: Load{Requests: 1, Warmup: Warmup{Off: true}}}, nil)
		if res.err != nil || res.run.Target.Server != c.want {
			t.Errorf("%s: %v, %q", c.owner, res.err, res.run.Target.Server)
		}
		if f.lookups > 2 {
			t.Errorf("%s: %d lookups", c.owner, f.lookups)
		}
	}
}

func TestWaitReady(t *testing.T) {
	n := 0
	loading := func(w http.ResponseWriter, req *http.Request) {
		if n++; n <= 10 {
			models(503, `{"error":"loading"}`)(w, req)
			return
		}
		models(200, `{"data":[{"id":"m"}]}`)(w, req)
	}
	f := &fake{chat: echo, models: loading}
	res := virtual(t, f, Plan{Load: Load{Requests: 1, Warmup: Warmup{Off: true}}, Conditions: Conditions{WaitReady: time.Minute}}, nil)
	if res.err != nil || len(res.records) != 1 || res.wall != 10*waitBetween+10*time.Millisecond {
		t.Errorf("%v after %v", res.err, res.wall)
	}
	n = -1000
	res = virtual(t, f, Plan{Load: Load{Requests: 1}, Conditions: Conditions{WaitReady: 5 * time.Second}}, nil)
	var target *TargetError
	if !asError(res.err, &target) || res.wall > 5*time.Second || len(f.bodies) != 1 {
		t.Errorf("%v after %v", res.err, res.wall)
	}
	stop := func() {}
	n = -1000
	res = virtual(t, f, Plan{Conditions: Conditions{WaitReady: time.Hour}}, func(cancel func()) {
		stop = cancel
		time.AfterFunc(3*time.Second, stop)
	})
	if res.err != ErrInterrupted || res.wall != 3*time.Second {
		t.Errorf("%v after %v", res.err, res.wall)
	}
}

func TestUnreachable(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		class timeline.Outcome
	}{
		"refused": {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, timeline.ConnectRefused},
		"files":   {&net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}, timeline.ClientResource},
		"ports":   {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}, timeline.ClientResource},
		"dns":     {&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}, timeline.DNS},
	} {
		f := &fake{chat: echo}
		dials := 0
		dial := func(context.Context, string, string) (net.Conn, error) { dials++; return nil, c.err }
		res := virtual(t, f, Plan{Client: client.Config{Dial: dial}}, nil)
		var target *TargetError
		if !asError(res.err, &target) || target.Class != c.class || target.Own != (c.class == timeline.ClientResource) || res.run != nil || res.wall != 0 {
			t.Errorf("%s: %v after %v", name, res.err, res.wall)
		}
		before := dials
		res = virtual(t, f, Plan{Client: client.Config{Dial: dial}, Conditions: Conditions{WaitReady: 2 * time.Second}}, nil)
		waits := c.class != timeline.ClientResource // what this machine lacks is not waited for
		if !asError(res.err, &target) || target.Class != c.class || (dials-before >= 5) != waits {
			t.Errorf("%s: %v after %d dials", name, res.err, dials-before)
		}
	}
}

// A certificate does not get better by waiting: the server is asked once.
func TestWaitReadyDoesNotWaitForACertificate(t *testing.T) {
	var asked atomic.Int64
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = nil
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			asked.Add(1)
		}
	}
	srv.StartTLS()
	defer srv.Close()
	_, err := Run(t.Context(), Plan{
		Client:     client.Config{BaseURL: srv.URL, API: api.OpenAIChat, TLS: &tls.Config{}},
		Conditions: Conditions{WaitReady: 10 * waitBetween},
		Output:     Output{Out: t.TempDir() + "/run"},
	})
	var target *TargetError
	if !asError(err, &target) || target.Class != timeline.TLS || asked.Load() != 1 {
		t.Errorf("%v after %d connections", err, asked.Load())
	}
}

func TestProbe(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) { s.fail(400, "context length exceeded") }}
	res := virtual(t, f, Plan{Conditions: Conditions{Preflight: "probe"}}, nil)
	var target *TargetError
	if !asError(res.err, &target) || len(f.bodies) != 1 || res.run != nil || !hasText(res.err.Error(), "context length exceeded") {
		t.Errorf("%d sent, %v", len(f.bodies), res.err)
	}
	f = &fake{chat: echo}
	res = virtual(t, f, Plan{Load: Load{Requests: 3, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "probe"}}, nil)
	if res.err != nil || len(f.bodies) != 4 || len(res.records) != 3 || res.records[0].Request != 0 {
		t.Errorf("%d sent, %d records, %v", len(f.bodies), len(res.records), res.err)
	}
}

func TestUsageErrorsNameEverything(t *testing.T) {
	_, err := Run(t.Context(), Plan{Load: Load{Rate: -1, Concurrency: -2, Workers: -1, Warmup: Warmup{Requests: -1}}, Conditions: Conditions{Preflight: "x"}})
	var usage *UsageError
	if !asError(err, &usage) {
		t.Fatal(err)
	}
	for _, field := range []string{"rate", "concurrency", "workers", "preflight", "warm-up", "API"} {
		if !hasText(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	for _, p := range []Plan{
		{Load: Load{Arrival: "poisson"}}, {Load: Load{Rate: 1, Arrival: "x"}}, {Content: Content{InputTokens: "x"}}, {Content: Content{OutputTokens: "x"}},
		{Content: Content{Prompt: "x", InputTokens: "256"}}, {Load: Load{Rate: 1, Burstiness: 3}},
		{Client: client.Config{BaseURL: "ftp://x"}},
	} {
		p.Client.API = api.OpenAIChat
		if p.Client.BaseURL == "" {
			p.Client.BaseURL = "http://127.0.0.1:1"
		}
		if _, err := Run(t.Context(), p); !asError(err, &usage) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// B65: what this machine can't do is refused before it looks like the server's
// fault.
func TestB65LimitsOfThisMachine(t *testing.T) {
	r := &runner{plan: &Plan{Load: Load{Concurrency: 1_000_000}}, log: &logger{}}
	var usage *UsageError
	if err := r.checkLimits(machine.This()); !asError(err, &usage) {
		t.Errorf("%v", err)
	}
}

// B66: without keep-alive the ports run out above 470 connections a second.
func TestB66PortsWarning(t *testing.T) {
	for rate, want := range map[float64]bool{1000: true, 100: false} {
		r := &runner{plan: &Plan{Client: client.Config{NoKeepAlive: true}, Load: Load{Rate: rate}}, log: &logger{}}
		if err := r.checkLimits(machine.This()); err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(r.log.warnings(), func(w warning) bool { return w.Name == "ports_scarce" }); got != want {
			t.Errorf("%v/s: warned %v", rate, got)
		}
	}
}

func TestSecondRunDoesNotOverwrite(t *testing.T) {
	f := &fake{chat: echo}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	ln := newPipes()
	srv := &http.Server{Handler: f}
	go srv.Serve(ln)
	defer srv.Close()
	_, err := Run(t.Context(), Plan{
		Timers: true,
		Client: client.Config{BaseURL: "http://fake", API: api.OpenAIChat, Dial: ln.dial},
		Output: Output{Out: dir},
	})
	var exists *run.ExistsError
	if !errors.As(err, &exists) || len(f.bodies) != 0 {
		t.Errorf("%d sent, %v", len(f.bodies), err)
	}
}

// A server that never answers is waited for no longer than the warm-up may last.
func TestWarmupMost(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) { sleep(s.ctx, time.Hour) }}
	res := virtual(t, f, Plan{Model: "m", Load: Load{Requests: 1, WarmupMost: 30 * time.Second}, Conditions: Conditions{Preflight: "none"}}, nil)
	var failed *TargetError
	if !errors.As(res.err, &failed) || !hasText(failed.What, "no warm-up request was answered within 30s") || res.wall > 31*time.Second {
		t.Errorf("%v after %v", res.err, res.wall)
	}
	f = &fake{chat: func(s *stream, b body) { // one answer is enough
		if s.n == 1 {
			sleep(s.ctx, time.Hour)
		}
		echo(s, b)
	}}
	if res = virtual(t, f, Plan{Model: "m", Load: Load{Requests: 1, WarmupMost: 30 * time.Second}, Conditions: Conditions{Preflight: "none"}}, nil); res.err != nil || res.run.Requests.OK != 1 {
		t.Errorf("%v", res.err)
	}
}
