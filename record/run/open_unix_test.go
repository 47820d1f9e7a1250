//go:build unix

package run

import (
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
