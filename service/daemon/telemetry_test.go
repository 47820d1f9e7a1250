package daemon

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

const canary = "sk-canary-0123456789abcdef"

// collected is what left the daemon.
type collected struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen map[string]int
}

func (c *collected) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *collected) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
		body, _ = io.ReadAll(z)
	}
	_, _ = c.Write(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[r.URL.Path]++
	if r.Header.Get("X-Team") != "token-TEAM" {
		c.seen["without its key"]++
	}
}

// A request leaves by every exporter, and the keys of nobody do: not the
// client's, not one that a server repeats, not that of the collector.
func TestTelemetryLeavesTheDaemon(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("X-Fail") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"the key %s is wrong"}}`, r.Header.Get("Authorization"))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	out := &collected{seen: map[string]int{}}
	collector := httptest.NewServer(out)
	defer collector.Close()
	agent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	packets := make(chan string, 1000)
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, _, err := agent.ReadFrom(buf)
			if err != nil {
				close(packets)
				return
			}
			packets <- string(buf[:n])
		}
	}()
	file := fmt.Sprintf(`
listeners: [{name: m, listen: "127.0.0.1:0"}]
admin: {listen: "127.0.0.1:0"}
metrics: {hold: 0s, linger: 0s}
upstreams: [{name: a, url: %q}]
routes: [{name: chat, upstreams: [{name: a}]}]
objectives: ["p99 ttft < 60s", "error rate < 1%%"]
models: [good]
otel: {endpoint: %q, traces: true, key_env: TEAM, key_header: X-Team}
datadog: {address: %q, tags: ["env:test"]}
log: {requests: true, level: debug}
`, up.URL, collector.URL, agent.LocalAddr())
	var log collected
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready, ended := make(chan [2]string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Load: func() (*Plan, error) {
				return Parse("t.yaml", []byte(file), func(n string) (string, bool) { return "token-" + n, true })
			},
			Ready: func(all []Address, admin net.Addr) { ready <- [2]string{all[0].URL(), "http://" + admin.String()} }})
	}()
	var at [2]string
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	for i, header := range []string{"X-Ok", "X-Ok", "X-Fail"} {
		r, _ := http.NewRequest("POST", at[0]+"/v1/chat/completions?key="+canary, strings.NewReader(fmt.Sprintf(`{"model":"good","stream":true,"user":"%s","messages":[]}`, canary)))
		r.Header.Set(header, "1")
		r.Header.Set("Authorization", "Bearer "+canary)
		r.Header.Set("X-Request-Id", canary)
		r.Header.Set("Traceparent", fmt.Sprintf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b%d-01", i))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	page := func() string {
		answer, err := http.Get(at[1] + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return string(body)
	}
	text := page()
	wanted := []string{
		`tokenmeter_requests_total{api="openai-chat",model="good",outcome="http_4xx",route="chat",source="live",upstream="a"} 1`,
		`tokenmeter_requests_total{api="openai-chat",model="good",outcome="ok",route="chat",source="live",upstream="a"} 2`,
		`tokenmeter_input_tokens_total{api="openai-chat",model="good",route="chat",source="live",upstream="a"} 14`,
		`tokenmeter_output_tokens_total{api="openai-chat",model="good",route="chat",source="live",upstream="a"} 6`,
		`tokenmeter_ttft_seconds_count{api="openai-chat",model="good",route="chat",source="live",upstream="a"} 2`,
		`tokenmeter_ttft_seconds_bucket{api="openai-chat",model="good",route="chat",source="live",upstream="a",le="60"} 2`,
		`tokenmeter_in_flight_requests{listener="m"} 0`,
		`tokenmeter_upstream_healthy_ratio{listener="m",upstream="a"} 1`,
	}
	// Distributions are filled a moment after the answer, and it ends a moment
	// after its last byte.
	for i := 0; i < 200 && slices.ContainsFunc(wanted, func(line string) bool { return !strings.Contains(text, line+"\n") }); i++ {
		time.Sleep(50 * time.Millisecond)
		text = page()
	}
	for _, line := range wanted {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	plan, err := Parse("t.yaml", []byte(file), func(n string) (string, bool) { return "token-" + n, true })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, slo, n string }{{"good", traffic.Key(&plan.Objectives[0]), "2"}, {"valid", traffic.Key(&plan.Objectives[0]), "3"}, {"good", traffic.Key(&plan.Objectives[1]), "2"}} {
		if !strings.Contains(text, "tokenmeter_slo_"+c.name+"_total{group=\"\",hash=") || !has(text, "tokenmeter_slo_"+c.name+"_total", c.slo, " "+c.n) {
			t.Errorf("%s of %s is not %s in\n%s", c.name, c.slo, c.n, lines(text, "tokenmeter_slo_"))
		}
	}
	if n := strings.Count(text, "# TYPE tokenmeter_"); n < 30 {
		t.Errorf("%d metrics", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	for late := time.After(10 * time.Second); !strings.Contains(sent.String(), "tokenmeter.slo.valid:"); {
		select {
		case p := <-packets:
			sent.WriteString(p + "\n")
		case <-late:
			t.Fatalf("the agent got %q", sent.String())
		}
	}
	if out.seen["/v1/metrics"] == 0 || out.seen["/v1/traces"] == 0 || out.seen["without its key"] != 0 {
		t.Errorf("the collector got %v", out.seen)
	}
	for _, want := range []string{"tokenmeter.requests:2|c|#env:test,source:live,route:chat,upstream:a,model:good,api:openai-chat,outcome:ok", "tokenmeter.slo.valid:3|c|#"} {
		if !strings.Contains(sent.String(), want) {
			t.Errorf("the agent did not get %s in\n%s", want, sent.String())
		}
	}
	if !strings.Contains(out.text.String(), "gen_ai.client.inference.duration") || !strings.Contains(out.text.String(), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36") {
		t.Error("the collector got no duration or no trace")
	}
	for name, text := range map[string]string{"page": text, "collector": out.text.String(), "agent": sent.String(), "log": log.text.String()} {
		if strings.Contains(text, canary) || strings.Contains(text, "token-TEAM") {
			t.Errorf("a key is in what went to the %s", name)
		}
	}
}

func has(text, name, slo, n string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+"{") && strings.Contains(line, `slo="`+slo+`"`) && strings.HasSuffix(line, n+"\n") {
			return true
		}
	}
	return false
}

func lines(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestLimitsOfBudgetsAreEdges(t *testing.T) {
	p, err := Parse("t.yaml", []byte(small+"objectives: [p99 ttft < 123ms]\nslo: {objectives: [{name: pace, objective: p99 tpot < 77ms}]}\n"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	for m, edge := range map[*telemetry.Metric]float64{telemetry.TTFT: 0.123, telemetry.TPOT: 0.077} {
		if !slices.Contains(m.Edges(p.thresholds()), edge) {
			t.Errorf("%v is no edge of %s", edge, m.Name)
		}
	}
}

func TestTelemetryIsChecked(t *testing.T) {
	_, err := Parse("t.yaml", []byte(small+`
metrics: {models: -1, natives: true}
otel: {endpoint: "collector:4318", key_env: NONE, sample: 2, conventions: v9, every: -1s}
datadog: {address: nowhere}
`), noEnv)
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{"a number below 0", "natives", "no URL like http://127.0.0.1:4318", "NONE is not set", "a share is above 0", "v9", "a time below 0", `"nowhere" is neither HOST:PORT`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in\n%v", want, err)
		}
	}
}
