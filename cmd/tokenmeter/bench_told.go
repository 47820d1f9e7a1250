package main

import (
	"strings"

	"tokenmeter/load/bench"
)

// told says what should be known of the load before it is sent: how its files are read,
// and what was given and has nothing to act on.
func (c *benchCmd) told(a *app, p *bench.Plan) {
	if l, ok := p.Workload.(interface{ Remarks() []string }); ok {
		for _, text := range l.Remarks() {
			a.note("%s", text)
		}
	}
	if len(c.aside) > 0 {
		a.note("the flags of the load go before the workload's %s", strings.Join(c.aside, ", "))
	}
	sessions, ok := p.Workload.(interface{ Sessions() bool })
	if ok = ok && sessions.Sessions(); !ok {
		for _, f := range []struct {
			flag  string
			given bool
		}{{"--session-header", len(c.SessionHeader) > 0}, {"--session-field", len(c.SessionField) > 0}, {"--session-echo", len(c.SessionEcho) > 0},
			{"--connection per-session", c.Connection == "per-session"}} {
			if f.given {
				a.note("%s changes nothing: no conversation, task or session is sent", f.flag)
			}
		}
	}
	if p.Grace != 0 && p.Duration == 0 && p.Stages.Length() == 0 && (p.Requests > 0 || p.Trace != nil) {
		a.note("grace changes nothing: it is for what is in flight when a duration ends, and none is given")
	}
	if c.GPUs != "" && p.Pricing == nil && !c.sweeps {
		a.note("--gpus changes nothing: no price is given by --gpu-hour or --prices")
	}
	if given := p.Prompt != "" || p.Workload != nil && p.Workload.Info().Salt == ""; c.Salt != "" && given {
		a.note("--salt changes nothing: the prompts are given, not made")
	}
}
