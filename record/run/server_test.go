//go:build !lean

package run

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tokenmeter/record/metric"
)

// What a server told comes back as it was written, and a file that is none costs
// nothing but its figures.
func TestServerSamples(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w, err := Create(dir, Run{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want []metric.ServerSample
	for i := range 3000 {
		want = append(want, metric.ServerSample{AtUS: int64(i) * 1e6, Source: i % 2, Name: []string{"running", "kv_usage"}[i%2], Value: float64(i) / 7})
	}
	if err := w.ServerSamples(want); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
	read := func() []metric.ServerSample {
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.ServerSamples()
	}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("%d samples came back of %d", len(got), len(want))
	}
	path := filepath.Join(dir, serverFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := os.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 97 {
		broken := slices.Clone(whole)
		broken[i] ^= 1 << (i % 8)
		for _, data := range [][]byte{broken, whole[:i], requests} {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			read() // no panic
		}
	}
}

// What the server told gets a sum, or the run does not end as if it had one.
func TestServerSamplesThatCantBeSummed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w, err := Create(dir, Run{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, serverFile), 0o755); err != nil { // a file that can't be read
		t.Fatal(err)
	}
	if _, err := w.Finish(Run{}); err == nil {
		t.Error("the run ended in order")
	}
	if _, err := os.Stat(filepath.Join(dir, journalFile)); err != nil {
		t.Errorf("the journal is gone: %v", err)
	}
}
