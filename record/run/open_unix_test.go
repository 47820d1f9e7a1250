//go:build unix

package run

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe where a file should be must not make a command wait for ever.
func TestOpenRefusesPipes(t *testing.T) {
	for _, name := range []string{manifestFile, tableFile, journalFile} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
		f, err := Open(dir)
		if err == nil {
			f.Close()
			t.Errorf("%s: opened", name)
		} else if name != manifestFile && !strings.Contains(err.Error(), "no plain file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder may come from anybody: what its link to captures leads to is not its part.
func TestForceFollowsNoLink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	mine := filepath.Join(elsewhere, "mine"+captureEnd)
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, captureDir)); err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir, Run{}, Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	f, err := w.Capture(1)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if entries, _ := os.ReadDir(elsewhere); len(entries) != 1 {
		t.Errorf("written through the link: %v", entries)
	}
}
