package run

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// filled makes a folder with files of that names and content; a name that ends in a slash
// is a folder.
func filled(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		folder, file := path.Split(name)
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if file == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a folder holds is replaced by output of the same kind only: readers would take
// what another kind left for what was measured last.
func TestWhatAFolderHoldsIsReplacedByItsKind(t *testing.T) {
	const inTurns = `{"tags":{"side":"a","round":"1"}}`
	for name, tc := range map[string]struct {
		files map[string]string
		holds Kind
	}{
		"nothing":                  {nil, 0},
		"something":                {map[string]string{"notes.txt": "x"}, 0},
		"runs by name":             {map[string]string{"first/run.json": "{}", "mine-01/run.json": "{}"}, 0},
		"turns, damaged":           {map[string]string{"a-01/run.json": "{", "b-01/requests.parquet": "x"}, TurnRuns},
		"somebody's compare.json":  {map[string]string{"compare.json": "{}"}, 0},
		"somebody's sweep.json":    {map[string]string{"sweep.json": "[]"}, 0},
		"a run":                    {map[string]string{"run.json": "{}", "requests.parquet": "x"}, OneRun},
		"a run that was killed":    {map[string]string{"requests.journal": "x", "compare.json": "{}"}, OneRun},
		"a sweep":                  {map[string]string{"sweep.json": `{"schema":"tokenmeter.sweep/v1"}`, "001-rate-4/run.json": "{}"}, SweepRuns},
		"a sweep that was killed":  {map[string]string{"sweep.json": "", "001-rate-4/": ""}, SweepRuns},
		"turns":                    {map[string]string{"a-01/run.json": inTurns, "b-01/run.json": inTurns, "compare.json": "{}"}, TurnRuns},
		"turns that were stopped":  {map[string]string{"b-01/run.json": inTurns}, TurnRuns},
		"a canary":                 {map[string]string{"a-01/run.json": inTurns, "b-01/run.json": "{", "canary.json": "{}"}, TurnRuns},
		"probes":                   {map[string]string{"spent.json": "{}", "m-host-1/run.json": "{}"}, ProbeFiles},
		"probes before the first":  {map[string]string{"spent.json": "", "lessons.json": "{}"}, ProbeFiles},
		"a run in a sweep's place": {map[string]string{"run.json": "{}", "001-rate-4/run.json": "{}"}, OneRun},
	} {
		for wants := OneRun; wants <= ProbeFiles; wants++ {
			for _, replace := range []bool{false, true} {
				where := fmt.Sprintf("%s, %s, %v", name, layouts[wants].some, replace)
				h, err := Hold(filled(t, tc.files), wants, replace)
				var taken *ExistsError
				switch free := len(tc.files) == 0 || replace && (tc.holds == 0 || tc.holds == wants); {
				case free && err != nil:
					t.Errorf("%s: %v", where, err)
				case free:
					h.Close()
				case !errors.As(err, &taken) || taken.Holds != tc.holds || taken.Wants != wants || taken.Busy:
					t.Errorf("%s: %v", where, err)
				}
			}
		}
	}
}

// A run of its own that is called like one in turns is neither replaced nor told too late.
func TestRunInTheWayOfTurns(t *testing.T) {
	var taken *ExistsError
	for _, replace := range []bool{false, true} {
		dir := filled(t, map[string]string{"a-01/run.json": "{}"})
		if _, err := Hold(dir, TurnRuns, replace); !errors.As(err, &taken) || taken.Path != filepath.Join(dir, "a-01") || taken.Holds != OneRun {
			t.Errorf("%v: %v", replace, err)
		}
	}
}

// What an earlier measurement in turns left goes, be it of more rounds; the rest stays.
func TestClearTurns(t *testing.T) {
	const inTurns = `{"tags":{"side":"a","round":"1"}}`
	ours := map[string]string{"a-01/run.json": inTurns, "a-02/requests.journal": "x", "b-01/run.json": inTurns, "b-02/run.json": "{", "b-03/": "",
		"compare.json": "{}", "compare.html": "x", "canary.json": "{}", ".compare.html.tmp-77": "x"}
	others := map[string]string{"notes.txt": "x", "c-01/notes.txt": "x", "mine/run.json": inTurns, "001-rate-4/run.json": "{}", "sweep.html": "x"}
	all := map[string]string{}
	for _, some := range []map[string]string{ours, others} {
		for name, content := range some {
			all[name] = content
		}
	}
	dir := filled(t, all)
	h, err := Hold(dir, TurnRuns, true)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Clear(); err != nil {
		t.Fatal(err)
	}
	for name := range ours {
		if folder, _ := path.Split(name); exists(filepath.Join(dir, name)) || folder != "" && exists(filepath.Join(dir, folder)) {
			t.Errorf("%s is still there", name)
		}
	}
	for name := range others {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
}

// A log that leads elsewhere is replaced as the other files are: what it leads to stays.
func TestRunReplacesItsLog(t *testing.T) {
	dir, mine := t.TempDir(), filepath.Join(t.TempDir(), "mine.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, filepath.Join(dir, ControlLog)); err != nil {
		t.Skip(err)
	}
	w := create(t, dir, Options{Force: true})
	if exists(filepath.Join(dir, ControlLog)) || !exists(mine) {
		t.Error("the log was not replaced")
	}
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
}
