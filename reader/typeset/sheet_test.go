package typeset

import (
	"strings"
	"testing"
)

// A run's name may be anybody's: no form of a table runs it, draws it or lets it end
// the row.
func TestNoFormulasInSheets(t *testing.T) {
	s := Sheet{Columns: []string{"name", "p50"}, Rows: [][]string{{"=cmd|' /C x'!A\n<b>\x1b[31m", "-1.5"}, {"+1", Missing}}}
	for form, want := range map[string]string{
		"csv":      "name,p50\n'=cmd|' /C x'!A␊<b>␛[31m,-1.5\n+1,\n",
		"markdown": "| name | p50 |\n|---|---|\n| =cmd\\|' /C x'!A␊\\<b>␛[31m | -1.5 |\n",
	} {
		var b strings.Builder
		if err := s.Write(&b, form); err != nil || !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s: %v\n%s", form, err, b.String())
		}
	}
}
