package main

import (
	"cmp"
	"errors"
	"io"

	"tokenmeter/export"
	"tokenmeter/run"
)

type exportCmd struct {
	Dir   string `arg:"" name:"run" help:"The folder of a run."`
	As    string `placeholder:"FORM" help:"${export_forms}. Default: jsonl."`
	Out   string `placeholder:"FILE" help:"Where to write; - is stdout. Default: stdout."`
	Force bool   `help:"Overwrite the file."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (exportCmd) Help() string {
	text := "The forms:\n"
	for _, e := range export.Exporters {
		text += "\n  " + e.Name + ": " + e.Says + "\n"
	}
	return text
}

// Run writes the records.
func (c *exportCmd) Run(a *app) error {
	form, err := export.ByName(cmp.Or(c.As, c.Format, "jsonl"))
	if err != nil {
		return &usageError{err}
	}
	f, err := a.open(c.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.Out == "" || c.Out == "-" {
		return form.Write(a.stdout, f)
	}
	return writeFile(c.Out, c.Force, func(w io.Writer) error { return form.Write(w, f) })
}

// open opens a run and tells what is wrong with it.
func (a *app) open(dir string) (*run.Folder, error) {
	if dir == "" {
		return nil, &usageError{errors.New("no run is named: give its folder, as bench printed it, or one under ./" + run.DefaultRoot)}
	}
	f, err := run.Open(dir)
	if err != nil {
		return nil, err
	}
	for _, note := range f.Notes() {
		a.warn("note: %s", note)
	}
	return f, nil
}
