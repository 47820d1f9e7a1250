package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/doctor"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

type doctorCmd struct {
	targetFlags `embed:""`

	Probe          bool   `group:"target" help:"Send one short completion too and look at its stream. Same as --preflight probe."`
	Preflight      string `group:"target" placeholder:"KIND" help:"get (only GETs) or probe (one short completion too). Default: get."`
	ConnectTimeout string `group:"limits" placeholder:"TIME" help:"For name, connection and TLS. Default: 10s."`
	Timeout        string `group:"limits" placeholder:"TIME" help:"Of the completion. Default: 1m."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (doctorCmd) Help() string {
	return `Looks at this machine, and at a server when a URL is given, for what would spoil a measurement: limits, clocks, timers, kernel stamps, load; distance, API and engine, models, kept connections, HTTP/2. With --probe also streaming, token counts and output length. Each check says what was found and how to mend it.

Nothing on the machine or the server is changed, and without --probe nothing is computed.

Exit codes: 0 nothing failed (warnings do not count); 2 wrong usage; 3 a check failed; 130 interrupted.`
}

const doctorTimeout = time.Minute

// Run looks and reports.
func (c *doctorCmd) Run(a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	c.warnSecrets(a)
	o.Progress = func(text string) { a.note("%s", text) }
	ctx, end := interruptible(func() {})
	defer end()
	r := doctor.Run(ctx, o)
	if c.Format == "json" {
		err = r.JSON(a.stdout)
	} else {
		s := a.screen(a.stdout, c.NoColor)
		err = r.Table(a.stdout, doctor.Form{Width: s.width, Color: s.color, ASCII: s.ascii})
	}
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE):
		return err
	case context.Cause(ctx) != nil:
		return bench.ErrInterrupted
	case r.Verdict == doctor.Fail:
		return &codedError{code: exitTarget, text: "a check failed, see above", said: true}
	}
	return nil
}

func (c *doctorCmd) options(a *app) (doctor.Options, error) {
	var check checker
	o := doctor.Options{Version: fullVersion(), Model: c.model(), Probe: c.Probe || c.Preflight == "probe",
		Client: client.Config{Timeout: doctorTimeout, ConnectTimeout: defaultConnectTimeout, API: c.apiOf(&check)}}
	if o.Client.API == nil && pathTells(c.URL) {
		o.Client.API = api.OpenAIChat // as bench reads such a URL
	}
	c.reach(&o.Client, &check, a)
	if d, given := check.duration("--connect-timeout", c.ConnectTimeout, 0); given {
		o.Client.ConnectTimeout = d
	}
	if d, given := check.duration("--timeout", c.Timeout, time.Millisecond); given {
		o.Client.Timeout = d
	}
	check.choice("--preflight", c.Preflight, "get", "probe")
	c.checkShared(&check, "table", "json")
	switch {
	case c.URL == "" && (c.given() || o.Probe || c.Preflight+c.ConnectTimeout+c.Timeout != ""):
		check.addf("no server is named: give its URL, like http://localhost:8000")
	case c.URL != "":
		if _, err := client.JoinURL(c.URL, "/v1/models"); err != nil {
			check.add(err)
		}
	}
	return o, check.err()
}
