package report

import (
	"fmt"
	"io"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
)

// sweepCSS is what a sweep's page has beyond that of a run.
const sweepCSS = `.ok .trustsign{color:var(--ok)}.suspect .trustsign{color:var(--suspect)}.bad .trustsign{color:var(--bad)}.chart text.lab{fill:var(--text);font-size:12px;paint-order:stroke;stroke:var(--page);stroke-width:3px}#search .text{text-align:left}.bracket{fill:var(--s3);opacity:.16}.hold{fill:var(--s3);opacity:.07}.dot.s3{fill:var(--s3)}.line2{stroke:var(--axis);stroke-dasharray:2 2;fill:none}.iv1{stroke:var(--s1);stroke-width:1.5}.keys .sw{height:3px}.sw.s1{background:var(--s1)}.sw.s2{background:var(--s2)}.sw.s3{background:var(--s3)}.sw.s4{background:var(--s4)}`

// SweepHTML writes a sweep as one self-contained page.
func SweepHTML(w io.Writer, s *result.Sweep) error {
	v := newSweepView(s)
	title := fmt.Sprintf("sweep of %s · %s · tokenmeter", v.variable.axis, s.Target.Model)
	return writePage(w, typeset.Short(title, 120), pageCSS+sweepCSS, "", v.content)
}

// steps are those of a search, in cells.
func (v *sweepView) steps() (rows [][]string) {
	if v.s.Found != nil {
		for i := range v.s.Found.Steps {
			rows = append(rows, stepCells(v, v.s.Found.Steps, i))
		}
	}
	return rows
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
