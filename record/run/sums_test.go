package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// A single flipped bit anywhere in a finished folder is found: the run can't be
// opened or read, or its verdict is unknown.
func TestFlippedBits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w := create(t, dir, Options{})
	for i := range 20 {
		tl := timeline.New()
		tl.Request, tl.API, tl.Outcome, tl.CloseUS = int64(i), "openai-chat", timeline.OK, timeline.Some(int64(5000+i))
		appendAll(t, w, tl)
	}
	if err := w.ServerSamples([]metric.ServerSample{{AtUS: 5, Name: "running", Value: 3}, {AtUS: 9, Name: "running", Value: 4}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{manifestFile, tableFile, serverFile} {
		flips(t, filepath.Join(dir, name), func(bit string) {
			if verdict := judged(dir); verdict != "error" && verdict != validity.Unknown {
				t.Errorf("%s: the verdict is %s", bit, verdict)
			}
		})
	}
	if verdict := judged(dir); verdict != validity.Valid {
		t.Errorf("untouched: %s", verdict)
	}
	if err := os.Remove(filepath.Join(dir, serverFile)); err != nil {
		t.Fatal(err)
	}
	if verdict := judged(dir); verdict != validity.Valid {
		t.Errorf("without what the server told: %s", verdict)
	}
	missing(t, dir, serverFile)
	table := filepath.Join(dir, tableFile)
	if err := os.Rename(table, table+".away"); err != nil {
		t.Fatal(err)
	}
	if verdict := judged(dir); verdict != validity.Unknown {
		t.Errorf("without its records: %s", verdict)
	}
	missing(t, dir, tableFile)
	if err := os.Rename(table+".away", table); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, manifestFile)); err != nil {
		t.Fatal(err)
	}
	flips(t, filepath.Join(dir, tableFile), func(bit string) {
		f, err := Open(dir)
		if err != nil {
			return
		}
		defer f.Close()
		if _, err := Summarise(f); err == nil && !strings.Contains(strings.Join(f.Notes(), " "), "not as it was written") {
			t.Errorf("without run.json, %s: nobody noticed", bit)
		}
	})
	if f, err := Open(dir); err != nil || strings.Contains(strings.Join(f.Notes(), " "), "not as it was written") {
		t.Errorf("without run.json, untouched: %v, %q", err, f.Notes())
	} else {
		f.Close()
	}
	if verdict := judged(dir); verdict != validity.Unknown {
		t.Errorf("without run.json: %s", verdict)
	}
}

// missing wants a note that a file is.
func missing(t *testing.T, dir, name string) {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if notes := strings.Join(f.Notes(), " "); !strings.Contains(notes, name+" is missing") {
		t.Errorf("nobody says that %s is missing: %s", name, notes)
	}
}

// flips calls f with a file in which one bit is another, for some hundreds of
// its bits, every one of both ends among them.
func flips(t *testing.T, path string, f func(bit string)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, len(data)*8/300)
	for bit := 0; bit < len(data)*8; bit++ {
		if end := min(bit, len(data)*8-1-bit); bit%step != 0 && end > 16*8 {
			continue
		}
		data[bit/8] ^= 1 << (bit % 8)
		write(t, path, data)
		f(fmt.Sprintf("bit %d of %s (%q)", bit, filepath.Base(path), data[max(0, bit/8-20):min(len(data), bit/8+20)]))
		data[bit/8] ^= 1 << (bit % 8)
	}
	write(t, path, data)
}

// judged is what a reader is told of a folder.
func judged(dir string) string {
	f, err := Open(dir)
	if err != nil {
		return "error"
	}
	defer f.Close()
	r, err := Summarise(f)
	if err != nil {
		return "error"
	}
	if r.Validity.Verdict != f.Run().Validity.Verdict {
		return "two verdicts: " + r.Validity.Verdict + " and " + f.Run().Validity.Verdict
	}
	return r.Validity.Verdict
}

// How a file is spaced is no damage, and one of before there were sums has none.
func TestIntact(t *testing.T) {
	m := &Run{Schema: Schema, ID: "abc"}
	dir := t.TempDir()
	if err := writeManifest(dir, m); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		string(data):                             true,
		"\n " + string(data) + "\n\n":            true,
		`{"schema":"tokenmeter.run/v1"}`:         true,
		`{"schema":"tokenmeter.run/v1","a":"b"`:  false,
		`{"checksum":"crc32c:00000000","a":"b"}`: false,
	} {
		if got := Intact([]byte(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
