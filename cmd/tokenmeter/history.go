//go:build !lean

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/reader/runs"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
)

type historyCmd struct {
	List    historyListCmd    `cmd:"" help:"List the runs below some folders, a line each, by their start."`
	Best    historyBestCmd    `cmd:"" help:"Say which run is best by a figure, in each group, and whether the next one may be as good."`
	Show    historyShowCmd    `cmd:"" help:"Show a run, by its id, its name or the name of its folder."`
	Compare historyCompareCmd `cmd:"" help:"Compare runs, by their ids, names or the names of their folders."`
}

// wantedRuns say where runs are and which are meant.
type wantedRuns struct {
	In     []string `short:"C" sep:"none" placeholder:"DIR" help:"Where runs are, at any depth. Default: here. Repeatable."`
	Name   string   `placeholder:"PATTERN" help:"Only runs of this name; * is any letters."`
	Model  string   `placeholder:"PATTERN" help:"Only runs of this model."`
	Server string   `placeholder:"TEXT" help:"Only runs whose URL or server contains this."`
	Tag    []string `sep:"none" placeholder:"NAME[=PATTERN]" help:"Only runs with this tag. Repeatable: all of them."`
	Since  string   `placeholder:"TIME" help:"Only runs that began so long ago at most (7d), or from a moment on (2026-11-01)."`
}

// find reads the runs that are meant.
func (w *wantedRuns) find(a *app, check *checker) ([]run.Run, error) {
	want := runs.Want{Name: w.Name, Model: w.Model, Server: w.Server, Tags: map[string]string{}}
	for _, tag := range w.Tag {
		name, pattern, _ := strings.Cut(tag, "=")
		if name == "" {
			check.addf("--tag %q: write NAME or NAME=PATTERN", tag)
		}
		want.Tags[name] = pattern
	}
	check.add(want.Check())
	if w.Since != "" {
		if day, err := time.Parse("2006-01-02", w.Since); err == nil {
			want.Since = day
		} else if moment, err := parseMoment(w.Since); err == nil {
			want.Since = moment
		} else if d, given := check.duration("--since", w.Since, time.Second); given {
			want.Since = time.Now().Add(-d)
		}
	}
	if err := check.err(); err != nil {
		return nil, err
	}
	in := w.In
	if len(in) == 0 {
		in = []string{"."}
	}
	list, seen, notes, err := runs.Find(in, want)
	for _, note := range notes {
		a.warn("%s", note)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, run.ErrDevice):
		return nil, err
	case err != nil:
		return nil, err
	case seen == 0 && len(notes) > 0:
		return nil, fmt.Errorf("no run in %s can be read", strings.Join(in, ", "))
	case seen == 0:
		return nil, fmt.Errorf("there is no run in %s: give the folder that holds the folders of runs with --in", strings.Join(in, ", "))
	case len(list) == 0:
		return nil, fmt.Errorf("no run in %s is meant by what was asked for", strings.Join(in, ", "))
	}
	return list, nil
}

type historyListCmd struct {
	Figure []string `sep:"none" placeholder:"TEXT" help:"A figure to show, like \"p99 tpot\", \"mean e2e\", \"error rate\". Repeatable. Default: p50 ttft, p95 ttft, p50 tpot, output tps."`
	wantedRuns
	sharedFlags `embed:""`
}

func (historyListCmd) collects() {}

// Help is shown below the flags.
func (historyListCmd) Help() string {
	return `A run's folder is all there is of a run: what is moved, copied or deleted is so here too. Runs get their names and tags from bench --name and --tag.`
}

// Run lists runs.
func (c *historyListCmd) Run(a *app) error {
	var check checker
	c.checkShared(&check, forms...)
	figures := runs.Columns()
	if len(c.Figure) > 0 {
		figures = nil
	}
	for _, text := range c.Figure {
		f, err := objective.ParseFigure(text)
		if err != nil {
			check.addf("--figure %q: %w", text, err)
			continue
		}
		figures = append(figures, f)
	}
	list, err := c.find(a, &check)
	if err != nil {
		return err
	}
	return runs.WriteList(a.stdout, c.Format, list, figures)
}

