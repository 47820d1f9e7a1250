package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// The answer of the router's API reference: percentiles of half an hour, null for
// an endpoint of which it does not tell.
const routerSays = `{"data": {"id": "openai/gpt-4", "endpoints": [
  {"provider_name": "OpenAI", "tag": "openai", "latency_last_30m": {"p50": 250, "p75": 350, "p90": 480, "p99": 850},
   "throughput_last_30m": {"p50": 45.2, "p75": 38.5, "p90": 28.3, "p99": 15.1}},
  {"provider_name": "Someone", "tag": "someone/fp8", "latency_last_30m": null, "throughput_last_30m": null}]}}`

// What a router publishes of its providers is in the run's description, asked for
// as a probe and with the key; nobody else is asked, and what can't be read is null.
func TestPublished(t *testing.T) {
	var mu sync.Mutex // the server's requests run beside the test
	var asked []string
	var open atomic.Int64 // connections
	said, status := routerSays, 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get(Header))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, said)
	}))
	defer server.Close()
	// about is what a run says of a target, where the server answers with a status and a text.
	about := func(url string, code int, text string) (of run.Run, requests []string) {
		t.Helper()
		mu.Lock()
		asked, status, said = nil, code, text
		mu.Unlock()
		target := Target{Name: "t", Model: "openai/gpt-4:floor", Client: client.Config{API: api.OpenAIChat, BaseURL: url, Key: "secret",
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
				open.Add(1)
				return leaving{c, &open}, err
			}}}
		f, err := Create(t.Context(), t.TempDir(), []Target{target}, About{Kinds: small()}, clock.Start())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		mu.Lock()
		defer mu.Unlock()
		return f.about[0], asked
	}
	router := "http://" + Publisher + "/api/v1"
	of, requests := about(router, 200, routerSays)
	got := of.Published
	if len(got) != 2 || got[0].At.IsZero() {
		t.Fatalf("%+v", got)
	}
	some := timeline.Some[float64]
	want := run.Published{At: got[0].At, Provider: "OpenAI", Tag: "openai", TTFTP50: some(250), TTFTP90: some(480), TPSP50: some(45.2), TPSP90: some(28.3)}
	if got[0] != want || got[1] != (run.Published{At: got[1].At, Provider: "Someone", Tag: "someone/fp8"}) {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(requests, []string{"GET /api/v1/models/openai/gpt-4/endpoints Bearer secret 1"}) {
		t.Errorf("%q", requests)
	}
	for _, text := range []string{``, `{`, `[]`, `{"data": null}`, `{"data": {"endpoints": [{"latency_last_30m": "?"}]}}`} {
		if of, _ := about(router, 200, text); of.Published != nil {
			t.Errorf("%s: %+v", text, of.Published)
		}
	}
	if of, _ := about(router, 401, routerSays); of.Published != nil {
		t.Error("of a refusal")
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are still open", n)
	}
	if of, requests := about("http://example.com/api/v1", 200, routerSays); of.Published != nil || requests != nil {
		t.Errorf("another server was asked: %q", requests)
	}
}

// leaving is a connection that is counted until it is closed.
type leaving struct {
	net.Conn
	open *atomic.Int64
}

func (c leaving) Close() error {
	err := c.Conn.Close()
	if err == nil {
		c.open.Add(-1)
	}
	return err
}

// A router that does not answer holds up the first probes for 5 s at most.
func TestPublishedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := Target{Model: "m", Client: client.Config{API: api.OpenAIChat, BaseURL: "http://" + Publisher + "/api/v1",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
				return ours, nil
			}}}
		began := time.Now()
		if got := published(t.Context(), &target, clock.Start()); got != nil || time.Since(began) != 5*time.Second {
			t.Errorf("%+v after %v", got, time.Since(began))
		}
	})
}
