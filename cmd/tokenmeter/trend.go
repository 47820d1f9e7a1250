//go:build !lean

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/reader/trend"
	"tokenmeter/record/run"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/notify"
	"tokenmeter/service/traffic"
)

type trendCmd struct {
	Paths  []string `arg:"" optional:"" name:"dir" help:"Run folders and rows of live traffic, or folders that hold some, at any depth. Default: probes."`
	Since  string   `placeholder:"TIME" help:"How far back to look. Default: 62 days; the level before a change is taken from four weeks at most."`
	Events string   `placeholder:"FILE" help:"YAML file with a list events: of at, text and target: deploys to be put beside changes."`
	Notify string   `placeholder:"FILE" help:"Tell the receivers (notify:) of this file with objectives of each change, once."`

	sharedFlags `embed:""`
}

func (trendCmd) collects() {}

// Help is shown below the flags.
func (trendCmd) Help() string {
	return `Says when TTFT, TPOT, errors, wrong answers or costs of a target changed, by how much and how sure that is, from the probes and runs of some folders. Cycles of the day and the week are taken out, values that depend on each other are heeded, and all that is looked at shares one allowance: a target has one false alarm in twenty months.

docs/probes.md says how changes are found and what is too small to be. The exit code is 0 whatever was found; 2 wrong usage, or no run that can be read; 5 a receiver was not told.`
}

const trendSince = 62 * 24 * time.Hour

// Run looks for changes and shows them.
func (c *trendCmd) Run(a *app) error {
	var check checker
	c.checkShared(&check, forms...)
	since := trendSince
	if d, given := check.duration("--since", c.Since, time.Hour); given {
		since = d
	}
	if len(c.Paths) == 0 {
		c.Paths = []string{probeRoot}
	}
	events := c.events(&check)
	receivers := c.receivers(a, &check)
	if err := check.err(); err != nil {
		return err
	}
	rows, notes, err := trend.Read(c.Paths, time.Now().Add(-since))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, run.ErrDevice) || errors.Is(err, run.ErrNoRun) {
		return err
	}
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.warn("%s", note)
	}
	if len(rows) == 0 && len(notes) > 0 {
		return fmt.Errorf("no request in %s can be read", strings.Join(c.Paths, ", "))
	}
	changes, looked := trend.Changes(rows, events)
	err = trend.WriteChanges(a.stdout, c.Format, changes, looked)
	if len(receivers) > 0 {
		err = worse(err, c.tell(receivers, changes))
	}
	return err
}

func (c *trendCmd) events(check *checker) []trend.Event {
	var file struct {
		Events []trend.Event `yaml:"events" doc:"what happened, in any order"`
	}
	if c.Events == "" {
		return nil
	}
	data, err := limitio.File(c.Events, 4<<20)
	if err == nil {
		err = config.Decode(c.Events, data, &file).Err()
	}
	if err != nil {
		check.addf("--events: %w", err)
	}
	return file.Events
}

// receivers are those of a file with objectives.
func (c *trendCmd) receivers(a *app, check *checker) (list []*notify.Notifier) {
	if c.Notify == "" {
		return nil
	}
	data, err := limitio.File(c.Notify, 4<<20)
	if err != nil {
		check.addf("--notify: %w", err)
		return nil
	}
	_, spec, err := slo.Load(c.Notify, data)
	if err != nil {
		check.addf("--notify: %w", err)
		return nil
	}
	for _, to := range spec.Notify {
		n, err := notify.New(to, notify.Options{Env: a.env})
		if err != nil {
			check.addf("--notify %s: %w", c.Notify, err)
			continue
		}
		list = append(list, n)
	}
	if len(list) == 0 && check.err() == nil {
		check.addf("--notify %s: it names no receiver", c.Notify)
	}
	return list
}

// toldFile names what receivers were told of, beside the runs.
const toldFile = "told.json"

// sameChange is how far the moments of one change may lie apart as more comes in.
const sameChange = 36 * time.Hour

// told is what one receiver knows.
type told struct {
	Receiver, Target, Probe, Metric string
	At                              time.Time
	Up                              bool
}

// tell tells each receiver of what it does not know yet.
func (c *trendCmd) tell(receivers []*notify.Notifier, changes []trend.Change) error {
	folder := c.Paths[0]
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	path := filepath.Join(folder, toldFile)
	var known []told
	if data, err := limitio.File(path, 64<<20); err == nil {
		if err := json.Unmarshal(data, &known); err != nil {
			return fmt.Errorf("%s does not say what receivers were told: %w; remove it to have all told again", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ctx, end := interruptible(func() {})
	defer end()
	var failed error
	stated := map[string]bool{}
	for _, n := range receivers {
		name := n.StateName(0)
		for nth := 1; stated[name]; nth++ {
			name = n.StateName(nth)
		}
		stated[name] = true
		var news []slo.Firing
		var fresh []told
		for i := range changes {
			ch := &changes[i]
			t := told{name, ch.Target, ch.Kind, ch.Metric, ch.At, ch.Change > 0}
			if knows(known, t) {
				continue
			}
			f := slo.Firing{Objective: "trend " + ch.Metric, Hash: traffic.Hash(ch.Target + "\x00" + ch.Kind + "\x00" + ch.Metric + ch.At.Format(time.DateOnly)),
				Source: slo.Probe, Group: ch.Target, Alert: "change", Severity: slo.Ticket, Since: ch.At, Says: ch.SaysAll(), Compiled: "a change of level, by tokenmeter trend"}
			if n.Wants(&f) {
				fresh, news = append(fresh, t), append(news, f)
			}
		}
		if len(news) == 0 {
			continue
		}
		if err := send(ctx, n, news); err != nil {
			failed = worse(failed, &codedError{code: exitWrite, text: fmt.Sprintf("%s was not told: %v", n.Name(), err)})
			continue
		}
		known = append(known, fresh...)
	}
	data, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := run.ReplaceFile(path, func(f *os.File) error { _, err := f.Write(append(data, '\n')); return err }); err != nil {
		failed = worse(failed, &run.WriteError{Path: path, Err: err, Named: true})
	}
	return failed
}

func send(ctx context.Context, n *notify.Notifier, news []slo.Firing) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := n.Send(ctx, news)
	return err
}

func knows(known []told, t told) bool {
	for _, k := range known {
		apart := k.At.Sub(t.At)
		if k.Receiver == t.Receiver && k.Target == t.Target && k.Probe == t.Probe && k.Metric == t.Metric && k.Up == t.Up &&
			apart < sameChange && apart > -sameChange {
			return true
		}
	}
	return false
}
