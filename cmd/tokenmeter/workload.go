package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
)

type workloadCmd struct {
	Show     workloadShowCmd     `cmd:"" help:"Say what will be sent: lengths, turns, prefix reuse, arrivals, and the first request."`
	Validate workloadValidateCmd `cmd:"" help:"Read a workload and all its files to the end; tell everything that is wrong with them."`

	madeWorkloads `embed:""`
}

type workloadShowCmd struct {
	Name      string `arg:"" name:"file" help:"A workload file (YAML), a data file, or one of ${scenarios}."`
	Items     int64  `default:"1000" placeholder:"N" help:"Look at the first N arrivals. Default: 1000."`
	Seed      uint64 `default:"0" placeholder:"N" help:"Fixes lengths and arrival times, as it does for bench. Default: 0."`
	Salt      string `placeholder:"TEXT" help:"Makes the words of the prompts, as it does for bench. Default: a new one."`
	Tokenizer string `placeholder:"NAME|FILE" help:"The server's tokenizer, which makes lengths exact."`

	costFlags   `embed:""`
	sharedFlags `embed:""`
}

// costFlags say what things cost, before anything is sent.
type costFlags struct {
	Prices  string `placeholder:"FILE" help:"Say what the workload will cost: a YAML file with GPU hours and token prices. See docs/cost.md."`
	GPUHour string `name:"gpu-hour" placeholder:"USD" help:"Price of one GPU for an hour."`
	GPUs    string `name:"gpus" placeholder:"N" help:"GPUs that serve. Default: 1."`
	Model   string `placeholder:"NAME" help:"Whose prices, where a file has those of several."`
}

func (c *costFlags) read(check *checker) *cost.Pricing {
	return priceFlags{c.Prices, c.GPUHour, c.GPUs}.read(check)
}

