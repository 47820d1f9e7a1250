package view

import (
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// controlWords is what was done to the server around the run, in a line.
func controlWords(r *run.Run) string {
	var list []string
	for _, a := range r.Control {
		text := a.Name
		if a.Does != "" {
			text += " (" + typeset.Short(a.Does, 60) + ")"
		}
		text += " at " + seconds(a.FromS)
		if to, ok := a.ToS.Get(); ok && to > a.FromS {
			text += "–" + seconds(to)
		}
		switch {
		case !a.OK:
			text += ", failed: " + a.Says
		case a.Says != "":
			text += ": " + a.Says
		}
		if a.Files != "" {
			text += ", files in " + a.Files
		}
		if n := len(a.Found); n > 0 {
			text += ", " + typeset.Plural(int64(n), "file") + " found: " + typeset.Short(a.Found[0].Path, 120)
			if n > 1 {
				text += ", …"
			}
		} else if a.Files != "" {
			text += " (none found from here)"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func seconds(s float64) string { return typeset.Span(s*1e3, typeset.Digits{}) }
