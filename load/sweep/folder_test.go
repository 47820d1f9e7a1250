package sweep

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/run"
)

// filled makes a folder with files of that names; a name that ends in a slash is a folder.
func filled(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		folder, file := path.Split(name)
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if file == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// create makes a sweep's folder and lets others have it.
func create(dir, root string, s *result.Sweep, force bool) error {
	held, err := Create(dir, root, s, force)
	if err == nil {
		held.Close()
	}
	return err
}

// While a sweep is measured none takes its folder, whatever it is to be replaced by.
func TestSweepsDontShareAFolder(t *testing.T) {
	dir := t.TempDir()
	held, err := Create(dir, "", &result.Sweep{Name: "first"}, false)
	if err != nil {
		t.Fatal(err)
	}
	var taken *run.ExistsError
	for _, force := range []bool{false, true} {
		if err := create(dir, "", &result.Sweep{}, force); !errors.As(err, &taken) || !taken.Busy {
			t.Errorf("force %v: %v", force, err)
		}
	}
	if _, err := run.Create(dir, run.Run{}, run.Options{Force: true}); !errors.As(err, &taken) || !taken.Busy {
		t.Errorf("a run: %v", err)
	}
	held.Close()
	if err := create(dir, "", &result.Sweep{Name: "second"}, true); err != nil {
		t.Error(err)
	}
}

// Whatever a sweep leaves behind, finished or killed, the next one may replace. What is
// none of it stays.
func TestForceReplacesWhatASweepLeft(t *testing.T) {
	ours := []string{"sweep.html", ".tmp-sweep.json", ".sweep.html.tmp-77", ".settle-123/run/requests.journal",
		"001-rate-4/run.json", "002-rate-8/requests.journal", "003-rate-9/"}
	others := []string{"notes.txt", "004-mine/notes.txt", "mine/run.json"}
	dir := filled(t, append(ours, others...)...)
	if err := Save(&result.Sweep{Dir: dir, Schema: result.Schema, Name: "old"}); err != nil {
		t.Fatal(err)
	}
	var taken *run.ExistsError
	if err := create(dir, "", &result.Sweep{}, false); !errors.As(err, &taken) || taken.Holds != run.SweepRuns {
		t.Errorf("without force: %v", err)
	}
	if err := create(dir, "", &result.Sweep{Name: "new"}, true); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(dir); err != nil || s.Name != "new" {
		t.Errorf("%v, %v", s, err)
	}
	for _, name := range ours {
		top, _, _ := strings.Cut(name, "/")
		if _, err := os.Stat(filepath.Join(dir, top)); err == nil {
			t.Errorf("%s is still there", top)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForceWhereNoSweepIs(t *testing.T) {
	// Killed before it had written a line.
	dir := filled(t)
	if err := os.WriteFile(filepath.Join(dir, result.File), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := create(dir, "", &result.Sweep{}, true); err != nil {
		t.Errorf("an empty sweep.json: %v", err)
	}
	dir = filled(t, "notes.txt")
	if err := create(dir, "", &result.Sweep{}, true); err != nil {
		t.Errorf("a folder of something else: %v", err)
	}
	// Somebody else's file of this name is no sweep.
	dir = filled(t, result.File, "001-rate-4/run.json")
	var usage *bench.UsageError
	if err := create(dir, "", &result.Sweep{}, true); !errors.As(err, &usage) {
		t.Errorf("a foreign sweep.json: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "001-rate-4/run.json")); err != nil {
		t.Error(err)
	}
	var taken *run.ExistsError
	if err := create(filled(t, "run.json"), "", &result.Sweep{}, true); !errors.As(err, &taken) || taken.Holds != run.OneRun {
		t.Errorf("a run: %v", err)
	}
}

// What could not be written leaves nothing half done.
func TestSaveThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, result.File, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	var write *run.WriteError
	if err := Save(&result.Sweep{Dir: dir}); !errors.As(err, &write) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// No bit of the file can flip unseen, and one that flipped keeps nobody from a new sweep.
func TestAlteredSweep(t *testing.T) {
	s := &result.Sweep{Dir: t.TempDir(), Schema: result.Schema, Name: "a < b", Points: []result.Point{{Value: 8, Run: "001-rate-8"}}}
	if err := Save(s); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, result.File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, was := range data {
		if was == ' ' || was == '\n' {
			continue // how it is spaced says nothing
		}
		data[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(s.Dir); err == nil {
			t.Fatalf("bit %d of byte %d: nobody sees it", i%8, i)
		}
		data[i] = was
	}
	altered := strings.Replace(string(data), `"value": 8`, `"value": 9`, 1)
	unsealed, _, _ := strings.Cut(string(data), ",\n  \"checksum\"")
	for text, want := range map[string]string{string(data): "", unsealed + "\n}\n": "", altered: "not as it was written"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(s.Dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := os.WriteFile(path, []byte(altered), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := create(s.Dir, "", &result.Sweep{}, true); err != nil {
		t.Error(err)
	}
}