type historyBestCmd struct {
	By  string `default:"p95 ttft" placeholder:"FIGURE" help:"The figure, like \"p99 tpot\" or \"output tps\". Default: p95 ttft."`
	Per string `default:"model,load,workload" placeholder:"KIND" help:"One best run for each model, load, workload, server, name or tag:NAME, for several of these together (model,tag:gpu), or of all. Default: model,load,workload."`
	wantedRuns
	sharedFlags `embed:""`
}

func (historyBestCmd) collects() {}

// Help is shown below the flags.
func (historyBestCmd) Help() string {
	return `Runs that were broken off, and those whose figure is missing or invalid, win nothing; they are named. Where the intervals of the best two overlap, the next best may be as good: tokenmeter history compare says more.`
}

// Run finds the best runs.
func (c *historyBestCmd) Run(a *app) error {
	var check checker
	c.checkShared(&check, forms...)
	f, err := objective.ParseFigure(c.By)
	if err != nil {
		check.addf("--by %q: %w", c.By, err)
	}
	group, err := runs.Grouping(c.Per)
	if err != nil {
		check.addf("--per: %w", err)
	}
	list, err := c.find(a, &check)
	if err != nil {
		return err
	}
	best := runs.FindBest(list, f, group)
	for i := range best {
		for _, out := range best[i].LeftOut {
			a.warn("left out: %s", out)
		}
	}
	if c.Format == "" || c.Format == "table" {
		direction := "lowest"
		if f.Higher {
			direction = "highest"
		}
		fmt.Fprintf(a.stdout, "Best by %s (%s)\n\n", f.Text, strings.TrimSpace(direction+" "+f.Unit()))
	}
	return runs.WriteBest(a.stdout, c.Format, best)
}

type historyShowCmd struct {
	Named string `arg:"" name:"run" help:"The id, the name or the folder's name. Of several runs of a name the latest."`
	wantedRuns
	sharedFlags `embed:""`
}

type historyCompareCmd struct {
	Runs []string `arg:"" name:"run" help:"Ids, names or folders' names; the first is the baseline. Of several runs of a name the latest."`
	wantedRuns
	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (historyShowCmd) Help() string {
	return `The same as tokenmeter report FOLDER, which has more flags.`
}

// Run shows a run as report does.
func (c *historyShowCmd) Run(a *app) error {
	return c.pass(a, &c.sharedFlags, "report", c.Named)
}

// Help is shown below the flags.
func (historyCompareCmd) Help() string {
	return `The same as tokenmeter compare FOLDER…, which has more flags: gates, HTML, baselines.`
}

// Run compares runs as compare does.
func (c *historyCompareCmd) Run(a *app) error {
	if len(c.Runs) < 2 {
		return errors.New("give two runs, or more")
	}
	return c.pass(a, &c.sharedFlags, "compare", c.Runs...)
}

// pass runs another command on the folders of the runs that are named, and leaves
// with its exit code.
func (w *wantedRuns) pass(a *app, shared *sharedFlags, command string, names ...string) error {
	var check checker
	list, err := w.find(a, &check)
	if err != nil {
		return err
	}
	args := []string{command}
	for _, name := range names {
		r, err := runs.Named(list, name)
		if err != nil {
			return err
		}
		dir := r.Dir
		if strings.HasPrefix(dir, "-") { // or it would be a flag
			dir = "." + string(filepath.Separator) + dir
		}
		args = append(args, dir)
	}
	a.note("%s", typeset.CommandLine(append([]string{"tokenmeter"}, args...)))
	for flag, value := range map[string]string{"--format": shared.Format, "--log-level": shared.LogLevel} {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	if shared.Quiet {
		args = append(args, "--quiet")
	}
	if shared.NoColor {
		args = append(args, "--no-color")
	}
	return a.instead(args)
}
