package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/config"
)

// Spec is the objectives of a file: the `slo:` part of tokenmeter.yaml, or a
// file of its own. docs/slo.md explains it, docs/slo.schema.json is its JSON
// Schema.
type Spec struct {
	Timezone    string           `yaml:"timezone" doc:"of calendar windows and of times without one, like Europe/Berlin; default UTC"`
	Objectives  []ObjectiveSpec  `yaml:"objectives" required:"true" doc:"what is promised"`
	Corrections []CorrectionSpec `yaml:"corrections" doc:"times that do not count, each with its reason"`
	Notify      []NotifySpec     `yaml:"notify" doc:"who is told of alerts"`
}

// ObjectiveSpec is one objective.
type ObjectiveSpec struct {
	Name       string            `yaml:"name" required:"true" doc:"small letters, digits, dots, dashes and underscores; also a label of metrics"`
	Objective  string            `yaml:"objective" required:"true" doc:"like p99 tpot < 120ms, availability >= 99.9%, goodput > 99% and ttft:500, system_output_tps >= 1000"`
	About      string            `yaml:"about" doc:"one sentence for those who are woken by it"`
	Target     *Share            `yaml:"target" doc:"share that must be good; default: what the objective says (p99 is 99%)"`
	Window     Duration          `yaml:"window" doc:"rolling, like 28d (the default)"`
	Calendar   string            `yaml:"calendar" enum:"day|week|month|quarter|year" doc:"a calendar window instead of a rolling one; weeks begin on Monday"`
	Sources    []string          `yaml:"sources" doc:"live (the default), probe, run; they are judged apart"`
	By         []string          `yaml:"by" doc:"also judged for each value: model, route, upstream, listener, api"`
	Where      map[string]string `yaml:"where" doc:"only requests with these: model, route, upstream, listener, api"`
	Slice      Duration          `yaml:"slice" doc:"judge slices of time, like 1m, instead of requests"`
	Idle       string            `yaml:"idle" enum:"exclude|bad|good" doc:"what a slice without anything is; default exclude"`
	MinEvents  int64             `yaml:"min_events" doc:"fewer are insufficient data; default 1/(1 - target)"`
	StaleAfter Duration          `yaml:"stale_after" doc:"when nobody watched for so long it is stale; default 10m"`
	Alerts     []AlertSpec       `yaml:"alerts" doc:"default: 2% of the budget in 1h and 5% in 6h page, 10% in 1d or 3d make a ticket; [] for none"`
}

// AlertSpec is one alert.
type AlertSpec struct {
	Name            string   `yaml:"name" doc:"default: made from the rest"`
	Severity        string   `yaml:"severity" enum:"page|ticket" doc:"default page"`
	Share           *Share   `yaml:"share" doc:"fires when the budget burns so fast that this share of it is spent in the long window"`
	Factor          float64  `yaml:"factor" doc:"the same as a burn rate"`
	Long            Duration `yaml:"long" doc:"long window of share or factor, like 1h"`
	Short           Duration `yaml:"short" doc:"short window; default a twelfth of the long one"`
	BudgetBelow     *Share   `yaml:"budget_below" doc:"fires when less of the budget is left"`
	ExhaustedWithin Duration `yaml:"exhausted_within" doc:"fires when the budget is spent before that at the present pace"`
	NoDataFor       Duration `yaml:"no_data_for" doc:"fires when nothing happened, or nobody watched, for so long"`
	MinEvents       *int64   `yaml:"min_events" doc:"events in the long window before it can fire; default 10"`
	MinBad          *int64   `yaml:"min_bad" doc:"bad events in the long window before it can fire; default 2"`
}

// CorrectionSpec is a time that does not count.
type CorrectionSpec struct {
	From       string   `yaml:"from" required:"true" doc:"like 2026-03-01T02:00:00+01:00 or 2026-03-01 02:00"`
	To         string   `yaml:"to" required:"true" doc:"its end, which is not part of it"`
	Reason     string   `yaml:"reason" required:"true" doc:"why it does not count"`
	Objectives []string `yaml:"objectives" doc:"names of objectives; default all"`
	Sources    []string `yaml:"sources" doc:"live, probe, run; default all"`
}

// NotifySpec is somebody who is told. Exactly one of the addresses is given.
type NotifySpec struct {
	Name         string   `yaml:"name" doc:"what logs call it"`
	Alertmanager string   `yaml:"alertmanager" doc:"base URL; alerts go to its API v2"`
	Webhook      string   `yaml:"webhook" doc:"URL that gets a JSON document"`
	Slack        string   `yaml:"slack" doc:"URL of a Slack-compatible webhook"`
	SlackEnv     string   `yaml:"slack_env" doc:"environment variable with that URL, which is a secret"`
	Datadog      string   `yaml:"datadog" doc:"site, like datadoghq.eu; alerts become events"`
	KeyEnv       string   `yaml:"key_env" doc:"environment variable with the API key or bearer token"`
	Severities   []string `yaml:"severities" doc:"page, ticket; default both"`
	Repeat       Duration `yaml:"repeat" doc:"tell again while it fires; default 4h, of an Alertmanager 1m"`
}

// Duration is a length of time that may have days and weeks: 28d, 1d12h, 90m.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	sum, err := config.ParseDuration(string(text))
	if err != nil {
		return err
	}
	if sum <= 0 || sum > 800*24*time.Hour {
		return fmt.Errorf("%q is no length of time between 0 and 800d", text)
	}
	*d = Duration(sum)
	return nil
}

// MarshalText writes it as it is read.
func (d Duration) MarshalText() ([]byte, error) { return []byte(span(time.Duration(d))), nil }

// Share is a part of a whole, from 0 to 1; written 99.9% or 0.999.
type Share float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Share) UnmarshalText(text []byte) error {
	x, err := ParseShare(string(text))
	*s = Share(x)
	return err
}

// ParseShare reads 99.9% or 0.999.
func ParseShare(text string) (float64, error) {
	bare, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(bare), 64)
	if isPercent {
		x = decimal(x / 100)
	}
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return 0, fmt.Errorf("%q is no share; write 99.9%% or 0.999", text)
	}
	return x, nil
}

// Correction is a time that does not count.
type Correction struct {
	Interval
	Reason  string
	Sources []Source // empty: all
}
