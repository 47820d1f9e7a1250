package rows

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

var begin = time.Date(2026, 3, 28, 23, 59, 58, 0, time.UTC)

// request is one with every column that live traffic fills.
func request(i int, at time.Time) *traffic.Request {
	tl := timeline.New()
	tl.Request, tl.API, tl.Model, tl.Streamed, tl.Phase, tl.Outcome = int64(i), "openai-chat", "m", true, timeline.Measure, timeline.OK
	for k := range 3 {
		tl.Events.Append(timeline.Event{AtUS: int64(100_000 + 20_000*k), Kind: timeline.Text, Read: int64(k)})
	}
	tl.Usage.Input, tl.Usage.Output = timeline.Some(int64(100)), timeline.Some(int64(10))
	text := "secret text"
	r := &traffic.Request{Timeline: tl, At: at, Labels: traffic.Labels{Source: traffic.Live, Listener: "l", Route: "chat", Upstream: "a", Model: "m", API: "openai-chat"},
		Record: metric.ScalarsOf(tl), Kept: i%2 == 0, LeftUS: timeline.Some(int64(1500)), Delay: traffic.Delay{SumUS: 30, MaxUS: 20, Reads: 3}, ResponseBytes: int64(i)}
	r.Record.OutputText = &text
	return r
}

