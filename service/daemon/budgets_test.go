package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/service/traffic"
)

const withSLO = small + `slo:
  objectives:
`

// Objectives that nothing in the configuration can decide are refused, with
// their places.
func TestObjectivesThatNeverOccur(t *testing.T) {
	hours := filepath.Join(t.TempDir(), "hours.yaml")
	if err := os.WriteFile(hours, []byte("gpu_hour: 2\ngpus: 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ head, objective, want string }{
		{"", "{name: a, objective: gpu_utilization >= 60%, slice: 1m, target: 90%}", "t.yaml:6:17: nobody reads these GPUs"},
		{"scrape: [{url: \"http://h/metrics\", upstream: a}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 1m, target: 90%, where: {upstream: b}}", `there is no upstream "b"`},
		{"scrape: [{url: \"http://h/metrics\", upstream: a}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 1m, target: 90%, where: {upstream: a}, by: [upstream]}", ""},
		{"scrape: [{url: \"http://h/metrics\"}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 1m, target: 90%, where: {upstream: a}}", "nobody reads these GPUs"},
		{"scrape: [{url: \"http://h/metrics?token=t\", every: 1m}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 30s, target: 90%}", "is shorter than the 1m0s between readings of h"},
		{"scrape: [{url: \"http://h/metrics\"}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 30s, target: 90%, where: {model: m}}", "readings of GPUs have no model"},
		{"scrape: [{url: \"http://h/metrics\"}]\n", "{name: a, objective: gpu_utilization >= 60%, slice: 30s, target: 90%, sources: [probe]}", "count as live"},
		{"", "{name: a, objective: usd_per_1k_output < 0.01, slice: 1m, target: 90%}", "name a price file in prices"},
		{"prices: " + hours + "\n", "{name: a, objective: usd_per_1k_output < 0.01, slice: 1m, target: 90%}", ""},
		{"prices: " + hours + "\n", "{name: a, objective: usd_per_1k_output < 0.01, slice: 1m, target: 90%, by: [model]}", "can't be shared out"},
		{"prices: /no/such/file\n", "{name: a, objective: usd_per_1k_output < 0.01, slice: 1m, target: 90%}", "no such file"},
		{"", "{name: a, objective: goodput_per_s >= 5, slice: 1m, target: 90%}", "write limits in objectives"},
		{"objectives: [p95 ttft < 1s]\n", "{name: a, objective: goodput_per_s >= 5, slice: 1m, target: 90%}", ""},
		{"", "{name: a, objective: check pass >= 98%}", "nobody checks"},
		{"", "{name: a, objective: availability >= 98%, sources: [live, probe]}", ""},
		{"identity: {probe: none}\n", "{name: a, objective: availability >= 98%, sources: [live, probe]}", "t.yaml:6:65: no request is a probe"},
		{"", "{name: a, objective: p99 delivered_ttft < 2s, sources: [live, probe]}", ""},
		{"", "{name: a, objective: p99 delivered_ttft < 2s, sources: [live, run]}", "runs have no delivered_ttft"},
		{"", "{name: a, objective: task success >= 98%, sources: [probe]}", "identity.task"},
		{"", "{name: a, objective: check pass >= 98%, sources: [run]}", ""},
		{"", "{name: a, objective: task success >= 98%}", "identity.task"},
		{"identity: {task: \"header:X-Task\"}\n", "{name: a, objective: task success >= 98%}", ""},
		{"", "{name: a, objective: availability >= 99%, where: {route: chat}}", `there is no route "chat"`},
		{"", "{name: a, objective: availability >= 99%, where: {route: all, upstream: a, api: openai-chat, model: any}}", ""},
		{"", "{name: a, objective: availability >= 99%, where: {api: openai}}", `there is no api "openai"`},
		{"models: [m]\n", "{name: a, objective: availability >= 99%, where: {model: n}}", `there is no model "n"`},
	} {
		_, err := Parse("t.yaml", []byte(withSLO+"    - "+c.objective+"\n"+c.head), noEnv)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s:\n%v, want %q", c.head, c.objective, err, c.want)
		}
	}
}

