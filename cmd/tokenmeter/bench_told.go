package main

import (
	"bytes"
	"strings"

	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
	"tokenmeter/wire/api"
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
		}{{"--session-header", len(c.SessionHeader) > 0}, {"--session-field", len(c.SessionField) > 0}, {"--session-echo", len(c.SessionEcho) > 0}} {
			if f.given {
				a.note("%s changes nothing: no conversation, task or session is sent", f.flag)
			}
		}
	}
	if p.Grace != 0 && p.Duration == 0 && p.Warmup.Duration == 0 && p.Stages.Length() == 0 && (p.Requests > 0 || p.Trace != nil) {
		a.note("grace changes nothing: it is for what is in flight when a duration ends, and none is given")
	}
	if l, ok := p.Workload.(*workload.Loaded); ok && p.Client.API.Product().Lengthless() && l.AsksOutput() {
		a.note("the workload's output changes nothing: no length can be asked for with %s", p.Client.API.Name)
	}
	if c.GPUs != "" && p.Pricing == nil && !c.sweeps {
		a.note("--gpus changes nothing: no price is given by --gpu-hour or --prices")
	}
	if c.NoStream && asksAlike(p.Client.API) {
		a.note("--no-stream changes nothing: %s has no other way of answering", p.Client.API.Name)
	}
	if given := p.Prompt != "" || p.Workload != nil && p.Workload.Info().Salt == ""; c.Salt != "" && given {
		a.note("--salt changes nothing: the prompts are given, not made")
	}
}

// asksAlike reports whether a request for a stream is the same as one for a whole reply.
func asksAlike(a *api.API) bool {
	if a.Build == nil {
		return false
	}
	said := api.Message{Role: "user", Content: "x"}
	ask := func(stream bool) (api.Call, error) {
		return a.Build(&api.Request{Model: "m", Stream: stream, Messages: []api.Message{said, said}})
	}
	one, err := ask(true)
	other, bad := ask(false)
	return err == nil && bad == nil && one.Path == other.Path && bytes.Equal(one.Body, other.Body)
}