// column reads one column of all finished files, by file.
func column(t *testing.T, folder, name string) map[string][]parquet.Value {
	t.Helper()
	all := map[string][]parquet.Value{}
	for _, file := range Files(folder) {
		f, err := os.Open(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, _ := f.Stat()
		table, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		leaf, ok := table.Schema().Lookup(name)
		if !ok {
			t.Fatalf("there is no column %s", name)
		}
		rows := parquet.NewReader(table)
		buffer := make([]parquet.Row, 1)
		for {
			n, err := rows.ReadRows(buffer)
			if n == 1 {
				for _, v := range buffer[0] {
					if v.Column() == leaf.ColumnIndex {
						all[file] = append(all[file], v.Clone())
					}
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

func count(all map[string][]parquet.Value) (n int) {
	for _, list := range all {
		n += len(list)
	}
	return n
}

// Rows lie in the file of their UTC day, whichever side of midnight the request
// ended on.
func TestDays(t *testing.T) {
	folder := t.TempDir()
	pricing := &cost.Pricing{Any: &cost.Tokens{Input: timeline.Some(1.), Output: timeline.Some(10.)}}
	a, err := Open(Options{Folder: folder, Pricing: pricing, Now: func() time.Time { return begin }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		a.Done(request(i, begin.Add(time.Duration(i)*50*time.Millisecond)))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	at := column(t, folder, "at")
	if len(at) != 2 || count(at) != 100 || a.Dropped() != 0 {
		t.Fatalf("%d rows in %d files, %d dropped", count(at), len(at), a.Dropped())
	}
	for file, list := range at {
		want, _, _ := strings.Cut(strings.TrimPrefix(file, "date="), string(filepath.Separator))
		for _, v := range list {
			if got := time.UnixMicro(v.Int64()).UTC().Format(time.DateOnly); got != want {
				t.Errorf("a row of %s in %s", got, file)
			}
		}
		if n := map[string]int{"2026-03-28": 40, "2026-03-29": 60}[want]; len(list) != n {
			t.Errorf("%s has %d rows", file, len(list))
		}
	}
	// The first arrival is at 100 ms; texts are kept out.
	for _, list := range column(t, folder, "ttft_ms") {
		for _, v := range list {
			if v.Double() != 100 {
				t.Errorf("TTFT %v", v)
			}
		}
	}
	for _, list := range column(t, folder, "cost_usd") { // 100 tokens in, 10 out
		for _, v := range list {
			if v.Double() != 0.0002 {
				t.Errorf("it cost %v", v)
			}
		}
	}
	for _, list := range column(t, folder, "output_text") {
		for _, v := range list {
			if !v.IsNull() {
				t.Errorf("a text: %v", v)
			}
		}
	}
	if journals, _ := filepath.Glob(filepath.Join(folder, ".live-*")); len(journals) != 0 {
		t.Errorf("left: %v", journals)
	}
}

// What a process left that was killed is finished by the next one; doing that
// again after another crash has no row twice.
func TestAfterACrash(t *testing.T) {
	folder := t.TempDir()
	j, err := createJournal(filepath.Join(folder, journalPrefix+"20260328T235958Z-00000001"+journalSuffix), begin)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		j.add(rowOf(request(i, begin), nil), begin)
		if err := j.flush(); err != nil {
			t.Fatal(err)
		}
	}
	j.out.Close()
	whole, err := os.ReadFile(j.path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole); cut += 311 {
		if err := os.WriteFile(j.path, whole[:len(whole)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		if _, err := readJournal(j.path, func(*run.LiveRow) error { want++; return nil }); err != nil {
			t.Fatal(err)
		}
		if cut == 0 && want != 10 || cut > 0 && want >= 10 {
			t.Fatalf("%d rows with %d bytes missing", want, cut)
		}
		for range 2 { // the second time as if the process had died before it removed the journal
			a, err := Open(Options{Folder: folder, Now: func() time.Time { return begin }})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			if got := count(column(t, folder, "request")); got != want {
				t.Errorf("%d bytes missing: %d rows, want %d", cut, got, want)
			}
			if err := os.WriteFile(j.path, whole[:len(whole)-cut], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range Files(folder) {
			os.Remove(filepath.Join(folder, f))
		}
	}
}

// A journal that lost rows for a damage in its midst is not removed with what can't be read.
func TestADamagedJournalStays(t *testing.T) {
	for _, at := range []int{9, 40, -30} { // in the first block's head, in its rows, in the last one's
		folder := t.TempDir()
		j, err := createJournal(filepath.Join(folder, journalPrefix+"20260328T235958Z-00000001"+journalSuffix), begin)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			j.add(rowOf(request(i, begin), nil), begin)
			if err := j.flush(); err != nil {
				t.Fatal(err)
			}
		}
		j.out.Close()
		data, err := os.ReadFile(j.path)
		if err != nil {
			t.Fatal(err)
		}
		data[(at+len(data))%len(data)] ^= 1
		if err := os.WriteFile(j.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Open(Options{Folder: folder, Now: func() time.Time { return begin }})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(j.path + damagedSuffix)
		if err != nil || !bytes.Equal(kept, data) || a.Failed() != 1 {
			t.Errorf("byte %d: %v, %d failed", at, err, a.Failed())
		}
		if want := map[int]int{9: 0, 40: 2, -30: 2}[at]; count(column(t, folder, "request")) != want {
			t.Errorf("byte %d: other than %d rows", at, want)
		}
	}
}

// full is a disk that takes so many bytes, until it is given more.
type full struct {
	written []byte
	room    int
}

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	f.written = append(f.written, p[:n]...)
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}
func (f *full) Sync() error  { return nil }
func (f *full) Close() error { return nil }

// A full disk tears no frame: when there is room again, writing goes on at the
// byte where it stopped.
func TestFullDisk(t *testing.T) {
	disk := &full{}
	j, err := newJournal("x", disk, begin)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for i := range 200 {
		taken += 1 - int(j.add(rowOf(request(i, begin), nil), begin))
		disk.room += 37
		if err := j.flush(); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		if len(j.pending) > 0 && j.over(begin.Add(48*time.Hour), time.Hour) {
			t.Fatal("a journal ended with something unwritten")
		}
	}
	disk.room = 1 << 20
	if err := j.flush(); err != nil || j.unwritten() != 0 {
		t.Fatal(err, j.unwritten())
	}
	path := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(path, disk.written, 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	if damaged, err := readJournal(path, func(*run.LiveRow) error { n++; return nil }); err != nil || damaged != "" || n != taken {
		t.Errorf("%d of %d rows, %s, %v", n, taken, damaged, err)
	}
	// With no room at all rows are dropped, and counted, beyond a bound.
	disk.room = 0
	j.pending = make([]byte, maxPending+1)
	if j.add(rowOf(request(0, begin), nil), begin) != 1 {
		t.Error("a row was taken that there is no room for")
	}
}

func TestTwoProcessesShareNoFolder(t *testing.T) {
	folder := t.TempDir()
	a, err := Open(Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if b, err := Open(Options{Folder: folder}); err == nil {
		b.Close()
		t.Skip("this system has no locks")
	} else if !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
}

// Old days go, with what is ours in them; what waits for its upload stays.
func TestOldFilesGo(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"date=2026-03-01/live-a.parquet", "date=2026-03-01/other.parquet", "date=2026-03-02/live-b.parquet",
		"date=2026-03-20/live-c.parquet", "date=2026-03-03/live-d.parquet", "date=x/live-e.parquet", ".upload/2026-03-03__live-d.parquet"} {
		path := filepath.Join(folder, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, age := range map[string]int{".live-old.journal.damaged": 11, ".live-new.journal.damaged": 3} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := begin.AddDate(0, 0, -age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	a := &Archive{o: Options{Folder: folder, Days: 9}}
	if err := a.expire(begin); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"date=2026-03-01/live-a.parquet": false, "date=2026-03-01/other.parquet": true, "date=2026-03-02": false,
		"date=2026-03-20/live-c.parquet": true, "date=2026-03-03/live-d.parquet": true, "date=x/live-e.parquet": true,
		".live-old.journal.damaged": false, ".live-new.journal.damaged": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhenAJournalIsOver(t *testing.T) {
	j := &journal{begun: begin, size: 100}
	for at, want := range map[time.Time]bool{
		begin: false, begin.Add(time.Second): false,
		begin.Add(2 * time.Second): true, // another day
		begin.Add(-time.Hour):      true, // the clock went back
	} {
		if got := j.over(at, time.Hour); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	if (&journal{begun: begin, size: int64(len(journalMagic))}).over(begin.Add(24*time.Hour), time.Hour) {
		t.Error("an empty journal was over")
	}
	if !(&journal{begun: begin, size: maxJournal}).over(begin, time.Hour) {
		t.Error("a large journal went on")
	}
}

func FuzzReadJournal(f *testing.F) {
	disk := &full{room: 1 << 20}
	j, err := newJournal("x", disk, begin)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		j.add(rowOf(request(i, begin), nil), begin)
	}
	if err := j.flush(); err != nil {
		f.Fatal(err)
	}
	f.Add(disk.written)
	f.Add([]byte(journalMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = readJournal(path, func(r *run.LiveRow) error {
			if r == nil {
				t.Error("no row")
			}
			return nil
		})
	})
}

// Files lists the finished files, relative to the folder, ascending.
func Files(folder string) []string {
	files, _ := filepath.Glob(filepath.Join(folder, dayPrefix+"*", filePref+"*"+fileSuff))
	for i := range files {
		files[i], _ = filepath.Rel(folder, files[i])
	}
	slices.Sort(files)
	return files
}