// No mistake shows what an address holds of a password or a key.
func TestMistakesShowNoPasswords(t *testing.T) {
	const password = "hunter2hunter2"
	for _, text := range []string{
		"scrape: [{url: \"http://u:" + password + "@h/metrics\", every: 1m}]\nslo:\n  objectives:\n    - {name: a, objective: gpu_utilization >= 60%, slice: 30s, target: 90%}\n",
		"scrape: [{url: \"http://h/metrics?token=" + password + "\", every: 1m}]\nslo:\n  objectives:\n    - {name: a, objective: gpu_utilization >= 60%, slice: 30s, target: 90%}\n",
		"scrape: [{url: \"ftp://u:" + password + "@h/metrics\"}]\n",
		"scrape: [{url: \"http://u:" + password + "@h:x/\"}]\n",
		"rows: {folder: r, s3: {bucket: b, endpoint: \"http://u:" + password + "@h\"}}\n",
		"otel: {endpoint: \"http://u:" + password + "@h\"}\n",
		"otel: {endpoint: \"u:" + password + "@h\"}\n",
		"datadog: {address: \"udp://u:" + password + "@h\"}\n",
		"store: \"postgres://u:" + password + "@h:x/d\"\n",
		"store: \"postgres://u:" + password + "@h/d?sslmode=" + password + "\"\n",
		"store: \"postgres://u:" + password + "/x@h/d?port=x\"\n",
		"store: \"mysql://u:" + password + "@h/d\"\n",
		"store: \"postgres://u:" + password + "@h/d\"\nstore_name: a/b\n",
		"admin: {listen: \"http://u:" + password + "@h\"}\n",
		"slo: {objectives: [{name: a, objective: p99 ttft < 1s}], notify: [{webhook: \"ftp://u:" + password + "@h\"}, {slack: \"http://u:" + password + "@h:x\"}]}\n",
	} {
		_, err := Parse("t.yaml", []byte(small+text), noEnv)
		if err == nil {
			t.Errorf("%s was taken", text)
		} else if strings.Contains(err.Error(), password) {
			t.Errorf("%s", err)
		}
	}
	for _, url := range []string{"http://u:" + password + "/x@h", "ftp://u:" + password + "@h", "u:" + password + "@", "http://u:" + password + "@h:x", "http://u:" + password + "@::1:80"} {
		text := strings.Replace(small, "http://127.0.0.1:1", url, 1)
		_, err := Parse("t.yaml", []byte(text), noEnv)
		if text == small || err == nil {
			t.Errorf("%s was taken:\n%s", url, text)
		} else if strings.Contains(err.Error(), password) {
			t.Errorf("%s", err)
		}
	}
}

