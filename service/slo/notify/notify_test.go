package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
			for _, one := range []slo.Firing{f, over(f, at.Add(time.Minute))} {
				if _, err := n.Send(t.Context(), []slo.Firing{one}); err != nil {
					t.Fatal(err)
				}
			}
			if len(r.bodies) != 2 || r.paths[0] != c.path {
				t.Fatalf("%d bodies to %v", len(r.bodies), r.paths)
			}
			for _, body := range r.bodies {
				if !json.Valid([]byte(body)) {
					t.Errorf("no JSON: %s", body)
				}
				if !strings.Contains(body, MessageID(f)) {
					t.Errorf("the id is not in %s", body)
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

// Many receivers know who posts by nothing but the path or the query, which a page that
// refuses likes to repeat.
func TestRepeatedPath(t *testing.T) {
	for _, s := range []slo.NotifySpec{
		{Webhook: "http://h/webhooks/12/canary-path-7?k=canary-query-7"},
		{Slack: "http://h/webhooks/12/canary-path-7?k=canary-query-7"},
	} {
		n, err := New(s, Options{Env: env, Client: &http.Client{Transport: transport(func(q *http.Request) (*http.Response, error) {
			said := "Cannot POST " + q.URL.Path + " (" + q.URL.RawQuery + ")"
			return &http.Response{StatusCode: 404, Status: "404 Not Found", Body: io.NopCloser(strings.NewReader(said)), Request: q}, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Send(t.Context(), []slo.Firing{firing("a")}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// A receiver that asks to be left alone for longer than there are nanoseconds is left
// alone for a day; it has not refused the message.
func TestRetryAfterWithoutEnd(t *testing.T) {
	for after, want := range map[string]time.Duration{"7": 7 * time.Second, "-1": 0, "9223372037": 24 * time.Hour, "9223372036854775807": 24 * time.Hour, "1e99": 0, "99999999999999999999": 24 * time.Hour} {
		n, err := New(slo.NotifySpec{Webhook: "http://h/hook"}, Options{Env: env, Client: &http.Client{Transport: transport(func(q *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {after}}, Body: http.NoBody, Request: q}, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := n.Send(t.Context(), []slo.Firing{{}}); again != want || err == nil {
			t.Errorf("%s: again in %v, %v", after, again, err)
		}
	}
}
