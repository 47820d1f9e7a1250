package report

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
)

// sweepCSS is what a sweep's page has beyond that of a run.
const sweepCSS = `.ok .trustsign{color:var(--ok)}.suspect .trustsign{color:var(--suspect)}.bad .trustsign{color:var(--bad)}.chart text.lab{fill:var(--text);font-size:12px;paint-order:stroke;stroke:var(--page);stroke-width:3px}#search .text{text-align:left}.bracket{fill:var(--s3);opacity:.16}.hold{fill:var(--s3);opacity:.07}.dot.s3{fill:var(--s3)}.line2{stroke:var(--axis);stroke-dasharray:2 2;fill:none}.iv1{stroke:var(--s1);stroke-width:1.5}.keys .sw{height:3px}.sw.s1{background:var(--s1)}.sw.s2{background:var(--s2)}.sw.s3{background:var(--s3)}.sw.s4{background:var(--s4)}`

// SweepHTML writes a sweep as one self-contained page.
func SweepHTML(w io.Writer, s *result.Sweep) error {
	p := newSweepPage(s)
	return writePage(w, p.Title, pageCSS+sweepCSS, "", p.content)
}

// sweepPage is what its content shows.
type sweepPage struct {
	Title, State, Sign, Says, More string
	Objectives                     []string
	Facts                          []view.Fact
	Charts                         []chart.Figure
	Heads                          []string
	Rows                           []sweepPageRow
	Notes                          []string // on the columns
	Steps                          [][]string
	Command                        string
	Method                         *methodView
	Matrices                       []matrix
}

type sweepPageRow struct {
	Cells     []string
	Sign, Run string
	State     string // class of the sign
}

// signState is the class of a point's sign.
var signState = map[string]string{"●": "ok", "▲": "suspect", "■": "bad", "○": "none"}

func newSweepPage(s *result.Sweep) *sweepPage {
	v := newSweepView(s)
	p := &sweepPage{State: v.state, Says: v.says, More: strings.Join(v.more, " "), Objectives: s.Objectives, Facts: v.facts,
		Heads: v.heads, Notes: v.notes, Charts: v.figures(), Command: typeset.CommandLine(s.Command),
		Method: v.method, Matrices: v.matrices()}
	p.Sign = map[string]string{"ok": "●", "bad": "■", "suspect": "▲", "none": "○"}[v.state]
	p.Title = typeset.Short(fmt.Sprintf("sweep of %s · %s · tokenmeter", v.variable.axis, s.Target.Model), 120)
	for i, r := range v.rows {
		mark := r.sign
		if r.bad {
			mark += " ✗"
		}
		if r.pareto {
			mark += " *"
		}
		p.Rows = append(p.Rows, sweepPageRow{r.cells, mark, s.Points[i].Run, signState[r.sign]})
	}
	if s.Found != nil {
		for i := range s.Found.Steps {
			p.Steps = append(p.Steps, stepCells(v, s.Found.Steps, i))
		}
	}
	return p
}

// stepCells are those of one step.
func stepCells(v *sweepView, steps []result.Step, at int) []string {
	st := &steps[at]
	why := st.Note
	switch {
	case why != "":
	case st.Grows:
		why = "requests piled up"
	case st.Repeat:
		why = again(steps[:at], st.Load)
	case st.Says != "unclear" && !st.Firm:
		why = "a step on the way"
	case st.Says == "unclear":
		why = "too near to the edge"
	default:
		why = st.Worst
	}
	return []string{v.value(st.Load), st.Words(), shownOr(st.Share, typeset.Percent), typeset.Count(st.Requests), why}
}

// again names the load of a second look by what it was seen to do before.
func again(before []result.Step, load float64) string {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].Load != load {
			continue
		}
		switch before[i].Says {
		case "holds":
			return "the load that held, once more"
		case "fails":
			return "the load that failed, once more"
		}
	}
	return "the same load, once more"
}
