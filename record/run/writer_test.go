package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

func create(t *testing.T, dir string, opts Options) *Writer {
	t.Helper()
	w, err := Create(dir, Run{Target: Target{Model: "m"}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func appendAll(t *testing.T, w *Writer, tls ...*timeline.Timeline) {
	t.Helper()
	for _, tl := range tls {
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestRunFromCreateToFinish(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	w := create(t, dir, Options{})
	m, err := readManifest(dir)
	if err != nil || !m.Partial || m.ID == "" {
		t.Fatalf("first run.json: %+v, %v", m, err)
	}
	want := []*timeline.Timeline{streamed(0, 3), streamed(1, 0), streamed(2, 40)}
	appendAll(t, w, want[2], want[0], want[1])
	sum, err := w.Finish(Run{Name: "final"})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "requests.parquet run.json" {
		t.Errorf("files: %s", got)
	}
	if sum.Partial || sum.Finished == nil || sum.ID != m.ID || sum.Requests.Total != 3 {
		t.Errorf("summary %+v", sum)
	}
	f := open(t, dir)
	if d := diff(want, collect(t, f)); d != "" {
		t.Error(d)
	}
	again, err := Summarise(f)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(sum)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Errorf("run.json is not what Summarise says:\n%s\n%s", a, b)
	}
	if err := w.Append(want[0]); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Finish: %v", err)
	}
}

// B107: what ended is on disk within a second, whatever becomes of the program.
func TestRecordsReachTheDiskWithinASecond(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		w := create(t, dir, Options{})
		for i := range 30 {
			appendAll(t, w, streamed(int64(i), 5))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		f := open(t, dir)
		if got := len(collect(t, f)); got != 30 {
			t.Errorf("%d records on disk", got)
		}
		if !f.Run().Partial {
			t.Error("a run that goes on must be partial")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		m, err := readManifest(dir)
		if err != nil || m.Requests.Total != 30 {
			t.Errorf("refreshed run.json: %v, %+v", err, m)
		}
		w.Close()
	})
}

func TestAppendFromManyGoroutines(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 200 {
				if err := w.Append(streamed(int64(g*200+i), 20)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
	for i, tl := range collect(t, open(t, dir)) {
		if tl.Request != int64(i) {
			t.Fatalf("place %d has request %d", i, tl.Request)
		}
	}
}

// Where run.json can't be written, as on a full disk, nothing of the run stays: no folder,
// or an empty one that was there before.
func TestCreateLeavesNothing(t *testing.T) {
	root := t.TempDir()
	there := filepath.Join(root, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(root, "new"), there} {
		bad := Options{Root: root, Refresh: func(m *Run) { m.Control = append(m.Control, Act{FromS: math.NaN()}) }} // JSON has none
		if _, err := Create(dir, Run{Name: "n"}, bad); err == nil {
			t.Fatal("NaN was written")
		}
	}
	left, err := os.ReadDir(root)
	if err != nil || len(left) != 1 || left[0].Name() != "there" {
		t.Errorf("left: %v, %v", left, err)
	}
	if left, err := os.ReadDir(there); err != nil || len(left) > 0 {
		t.Errorf("left in the folder that was there: %v, %v", left, err)
	}
}

// fullDisk takes only so many bytes, and a part of the write that passes the limit.
type fullDisk struct {
	file *os.File
	left int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= d.left {
		d.left -= len(p)
		return d.file.Write(p)
	}
	n, _ := d.file.Write(p[:d.left])
	d.left = 0
	return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}
func (d *fullDisk) Sync() error  { return nil }
func (d *fullDisk) Close() error { return d.file.Close() }

func TestFullDiskLosesNothingThatWasWritten(t *testing.T) {
	frame := len(journalOf(streamed(0, 5))) - len(journalMagic)
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		disk := &fullDisk{left: len(journalMagic) + 4*frame + 9}
		w := create(t, dir, Options{openJournal: func(path string) (sink, error) {
			var err error
			disk.file, err = os.Create(path)
			return disk, err
		}})
		for i := range 6 {
			appendAll(t, w, streamed(int64(i), 5))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		var write *WriteError
		if err := w.Append(streamed(6, 5)); !errors.As(err, &write) {
			t.Fatalf("Append on a full disk: %v", err)
		}
		sum, err := w.Finish(Run{})
		if !errors.As(err, &write) || write.Lost != 3 || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Finish on a full disk: %v, %+v", err, write)
		}
		if !strings.Contains(err.Error(), "free some space") || strings.Contains(err.Error(), "x:") {
			t.Errorf("the error says %q", err)
		}
		if sum.Requests.Total != 4 {
			t.Errorf("summary of %d requests", sum.Requests.Total)
		}
		if got := len(collect(t, open(t, dir))); got != 4 {
			t.Errorf("%d records on disk", got)
		}
	})
}

// When room appears again the journal goes on at the very byte.
func TestFullDiskRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		disk := &fullDisk{left: 100}
		w := create(t, dir, Options{openJournal: func(path string) (sink, error) {
			var err error
			disk.file, err = os.Create(path)
			return disk, err
		}})
		for i := range 6 {
			appendAll(t, w, streamed(int64(i), 5))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		disk.left = 1 << 20
		if _, err := w.Finish(Run{}); err != nil {
			t.Fatal(err)
		}
		if got := len(collect(t, open(t, dir))); got != 6 {
			t.Errorf("%d records", got)
		}
	})
}

// B115: two writers never share a folder, and nothing is replaced unasked.
func TestCreateIsExclusive(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, Options{})
	var exists *ExistsError
	for _, force := range []bool{false, true} {
		_, err := Create(dir, Run{}, Options{Force: force})
		if !errors.As(err, &exists) || !exists.Busy {
			t.Fatalf("second writer, force %v: %v", force, err)
		}
	}
	appendAll(t, w, streamed(0, 1))
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, Run{}, Options{}); !errors.As(err, &exists) || exists.Holds != OneRun {
		t.Fatalf("over a finished run: %v", err)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w = create(t, dir, Options{Force: true})
	if _, err := w.Finish(Run{}); err != nil {
		t.Fatal(err)
	}
	if got := len(collect(t, open(t, dir))); got != 0 {
		t.Errorf("%d records of the old run are left", got)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file that is not of the run went: %v", err)
	}
}

func TestCreateLeavesOtherFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if _, err := Create(dir, Run{}, Options{}); !errors.As(err, &exists) || exists.Holds != 0 {
		t.Fatalf("got %v", err)
	}
}

// B115: two runs of one second and one name.
func TestDefaultFoldersDoNotCollide(t *testing.T) {
	root := t.TempDir()
	m := Run{Started: time.Date(2026, 11, 27, 10, 11, 12, 0, time.UTC), Target: Target{Model: "llama-3.1-8b"}}
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			w, err := Create("", m, Options{Root: root})
			if err != nil {
				t.Error(err)
				return
			}
			w.Append(streamed(0, 1))
			if _, err := w.Finish(m); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	base := "2026-11-27T101112Z-llama-3.1-8b"
	want := base
	for n := 2; n <= 5; n++ {
		want += fmt.Sprintf(" %s-%d", base, n)
	}
	if got := names(t, root); got != want {
		t.Errorf("folders %s", got)
	}
}

// B109: any model name makes a folder name that every file system takes.
func TestFolderNamesOfHostileModels(t *testing.T) {
	root := t.TempDir()
	models := []string{"meta-llama/Llama-3:8b", "模型/β", `..\..\x`, "CON", strings.Repeat("x", 300)}
	started := time.Date(2026, 11, 27, 10, 11, 12, 0, time.UTC)
	seen := map[string]bool{}
	for _, model := range models {
		w, err := Create("", Run{Started: started, Target: Target{Model: model}}, Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		name := filepath.Base(w.Dir())
		if filepath.Dir(w.Dir()) != root || len(name) > 120 || strings.ContainsAny(name, `<>:"/\|?*`) || seen[name] {
			t.Errorf("%q makes %q", model, name)
		}
		seen[name] = true
		if got := open(t, w.Dir()).Run().Target.Model; got != model {
			t.Errorf("the exact name %q became %q", model, got)
		}
	}
	if entries, _ := os.ReadDir(root); len(entries) != 5 {
		t.Errorf("%d folders", len(entries))
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"llama-3.1-8b": "llama-3.1-8b",
		"Llama":        "llama-9384f8e7",
		"con":          "con-",
		"nul.txt":      "nul.txt-",
		"":             "e3b0c442",
	} {
		if got := Slug(name); !strings.HasPrefix(got, want) {
			t.Errorf("Slug(%q) = %q, want %q…", name, got, want)
		}
	}
}
