package printable

import "testing"

// A spreadsheet must not run what somebody said.
func TestCSVCellsAreNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"plain":          "plain",
		"=cmd|' /C x'!A": "'=cmd|' /C x'!A",
		"+1+1":           "'+1+1",
		"-x":             "'-x",
		"@SUM(1)":        "'@SUM(1)",
		"\t=1":           "'\t=1",
		"-1.5":           "-1.5",
		"+3e2":           "+3e2",
		"-2 -3":          "'-2 -3",
		"a=b":            "a=b",
		"＝1+1":           "'＝1+1",
		"\r=1":           "␍=1",
		"\x1b[31m=1\nx":  "␛[31m=1\nx",
	} {
		if got := Cell(text); got != want {
			t.Errorf("Cell(%q) = %q, want %q", text, got, want)
		}
	}
}
