package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What the documents and examples take from the code is as new as the code.
func TestFilesAreUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := made(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 12 {
		t.Errorf("only %d files", len(files))
	}
	for name, text := range files {
		if have, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(have) != text {
			t.Errorf("%s is older than the code (%v): go run ./tools/reference", name, err)
		}
	}
}
