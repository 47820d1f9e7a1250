package compare

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/reader/typeset"
)

// WriteJUnit writes the gates as the test cases of a JUnit file, which CI
// systems show. A gate without an answer is skipped, or an error where the
// runs can't be compared.
func (r *Result) WriteJUnit(w io.Writer) error {
	var cases strings.Builder
	count := map[string]int{}
	add := func(name, class, state, words, text, out string) {
		count["tests"]++
		fmt.Fprintf(&cases, "  <testcase name=\"%s\" classname=\"%s\">\n", typeset.Markup(name), typeset.Markup(class))
		if state != "" {
			count[state]++
			fmt.Fprintf(&cases, "    <%s message=\"%s\">%s</%[1]s>\n", state, typeset.Markup(words), typeset.Markup(text))
		}
		if out != "" {
			fmt.Fprintf(&cases, "    <system-out>%s</system-out>\n", typeset.Markup(out))
		}
		cases.WriteString("  </testcase>\n")
	}
	state := ""
	if r.Comparable.Verdict == NotComparableRuns {
		state = "error"
	}
	add("comparable", "compare", state, r.Says, r.reasonsText(), r.Says)
	for _, g := range r.Gates {
		name := g.Text
		if g.Group != nil {
			name += " (" + *g.Group + ")"
		}
		state := map[GateState]string{Broken: "failure", GateIncomparable: "error", GateRefused: "skipped"}[g.State]
		add(name, "gate."+strings.ReplaceAll(g.Candidate, ".", "_"), state, g.Words(), "", g.Words())
	}
	_, err := fmt.Fprintf(printable.LinesWriter(w), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tokenmeter compare\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n%s</testsuite>\n",
		count["tests"], count["failure"], count["error"], count["skipped"], cases.String())
	return err
}

func (r *Result) reasonsText() string {
	var lines []string
	for _, why := range r.Comparable.Why {
		lines = append(lines, fmt.Sprintf("%s: %s", why.Level, why.Says))
	}
	return strings.Join(lines, "\n")
}
