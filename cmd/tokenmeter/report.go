package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

type reportCmd struct {
	Dir   string `arg:"" name:"run" help:"The folder of a run."`
	HTML  string `name:"html" placeholder:"FILE" help:"Write one self-contained HTML file, - to stdout; stdout gets nothing else then, unless --format is given."`
	Lens  string `placeholder:"NAME,…" help:"Show the run under the definitions of other tools instead: ${lenses}, or all."`
	By    string `placeholder:"KIND" help:"Show conversations, tasks and sessions of agents instead: by session, turn, agent, depth (of the context), or task; or all requests by model. With tokens, real and ideal cache hits, TTFT, E2E, cost, and what a session waited for."`
	Force bool   `help:"Overwrite the HTML file."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (reportCmd) Help() string {
	return `Computes everything anew from the recorded arrivals. A run that is still going on, or that was broken off, can be reported too.`
}

// Run shows a run.
func (c *reportCmd) Run(a *app) error {
	if c.Format == "" && c.HTML == "" {
		c.Format = "table"
	}
	if c.HTML == "-" && c.Format != "" {
		return errors.New("--html - and --format both write to stdout: leave one of them out, or name a file")
	}
	if c.Lens != "" && c.Format != "table" && c.Format != "json" {
		return errors.New("--lens is shown as a table or as JSON: leave --html out, and give --format table or json")
	}
	if c.By != "" && (c.Lens != "" || c.HTML != "") {
		return errors.New("--by shows a table of its own: leave out --lens and --html")
	}
	var check checker
	check.choice("--by", c.By, metric.GroupKinds...)
	if err := check.err(); err != nil {
		return err
	}
	s, damage := sweep.Open(c.Dir)
	if damage == nil && c.Dir != "" {
		return c.sweep(a, s)
	}
	f, err := a.open(c.Dir)
	if errors.Is(err, run.ErrNoRun) && !errors.Is(damage, fs.ErrNotExist) && isFile(filepath.Join(c.Dir, result.File)) {
		return fmt.Errorf("the sweep can't be read (%w); its runs can, one by one: they are the folders in %s", damage, c.Dir)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if c.By != "" {
		return c.groups(a, f)
	}
	sum, err := run.Summarise(f)
	if err != nil {
		return err
	}
	sum.ServerSamples = f.ServerSamples()
	if err := c.page(a, func(w io.Writer) error { return report.HTML(w, &sum, f.Timelines()) }); err != nil {
		return err
	}
	if c.Lens != "" {
		return c.lens(a, f, &sum)
	}
	if c.Format == "" {
		return nil
	}
	return a.show(c.Format, &sum, f.Dir(), c.NoColor)
}

// show prints a run to stdout.
func (a *app) show(format string, sum *run.Run, dir string, noColor bool) error {
	switch format {
	case "json":
		return report.JSON(a.stdout, sum)
	case "csv":
		return report.CSV(a.stdout, sum)
	case "markdown":
		return report.Markdown(a.stdout, sum)
	}
	s := a.screen(a.stdout, noColor)
	var beyond []string
	if missed := missedBy(sum); len(missed) > 0 {
		beyond, _ = why(dir, missed)
	}
	return report.Terminal(a.stdout, sum, report.Options{
		Why: beyond, Width: s.width, Whole: !s.terminal, Color: s.color, ASCII: s.ascii, Dir: dir, Link: s.link(dir),
	})
}

func writeHTML(path string, force bool, f *run.Folder, sum *run.Run) error {
	sum.ServerSamples = f.ServerSamples()
	return writeFile(path, force, func(w io.Writer) error { return report.HTML(w, sum, f.Timelines()) })
}

// sweep shows a sweep, whose folder holds several runs.
func (c *reportCmd) sweep(a *app, s *result.Sweep) error {
	if c.Lens != "" {
		return errors.New("--lens shows one run: give the folder of a point")
	}
	s.Conclude()
	if err := c.page(a, func(w io.Writer) error { return report.SweepHTML(w, s) }); err != nil || c.Format == "" {
		return err
	}
	return a.showSweep(c.Format, s, c.NoColor)
}

// page writes the page that --html asks for: to a file, or to stdout.
func (c *reportCmd) page(a *app, write func(io.Writer) error) error {
	if c.HTML == "" {
		return nil
	}
	return a.put(c.HTML, c.Force, write)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
