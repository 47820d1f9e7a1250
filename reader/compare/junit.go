package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"tokenmeter/base/printable"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Failure *junitWords `xml:"failure"`
	Error   *junitWords `xml:"error"`
	Skipped *junitWords `xml:"skipped"`
	Out     string      `xml:"system-out,omitempty"`
}

type junitWords struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the gates as the test cases of a JUnit file, which CI
// systems show. A gate without an answer is skipped, or an error where the
// runs can't be compared.
func (r *Result) WriteJUnit(w io.Writer) error {
	suite := junitSuite{Name: "tokenmeter compare"}
	comparable := junitCase{Name: "comparable", Class: "compare", Out: r.Says}
	if r.Comparable.Verdict == NotComparableRuns {
		suite.Errors++
		comparable.Error = &junitWords{Message: r.Says, Text: r.reasonsText()}
	}
	suite.Cases = append(suite.Cases, comparable)
	for _, g := range r.Gates {
		c := junitCase{Name: g.Text, Class: "gate." + strings.ReplaceAll(g.Candidate, ".", "_"), Out: g.Words()}
		if g.Group != nil {
			c.Name += " (" + *g.Group + ")"
		}
		switch g.State {
		case Broken:
			suite.Failures++
			c.Failure = &junitWords{Message: g.Words()}
		case GateIncomparable:
			suite.Errors++
			c.Error = &junitWords{Message: g.Words()}
		case GateRefused:
			suite.Skipped++
			c.Skipped = &junitWords{Message: g.Words()}
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(printable.LinesWriter(w))
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Result) reasonsText() string {
	var lines []string
	for _, why := range r.Comparable.Why {
		lines = append(lines, fmt.Sprintf("%s: %s", why.Level, why.Says))
	}
	return strings.Join(lines, "\n")
}
