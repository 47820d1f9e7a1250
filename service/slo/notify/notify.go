// Package notify tells people and their tools of alerts: an Alertmanager, a
// webhook, a Slack-compatible webhook, or Datadog events. Each alert is told
// when it begins, while it goes on, and when it is over, each at least once: a
// Courier keeps what a receiver knows. No key appears in an error.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/service/slo"
)

// Notifier is how one receiver is told. Safe for concurrent use.
type Notifier struct {
	name       string
	form       form
	url        string
	header     http.Header
	severities []slo.Severity
	repeat     time.Duration
	client     *http.Client
	redact     *secret.Redactor
}

// form makes the bodies of a kind of receiver.
type form struct {
	name   string
	batch  bool // all alerts in one body
	encode func([]slo.Firing, time.Duration) any
}

// Options of New.
type Options struct {
	Client *http.Client                // nil: one with a time limit of 10 s
	Env    func(string) (string, bool) // the environment, for keys
}

// New returns a notifier.
func New(s slo.NotifySpec, o Options) (*Notifier, error) {
	n := &Notifier{name: s.Name, header: http.Header{}, repeat: time.Duration(s.Repeat), client: o.Client}
	for _, severity := range s.Severities {
		n.severities = append(n.severities, slo.Severity(severity))
	}
	if n.client == nil {
		n.client = &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	env := func(name string) (string, error) {
		if name == "" {
			return "", nil
		}
		return secret.FromVariable(name, o.Env)
	}
	key, err := env(s.KeyEnv)
	if err != nil {
		return nil, err
	}
	if key != "" && s.Datadog == "" {
		n.header.Set("Authorization", "Bearer "+key)
	}
	usual := 4 * time.Hour
	switch {
	case s.Alertmanager != "":
		n.url, n.form, usual = strings.TrimRight(s.Alertmanager, "/")+"/api/v2/alerts", form{"alertmanager", true, alertmanager}, time.Minute
	case s.Webhook != "":
		n.url, n.form = s.Webhook, form{"webhook", true, webhook}
	case s.Slack != "" || s.SlackEnv != "":
		n.form = form{"slack", false, slack}
		if n.url = s.Slack; n.url == "" {
			if n.url, err = env(s.SlackEnv); err != nil {
				return nil, err
			}
		}
	case s.Datadog != "":
		n.url, n.form = "https://api."+s.Datadog+"/api/v1/events", form{"datadog", false, datadog}
		if strings.Contains(s.Datadog, "://") {
			n.url = strings.TrimRight(s.Datadog, "/") + "/api/v1/events"
		}
		n.header.Set("DD-API-KEY", key)
	default:
		return nil, errors.New("there is no address to notify")
	}
	u, err := url.Parse(n.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address to notify is no http or https URL") // it may be a secret
	}
	n.repeat = cmp.Or(n.repeat, usual)
	n.name = cmp.Or(n.name, u.Host)
	secrets := []string{key, n.url}
	if s.Datadog == "" && s.Alertmanager == "" { // who knows the path, or the query, may post
		secrets = append(secrets, u.Path, strings.TrimPrefix(u.Path, "/"))
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	n.redact = secret.ForTarget(n.url, n.header, secrets...)
	return n, nil
}

// Name is what logs call it.
func (n *Notifier) Name() string { return n.name }

// Same reports whether another one would tell the same receiver the same.
func (n *Notifier) Same(o *Notifier) bool {
	return n.name == o.name && n.url == o.url && n.repeat == o.repeat && n.form.name == o.form.name &&
		slices.Equal(n.severities, o.severities) && maps.EqualFunc(n.header, o.header, slices.Equal)
}

// StateName is under which what the receiver was told is kept: another key, other
// severities or times make no other receiver. nth, from 0, tells those apart that
// have the same address and name. The address may be a secret.
func (n *Notifier) StateName(nth int) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%s\x00%s\x00%d", n.form.name, n.url, n.name, nth)))
	return "slo.told." + hex.EncodeToString(sum[:8])
}

// Wants reports whether the receiver takes alerts of such a severity.
func (n *Notifier) Wants(f *slo.Firing) bool {
	return len(n.severities) == 0 || slices.Contains(n.severities, f.Severity)
}

// Send sends one message about alerts, once. again is how long to wait before
// another try at least; negative when it was refused and another would not help.
func (n *Notifier) Send(ctx context.Context, list []slo.Firing) (again time.Duration, err error) {
	body, err := json.Marshal(n.form.encode(list, n.repeat))
	if err != nil {
		return -1, err
	}
	again, err = n.post(ctx, body)
	if err != nil {
		err = errors.New(n.redact.Error(err))
	}
	return again, err
}

// post sends a body.
func (n *Notifier) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	request.Header = n.header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tokenmeter")
	response, err := n.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	said := n.redact.Start(string(answer), 300)
	switch code := response.StatusCode; {
	case code < 300:
		return 0, nil
	case code == http.StatusTooManyRequests, code >= 500:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second, fmt.Errorf("it answered %s: %s", response.Status, said)
	default:
		return -1, fmt.Errorf("it answered %s: %s", response.Status, said)
	}
}
