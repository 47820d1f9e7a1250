package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/imports"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

type importCmd struct {
	Files     []string `arg:"" name:"file" help:"A result file of another tool; beside it, in any order, files of what that read of servers and GPUs meanwhile."`
	From      string   `placeholder:"TOOL" help:"Whose file it is: ${import_tools}. Default: recognised by its content."`
	Part      int      `placeholder:"N" help:"Which run of a file that holds several, from 1."`
	Out       string   `placeholder:"DIR" help:"The folder of the run. Default: a new one under ./runs."`
	Force     bool     `help:"Replace the run that the folder holds."`
	Model     string   `placeholder:"NAME" help:"The model's name, where the file has none."`
	Objective []string `name:"objective" sep:"none" placeholder:"OBJECTIVE" help:"An objective to judge by, as bench takes it; repeatable. One that is missed makes the exit code 1."`
	Strict    bool     `negatable:"" help:"With objectives: exit code 4 when nothing was decided. On by itself where CI is set."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (importCmd) Help() string {
	text := "Makes a run of another tool's result file, for report, compare, slo check and export. What the file does not tell stays unknown: where it has no single arrivals, the run has no inter-token latencies.\n\nThe tools:\n"
	for _, m := range imports.Importers {
		text += "\n  " + m.Name + ": " + m.Says + "\n"
	}
	return text + "\nExit codes: 0 done; with --objective 1 one was missed, 3 no request was answered, 4 nothing was decided and --strict was given; 2 wrong usage, or no file that can be read; 5 the folder can't be written."
}

// Run reads the file and shows the run.
func (c *importCmd) Run(a *app) error {
	var check checker
	for _, text := range c.Objective {
		if _, err := objective.Parse(text); err != nil {
			check.addf("--objective: %w", err)
		}
	}
	if c.Part < 0 {
		check.addf("--part %d: parts count from 1", c.Part)
	}
	var from *imports.Importer
	if c.From != "" {
		known, err := imports.ByName(c.From)
		if err != nil {
			check.addf("--from: %w", err)
		}
		from = known
	}
	if err := check.err(); err != nil {
		return err
	}
	in, beside, err := c.read()
	if err != nil {
		return err
	}
	in.Part = c.Part
	if from == nil {
		if from = imports.Recognise(in.Head()); from == nil {
			return fmt.Errorf("%s is no file of a tool that is known: %s; name it with --from", in.Name, imports.Names())
		}
	}
	return c.write(a, in, from, beside)
}

// read reads the one file that has requests, and those beside it that have readings.
func (c *importCmd) read() (of *imports.Input, beside []*imports.Input, err error) {
	for i, name := range c.Files {
		if slices.Contains(c.Files[:i], name) {
			return nil, nil, fmt.Errorf("%s is named twice", name)
		}
		in, err := readImport(name)
		if err != nil {
			return nil, nil, err
		}
		switch says := imports.SummaryOf(in.Head()); {
		case imports.RecogniseReadings(in.Head()) != nil:
			beside = append(beside, in)
		case says != "" && c.From == "":
			return nil, nil, fmt.Errorf("%s: %s", name, says)
		case of != nil:
			return nil, nil, fmt.Errorf("%s and %s: of files with requests one makes a run; merge puts runs together", of.Name, name)
		default:
			of = in
		}
	}
	if of == nil {
		return nil, nil, fmt.Errorf("%s has no request, only what was read of servers: name it together with profile_export.jsonl", beside[0].Name)
	}
	return of, beside, nil
}

func readImport(path string) (*imports.Input, error) {
	f, err := limitio.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := imports.NewInput(path, f)
	if err != nil {
		return nil, err
	}
	in.Reply = api.Reread
	return in, nil
}

// span is what is known of the requests of a file when it has been read once.
type span struct {
	n            int
	model        string // of the first
	fromUS, toUS int64  // of measured requests: the first is due, the last ends; on the run's clock
	lastUS       int64  // the last of all ends
}

func (s *span) add(tl *timeline.Timeline) {
	end := tl.DueUS + tl.CloseUS.Or(0)
	if s.n++; s.n == 1 {
		s.model = tl.Model
	}
	if tl.Phase.Counts() {
		s.fromUS, s.toUS = min(s.fromUS, tl.DueUS), max(s.toUS, end)
	}
	s.lastUS = max(s.lastUS, end)
}

// write reads the requests before it makes a folder, so that a file that can't be read
// leaves none behind, and once more when it writes them: a million of them are more than
// memory should hold. If that fails, a folder that it made goes again.
func (c *importCmd) write(a *app, in *imports.Input, from *imports.Importer, beside []*imports.Input) error {
	all := span{fromUS: math.MaxInt64}
	m, err := from.Read(in, func(tl *timeline.Timeline) error {
		all.add(tl)
		return nil
	})
	if part := (*imports.PartError)(nil); errors.As(err, &part) {
		err = fmt.Errorf("%w; with --part N", err)
	}
	if err != nil {
		return err
	}
	if all.n == 0 && m.Told == nil {
		return fmt.Errorf("%s holds no request", in.Name)
	}
	samples, err := readServerReadings(beside, in.ZeroS, &all, &m)
	if err != nil {
		return err
	}
	for _, note := range in.Notes {
		a.warn("note: %s", note)
	}
	if m.Told != nil && len(c.Objective) > 0 {
		return fmt.Errorf("--objective: %s has figures of a whole run and no request to judge", in.Name)
	}
	m.ID = in.ID(from)
	m.Target.Model = cmp.Or(c.Model, m.Target.Model, all.model)
	if began := in.Began(); !began.IsZero() {
		m.Started = began
	}
	lasted := time.Duration(all.lastUS) * time.Microsecond
	if m.Told != nil {
		lasted = time.Duration(m.Told.Throughput.WindowS.Or(0) * float64(time.Second))
	}
	if m.Undated = m.Started.IsZero(); m.Undated {
		if info, err := os.Stat(in.Name); err == nil {
			m.Started = info.ModTime().UTC().Add(-lasted)
			a.warn("note: the file doesn't tell when the run began: it is dated by the file, which was changed last at %s", info.ModTime().UTC().Format(time.RFC3339))
		}
	}
	finished := m.Started.Add(lasted)
	m.Finished = &finished
	m.Objectives = c.Objective
	m.Name = cmp.Or(m.Name, filepath.Base(in.Name))
	m.Tags = map[string]string{"imported": from.Name}
	m.Version, m.Command = fullVersion(), append([]string{"tokenmeter", "import"}, c.Files...)
	_, missing := os.Stat(c.Out)
	whole := false
	w, err := run.Create(c.Out, m, run.Options{Force: c.Force})
	if err != nil {
		return err
	}
	defer func() {
		if whole {
			return // that it can't be shown takes nothing away
		}
		w.Close() // says only that Finish did
		if missing != nil {
			os.RemoveAll(w.Dir())
		}
	}()
	if all.n > 0 {
		if _, err := from.Read(in, func(tl *timeline.Timeline) error {
			tl.Model = cmp.Or(tl.Model, m.Target.Model)
			return w.Append(tl)
		}); err != nil {
			return err
		}
	}
	if err := w.ServerSamples(samples); err != nil {
		return err
	}
	sum, err := w.Finish(m)
	if err != nil {
		return err
	}
	whole = true
	if m.Told != nil {
		a.note("imported the summary of a run of %s into %s", from.Name, w.Dir())
	} else {
		a.note("imported %s of %s into %s", typeset.Plural(int64(all.n), "request"), from.Name, w.Dir())
	}
	err = a.show(c.Format, &sum, w.Dir(), c.NoColor)
	if len(c.Objective) > 0 {
		err = worse(err, verdict(&sum, c.Strict))
	}
	return err
}
