//go:build !lean

package main

import (
	"errors"
	"fmt"
	"os"

	"tokenmeter/record/run"
)

type mergeCmd struct {
	Dirs  []string `arg:"" name:"run" help:"The folders of two or more runs of the same workload."`
	Out   string   `placeholder:"DIR" help:"The folder of the run. Default: a new one under ./runs."`
	Force bool     `help:"Replace the run that the folder holds."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (mergeCmd) Help() string {
	return `For load from several machines at once: every request of every run counts, and all figures are computed anew from them. The runs are put beside each other by their wall clocks, and what these say of each other is told; a clock that is wrong shifts rates, not latencies.`
}

// Run merges and shows what came out.
func (c *mergeCmd) Run(a *app) error {
	var folders []*run.Folder
	for _, dir := range c.Dirs {
		f, err := a.open(dir)
		if err != nil {
			return err
		}
		defer f.Close()
		folders = append(folders, f)
	}
	for _, f := range folders {
		if sameFile(c.Out, f.Dir()) {
			return fmt.Errorf("--out %s is one of the runs, which would be lost: name another folder", c.Out)
		}
	}
	m, err := run.Merged(folders)
	if err != nil {
		return err
	}
	m.Version, m.Command = fullVersion(), append([]string{"tokenmeter"}, a.args...)
	w, err := run.Create(c.Out, m, run.Options{Force: c.Force})
	if err != nil {
		return err
	}
	if err := run.AppendMerged(w, folders); err != nil {
		return errors.Join(err, w.Close())
	}
	sum, err := w.Finish(m)
	if err != nil {
		return err
	}
	for _, n := range m.Noticed {
		a.warn("note: %s", n.Says)
	}
	a.note("merged %d runs into %s", len(folders), w.Dir())
	return a.show(c.Format, &sum, w.Dir(), c.NoColor)
}

// sameFile reports whether two names are of one file or folder that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
