package report

import (
	"os"
	"path/filepath"
	"testing"

	"tokenmeter/timeline"
)

// The pages are written to the folder that REPORT_PAGES names, to be looked at.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORT_PAGES")
	if dir == "" {
		t.Skip("REPORT_PAGES names no folder")
	}
	for name, r := range allRuns() {
		write(t, filepath.Join(dir, name+".html"), htmlText(t, r, nil))
	}
	for _, n := range []int{1, 2, 10, 594, 5000} {
		r, list := generated(n, min(n, 32), 150, 100)
		write(t, filepath.Join(dir, "generated-"+exact(int64(n))+".html"), htmlText(t, r, each(list)))
	}
	r := hostileRun()
	var list []*timeline.Timeline
	for i, text := range hostile {
		tl := timeline.New()
		tl.Request = int64(i)
		tl.Fail(timeline.Outcome(text), text)
		tl.CloseUS = timeline.Some(int64(1000 * i))
		list = append(list, tl)
	}
	write(t, filepath.Join(dir, "hostile.html"), htmlText(t, r, each(list)))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
