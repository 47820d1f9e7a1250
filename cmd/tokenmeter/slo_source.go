//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pattern"
	"tokenmeter/base/secret"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/postgres"
	"tokenmeter/service/slo/history/sqlite"
)

// sloSource is where objectives and counts come from.
type sloSource struct {
	Runs      []string `arg:"" optional:"" name:"run" help:"Run folders. Without one, the live data of --store."`
	Config    string   `short:"c" placeholder:"FILE" help:"Objectives: tokenmeter.yaml, or a file of its own (docs/slo.md)."`
	Objective []string `sep:"none" placeholder:"TEXT" help:"An objective, like \"p99 tpot < 120ms\", over 28 days. Repeatable."`
	Store     string   `placeholder:"FILE|URL" help:"The history that tokenmeter serve writes: a file, or postgres://USER@HOST/DATABASE."`
	Daemon    string   `placeholder:"NAME" help:"Of a history in PostgreSQL: only what this daemon counted (store_name). Default: all, added up."`
	At        string   `placeholder:"TIME" help:"As of a time, like 2026-03-01T12:00:00Z: nothing of that moment or later is seen. Default: now; of runs, the end of the last one."`

	sharedFlags `embed:""`
}

func (sloSource) collects() {}

// evaluate reads objectives and counts and judges them; allowStale: also where
// nobody watched lately.
func (c *sloSource) evaluate(a *app, allowStale bool) (slo.Document, error) {
	doc := slo.Document{Schema: slo.Schema}
	var check checker
	c.checkShared(&check, forms...)
	switch {
	case len(c.Runs) > 0 && c.Store != "":
		check.addf("--store: give runs or a store, not both")
	case len(c.Runs) == 0 && c.Store == "":
		check.addf("there is nothing to look at; name run folders, or --store for live data")
	}
	if c.Daemon != "" && !postgres.Is(c.Store) {
		check.addf("--daemon: only a history in PostgreSQL (--store postgres://…) is of several daemons; leave it out")
	}
	now, at := time.Now(), time.Time{}
	if c.At != "" {
		t, err := parseMoment(c.At)
		if err != nil {
			check.addf("--at %q: write a time like 2026-03-01T12:00:00Z", c.At)
		}
		at = t
	}
	objectives, err := readObjectives(c.Config, c.Objective)
	check.add(err)
	if err := check.err(); err != nil {
		return doc, err
	}
	for _, o := range objectives {
		if allowStale {
			o.StaleAfter = 0
		}
	}
	if len(c.Runs) == 0 {
		return c.fromStore(a, objectives, now, at)
	}
	memory := &slo.Memory{Until: at}
	objectives = slices.DeleteFunc(objectives, func(o *slo.Objective) bool {
		live := slices.ContainsFunc(o.Promises, func(p objective.Objective) bool { return p.OfProxies() })
		if live {
			a.say("tokenmeter slo: %s is left out: runs have no delivered_ttft, only live requests do", o.Name)
		}
		return live
	})
	for _, o := range objectives {
		o.Sources = []slo.Source{slo.Run}
	}
	if c.Runs, now, err = tallyRuns(a, c.Runs, objectives, memory); err != nil {
		return doc, err
	}
	// The window holds what came before its end: also the request that ended last.
	if now = now.Add(time.Microsecond); !at.IsZero() {
		now = at
	}
	doc.At = now.UTC()
	doc.Objectives = slo.Evaluate(objectives, memory, now)
	return doc, nil
}

