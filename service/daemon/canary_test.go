package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/record/run"
	"tokenmeter/service/traffic"
)

// The secrets that a daemon knows or is shown. None looks like a vendor's key.
var canaries = map[string]string{
	"OPERATOR": "canary-Operator-Kx4", // of the upstream
	"CI":       "canary-Client-Jw7",   // that a client must show here
	"ADMIN":    "canary-Admin-Hv2",    // of /metrics
	"TEAM":     "canary-Collector-Gu9",
	"header":   "canary-Header-Ft5", // of the configuration, for the upstream
	"other":    "canary-Other-Es3",  // that the client sends besides
}

// No secret that the daemon holds or is shown leaves it, whatever a server repeats
// in whatever letters. An output that is new joins this test: by a file of dir, or
// a line of outputs.
func TestCanaryKeysOfTheDaemon(t *testing.T) {
	var n atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := strings.Join(r.Header["Authorization"], " ") + strings.Join(r.Header["X-Auth-Token"], " ") + strings.Join(r.Header["X-Other"], " ") + " " + r.URL.RawQuery
		said += " " + strings.ToLower(said) + " " + strings.ToUpper(said)
		if r.Method == http.MethodPost && n.Add(1)%3 == 0 { // the daemon looks, too, whenever it likes
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":%q,"code":%q}}`, "no entry for "+said, said, said)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Request-Id", said)
		fmt.Fprintf(w, "data: {\"id\":%q,\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", said, said, said)
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", said)
	}))
	defer up.Close()
	var sent collected
	sent.seen = map[string]int{}
	collector := httptest.NewServer(&sent)
	defer collector.Close()
	agent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	dir := t.TempDir()
	file := fmt.Sprintf(`
listeners: [{name: m, listen: "127.0.0.1:0", keys: [{name: ci, key_env: CI}]}]
admin: {listen: "127.0.0.1:0", token_env: ADMIN}
metrics: {hold: 0s, linger: 0s}
upstreams: [{name: a, url: %q, server_metrics: [auto], key_env: OPERATOR, headers: {X-Auth-Token: %q}}]
routes: [{name: chat, upstreams: [{name: a}]}]
objectives: ["p99 ttft < 60s"]
slo: {objectives: [{name: pace, objective: "p99 ttft < 60s", window: 28d}]}
store: %q
rows: {folder: %q}
keep: 1
identity: {session: "header:X-Session-Id", parent: "header:X-Dynamo-Parent-Session-Id"}
otel: {endpoint: %q, traces: true, key_env: TEAM, key_header: X-Team}
datadog: {address: %q}
log: {requests: true, level: debug}
`, up.URL, canaries["header"], filepath.Join(dir, "store.db"), filepath.Join(dir, "rows"), collector.URL, agent.LocalAddr())
	records, err := OpenRecords(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := OpenTrace(filepath.Join(dir, "trace.jsonl"), &Plan{})
	if err != nil {
		t.Fatal(err)
	}
	var log collected
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready, ended := make(chan [2]string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Sinks: []traffic.Sink{records, trace},
			Load: func() (*Plan, error) {
				return Parse("t.yaml", []byte(file), func(n string) (string, bool) { v, ok := canaries[n]; return v, ok })
			},
			Ready: func(all []Address, admin net.Addr) { ready <- [2]string{all[0].URL(), "http://" + admin.String()} }})
	}()
	var at [2]string
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	fetch := func(method, url, body string, header ...string) string {
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return fmt.Sprint(answer.Status, answer.Header) + string(text)
	}
	outputs := map[string]string{}
	for i := range 6 {
		fetch("POST", at[0]+"/v1/chat/completions?tag="+canaries["other"], fmt.Sprintf(`{"model":%q,"stream":true,"user":%q,"messages":[{"role":"user","content":%q}]}`, canaries["other"], canaries["other"], canaries["other"]),
			"Authorization", "Bearer "+canaries["CI"], "X-Other", "token "+canaries["other"], "X-Api-Key", canaries["other"], "X-Request-Id", canaries["CI"], "X-Session-Id", canaries["other"], "X-Dynamo-Parent-Session-Id", canaries["CI"],
			"Traceparent", fmt.Sprintf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b%d-01", i))
		outputs["a refusal"] += fetch("GET", at[0]+"/v1/files/"+canaries["other"], "", "Authorization", "Bearer "+canaries["CI"])
		outputs["a stranger's refusal"] += fetch("GET", at[0]+"/v1/models", "", "Authorization", "Bearer "+canaries["other"])
	}
	lines := []string{`tokenmeter_client_requests_total{client="ci",listener="m"} 12`, `tokenmeter_client_output_tokens_total{client="ci",listener="m"} 12`,
		`tokenmeter_telemetry_dropped_requests_total{exporter="records"} 0`, `tokenmeter_telemetry_dropped_requests_total{exporter="trace"} 0`}
	missing := func() (none []string) { // a request is counted before its tokens are
		for _, line := range lines {
			if !strings.Contains(outputs["/metrics"], line) {
				none = append(none, line)
			}
		}
		return none
	}
	for i := 0; i < 200 && missing() != nil; i++ {
		time.Sleep(20 * time.Millisecond)
		outputs["/metrics"] = fetch("GET", at[1]+"/metrics", "", "Authorization", "Bearer "+canaries["ADMIN"])
	}
	for _, line := range missing() {
		t.Errorf("no line %s", line)
	}
	for _, path := range []string{"/healthz", "/readyz", "/", "/metrics"} {
		outputs[path+" without its token"] = fetch("GET", at[1]+path, "")
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, sink := range []interface{ Close() (int64, error) }{records, trace} {
		if _, err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = agent.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	for buf := make([]byte, 64<<10); ; {
		size, _, err := agent.ReadFrom(buf)
		if err != nil {
			break
		}
		outputs["the agent"] += string(buf[:size])
	}
	outputs["the collector"], outputs["the log"] = sent.text.String(), log.text.String()
	rows := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		outputs[filepath.Base(path)] = string(data)
		if filepath.Ext(path) == ".parquet" { // what is packed in it
			all, err := parquet.Read[run.LiveRow](bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return err
			}
			for i := range all {
				rows++
				outputs["rows"] += fmt.Sprintf("%+v %+v %v\n", all[i], all[i].Error, *all[i].Key)
			}
		}
		return err
	})
	if err != nil || rows != 6 || strings.Count(outputs["records.jsonl"], `"client":"ci"`) != 6 || strings.Count(outputs["trace.jsonl"], `"session":"`) != 4 || !strings.Contains(outputs["the log"], `"key":"ci"`) {
		t.Errorf("%d rows, %v\n%s\n%s", rows, err, outputs["records.jsonl"], outputs["the log"])
	}
	for _, name := range []string{"records.jsonl", "store.db", "rows", "the agent", "the collector", "the log", "a refusal", "a stranger's refusal"} {
		if outputs[name] == "" {
			t.Errorf("there is nothing in %s", name)
		}
	}
	if !strings.Contains(outputs["records.jsonl"], "***") {
		t.Error("the server's words are not in the records: this test looks at nothing")
	}
	for name, text := range outputs {
		low := strings.ToLower(text)
		for which, key := range canaries {
			if i := strings.Index(low, strings.ToLower(key)); i >= 0 {
				t.Errorf("the key %s is in %s: …%q…", which, name, text[max(0, i-80):min(len(text), i+60)])
			}
		}
	}
}
