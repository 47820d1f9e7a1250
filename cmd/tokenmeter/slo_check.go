//go:build !lean

package main

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/validity"
	"tokenmeter/service/slo"
)

type sloCheckCmd struct {
	sloSource
	Strict     bool     `negatable:"" help:"Exit code 4 when nothing was decided: an objective has too few events or is left out, or a run is an invalid measurement. On by itself where CI is set."`
	MinBudget  []string `name:"min-budget" sep:"none" placeholder:"NAME=P" help:"At least this share of an objective's budget must be left, like chat-tpot=20%. Repeatable; gates a release."`
	AllowStale bool     `help:"Judge what there is, also when nobody watched lately (stale_after). Without it a stale objective is not held."`
}

// Help is shown below the flags.
func (sloCheckCmd) Help() string {
	return `An objective is missed when its error budget is overspent, and when it is stale: nobody watched for stale_after (10 min), so that nobody knows. One with too few events to tell, or left out, is neither met nor missed; the last line says so. --min-budget is not held when nothing is known of the budget.

Exit codes: 0 every objective and budget held, or nothing was decided (the last line says so); 1 one did not; 2 wrong usage or configuration; 3 none of all requests was answered, or of a run nothing came, no failure either; 4 with --strict (on where CI is set), when nothing was decided.`
}

// Run checks.
func (c *sloCheckCmd) Run(a *app) error {
	results, err := c.evaluate(a, c.AllowStale)
	if err != nil {
		return err
	}
	gates, err := c.gates(results.Objectives)
	if err != nil {
		return err
	}
	trust, objectives, shown := c.shown(a, results)
	if exitCode(shown) != exitOK {
		return shown
	}
	for _, r := range results.Objectives {
		if r.State == slo.Stale {
			a.say("tokenmeter slo check: %s, %s: not held: stale. %s (--allow-stale judges what there is)", r.Name, r.Source, r.Says)
		}
	}
	for _, g := range gates {
		a.say("tokenmeter slo check: %s", g)
	}
	f := trust.requests
	f.Gates.Missed = len(gates)
	asked := map[string][]string{}
	for _, o := range objectives {
		asked[o.Name] = o.Metrics()
	}
	for _, r := range results.Objectives {
		state := "open"
		if r.State == slo.Stale {
			state = "missed" // what nobody watched is no pass
		} else if r.Met != nil {
			state = map[bool]string{true: "met", false: "missed"}[*r.Met]
		}
		verdict, because := trust.void(asked[r.Name])
		if verdict != "" && f.Measurement != validity.Invalid {
			f.Measurement, f.Doubt = verdict, because
		}
		f.Gates.Add(state, verdict != "")
	}
	for _, o := range objectives {
		if !slices.ContainsFunc(results.Objectives, func(r slo.Result) bool { return r.Hash == o.Hash }) {
			f.Gates.Open++ // it was left out
		}
	}
	f.Strict = c.Strict
	return worse(shown, decided(f))
}

// gates says which budgets are too small.
func (c *sloCheckCmd) gates(results []slo.Result) (broken []string, err error) {
	var check checker
	for _, text := range c.MinBudget {
		name, share, ok := strings.Cut(text, "=")
		least, shareErr := slo.ParseShare(share)
		known := slices.ContainsFunc(results, func(r slo.Result) bool { return r.Name == name })
		switch {
		case !ok || shareErr != nil:
			check.addf("--min-budget %q: write NAME=P, like chat-tpot=20%%", text)
			continue
		case !known:
			check.addf("--min-budget %s: no objective is called %q", text, name)
			continue
		}
		for _, r := range results {
			if r.Name != name || r.Group != "" {
				continue
			}
			switch left, ok := r.BudgetRemaining.Get(); {
			case !ok || r.State == slo.Stale:
				broken = append(broken, fmt.Sprintf("--min-budget %s: not held: nothing is known of the %s budget (%s)", text, r.Source, r.State))
			case left < least:
				broken = append(broken, fmt.Sprintf("--min-budget %s: not held: %s of the %s budget is left", text, slo.AtMost(left), r.Source))
			}
		}
	}
	return broken, check.err()
}
