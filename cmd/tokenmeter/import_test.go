package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/imports"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// A file that can't be read a second time leaves no folder that import made, and one
// that was there as it was: unlocked.
func TestImportLeavesNoHalfOfAFolder(t *testing.T) {
	broken := errors.New("gone meanwhile")
	for _, there := range []bool{false, true} {
		reads := 0
		from := &imports.Importer{Name: "vllm", Read: func(_ *imports.Input, add func(*timeline.Timeline) error) (run.Run, error) {
			if reads++; reads%2 == 0 {
				return run.Run{}, broken
			}
			return oneRequest(add)
		}}
		in, err := imports.NewInput("x.json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		c := importCmd{Out: filepath.Join(t.TempDir(), "theirs"), Force: true}
		if there {
			if err := os.Mkdir(c.Out, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := c.write(&app{stdout: io.Discard, stderr: io.Discard}, in, from, nil); !errors.Is(err, broken) {
				t.Fatal(err)
			}
			if _, err := os.Stat(c.Out); (err == nil) != there {
				t.Errorf("the folder was there: %v, and is: %v", there, err)
			}
		}
	}
}

// oneRequest is what an importer makes of a file with a request that went well.
func oneRequest(add func(*timeline.Timeline) error) (run.Run, error) {
	tl := timeline.New()
	tl.ID, tl.Outcome = "a", timeline.OK
	return run.Run{}, add(tl)
}

// That a run can't be shown, as to a pipe that nobody reads, takes none away that was
// written.
func TestImportKeepsWhatItCantShow(t *testing.T) {
	from := &imports.Importer{Name: "vllm", Read: func(_ *imports.Input, add func(*timeline.Timeline) error) (run.Run, error) {
		return oneRequest(add)
	}}
	in, err := imports.NewInput("x.json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	c := importCmd{Out: filepath.Join(t.TempDir(), "theirs")}
	c.Format = "json"
	_, out := io.Pipe()
	out.Close()
	if err := c.write(&app{stdout: out, stderr: io.Discard}, in, from, nil); err == nil {
		t.Error("it was shown")
	}
	f, err := run.Open(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
