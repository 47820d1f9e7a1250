package main

import (
	"cmp"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/method"
	"tokenmeter/load/sweep"
)

// sweepCmd has the flags of bench; those of the load and the lengths take lists.
type sweepCmd struct {
	benchCmd `embed:""`

	Vary       []string `group:"sweep" sep:"none" placeholder:"NAME=LIST" help:"Vary another flag, like model=a,b or url=URL1,URL2 or arrival=constant,poisson, or a field of the workload, like prefix.tokens=512,2048. Repeatable."`
	Paired     bool     `group:"sweep" help:"Take the first values of all lists together, then the second ones. Default: every combination."`
	Ordered    bool     `group:"sweep" help:"Measure in the order of the lists. Default: in random order, so that a drift of the server is no effect of the load."`
	Method     string   `group:"sweep" placeholder:"NAME" help:"Measure as somebody else does, by their rules and with their figures: ${methods}. See docs/sweep.md."`
	Depth      string   `group:"sweep" placeholder:"LIST" help:"Of --method depth: tokens of context before what is measured. Default: 0,4096,8192."`
	Find       bool     `group:"sweep" help:"Find the largest rate (or, with --variable concurrency, number of streams) at which the objectives hold."`
	Variable   string   `group:"sweep" placeholder:"NAME" help:"Of --find: rate or concurrency. Default: rate."`
	From       string   `group:"sweep" placeholder:"LOAD" help:"Of --find: the first load to try. Default: 1."`
	To         string   `group:"sweep" placeholder:"LOAD" help:"Of --find: the largest load to try. Default: 100000."`
	Bracket    string   `group:"sweep" placeholder:"P" help:"Of --find: how far apart the load that holds and the one that fails may be. Default: 5%."`
	Confidence string   `group:"sweep" placeholder:"P" help:"Of --find: how sure the bracket is. Default: 95%."`
	MaxTime    string   `group:"sweep" placeholder:"TIME" help:"Of --find: the time for all probes; the bracket is as narrow as it allows. Default: 15m."`
	ProbeTime  string   `group:"sweep" placeholder:"TIME" help:"Of --find: how long each probe lasts: what holds, holds for so long. Default: a sixth of --max-time."`
	Repeats    string   `name:"repeat" group:"sweep" placeholder:"N" help:"Measurements of each value, in random order. Default: 1."`
	Settle     string   `group:"sweep" placeholder:"TIME" help:"How long the server may take to come to rest before a point; 0 for no look. Default: 1m, with --find a twentieth of --max-time at most."`
}

// Help is shown below the flags.
func (sweepCmd) Help() string {
	return `Measures one value after the other, each as a run of its own: --concurrency, --rate, --input-tokens and --output-tokens take a list or a range, --vary lets any other flag, or a field of the workload, vary. Several lists make a grid.

    1,2,4,8     these values
    1..64       doubled from 1 to 64 (1..64*4: times 4 each)
    10..50+10   10 more each
    1..100/7    7 values, each the same factor above the last

With --find and an objective it finds the largest load that holds instead:

    tokenmeter sweep http://localhost:8000 --find --objective "p95 ttft < 500ms"

Exit codes: 0 done; 1 the objectives were missed, or --max-failures ended it: at the smallest load of a search, or at every point; 2 wrong usage; 3 the target failed; 4 a point is invalid, or the client was too slow for the search, and --strict was given; 5 results could not be written; 130 interrupted.`
}

// isList tells a list of numbers from a distribution like uniform:128,512.
func isList(text string) bool {
	return (strings.Contains(text, ",") || strings.Contains(text, "..")) && !strings.Contains(text, ":")
}

// search reads the flags of --find.
func (c *sweepCmd) search(check *checker) sweep.Search {
	s := sweep.Search{Variable: c.Variable, MaxTime: 15 * time.Minute}
	check.choice("--variable", c.Variable, sweep.Rate, sweep.Concurrency)
	s.From = check.number("--from", c.From, "2")
	s.Most = check.number("--to", c.To, "64")
	s.Width = check.share("--bracket", c.Bracket)
	s.Confidence = cmp.Or(check.share("--confidence", c.Confidence), 0.95)
	if s.Confidence <= 0.5 {
		check.addf("--confidence %s: give more than 50%%", c.Confidence)
	}
	if s.Most > 0 && s.From > s.Most {
		check.addf("--from %s is above --to %s", c.From, c.To)
	}
	if d, given := check.duration("--max-time", c.MaxTime, time.Second); given {
		s.MaxTime = d
	}
	if d, given := check.duration("--probe-time", c.ProbeTime, time.Second); given {
		s.ProbeTime = d
	}
	return s
}

// settle is the time to come to rest, as package sweep takes it.
func (c *sweepCmd) settle(check *checker) time.Duration {
	d, given := check.duration("--settle", c.Settle, 0)
	if given && d == 0 {
		return -1
	}
	return d
}

// misfits are flags of bench that a sweep has no use for.
func (c *sweepCmd) misfits(p *bench.Plan, axes []axis, way *method.Method, check *checker) {
	switch {
	case way != nil && c.Find:
		check.addf("--method says what is measured, and so does --find: leave one of them out")
	case way != nil && len(c.Vary) > 0:
		check.addf("--method says what is varied: leave --vary out")
	case way != nil && c.Variable != "" && c.Variable != sweep.Rate:
		check.addf("--method says what is searched for: leave --variable out")
	case way != nil && (c.Repeats != "" || c.Paired || c.Ordered):
		check.addf("--method says what is measured, how often and in which order: leave --repeat, --paired and --ordered out")
	case c.Find && (c.Repeats != "" || c.Ordered):
		check.addf("--find chooses what it tries, and what it tries again: leave --repeat and --ordered out")
	case c.Find && len(axes) > 0 && len(check.errs) == 0:
		check.addf("--find varies the load only: leave the list of %s out", axes[0].name)
	case c.Paired && len(axes) < 2:
		check.addf("--paired belongs to several lists")
	}
	if way == nil && c.Depth != "" {
		check.addf("--depth belongs to --method depth: add it, or leave --depth out")
	}
	if c.DryRun {
		check.addf("--dry-run belongs to bench")
	}
	if c.tells() {
		check.addf("--telemetry belongs to bench")
	}
	if c.Stages != "" || p.Trace != nil {
		check.addf("a load that changes by itself can't be swept: leave --stages and traces to bench")
	}
	if c.Find && (c.Rate != "" || c.Concurrency != "") {
		check.addf("--find chooses the load: leave --rate and --concurrency out (--from and --to bound it)")
	}
	if c.Find && (c.Requests != "" || c.Duration != "") {
		check.addf("--find says how long a probe lasts: leave --requests and --duration out (--probe-time and --max-time bound it)")
	}
}

// idle are flags of a search where none is made.
func (c *sweepCmd) idle(check *checker) {
	for _, f := range []struct{ flag, text string }{
		{"--variable", c.Variable}, {"--from", c.From}, {"--to", c.To}, {"--bracket", c.Bracket},
		{"--confidence", c.Confidence}, {"--max-time", c.MaxTime}, {"--probe-time", c.ProbeTime},
	} {
		if f.text != "" {
			check.addf("%s belongs to a search: add --find, or leave it out", f.flag)
		}
	}
}
