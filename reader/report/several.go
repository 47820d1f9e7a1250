package report

import (
	"fmt"
	"strings"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// SeveralValidity says whether several runs are to be believed together: the
// worst verdict among them.
type SeveralValidity struct {
	Verdict string `json:"verdict"` // valid | suspect | invalid; empty: not judged
	Runs    int    `json:"runs"`    // that have the verdict
	Of      int    `json:"of"`
	Says    string `json:"says"` // for people, what the first of them says
}

// ValidityOf judges several runs, which people call so ("repeat").
func ValidityOf(runs []*run.Run, noun string) SeveralValidity {
	v := SeveralValidity{Of: len(runs)}
	for _, verdict := range []string{"invalid", "unknown", "suspect", "valid"} {
		for _, r := range runs {
			if r.Validity.Verdict != verdict {
				continue
			}
			if v.Runs++; v.Runs == 1 {
				v.Verdict, v.Says = verdict, firstCheck(r)
			}
		}
		if v.Runs > 0 {
			break
		}
	}
	head := fmt.Sprintf("%d of %s %s.", v.Runs, typeset.Plural(int64(v.Of), noun), strings.ToUpper(v.Verdict))
	switch v.Verdict {
	case "invalid", "unknown":
		v.Says = head + " " + v.Says + "Do not use these figures."
	case "suspect":
		v.Says = strings.TrimSpace(head + " " + v.Says)
	case "valid":
		v.Says = head
	}
	return v
}

// firstCheck is the worst check of a run that does not hold, and a space.
func firstCheck(r *run.Run) string {
	lines := view.CheckLines(r)
	if len(lines) == 0 {
		return ""
	}
	return lines[0].Name + ": " + lines[0].Says + " "
}
