package notify

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/service/slo"
)

var at = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func firing(name string) slo.Firing {
	return slo.Firing{Objective: name, Source: slo.Live, Alert: "burn_1h_5m", Severity: slo.Page, Since: at, Says: "It burns <fast> & hot.", Compiled: "99 % of requests", Long: "1h", Short: "5m"}
}

func over(f slo.Firing, when time.Time) slo.Firing {
	f.Resolved, f.Says = &when, "It is over."
	return f
}

// receiver is a server that keeps what it got.
type receiver struct {
	*httptest.Server
	bodies  []string
	paths   []string
	headers []http.Header
	answer  func(n int, w http.ResponseWriter)
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.bodies, r.paths, r.headers = append(r.bodies, string(body)), append(r.paths, q.URL.Path), append(r.headers, q.Header)
		if r.answer != nil {
			r.answer(len(r.bodies), w)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func env(name string) (string, bool) {
	v, ok := map[string]string{"KEY": "sk-very-secret-key-1234", "EMPTY": ""}[name]
	return v, ok
}

func TestForms(t *testing.T) {
	for _, c := range []struct {
		name string
		spec func(url string) slo.NotifySpec
		path string
		key  string
		want []string
	}{
		{"alertmanager", func(u string) slo.NotifySpec { return slo.NotifySpec{Alertmanager: u + "/", KeyEnv: "KEY"} }, "/api/v2/alerts", "Authorization",
			[]string{`"alertname":"TokenmeterSLO"`, `"slo":"chat"`, `"startsAt":"2026-03-02T12:00:00Z"`, `"long":"1h"`}},
		{"webhook", func(u string) slo.NotifySpec { return slo.NotifySpec{Webhook: u + "/hook", KeyEnv: "KEY"} }, "/hook", "Authorization",
			[]string{`"schema":"tokenmeter.slo-alerts/v1"`, `"status":"firing"`, `"budget_remaining":null`}},
		{"slack", func(u string) slo.NotifySpec { return slo.NotifySpec{Slack: u + "/services/T0/B0/abcdefgh"} }, "/services/T0/B0/abcdefgh", "",
			[]string{`Page: chat, burn_1h_5m`, `\u0026lt;fast\u0026gt; \u0026amp; hot`}},
		{"datadog", func(u string) slo.NotifySpec { return slo.NotifySpec{Datadog: u, KeyEnv: "KEY"} }, "/api/v1/events", "DD-API-KEY",
			[]string{`"alert_type":"error"`, `"aggregation_key":"tokenmeter-chat-live--burn_1h_5m"`, `"date_happened":1772452800`, `"slo:chat"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReceiver(t)
			n, err := New(c.spec(r.URL), Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			f := firing("chat")
			if err := n.Tell(t.Context(), at, []slo.Firing{f}, nil); err != nil {
				t.Fatal(err)
			}
			// Told once; the same alert again is no news.
			for range 3 {
				if err := n.Tell(t.Context(), at.Add(30*time.Second), []slo.Firing{f}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.Tell(t.Context(), at.Add(time.Minute/2), nil, []slo.Firing{over(f, at.Add(time.Minute))}); err != nil {
				t.Fatal(err)
			}
			if len(r.bodies) != 2 || r.paths[0] != c.path {
				t.Fatalf("%d bodies to %v", len(r.bodies), r.paths)
			}
			for _, body := range r.bodies {
				if !json.Valid([]byte(body)) {
					t.Errorf("no JSON: %s", body)
				}
			}
			for _, want := range c.want {
				if !strings.Contains(r.bodies[0], want) {
					t.Errorf("%s is not in %s", want, r.bodies[0])
				}
			}
			if !strings.Contains(strings.ToLower(r.bodies[1]), "resolved") && !strings.Contains(r.bodies[1], "success") && !strings.Contains(r.bodies[1], "endsAt") {
				t.Errorf("nothing says that it is over: %s", r.bodies[1])
			}
			if c.key != "" && !strings.Contains(r.headers[0].Get(c.key), "sk-very-secret-key-1234") {
				t.Errorf("%s is %q", c.key, r.headers[0].Get(c.key))
			}
		})
	}
}

func TestRepeats(t *testing.T) {
	r := newReceiver(t)
	n, err := New(slo.NotifySpec{Webhook: r.URL, Severities: []string{"page"}}, Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	f, ticket := firing("chat"), firing("batch")
	ticket.Severity = slo.Ticket
	for minute := range 9 * 60 {
		if err := n.Tell(t.Context(), at.Add(time.Duration(minute)*time.Minute), []slo.Firing{f, ticket}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.bodies) != 3 { // at 0, 4 and 8 h
		t.Errorf("told %d times in 9 hours", len(r.bodies))
	}
	if strings.Contains(strings.Join(r.bodies, ""), "batch") {
		t.Error("a ticket was told to somebody who wants pages")
	}
	// What nobody was told of is not resolved either.
	if n.Tell(t.Context(), at, nil, []slo.Firing{over(firing("other"), at)}); len(r.bodies) != 3 {
		t.Error("an unknown alert was resolved")
	}
}

// A receiver that is busy is asked again, later and later; what was not told is
// told the next time, once.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, status := 0, 0
		client := &http.Client{Transport: transport(func(q *http.Request) (*http.Response, error) {
			calls++
			switch {
			case status == 0:
				return nil, &net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF}
			}
			h := http.Header{}
			h.Set("Retry-After", "30")
			return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader("key sk-very-secret-key-1234 is wrong")), Request: q}, nil
		})}
		n, err := New(slo.NotifySpec{Webhook: "http://127.0.0.1:1/hook?token=abcdef123456", KeyEnv: "KEY"}, Options{Env: env, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		f := firing("chat")
		begun := time.Now()
		err = n.Tell(t.Context(), at, []slo.Firing{f}, nil)
		if err == nil || calls != tries || time.Since(begun) != 13*time.Second {
			t.Errorf("%d calls in %s: %v", calls, time.Since(begun), err)
		}
		for _, code := range []int{503, 429, 400} {
			status, calls, begun = code, 0, time.Now()
			err = n.Tell(t.Context(), at, []slo.Firing{f}, nil)
			wantCalls, wantWait := tries, 90*time.Second
			if code == 400 {
				wantCalls, wantWait = 1, 0
			}
			if err == nil || calls != wantCalls || time.Since(begun) != wantWait {
				t.Errorf("%d: %d calls in %s: %v", code, calls, time.Since(begun), err)
			}
			if text := err.Error(); strings.Contains(text, "very-secret") || strings.Contains(text, "abcdef123456") || !strings.Contains(text, "chat") {
				t.Errorf("the error is %q", text)
			}
		}
		status, calls = 200, 0
		for range 2 {
			if err := n.Tell(t.Context(), at, []slo.Firing{f}, nil); err != nil || calls != 1 {
				t.Errorf("%d calls, %v", calls, err)
			}
		}
		// It is over, and nobody could be told: the next time.
		status = 500
		if n.Tell(t.Context(), at, nil, []slo.Firing{over(f, at)}) == nil {
			t.Error("no error")
		}
		status, calls = 200, 0
		if err := n.Tell(t.Context(), at, nil, nil); err != nil || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		status = 500
		begun = time.Now()
		if n.Tell(ctx, at, []slo.Firing{f}, nil) == nil || time.Since(begun) != 5*time.Second {
			t.Errorf("the context ended after 5 s, Tell after %s", time.Since(begun))
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

func TestRefused(t *testing.T) {
	for _, s := range []slo.NotifySpec{
		{},
		{Webhook: "ftp://x/y"},
		{Webhook: "http://%zz"},
		{Datadog: "datadoghq.eu", KeyEnv: "NONE"},
		{SlackEnv: "EMPTY"},
		{SlackEnv: "KEY"},
	} {
		if _, err := New(s, Options{Env: env}); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