// shown is what show prints as JSON.
type shown struct {
	workload.Description
	Arrivals *workload.Dispersion `json:"arrivals"` // null for a closed loop
	Cost     *cost.Expected       `json:"cost"`     // null without prices
	LeftOut  string               `json:"left_out,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
}

// Run shows.
func (c *workloadShowCmd) Run(a *app) error {
	var check checker
	check.choice("--format", c.Format, "table", "json")
	if c.Items < 1 {
		check.addf("--items %d: give at least 1", c.Items)
	}
	prices := c.read(&check)
	if err := check.err(); err != nil {
		return err
	}
	l, err := loadWorkload(c.Name, workload.Options{Seed: c.Seed, Salt: cmp.Or(c.Salt, newSalt()), TokenizerName: c.Tokenizer})
	if err != nil {
		return err
	}
	defer l.Close()
	first, n, at, err := arrivalsOf(l, c.Seed, c.Items)
	if err != nil {
		return err
	}
	d, err := workload.Describe(l, first, min(c.Items, n))
	if err != nil {
		return err
	}
	s := shown{Description: d}
	if at != nil {
		arrivals := workload.DispersionOf(at)
		s.Arrivals = &arrivals
	}
	s.Cost = bench.ExpectedCost(prices, c.Model, &d, planned(l, &d, n), l.Spec.When.Duration)
	s.LeftOut, s.Notes = l.LeftOut(), l.Remarks()
	if c.Format == "json" {
		return typeset.JSON(a.stdout, s)
	}
	var b strings.Builder
	if err := s.table(&b, l); err != nil {
		return err
	}
	return a.print(b.String())
}

// arrivalsOf looks at what is sent: the first item, how many there are (most where they
// have no end), and when the first of them are due; nil for a closed loop.
func arrivalsOf(l *workload.Loaded, seed uint64, most int64) (first, n int64, at []time.Duration, err error) {
	if byItsTimes(l) {
		return traceOf(l).Preview(most)
	}
	if n, err = l.Len(); err != nil {
		return 0, 0, nil, err
	} else if n == 0 {
		n = most
	}
	w := &l.Spec.When
	if w.Rate == 0 && (w.Stages == "" || w.Closed) {
		return 0, n, nil, nil
	}
	o := schedule.Open{Rate: w.Rate, Arrival: w.Arrival, Burstiness: w.Burstiness, Seed: seed, Requests: min(most, n)}
	if w.Stages != "" {
		if o.Stages, err = schedule.ParseStages(w.Stages); err != nil {
			return 0, 0, nil, err
		}
	}
	if err := o.Check(); err != nil {
		return 0, 0, nil, err
	}
	for x := range o.Arrivals(schedule.Share{}) {
		at = append(at, x.At)
	}
	return 0, n, at, nil
}

func (s *shown) table(out io.Writer, l *workload.Loaded) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s%s\n", label, fmt.Sprintf(format, args...))
	}
	line("workload", "%s (%s)", cmp.Or(s.Name, s.Source), s.Kind)
	if l.Spec.About != "" {
		line("question", "%s", l.Spec.About)
	}
	line("looked at", "%s with %s", typeset.Things(s.Items, "arrival"), typeset.Things(s.Requests, "request"))
	if len(s.ByName) > 1 {
		var parts []string
		for _, class := range l.Info().Classes {
			parts = append(parts, fmt.Sprintf("%s %s", class, percent(float64(s.ByName[class])/float64(s.Items))))
		}
		line("classes", "%s", strings.Join(parts, ", "))
	}
	lengthLines(line, "input", "tokens", &s.Input)
	lengthLines(line, "output", "tokens", &s.Output)
	if s.Input.N < s.Requests {
		lengthLines(line, "text", "characters", &s.Chars)
	}
	if s.Turns.Max > 1 {
		lengthLines(line, "per arrival", "requests", &s.Turns)
	}
	if r := s.Sessions; r != nil {
		line("sessions", "%s with %s, at most %s of one at once", typeset.Exact(r.Sessions), typeset.Things(r.Agents, "agent"), typeset.Plural(r.Width.Max, "request"))
		lengthLines(line, "turns", "of an agent", &r.Turns)
		lengthLines(line, "gaps", "ms", &r.GapMS)
		line("ideal cache", "%s of the input: what a prefix cache without a limit would know", percent(r.IdealHit))
		fmt.Fprintf(&b, "first session: its longest chain took %.1f s, of which %.1f s between requests\n", r.ChainS, r.BetweenS)
		for _, text := range r.Drawing() {
			fmt.Fprintf(&b, "  %s\n", text)
		}
	} else {
		line("prefix reuse", "%s of the input begins as an earlier request did", percent(s.PrefixReuse))
	}
	if s.Repeats > 0 {
		line("repeats", "%s of the requests were sent in the same words before", percent(s.Repeats))
	}
	for label, n := range map[string]int64{"checked": s.Checked, "leave early": s.Leaving, "read slowly": s.Slow} {
		if n > 0 {
			line(label, "%s of the requests", percent(float64(n)/float64(s.Requests)))
		}
	}
	if s.Images > 0 {
		line("images", "%d", s.Images)
	}
	if s.LeftOut != "" {
		line("left out", "%s", s.LeftOut)
	}
	for _, text := range s.Notes {
		line("note", "%s", text)
	}
	line("when", "%s", whenWords(l, s.Arrivals))
	if s.Cost != nil {
		line("cost", "%s", costWords(s.Cost, &s.Description))
	}
	b.WriteString("first request\n")
	for _, m := range s.First {
		fmt.Fprintf(&b, "  %s: %s\n", m.Role, shorten(m.Content, 160))
	}
	_, err := io.WriteString(out, printable.Lines(b.String()))
	return err
}

func lengthLines(line func(string, string, ...any), label, unit string, s *workload.Lengths5) {
	if s.N == 0 {
		return
	}
	if s.Min == s.Max {
		if s.Min == 1 && unit != "ms" {
			unit = strings.TrimSuffix(unit, "s")
		}
		line(label, "%s %s each", typeset.Exact(s.Min), unit)
		return
	}
	mean := typeset.Exact(int64(math.Round(s.Mean)))
	if s.Mean < 10 {
		mean = strconv.FormatFloat(s.Mean, 'f', 1, 64)
	}
	line(label, "mean %s %s, p50 %s, p90 %s, p99 %s, from %s to %s",
		mean, unit, typeset.Exact(s.P50), typeset.Exact(s.P90), typeset.Exact(s.P99), typeset.Exact(s.Min), typeset.Exact(s.Max))
	most := slices.Max(s.Bins)
	for i, n := range s.Bins {
		bar := strings.Repeat("█", int((n*40+most-1)/max(most, 1)))
		line("", "%19s %7s %s", binName(s.Edges[i], s.Edges[i+1]-1), typeset.Exact(n), bar)
	}
}

// binName is one number where a bin holds one.
func binName(from, to int64) string {
	if from == to {
		return typeset.Exact(from)
	}
	return typeset.Exact(from) + " … " + typeset.Exact(to)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func shorten(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + fmt.Sprintf("… (%d characters)", len(r))
	}
	return text
}

// whenWords says when requests are sent.
func whenWords(l *workload.Loaded, d *workload.Dispersion) string {
	w := &l.Spec.When
	var parts []string
	switch {
	case d != nil:
		kind := w.Arrival
		switch {
		case l.Timed && w.Rate == 0 && w.Stages == "":
			kind = "trace"
		case kind == "":
			kind = "constant"
		}
		text := "open loop (" + kind + ")"
		if t := w.Trace; kind == "trace" && t != nil && t.From > 0 {
			text += " from " + t.From.String()
		}
		if t := w.Trace; kind == "trace" && t != nil && t.To > 0 {
			text += " to " + t.To.String()
		}
		if d.RatePS > 0 { // of three arrivals or more, not all at once
			text += fmt.Sprintf(": %s/s, gaps vary by %.2f (Poisson: 1), index of dispersion %.2f (Poisson: 1)", metric.Significant(d.RatePS, 3), d.GapCV, d.Index)
		}
		parts = append(parts, text)
	case w.Stages != "":
		parts = append(parts, "closed loop, streams "+w.Stages)
	case w.Concurrency > 0:
		parts = append(parts, "closed loop of "+typeset.Plural(int64(w.Concurrency), "stream"))
	default:
		parts = append(parts, "as the flags of bench say")
	}
	if w.Pace > 0 && d == nil {
		parts = append(parts, "at least "+w.Pace.String()+" between a user's requests")
	}
	if w.Requests > 0 {
		parts = append(parts, typeset.Things(int64(w.Requests), "request"))
	}
	if w.Duration > 0 {
		parts = append(parts, "for "+w.Duration.String())
	}
	return strings.Join(parts, ", ")
}

type workloadValidateCmd struct {
	Name      string `arg:"" name:"file" help:"A workload file (YAML), a data file, or one of ${scenarios}."`
	Tokenizer string `placeholder:"NAME|FILE" help:"The server's tokenizer, which makes lengths exact."`

	costFlags   `embed:""`
	sharedFlags `embed:""`
}

// planned is how many requests a workload sends where its file bounds them: it says so, or
// its trace plays so many items; 0: not known.
func planned(l *workload.Loaded, d *workload.Description, items int64) int64 {
	w := &l.Spec.When
	if byItsTimes(l) {
		return d.Sent(int64(w.Requests), 0, 0, items)
	}
	return d.Sent(int64(w.Requests), w.Rate, w.Duration, 0)
}

// Run validates.
func (c *workloadValidateCmd) Run(a *app) error {
	var check checker
	prices := c.read(&check)
	if err := check.err(); err != nil {
		return err
	}
	l, err := loadWorkload(c.Name, workload.Options{TokenizerName: c.Tokenizer, Strict: true})
	if err != nil {
		return err
	}
	defer l.Close()
	var asBench benchCmd
	asBench.when(&bench.Plan{}, l, &check)
	asBench.ofWorkload(&l.Spec, &check)
	if err := check.err(); err != nil {
		return err
	}
	first, items, _, err := arrivalsOf(l, 0, 100)
	if err != nil {
		return err
	}
	n, err := l.Len()
	if err == nil && l.Timed {
		tr := schedule.Trace{Times: l.Times, Failed: func(failed error) { err = failed }}
		for range tr.Arrivals(schedule.Share{}) {
		}
	}
	var d workload.Description
	if err == nil {
		d, err = workload.Describe(l, first, min(100, items))
	}
	if err != nil {
		return err
	}
	words := fmt.Sprintf("%s is good", c.Name)
	if n > 0 {
		words += fmt.Sprintf(": %s (%s)", typeset.Things(n, "record"), l.Info().Kind)
		if byItsTimes(l) && items < n {
			words += fmt.Sprintf(", of which %s are played", typeset.Exact(items))
		}
	}
	if left := l.LeftOut(); left != "" {
		words += "; left out: " + left
	}
	if e := bench.ExpectedCost(prices, c.Model, &d, planned(l, &d, items), l.Spec.When.Duration); e != nil {
		words += "; cost: " + costWords(e, &d)
	}
	_, err = fmt.Fprintln(a.stdout, words)
	return err
}
