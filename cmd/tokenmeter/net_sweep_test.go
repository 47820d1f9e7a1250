//go:build !lean

package main

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tokenmeter/load/method"
	"tokenmeter/load/sweep"
)

// netSweeps are the kinds of sweeps that flags meet.
var netSweeps = []struct{ name, args string }{
	{"streams", "--concurrency 1,2 --requests 8"},
	{"rates", "--rate 1,4 --duration 10s"},
	{"lengths", "--input-tokens 10,20 --requests 8 --concurrency 2"},
	{"two lists", "--input-tokens 10,20 --output-tokens 5,6 --requests 8 --concurrency 2"},
	{"arrivals", "--vary arrival=constant,poisson --rate 4 --requests 8"},
	{"search of rates", "--find --objective p95_ttft_<_500ms"},
	{"search of streams", "--find --variable concurrency --objective p95_ttft_<_500ms"},
	{"method", "--method depth"},
}

// netSweepFlags are sweep's own flags, each with a value that differs from what is so without it.
var netSweepFlags = []netFlag{
	{"vary", "model=a,b", ""}, {"vary", "salt=x,y", ""}, {"paired", "", ""}, {"ordered", "", ""}, {"method", "llama-benchy", ""}, {"depth", "0,64", ""}, {"find", "", ""},
	{"variable", "concurrency", ""}, {"from", "3", ""}, {"to", "9", ""}, {"bracket", "20%", ""}, {"confidence", "80%", ""}, {"max-time", "5m", ""}, {"probe-time", "20s", ""},
	{"repeat", "3", ""}, {"settle", "3s", ""},
}

// netSweepElsewhere are flags of which the plan of a sweep shows nothing, with what holds them.
var netSweepElsewhere = map[string]string{"name": "sweep.json's own", "preflight": "of each point, as bench has it"}

// netSweepPairs show nothing for a reason.
var netSweepPairs = map[string]string{
	"variable concurrency | search of streams": "so it is already",
}

// sweepOf is what a command line of sweep comes to: why it was refused, what was said, and
// what would be measured.
type sweepOf struct {
	refused, said string
	job           *sweepJob
	grid          *sweep.Grid
	steps         *method.Steps
}

func plannedSweep(t *testing.T, args ...string) (out sweepOf) {
	t.Helper()
	line, err := newParser().Parse(append([]string{"sweep"}, args...))
	if err == nil {
		err = emptyFlags(line)
	}
	if err != nil {
		return sweepOf{refused: err.Error()}
	}
	var stderr strings.Builder
	c := line.Command.Target.(*sweepCmd)
	a := &app{stdout: io.Discard, stderr: &stderr, env: func(string) (string, bool) { return "", false }, args: args, flags: c.sharedFlags}
	if out.job, err = c.job(a); err != nil {
		return sweepOf{refused: err.Error()}
	}
	defer closeWorkload(&out.job.plan)
	c.told(a, &out.job.plan)
	out.grid = c.grid(a.progress(true, true, false, out.job.plan), out.job, out.job.cells, c.begun(out.job))
	if out.job.way != nil {
		if _, out.steps, err = c.prepare(out.job); err != nil {
			return sweepOf{refused: err.Error()}
		}
		for i := range out.steps.Cells {
			out.steps.Cells[i].Plan.Command = nil
		}
	}
	out.job.plan.Command = nil
	for i := range out.job.cells {
		out.job.cells[i].Plan.Command = nil
	}
	out.said = stderr.String()
	return out
}

var netSame = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool {
		switch t := p.Last().Type(); {
		case t == nil:
			return false
		default:
			return slices.Contains([]reflect.Kind{reflect.Func, reflect.Chan, reflect.UnsafePointer}, t.Kind())
		}
	}, cmp.Ignore()),
}

// Every flag of sweep changes what would be measured, is refused, or is named in a word,
// whatever is swept.
func TestNetOfSweeps(t *testing.T) {
	line, err := newParser().Parse([]string{"sweep"})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(netFlags, netSweepFlags)
	for _, f := range line.Command.Visible() {
		_, out := netSweepElsewhere[f.Name]
		_, away := netElsewhere[f.Name]
		if !out && !away && !slices.ContainsFunc(all, func(n netFlag) bool { return n.flag == f.Name }) {
			t.Errorf("--%s: give it a value in netSweepFlags, or a reason in netSweepElsewhere", f.Name)
		}
	}
	netFiles(t)
	for _, kind := range netSweeps {
		t.Run(kind.name, func(t *testing.T) {
			base := append([]string{"http://sim/v1", "--model", "sim", "--salt", "s"}, spaced(kind.args)...)
			before := plannedSweep(t, base...)
			if before.refused != "" {
				t.Fatal(before.refused)
			}
			if d := cmp.Diff(before, plannedSweep(t, base...), netSame); d != "" {
				t.Fatalf("chance decides: %.2000s", d)
			}
			for _, f := range all {
				what := strings.TrimSpace(f.flag + " " + f.value)
				if _, out := netSweepElsewhere[f.flag]; out || f.with != "" || strings.Contains(kind.args, "--"+f.flag+" ") || strings.Contains(kind.args+" ", "--"+what+" ") || netSweepPairs[what+" | "+kind.name] != "" {
					continue
				}
				args := append(slices.Clone(base), "--"+f.flag)
				if f.value != "" {
					args = append(args, f.value)
				}
				if cmp.Equal(before, plannedSweep(t, args...), netSame) {
					t.Errorf("--%s: nothing differs", what)
				}
			}
		})
	}
}
