//go:build !lean

package main

import (
	"errors"
	"fmt"
	"io"

	"tokenmeter/service/slo/rules"
)

type sloRulesCmd struct {
	Config string `short:"c" required:"" placeholder:"FILE" help:"Objectives: tokenmeter.yaml, or a file of its own (docs/slo.md)."`
	As     string `placeholder:"FORM" help:"prometheus (rules), kubernetes (a PrometheusRule), promtool (tests of them), datadog (SLOs), datadog-monitors (their alerts) or openslo. Default: prometheus."`
	Rules  string `default:"tokenmeter-rules.yaml" placeholder:"FILE" help:"The rule file that the promtool tests name. Default: tokenmeter-rules.yaml."`
	Out    string `placeholder:"FILE" help:"Where to write. Default: stdout."`
	Force  bool   `help:"Overwrite the file."`

	sharedFlags `embed:""`
}

// Run writes rules.
func (c *sloRulesCmd) Run(a *app) error {
	objectives, err := readObjectives(c.Config, nil)
	if err != nil {
		return err
	}
	var write func(io.Writer) error
	switch c.As {
	case "", "prometheus":
		write = func(w io.Writer) error { return rules.Prometheus(w, objectives) }
	case "promtool":
		write = func(w io.Writer) error { return rules.PromtoolTests(w, c.Rules, objectives) }
	case "kubernetes":
		write = func(w io.Writer) error { return rules.Kubernetes(w, objectives) }
	case "datadog-monitors":
		write = func(w io.Writer) error {
			left, err := rules.DatadogMonitors(w, objectives)
			for _, why := range left {
				a.note("%s", why)
			}
			return err
		}
	case "openslo":
		write = func(w io.Writer) error {
			err := rules.OpenSLO(w, objectives)
			if clash := (*rules.NameError)(nil); errors.As(err, &clash) {
				return fmt.Errorf("%s: %w", c.Config, err)
			}
			return err
		}
	case "datadog":
		write = func(w io.Writer) error { return rules.Datadog(w, objectives) }
	default:
		return fmt.Errorf("--as %q: choose prometheus, kubernetes, promtool, datadog, datadog-monitors or openslo", c.As)
	}
	return a.put(c.Out, c.Force, write)
}
