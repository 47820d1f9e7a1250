package workload

import (
	"fmt"
	"strings"
	"testing"
)

// Every mistake is told once, at the place that ¦ marks.
func TestOneMistakeHasOnePlace(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		// kinds of values
		{"input: ¦[5]", "want a text"},
		{"input: 5\nwhen: {concurrency: ¦many}", "whole number"},
		{"input: 5\nwhen: {duration: ¦5}", "needs a unit"},
		{"input: 5\nwhen: {rate: ¦fast}", "want a number"},
		{"input: 5\nparameters: ¦5", "want fields"},
		{"input: 5\nhistory: ¦liv", "want recorded, live"},
		{"mix:\n  - name: a\n    share: ¦60%\n    input: 6", "want a number"},
		{"file: x.jsonl\nformat: ¦shargpt", "want auto"},
		{"input: 5\nleave: {after: 5s, share: ¦2}", "is no share"},
		// names of fields
		{"¦inptu: 5", `did you mean "input"?`},
		{"input: 5\n¦rate: 5", "known are"},
		{"input: 5\nprefix: {¦token: 5}", `did you mean "tokens"?`},
		{"input: 5\nwhen: {¦concurency: 5}", `did you mean "concurrency"?`},
		{"input: 5\n¦input: 6", "given in line 1"},
		// what is missing
		{"¦output: 5", "input is missing"},
		{"input: 5\nprefix: ¦{count: 2}", `"tokens" is missing`},
		{"mix:\n  - ¦name: a\n    input: 5", `"share" is missing`},
		{"task:\n  steps:\n    - ¦name: a", `"input" is missing`},
		{"task: {¦steps: []}", "at least one step"},
		// ranges and forms
		{"¦input: -5", "at least 1"},
		{"¦input: unifrom:1,5", "unknown distribution"},
		{"input: 5\n¦turns: 0", "at least 1"},
		{"input: 5\nwhen: {¦concurrency: -1}", ""},
		{"input: 5\nwhen: {¦duration: -5s}", ""},
		{"mix:\n  - name: a\n    ¦share: -1\n    input: 5", "above 0"},
		{"input: 5\n¦corpus: prosee", "want one of"},
		{"input: 5\nprefix: {¦tokens: x}", "is not a number"},
		// references
		{"¦file: nope.jsonl", "no such file"},
		{"task:\n  steps:\n    - name: a\n      input: 5\n      after: [¦b]", "no step is named"},
		// YAML
		{"input: ¦[5", "not found"},
		{"¦hello", "want fields"},
	} {
		before, after, _ := strings.Cut(c.text, "¦")
		line := 1 + strings.Count(before, "\n")
		column := len(before) - strings.LastIndex(before, "\n")
		place := fmt.Sprintf("x.yaml:%d:%d: ", line, column)
		_, err := FromYAML("x.yaml", []byte(before+after), Options{})
		got := fmt.Sprint(err)
		if !strings.HasPrefix(got, place) || !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
			t.Errorf("%s\n  got  %s\n  want %s… %s", c.text, got, place, c.says)
		}
	}
}
