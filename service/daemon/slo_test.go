package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/traffic"
)

// Live requests spend budgets, which /metrics shows and which outlive the
// daemon.
func TestBudgets(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "fail") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	database := filepath.Join(t.TempDir(), "history.db")
	file := fmt.Sprintf(`
listeners: [{listen: "127.0.0.1:0"}]
upstreams: [{name: one, url: %q}]
routes: [{name: all, upstreams: [{name: one}]}]
admin: {listen: "127.0.0.1:0"}
metrics: {hold: 0s, linger: 0s}
store: %q
slo:
  objectives:
    - {name: up, objective: availability >= 90%%, window: 7d}
`, up.URL, database)
	if _, err := Parse("t.yaml", []byte(file), noEnv); err != nil {
		t.Fatal(err)
	}
	var metrics, run string
	for round := range 2 {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ready, ended := make(chan [2]string, 1), make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Load: func() (*Plan, error) { return Parse("t.yaml", []byte(file), noEnv) },
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
		for _, text := range []string{"one", "two", "three", "fail"} {
			response, err := http.Post(at[0]+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"`+text+`"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		want := fmt.Sprintf(`tokenmeter_slo_valid_total{group="",hash="%s",run="%s",slo="up",source="live"} %d`, traffic.Hash("error rate <= 10%"), run, 4*(round+1))
		for range 100 {
			response, err := http.Get(at[1] + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			metrics = string(body)
			if run == "" { // the store's: the next process must have the same
				_, rest, _ := strings.Cut(metrics, `run="`)
				run, _, _ = strings.Cut(rest, `"`)
				want = strings.Replace(want, `run=""`, `run="`+run+`"`, 1)
			}
			if strings.Contains(metrics, want) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if !strings.Contains(metrics, want) {
			t.Errorf("round %d: %s is not in the metrics", round, want)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	db, err := sqlite.OpenReadOnly(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	objectives, _, err := slo.Load("t.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := history.Load(t.Context(), db, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if r := objectives[0].Evaluate(memory, slo.Live, nil, time.Now()); r.Good != 6 || r.Valid != 8 {
		t.Errorf("the history has %+v", r.Counts)
	}
}

type kept chan *traffic.Request

func (k kept) Done(r *traffic.Request) { k <- r }

// Probes count apart, with anything but 0 or false in the header, and the first
// token that a caller saw is the upstream's and the proxy's own delay.
func TestProbesAndDelivered(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Fail") != "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	for _, c := range []struct{ config, header string }{{"", "X-Tokenmeter-Probe"}, {"identity: {probe: X-Synthetic}\n", "X-Synthetic"}, {"identity: {probe: none}\n", ""}} {
		file := c.config + fmt.Sprintf(`
listeners: [{listen: "127.0.0.1:0"}]
admin: {listen: "127.0.0.1:0"}
upstreams: [{name: one, url: %q}]
routes: [{name: all, upstreams: [{name: one}]}]
store: %q
slo:
  objectives:
    - {name: up, objective: availability >= 90%%, sources: [live]}
    - {name: delivered, objective: p90 delivered_ttft < 100s}
`, up.URL, filepath.Join(t.TempDir(), "history.db"))
		seen := make(kept, 10)
		ctx, stop := context.WithCancel(t.Context())
		ready, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Sinks: []traffic.Sink{seen}, Load: func() (*Plan, error) { return Parse("t.yaml", []byte(file), noEnv) },
				Ready: func(listeners []Address, _ net.Addr) { ready <- listeners[0].URL() }})
		}()
		var at string
		select {
		case at = <-ready:
		case err := <-ended:
			t.Fatal(err)
		}
		for _, value := range []string{"", "0", "False", "1", "yes"} {
			q, _ := http.NewRequest(http.MethodPost, at+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
			q.Header.Set("Content-Type", "application/json")
			want := traffic.Live
			if q.Header.Set("X-Tokenmeter-Probe", value); c.header != "" {
				q.Header.Set(c.header, value)
				if value == "1" || value == "yes" {
					want = traffic.Probe
				}
			}
			if want == traffic.Probe {
				q.Header.Set("X-Fail", "1")
			}
			response, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			r := <-seen
			if r.Labels.Source != want {
				t.Errorf("%q: %q is %s", c.header, value, r.Labels.Source)
			}
			ttft, streamed := r.Record.TTFTMS.Get()
			first, written := r.Delay.FirstUS.Get()
			got, ok := r.Record.DeliveredTTFTMS.Get()
			if streamed != (want == traffic.Live) || ok != (streamed && written) || ok && got != ttft+float64(first)/1000 {
				t.Errorf("delivered after %v ms (%t), of %v and %d us", got, ok, ttft, first)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}
