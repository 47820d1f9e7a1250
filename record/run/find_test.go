package run_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tokenmeter/record/run"
)

// A folder that may not be read hides its runs, not those beside it.
func TestFindGoesOnBesideWhatCantBeRead(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"a", "locked", "z"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, dir, run.Files()[0]), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []fs.FileMode{0, 0o444} { // nothing; names alone
		locked := filepath.Join(top, "locked")
		if err := os.Chmod(locked, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
		if _, err := os.Stat(filepath.Join(locked, run.Files()[0])); err == nil {
			t.Skip("this user may read everything")
		}
		found, err := run.Find([]string{top}, nil)
		if !errors.Is(err, fs.ErrPermission) || !slices.Equal(found, []string{filepath.Join(top, "a"), filepath.Join(top, "z")}) {
			t.Errorf("with mode %o found are %q, %v", mode, found, err)
		}
	}
}

// A run below two of the paths, or reached by a link, is one run.
func TestFindTellsOfEachRunOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("runs", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("runs", "a", run.Files()[0]), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("runs", "link"); err != nil {
		t.Skip(err)
	}
	full, err := filepath.Abs("runs")
	if err != nil {
		t.Fatal(err)
	}
	found, err := run.Find([]string{"runs", full, filepath.Join("runs", "a"), "link"}, nil)
	if want := []string{filepath.Join("runs", "a")}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found are %q, %v; want %q", found, err, want)
	}
}

// A device holds no runs: that is a mistake in the path, and no empty answer.
func TestFindRefusesDevices(t *testing.T) {
	if found, err := run.Find([]string{os.DevNull}, nil); !errors.Is(err, run.ErrDevice) || errors.Is(err, fs.ErrNotExist) || len(found) > 0 {
		t.Errorf("found %q, %v", found, err)
	}
}