// The session token of the environment belongs to the keys of the environment.
func TestSessionToken(t *testing.T) {
	all := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "session", "OTHER": "other"}
	env := func(name string) (string, bool) { v, ok := all[name]; return v, ok }
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got = q.Header.Get("X-Amz-Security-Token") }))
	defer server.Close()
	empty, err := os.Create(filepath.Join(t.TempDir(), "empty"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	for text, want := range map[string]string{
		"": "session", ", access_key_env: AWS_ACCESS_KEY_ID": "session", ", access_key_env: OTHER": "", ", secret_key_env: OTHER": "",
		", access_key_env: OTHER, secret_key_env: OTHER": "", ", secret_key_env: OTHER, token_env: OTHER": "other",
	} {
		plan, err := Parse("t.yaml", []byte(small+"rows: {folder: r, s3: {endpoint: \""+server.URL+"\", bucket: b"+text+"}}\n"), env)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.bucket.Put(t.Context(), "x", empty); err != nil || got != want {
			t.Errorf("%q: token %q, want %q (%v)", text, got, want, err)
		}
	}
}

func TestMistakesInScrapeAndRows(t *testing.T) {
	const bad = small + `scrape:
  - {url: "gpu:9400"}
  - {url: "http://u:p@h/metrics"}
  - {url: "http://h/metrics", every: 10ms, upstream: b, key_env: NO_SUCH_KEY, scale: half}
  - {url: "http://h/metrics", ca_file: /no/such/file}
  - {metric: x}
rows:
  every: 1s
  days: -1
  s3: {endpoint: "s3.amazonaws.com", bucket: b}
`
	_, err := Parse("bad.yaml", []byte(bad), noEnv)
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{"bad.yaml:5:", "passwords do not belong here", "at least 1s", `there is no upstream "b"`, "NO_SUCH_KEY is not set", "bad.yaml:7:",
		`something named "h" is read already`, "/no/such/file", "url", "folder", "between 1m and 24h", "a number below 0", "AWS_ACCESS_KEY_ID is not set",
		"AWS_SECRET_ACCESS_KEY is not set", "this is no URL like https://s3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

// logText is a log that tests read.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 400 {
		if holds() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("%s never came", what)
}

// A running daemon takes other objectives without losing a count, reads GPUs,
// and keeps rows.
func TestObjectivesChangeWhileItRuns(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fmt.Fprint(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 50\n")
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.yaml")
	write := func(rest string) {
		t.Helper()
		file := fmt.Sprintf(`
listeners: [{listen: "127.0.0.1:0"}]
upstreams: [{name: one, url: %q}]
routes: [{name: all, upstreams: [{name: one}]}]
admin: {listen: "127.0.0.1:0"}
metrics: {hold: 0s, linger: 0s}
rows: {folder: %q}
%s`, up.URL, filepath.Join(dir, "rows"), rest)
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("") // no objectives yet
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log := &logText{}
	ready, ended := make(chan [2]string, 1), make(chan error, 1)
	counted := make(outcomes, 10) // the last to be told
	go func() {
		ended <- Run(ctx, Options{Sinks: []traffic.Sink{counted}, Load: func() (*Plan, error) { return Load(path, noEnv) }, Files: func(*Plan) []string { return []string{path} },
			Watch: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil)),
			Ready: func(listeners []Address, admin net.Addr) {
				ready <- [2]string{listeners[0].URL(), "http://" + admin.String()}
			}})
	}()
	var at [2]string
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	ask := func(n int) {
		t.Helper()
		for range n {
			response, err := http.Post(at[0]+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			<-counted // an answer may end a moment before it is counted
		}
	}
	shows := func(parts ...string) func() bool {
		return func() bool {
			response, err := http.Get(at[1] + "/metrics")
			if err != nil {
				return false
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			for _, line := range strings.Split(string(body), "\n") {
				found := true
				for _, p := range parts {
					found = found && strings.Contains(line, p)
				}
				if found {
					return true
				}
			}
			return false
		}
	}
	taken := 0
	change := func(rest string) {
		t.Helper()
		write(rest)
		taken++
		eventually(t, "the new configuration", func() bool { return strings.Count(log.String(), "configuration taken") >= taken })
	}
	history := filepath.Join(dir, "h.db")
	part := fmt.Sprintf("store: %q\nscrape: [{name: gpus, url: %q, every: 1s}]\nslo:\n  objectives:\n", history, up.URL)
	ask(2)
	change(part + "    - {name: up, objective: availability >= 90%}\n")
	ask(3)
	eventually(t, "the first objective", shows("tokenmeter_slo_valid_total", `slo="up"`, " 3"))
	change(part + "    - {name: there, objective: availability >= 90%, window: 7d}\n    - {name: fast, objective: p90 ttft < 10s}\n" +
		"    - {name: gpu, objective: gpu_utilization >= 10%, slice: 10s, target: 50%}\n")
	ask(4)
	eventually(t, "the renamed objective", shows("tokenmeter_slo_valid_total", `slo="there"`, " 7"))
	eventually(t, "the new objective", shows("tokenmeter_slo_valid_total", `slo="fast"`, " 4"))
	eventually(t, "the scraper", shows("tokenmeter_scrape_failures_total", `scrape="gpus"`, " 0"))
	change(strings.Replace(part, history, filepath.Join(dir, "other.db"), 1) + "    - {name: up, objective: availability >= 90%}\n")
	ask(1)
	eventually(t, "the objective of the old store", shows("tokenmeter_slo_valid_total", `slo="up"`, " 8"))
	if !strings.Contains(log.String(), "until a restart") {
		t.Error("nothing says that the store needs a restart")
	}
	if _, err := os.Stat(filepath.Join(dir, "other.db")); err == nil {
		t.Error("the other store was made")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "rows", "*", "*.parquet")); len(files) == 0 || len(files) > 2 {
		t.Errorf("files %v", files)
	}
}
