//go:build unix

package scrape

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a tool started ends with it, and nothing of it holds up the end of a run.
func TestToolsLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	alive := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	for script, limit := range map[string]time.Duration{
		"exec 3>" + alive + "; sleep 3600":   100 * time.Millisecond,
		"exec 3>" + alive + "; sleep 3600 &": time.Minute,
	} {
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(alive, os.O_RDWR, 0) // so that the script opens it at once
		if err != nil {
			t.Fatal(err)
		}
		reader, err := os.Open(alive)
		if err != nil {
			t.Fatal(err)
		}
		if page, _, err := tools["nvidia-smi"].run(context.Background(), "nvidia-smi", limit); err == nil {
			t.Errorf("%s: %q", script, page)
		}
		f.Close()
		if _, err := io.ReadAll(reader); err != nil { // until nobody holds the other end
			t.Errorf("%s: %v", script, err)
		}
		reader.Close()
	}
}
