package lens

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"tokenmeter/metric"
)

var update = flag.Bool("update", false, "write the generated parts of docs/metrics.md anew")

const docs = "../../docs/metrics.md"

// The tables of docs/metrics.md are those of the code. What stands outside
// the markers is written by hand.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, body := range map[string]string{
		"catalogue": catalogue(), "flags": flags(), "outcomes": outcomes(), "tools": tools(),
	} {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/metrics.md has no part %q", name)
		}
		text = before + begin + "\n" + body + "\n" + end + after
	}
	if *update {
		if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != string(data) {
		t.Error("docs/metrics.md is older than the code: go test ./metric/lens -run Docs -update")
	}
}

func catalogue() string {
	var b strings.Builder
	for i, g := range metric.Groups() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s\n\n| name | meaning | null when | other tools |\n|---|---|---|---|\n", g)
		for _, d := range metric.Catalogue {
			if d.Group == g {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", nameCell(d), meaning(d), cell(d.Null), cell(d.Elsewhere))
			}
		}
	}
	return b.String()
}

func nameCell(d metric.Definition) string {
	s := "`" + d.Name + "`"
	var more []string
	if d.Unit != "" {
		more = append(more, d.Unit)
	}
	if d.Better != "" {
		more = append(more, string(d.Better)+" is better")
	}
	if len(more) > 0 {
		s += "<br>" + strings.Join(more, ", ")
	}
	return cell(s)
}

func meaning(d metric.Definition) string {
	s := "**" + d.Title + "**"
	if d.Formula != "" {
		s += ". " + d.Formula
	}
	if len(d.Aliases) > 0 {
		s += "<br>Also: " + strings.Join(d.Aliases, ", ")
	}
	return cell(s)
}

func flags() string {
	var b strings.Builder
	b.WriteString("| flag | set when | what it means |\n|---|---|---|\n")
	for _, f := range metric.FlagMeanings {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, cell(f.When), cell(f.Says))
	}
	return b.String()
}

func outcomes() string {
	var b strings.Builder
	b.WriteString("| outcome | what happened | likely cause | next step |\n|---|---|---|---|\n")
	for _, a := range metric.OutcomeAdvice {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Outcome, cell(a.Means), cell(a.Cause), cell(a.Next))
	}
	return b.String()
}

func tools() string {
	var b strings.Builder
	b.WriteString("| tool (`--lens`) | first token | clock starts | TPOT | ITL | tokens | E2E ends | failures |\n|---|---|---|---|---|---|---|---|\n")
	for _, l := range Tools() {
		d := l.Differs
		fmt.Fprintf(&b, "| %s (`%s`)<br>%s | %s | %s | %s | %s | %s | %s | %s |\n", l.Title, l.Name, l.AsOf,
			cell(d.FirstToken), cell(d.Clock), cell(d.TPOT), cell(d.ITL), cell(d.Tokens), cell(d.End), cell(d.Failures))
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
