// Package notify tells people and their tools of alerts: an Alertmanager, a
// webhook, a Slack-compatible webhook, or Datadog events. Each alert is told
// when it begins, while it goes on, and when it is over; failures are retried,
// and no key appears in an error.
package notify

import (
	"bytes"
	"cmp"
	"context"
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

// Notifier tells one receiver. Not safe for concurrent use.
type Notifier struct {
	name       string
	form       form
	url        string
	header     http.Header
	severities []slo.Severity
	repeat     time.Duration
	client     *http.Client
	redact     *secret.Redactor
	told       map[string]time.Time // firing alerts, when they were told last
	owed       map[string]slo.Firing
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
	n := &Notifier{name: s.Name, header: http.Header{}, repeat: time.Duration(s.Repeat), client: o.Client,
		told: map[string]time.Time{}, owed: map[string]slo.Firing{}}
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
		if v, ok := o.Env(name); ok && v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the environment variable %s is not set", name)
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
	if u.Path != "" && u.Path != "/" && (s.Slack != "" || s.SlackEnv != "") {
		secrets = append(secrets, u.Path, strings.TrimPrefix(u.Path, "/"))
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

// Tell tells what is new: alerts that began, those that go on and were told
// long ago, and those that are over. What was told and what is over while
// nobody was told is left out. After an error the next Tell tells it again.
func (n *Notifier) Tell(ctx context.Context, now time.Time, firing, resolved []slo.Firing) error {
	var due []slo.Firing
	for _, f := range resolved {
		if _, told := n.told[f.ID()]; told && n.wants(f) {
			n.owed[f.ID()] = f
		}
	}
	for _, f := range firing {
		delete(n.owed, f.ID()) // it fires again before anybody knew that it was over
		if last, told := n.told[f.ID()]; n.wants(f) && (!told || now.Sub(last) >= n.repeat) {
			due = append(due, f)
		}
	}
	for _, f := range n.owed {
		due = append(due, f)
	}
	slices.SortFunc(due, func(a, b slo.Firing) int { return cmp.Compare(a.ID(), b.ID()) })
	if len(due) == 0 {
		return nil
	}
	bodies := [][]slo.Firing{due}
	if !n.form.batch {
		bodies = nil
		for _, f := range due {
			bodies = append(bodies, []slo.Firing{f})
		}
	}
	var errs []error
	for _, part := range bodies {
		if err := n.send(ctx, part); err != nil {
			errs = append(errs, fmt.Errorf("%s was not told of %s: %s", n.name, names(part), n.redact.Error(err)))
			continue
		}
		for _, f := range part {
			if f.Resolved == nil {
				n.told[f.ID()] = now
				continue
			}
			delete(n.told, f.ID())
			delete(n.owed, f.ID())
		}
	}
	return errors.Join(errs...)
}

// Restore says that these alerts were told before a restart.
func (n *Notifier) Restore(firing []slo.Firing, at time.Time) {
	for _, f := range firing {
		n.told[f.ID()] = at
	}
}

func (n *Notifier) wants(f slo.Firing) bool {
	return len(n.severities) == 0 || slices.Contains(n.severities, f.Severity)
}

func names(list []slo.Firing) string {
	var out []string
	for _, f := range list {
		if !slices.Contains(out, f.Objective) {
			out = append(out, f.Objective)
		}
	}
	return strings.Join(out, ", ")
}

// tries is how often a body is sent before Tell gives up for this time.
const tries = 4

// send sends a body, again after a while when the receiver was busy or away.
func (n *Notifier) send(ctx context.Context, list []slo.Firing) error {
	body, err := json.Marshal(n.form.encode(list, n.repeat))
	if err != nil {
		return err
	}
	wait := time.Second
	for try := 1; ; try++ {
		after, err := n.post(ctx, body)
		if err == nil || after < 0 || try == tries {
			return err
		}
		timer := time.NewTimer(min(max(after, wait), time.Minute))
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		case <-timer.C:
		}
		wait *= 3
	}
}

// post sends it once. again is how long to wait before another try; negative
// when another would not help.
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
		return time.Duration(max(seconds, 0)) * time.Second, fmt.Errorf("it answered %s: %s", response.Status, said)
	default:
		return -1, fmt.Errorf("it answered %s: %s", response.Status, said)
	}
}
