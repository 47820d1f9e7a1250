package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A program that is interrupted within a file leaves neither half of it nor what was being
// written beside it, and the file that was to be replaced as it was.
func TestInterruptedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.csv")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := writeFile(path, true, func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			t.Fatal(err)
		}
		removeHalfFiles()
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 || names[0].Name() != "o.csv" {
			t.Errorf("left: %v, %v", names, err)
		}
		return io.ErrUnexpectedEOF
	})
	if data, _ := os.ReadFile(path); err != io.ErrUnexpectedEOF || string(data) != "before" {
		t.Errorf("%v; the file holds %q", err, data)
	}
}
