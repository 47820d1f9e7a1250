package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"tokenmeter/record/export"
	"tokenmeter/record/run"
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
	form, err := c.form()
	if err != nil {
		return err
	}
	f, err := a.open(c.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Run().Told != nil && !form.Summary {
		return fmt.Errorf("%s has another tool's figures of a whole run and no request to export: --as llm-d and --as openmetrics write the figures", c.Dir)
	}
	if f.Len() == 0 && len(f.Notes()) > 0 {
		return fmt.Errorf("%s has no request to export: %s", c.Dir, strings.Join(f.Notes(), "; "))
	}
	return a.put(c.Out, c.Force, func(w io.Writer) error { return form.Write(w, f) })
}

func (exportCmd) collects() {}

// form is what --as names, or --format where that names one too.
func (c *exportCmd) form() (export.Exporter, error) {
	var check checker
	check.choice("--log-level", c.LogLevel, logLevels...)
	form, err := export.ByName(cmp.Or(c.As, c.Format, "jsonl"))
	switch {
	case err != nil && c.As == "":
		check.addf("--format %q is no form of records: use --as %s", c.Format, export.Names())
	case err != nil:
		check.add(err)
	}
	return form, check.err()
}

// open opens a run and tells what is wrong with it.
func (a *app) open(dir string) (*run.Folder, error) {
	if dir == "" {
		return nil, errors.New("no run is named: give its folder, as bench printed it, or one under ./" + run.DefaultRoot)
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
