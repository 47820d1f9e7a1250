package answer

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	c := compile(t, Spec{Judge: &Judge{URL: "http://judge/v1", Model: "big"}})
	j := c.Judge()
	if j == nil || !c.Passes("anything") {
		t.Fatal("no judge")
	}
	if text := j.Ask("why {answer}?", "so"); !strings.Contains(text, "why {answer}?") || !strings.Contains(text, "Answer to check:\nso\n") || strings.Contains(text, "expected") {
		t.Error(text)
	}
	for reply, want := range map[string][2]bool{
		"PASS": {true, true}, "It could PASS, but no: FAIL.": {false, true}, "FAIL? No. **PASS**": {true, true},
		"": {false, false}, "it passes": {false, false}, "BYPASS": {false, false},
	} {
		if passes, known := j.Verdict(reply); passes != want[0] || known != want[1] {
			t.Errorf("%q: %v %v", reply, passes, known)
		}
	}
	told := compile(t, Spec{Number: &Number{Value: 42}}).JudgedBy(c)
	if text := told.Judge().Ask("q", "a"); !strings.Contains(text, "expected of the answer:\nnumber 42") {
		t.Error(text)
	}
	own := compile(t, Spec{Judge: &Judge{URL: "http://j", Model: "m", Prompt: "{answer}|{question}|{reference}", Pass: "^[45]$"}}).Judge()
	if own.Ask("q", "a") != "a|q|" {
		t.Error(own.Ask("q", "a"))
	}
	if passes, known := own.Verdict("4"); !passes || !known {
		t.Error("4 passes")
	}
	for _, bad := range []Judge{{Model: "m"}, {URL: "http://j"}, {URL: "http://j", Model: "m", Prompt: "x"}, {URL: "http://j", Model: "m", Pass: "("}} {
		if _, err := Compile(Spec{Judge: &bad}); err == nil || !strings.Contains(err.Error(), "judge: ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