// readObjectives reads a file and texts of the command line.
func readObjectives(path string, texts []string) ([]*slo.Objective, error) {
	if path == "" && len(texts) == 0 {
		return nil, errors.New("there is no objective; name a file with --config, or give --objective")
	}
	var all []*slo.Objective
	if path != "" {
		data, err := limitio.File(path, 16<<20)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		objectives, _, err := slo.Load(path, data)
		if err != nil {
			return nil, err
		}
		all = objectives
	}
	if len(texts) > 0 {
		var yaml strings.Builder
		yaml.WriteString("objectives:\n")
		for i, text := range texts {
			fmt.Fprintf(&yaml, "  - {name: objective-%d, objective: '%s'}\n", i+1, strings.ReplaceAll(text, "'", "''"))
		}
		objectives, _, err := slo.Load("--objective", []byte(yaml.String()))
		if err != nil { // its lines and columns are none that the user wrote
			return nil, errors.New(madePlace().ReplaceAllString(err.Error(), "--objective: "))
		}
		all = append(all, objectives...)
	}
	return all, nil
}

var madePlace = pattern.Lazy(`(?m)^--objective:\d+:\d+: `)

// fromStore judges live data as of a moment; zero: now.
func (c *sloSource) fromStore(a *app, objectives []*slo.Objective, now, until time.Time) (slo.Document, error) {
	at := until
	if at.IsZero() {
		at = now
	}
	doc := slo.Document{Schema: slo.Schema, At: at.UTC()}
	ctx := context.Background()
	stores, closeAll, err := c.openStores(ctx)
	if err != nil {
		return doc, err
	}
	defer closeAll()
	memory, err := history.LoadUntil(ctx, stores, now, until)
	if err != nil {
		return doc, err
	}
	if until.IsZero() {
		by, err := history.Ahead(ctx, stores, now)
		if err != nil {
			return doc, err
		}
		if by > 0 {
			a.say("tokenmeter slo: the history goes on for %s after the time of this machine, so the last of it is not seen: one of the two clocks is wrong; set it, or give --at", by.Round(time.Second))
		}
	}
	doc.Objectives = slo.Evaluate(objectives, memory, at)
	return doc, history.Percentiles(ctx, stores, objectives, doc.Objectives, until)
}

// openStores opens what --store names, to be read.
func (c *sloSource) openStores(ctx context.Context) (stores []history.Reader, closeAll func(), err error) {
	if postgres.Is(c.Store) {
		if stores, closeAll, err = postgres.OpenReadOnly(ctx, c.Store, c.Daemon); err != nil {
			return nil, nil, fmt.Errorf("--store: %w", err)
		}
		return stores, closeAll, nil
	}
	db, err := sqlite.OpenReadOnly(c.Store)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("--store %s: there is no such file; tokenmeter serve writes it", secret.RedactURL(c.Store))
	case err != nil:
		return nil, nil, fmt.Errorf("--store: %w", err)
	}
	return []history.Reader{db}, func() { db.Close() }, nil
}

// tallyRuns counts the requests of runs, each run once however often it is named,
// and returns those that it counted and when the last one ended.
func tallyRuns(a *app, paths []string, objectives []*slo.Objective, memory *slo.Memory) (kept []string, last time.Time, err error) {
	var counted run.Counted
	for _, path := range paths {
		f, err := run.Open(path)
		if err != nil {
			return nil, last, err
		}
		r := f.Run()
		if r.Started.IsZero() {
			r.ID = run.Absolute(path) // a run whose manifest is lost is known by its folder only
		}
		switch first, whole := counted.Add(&r, path); {
		case whole:
			f.Close()
			a.say("tokenmeter slo: %s is the same run as %s, or a part of it, and is counted once", path, first)
			continue
		case first != "":
			f.Close()
			return nil, last, fmt.Errorf("%s and %s have requests of one run, which would count twice: name one of the two", first, path)
		}
		end, err := slo.TallyRun(f.Run().Started, f.Timelines(), objectives, memory)
		f.Close()
		if err != nil {
			return nil, last, err
		}
		kept = append(kept, path)
		if end.After(last) {
			last = end
		}
	}
	return kept, last, nil
}

// parseMoment reads a time as users give it. It is never the zero time, which
// stands for one that was not given: in its place is the moment after.
func parseMoment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err == nil && t.IsZero() {
		t = t.Add(1)
	}
	return t, err
}
