package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func parquetOf(t testing.TB, tls ...*timeline.Timeline) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := newTableWriter(f)
	for _, tl := range tls {
		rec := metric.Of(tl)
		if err := w.write(&rec, tl); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpenWhateverIsLeft(t *testing.T) {
	tls := []*timeline.Timeline{streamed(0, 3), streamed(1, 4)}
	table, torn := parquetOf(t, tls...), journalOf(tls...)
	torn = append(torn, 9, 0, 0, 0, 1)
	manifest := []byte(`{"schema":"tokenmeter.run/v1","id":"abc","partial":true}`)
	for name, c := range map[string]struct {
		files map[string][]byte
		notes []string
		id    string
	}{
		"finished":          {map[string][]byte{tableFile: table, manifestFile: manifest}, nil, "abc"},
		"killed":            {map[string][]byte{journalFile: torn, manifestFile: manifest}, []string{"unfinished record"}, "abc"},
		"both":              {map[string][]byte{tableFile: table, journalFile: torn[:9], manifestFile: manifest}, nil, "abc"},
		"half a table":      {map[string][]byte{tableFile: table[:len(table)/2], journalFile: journalOf(tls...), manifestFile: manifest}, []string{"journal was taken"}, "abc"},
		"no run.json":       {map[string][]byte{tableFile: table}, []string{"run.json is missing"}, "run"},
		"only a journal":    {map[string][]byte{journalFile: torn}, []string{"unfinished record", "run.json is missing"}, "run"},
		"damaged run.json":  {map[string][]byte{tableFile: table, manifestFile: manifest[:20]}, []string{"run.json could not be read"}, "run"},
		"run.json of zeros": {map[string][]byte{tableFile: table, manifestFile: make([]byte, 50)}, []string{"run.json could not be read"}, "run"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			os.Mkdir(dir, 0o755)
			for file, data := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, file), data)
			}
			f := open(t, dir)
			if d := diff(tls, collect(t, f)); d != "" {
				t.Error(d)
			}
			if f.Len() != 2 || f.Run().ID != c.id {
				t.Errorf("%d records, id %s", f.Len(), f.Run().ID)
			}
			if len(f.Notes()) != len(c.notes) {
				t.Fatalf("notes: %q", f.Notes())
			}
			for i, words := range c.notes {
				if !strings.Contains(f.Notes()[i], words) {
					t.Errorf("note %q, want %q", f.Notes()[i], words)
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string][]byte
		says  string
	}{
		"an empty folder":    {nil, "no run at"},
		"a newer schema":     {map[string][]byte{manifestFile: []byte(`{"schema":"tokenmeter.run/v9"}`)}, "newer tokenmeter"},
		"a broken table":     {map[string][]byte{tableFile: []byte("PAR1")}, "damaged Parquet file"},
		"a foreign run.json": {map[string][]byte{manifestFile: []byte(`{"a":1}`)}, "not written by tokenmeter"},
		"a huge footer":      {map[string][]byte{tableFile: []byte("PAR1....\xff\xff\xff\x7fPAR1")}, "footer would be longer than the file"},
		"a cut table":        {map[string][]byte{tableFile: []byte("PAR1 and no end")}, "its end is missing"},
		"a folder of runs":   {map[string][]byte{"a-01/" + manifestFile: []byte("{}")}, "give one of the runs in it, like "},
		"no journal at all":  {map[string][]byte{journalFile: []byte("something else")}, "not a journal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, file), data)
			}
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrNoRun) {
		t.Errorf("got %v", err)
	}
}

// A run that never measured anything is a run.
func TestOpenWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, manifestFile), []byte(`{"schema":"tokenmeter.run/v1","id":"abc"}`))
	f := open(t, dir)
	if len(collect(t, f)) != 0 || len(f.Notes()) != 1 {
		t.Errorf("notes %q", f.Notes())
	}
}

// Any part of a Parquet file may be damaged: an error, never a crash.
func FuzzTable(f *testing.F) {
	data := parquetOf(f, streamed(0, 5), streamed(1, 0))
	f.Add(uint32(10), byte(1), uint32(len(data)-30), byte(7))
	f.Fuzz(func(t *testing.T, at1 uint32, flip1 byte, at2 uint32, flip2 byte) {
		bad := append([]byte{}, data...)
		bad[int(at1)%len(bad)] ^= flip1
		bad[int(at2)%len(bad)] ^= flip2
		table, err := openTable(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			return
		}
		n := 0
		for range table.each {
			if n++; n > 1000 {
				break
			}
		}
	})
}

// Damage that is found while reading names the file.
func TestDamageNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	var all []*timeline.Timeline
	for i := range int64(50) {
		all = append(all, streamed(i, 20))
	}
	data := parquetOf(t, all...)
	path := filepath.Join(dir, tableFile)
	for at := 8; at < len(data); at += 97 {
		broken := bytes.Clone(data)
		broken[at] ^= 0xff
		write(t, path, broken)
		f, err := Open(dir)
		if err != nil {
			continue // in the file's own index
		}
		for _, err := range f.Timelines() {
			if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("byte %d: %v", at, err)
			}
		}
		f.Close()
	}
}

func TestOwns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run/run.json", "run/captures/000001.capture.jsonl", "other/captures/a.capture.jsonl", "other/requests.parquet"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "run", "captures"))
	for path, want := range map[string]bool{
		filepath.Join(dir, "run", "run.json"):                             true,
		filepath.Join(dir, "run", "requests.parquet"):                     true,
		filepath.Join(dir, "run", "captures", "000001.capture.jsonl"):     true,
		"000001.capture.jsonl":                                            true,
		filepath.Join("..", "run.json"):                                   true,
		filepath.Join(dir, "run", "report.html"):                          false,
		filepath.Join(dir, "run", "captures", "notes.txt"):                false,
		filepath.Join(dir, "other", "captures", "a.capture.jsonl"):        false,
		filepath.Join(dir, "other", "requests.parquet"):                   false, // an export
		filepath.Join(dir, "nowhere", "captures", "000001.capture.jsonl"): false,
	} {
		if got := Owns(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
