// Package doctor looks at the machine that measures and at a server that is to
// be measured, and says what would spoil the figures and how to mend it.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// Schema names the version of the JSON form.
const Schema = "tokenmeter.doctor/v1"

// Verdict is what a check came to. The empty verdict means that the system or
// the server does not tell; it is null in JSON.
type Verdict string

// The verdicts, best first.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn" // figures may be worse than the server, or miss something
	Fail Verdict = "fail" // nothing can be measured
)

// MarshalJSON writes null for what is not known.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if v == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(v))
}

// Subject is what a check is about.
type Subject string

// The subjects, in the order of the report.
const (
	OfMachine Subject = "machine"
	OfTarget  Subject = "target"
)

// Check is one thing that was looked at.
type Check struct {
	Name    string  `json:"name"` // stable: open_files, cores, stamps, …
	Of      Subject `json:"of"`
	Verdict Verdict `json:"verdict"`
	Value   string  `json:"value"` // what was found, for people
	// Facts are the same for programs; the names carry their unit. What was not
	// found out is null.
	Facts map[string]any `json:"facts"`
	Fix   string         `json:"fix"` // what to do; empty where nothing is to be done
}

// warn says what to do about something that spoils figures.
func (c *Check) warn(fix string, args ...any) { c.Verdict, c.Fix = Warn, fmt.Sprintf(fix, args...) }

// Target is the server as it was found.
type Target struct {
	URL     string   `json:"url"` // secrets removed
	API     string   `json:"api"`
	Engine  string   `json:"engine"`  // empty: unknown
	Version string   `json:"version"` // of the engine; empty: unknown
	Models  []string `json:"models"`  // empty, not null, when none is listed
	Probed  bool     `json:"probed"`  // a completion was sent
}

// Report is all that was found.
type Report struct {
	Schema  string  `json:"schema"`
	Version string  `json:"version"` // of this program
	Verdict Verdict `json:"verdict"` // the worst of the checks
	Target  *Target `json:"target"`  // null without a URL
	Checks  []Check `json:"checks"`
}

// Options say what to look at.
type Options struct {
	Version string // of this program, for the report
	// Client reaches the target; without a BaseURL only the machine is looked
	// at. A nil API is found out, as bench does.
	Client client.Config
	Model  string // empty: the one that the server lists
	// Probe allows one short completion; without it only GETs are sent.
	Probe bool
	// Progress is told what is being looked at; nil: nobody waits.
	Progress func(string)
}

// Run looks at the machine, then at the target. It takes a few seconds. What
// goes wrong is in the report, as a check that failed.
func Run(ctx context.Context, o Options) *Report {
	r := &Report{Schema: Schema, Version: o.Version}
	o.say("looking at this machine")
	r.Checks = judge(measure(ctx, machine.This()))
	if o.Client.BaseURL != "" && ctx.Err() == nil {
		target, checks := LookAt(ctx, o)
		r.Target = target
		r.Checks = append(r.Checks, checks...)
	}
	r.Verdict = worst(r.Checks)
	return r
}

func (o *Options) say(text string) {
	if o.Progress != nil {
		o.Progress(text)
	}
}

func worst(checks []Check) Verdict {
	worst := OK
	for _, c := range checks {
		if c.Verdict == Fail || c.Verdict == Warn && worst == OK {
			worst = c.Verdict
		}
	}
	return worst
}

// JSON writes the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// facts collects what a program wants to know of a check.
type facts map[string]any

// ms is a duration in milliseconds, null when it was not measured.
func ms(us timeline.Opt[int64]) any {
	if n, ok := us.Get(); ok {
		return float64(n) / 1000
	}
	return nil
}

// orNull is a value, or null when it was not measured.
func orNull[T any](o timeline.Opt[T]) any {
	if v, ok := o.Get(); ok {
		return v
	}
	return nil
}

// textOrNull is a text, or null when it is empty.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
