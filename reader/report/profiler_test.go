package report

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// The page has the profiler's start and stop on its time axis, and links to the files;
// whatever a folder says, a link leads to a file and never to a script.
func TestPageLinksProfiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	r, list := generated(10, 4, 12, 5)
	r.Control = []run.Act{
		{Name: "reset_cache", Does: "POST /flush_cache", OK: true, FromS: 0, ToS: timeline.Some(0.1)},
		{Name: "profile", Does: "POST /start_profile", OK: true, FromS: 0.5, ToS: timeline.Some(2000.0), Files: "/traces",
			Found: []run.ProfileFile{{Path: "profile/rank 0#a.pt.trace.json.gz", Bytes: 1234567}, {Path: "/traces/out?.nsys-rep", Bytes: 3},
				{Path: "javascript:alert(1)", Bytes: 1}, {Path: "../../etc/passwd", Bytes: 1}, {Path: `x"><script>`, Bytes: 1}}},
	}
	page := htmlText(t, r, each(list))
	var links []string
	for _, m := range regexp.MustCompile(` href="([^#][^"]*)"`).FindAllStringSubmatch(page, -1) {
		links = append(links, m[1])
	}
	if want := []string{"./profile/rank%200%23a.pt.trace.json.gz", "file:///traces/out%3F.nsys-rep", "./javascript:alert%281%29", "./x%22%3E%3Cscript%3E"}; !slices.Equal(links, want) {
		t.Errorf("links %q, want %q", links, want)
	}
	for _, want := range []string{">start 0.500 s<", ">stop ", "profile/rank 0#a.pt.trace.json.gz (1.23M bytes)", "files in /traces"} {
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script>alert") || strings.Count(page, "<script") != 1 {
		t.Error("a path became markup")
	}

	// Without the requests, and without files: the server's path alone.
	r.Control[1].Found = nil
	page = htmlText(t, r, nil)
	if !strings.Contains(page, "files in /traces (none found from here)") || strings.Contains(page, "file://") {
		t.Error("the page does not say where the server put its files")
	}
}
