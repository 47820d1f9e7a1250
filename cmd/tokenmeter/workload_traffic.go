//go:build !lean

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/load/workload/sessions"
)

// madeWorkloads are the commands that write workloads. The build tag lean leaves them out.
type madeWorkloads struct {
	FromTraffic fromTrafficCmd `cmd:"" name:"from-traffic" help:"Make a workload of what serve or proxy wrote with --trace: the same lengths, times, sessions and shared prefixes."`
}

type fromTrafficCmd struct {
	Trace string `arg:"" help:"A file that --trace of serve or proxy wrote, or a folder of them."`
	From  string `placeholder:"TIME" help:"Only requests from then on, like 2026-03-03T14:00:00Z."`
	To    string `placeholder:"TIME" help:"Only requests before then."`
	Out   string `required:"" placeholder:"FILE" help:"The workload, YAML; its requests stand beside it in a file of the same name that ends in .jsonl."`
	Force bool   `help:"Replace what is there."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (fromTrafficCmd) Help() string {
	return `Names of sessions and hashes of prompts are replaced by numbers: the result can't be joined with the trace. Names of models stay.
bench --workload FILE sends it at the recorded times; --speedup hurries it, --sessions N ignores when sessions began.`
}

// Run writes the workload.
func (c *fromTrafficCmd) Run(a *app) error {
	var check checker
	check.choice("--format", c.Format, "table")
	var span sessions.Span
	for _, b := range []struct {
		flag, text string
		into       *time.Time
	}{{"--from", c.From, &span.From}, {"--to", c.To, &span.To}} {
		if t, err := parseMoment(b.text); err == nil {
			*b.into = t
		} else if b.text != "" {
			check.addf("%s %q: write a moment like 2026-03-03T14:00:00Z", b.flag, b.text)
		}
	}
	data := strings.TrimSuffix(c.Out, filepath.Ext(c.Out)) + ".jsonl"
	if ext := strings.ToLower(filepath.Ext(c.Out)); ext != ".yaml" && ext != ".yml" {
		check.addf("--out %s: it is YAML, so let it end in .yaml", c.Out)
	}
	for _, out := range []string{c.Out, data} { // a folder's next files would be read as traces too
		if sameFile(out, c.Trace) || sameFile(filepath.Dir(out), c.Trace) {
			check.addf("--out %s is where the trace stands; name a file elsewhere", c.Out)
			break
		}
	}
	if err := check.err(); err != nil {
		return err
	}
	var sum sessions.Written
	err := writeFile(data, c.Force, func(w io.Writer) error {
		var err error
		if sum, err = sessions.Renumber(w, c.Trace, span); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	name := filepath.Base(data)
	err = writeFile(c.Out, c.Force, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "name: %q\nfile: %q\nformat: traffic\n", strings.TrimSuffix(name, ".jsonl"), name)
		return err
	})
	if err != nil {
		return err
	}
	return a.print(fmt.Sprintf("%s: %s\n%s\n", printable.Text(c.Out), &sum,
		"replay: tokenmeter bench URL --workload "+printable.Text(c.Out)))
}
