package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
)

// WriteJUnit writes the gates as the test cases of a JUnit file, which CI
// systems show. A gate without an answer is skipped, or an error where the
// runs can't be compared.
func (r *Result) WriteJUnit(w io.Writer) error {
	var cases strings.Builder
	count := map[string]int{}
	add := func(name, class, state, words, text, out string) {
		count["tests"]++
		fmt.Fprintf(&cases, "  <testcase name=\"%s\" classname=\"%s\">\n", xmlText(name), xmlText(class))
		if state != "" {
			count[state]++
			fmt.Fprintf(&cases, "    <%s message=\"%s\">%s</%[1]s>\n", state, xmlText(words), xmlText(text))
		}
		if out != "" {
			fmt.Fprintf(&cases, "    <system-out>%s</system-out>\n", xmlText(out))
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
	_, err := fmt.Fprintf(printable.LinesWriter(w), "%s<testsuite name=\"tokenmeter compare\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n%s</testsuite>\n",
		xml.Header, count["tests"], count["failure"], count["error"], count["skipped"], cases.String())
	return err
}

// xmlText makes text stay text, in an attribute too.
func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder has no errors
	return b.String()
}

func (r *Result) reasonsText() string {
	var lines []string
	for _, why := range r.Comparable.Why {
		lines = append(lines, fmt.Sprintf("%s: %s", why.Level, why.Says))
	}
	return strings.Join(lines, "\n")
}
