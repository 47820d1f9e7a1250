package printable

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a server says must not act on the pipeline whose log shows it.
func TestPipelinesObeyNobodyElse(t *testing.T) {
	for in, want := range map[string]string{
		"::error::no":                           ": :error::no",
		"HTTP 400: ::stop-commands::x":          "HTTP 400: : :stop-commands::x",
		"a\u00a0::add-mask::x":                  "a\u00a0: :add-mask::x",
		"::warning file=a.go,line=1::x":         ": :warning file=a.go,line=1::x",
		"x ##vso[task.setvariable variable=a]b": "x # #vso[task.setvariable variable=a]b",
		"##VSO[task.complete]":                  "# #VSO[task.complete]",
		"##[add-path]/x":                        "# #[add-path]/x",
		"###teamcity[buildStop]":                "## #teamcity[buildStop]",
		"##[a]##[b]::x::":                       "# #[a]# #[b]::x::",
		// No orders.
		"std::bad_alloc": "std::bad_alloc", "::1": "::1", "::ffff:10.0.0.1": "::ffff:10.0.0.1",
		"# one ## two [3]": "# one ## two [3]", "a::b::c": "a::b::c", "##": "##", "::": "::",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := Lines("a\n  ::debug::b"), "a\n  : :debug::b"; got != want {
		t.Errorf("Lines: %q, want %q", got, want)
	}
	said := `["## a", "##vso[x]", "ä ##[y]##[z]"]`
	shown := JSON([]byte(said))
	if strings.Contains(string(shown), "##vso[") || strings.Contains(string(shown), "##[") {
		t.Errorf("JSON: %s", shown)
	}
	var before, after []string
	if err := json.Unmarshal(shown, &after); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(said), &before)
	if strings.Join(before, "|") != strings.Join(after, "|") {
		t.Errorf("JSON: %q became %q", before, after)
	}
	long := strings.Repeat("##[", 100_000)
	if got := Text(long); got != strings.Repeat("# #[", 100_000) {
		t.Error("a long text is not as it should be")
	}
}
