//go:build unix

package limitio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing waits for a writer who never comes, and nothing without an end is begun.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, "/dev/zero", "/dev/null"} {
		for what, open := range map[string]func() error{
			"Open": func() error { _, err := Open(path); return err },
			"File": func() error { _, err := File(path, 10); return err },
		} {
			if err := open(); !errors.Is(err, ErrNotPlain) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s of %s: %v", what, path, err)
			}
		}
	}
	if _, err := Open(dir); !errors.Is(err, errFolder) {
		t.Errorf("a folder: %v", err)
	}
}

// A shell's <(…) is a pipe with a writer.
func TestOpenTakesAPipeThatIsThere(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	go func() { io.WriteString(w, "key"); w.Close() }()
	if data, err := File(path, 10); err != nil || string(data) != "key" {
		t.Errorf("%q, %v", data, err)
	}
}
