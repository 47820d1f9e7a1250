package rows

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/service/traffic"
)

// slow is a bucket that takes its time for each file.
type slow struct {
	each time.Duration
	took int
}

func (s *slow) RoundTrip(q *http.Request) (*http.Response, error) {
	defer q.Body.Close()
	select {
	case <-q.Context().Done():
		return nil, q.Context().Err()
	case <-time.After(s.each):
		s.took++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
}

// However much waits for its upload, the end of the process waits for all of it
// together.
func TestUploadsAtTheEnd(t *testing.T) {
	for each, want := range map[time.Duration]int{2 * time.Second: 3, time.Hour: 0} {
		synctest.Test(t, func(t *testing.T) {
			folder := t.TempDir()
			for i := range 20 {
				name := fmt.Sprintf("live-%02d.parquet", i)
				for _, path := range []string{filepath.Join(dayPrefix+"2026-03-01", name), filepath.Join(waiting, "2026-03-01"+nameSplit+name)} {
					os.MkdirAll(filepath.Join(folder, filepath.Dir(path)), 0o755)
					if err := os.WriteFile(filepath.Join(folder, path), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			bucket, err := NewBucket(BucketOptions{Endpoint: "http://h", Bucket: "b", AccessKey: accessKey, SecretKey: secretKey})
			if err != nil {
				t.Fatal(err)
			}
			server := &slow{each: each}
			bucket.client = &http.Client{Transport: server}
			a, err := Open(Options{Folder: folder, Bucket: bucket})
			if err != nil {
				t.Fatal(err)
			}
			pause(1500 * time.Millisecond)
			began := time.Now()
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > lastUploads {
				t.Errorf("it took %s", took)
			}
			left, _ := os.ReadDir(filepath.Join(folder, waiting))
			if server.took != want || len(left) != 20-want {
				t.Errorf("%d were uploaded, %d wait", server.took, len(left))
			}
		})
	}
}

// What lost its first bytes in a power failure is set aside, once, and holds no
// other journal up.
func TestAJournalWithoutItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		bad := journalPrefix + "20000101T000000Z-00000000" + journalSuffix
		if err := os.WriteFile(filepath.Join(folder, bad), make([]byte, 4096), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		a, err := Open(Options{Folder: folder, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		a.Done(request(1, time.Now()))
		pause(5 * time.Minute)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if got := count(column(t, folder, "request")); got != 1 {
			t.Errorf("%d rows", got)
		}
		if _, err := os.Stat(filepath.Join(folder, bad+damagedSuffix)); err != nil || a.Failed() != 1 {
			t.Errorf("%v, %d failed", err, a.Failed())
		}
		if left, _ := filepath.Glob(filepath.Join(folder, journalPrefix+"*"+journalSuffix)); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, bad) {
			t.Errorf("the log:\n%s", text)
		}
	})
}

// A clock that is far ahead for a while removes nothing.
func TestOldFilesStayWhileTheClockIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		path := filepath.Join(folder, dayPrefix+"2000-01-01", "live-x.parquet")
		put := func() {
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		there := func() bool { _, err := os.Stat(path); return err == nil }
		var mu sync.Mutex
		var ahead time.Duration
		set := func(d time.Duration) { mu.Lock(); ahead = d; mu.Unlock() }
		put()
		a, err := Open(Options{Folder: folder, Days: 30, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		pause(30 * time.Minute) // it is 1 January 2000, and nothing is old
		set(365 * 24 * time.Hour)
		pause(90 * time.Second)
		if !there() {
			t.Error("one look at a clock removed a file")
		}
		set(0)
		pause(5 * time.Minute)
		set(365 * 24 * time.Hour)
		pause(9 * time.Minute)
		if !there() {
			t.Error("it was removed soon after the clock was set")
		}
		pause(3 * time.Minute)
		if there() {
			t.Error("it stays although the clock went on by itself")
		}
		put()
		pause(2 * time.Minute)
		if there() {
			t.Error("another one stays")
		}
	})
}

// A journal that has just begun is never taken for one that is over.
func TestANewJournalStays(t *testing.T) {
	a := &Archive{o: Options{Folder: t.TempDir(), Now: func() time.Time { return begin }, Log: slog.New(slog.DiscardHandler)}}
	for range 300 {
		var finishing sync.WaitGroup
		finishing.Go(func() {
			if err := a.finish(); err != nil {
				t.Error(err)
			}
		})
		j, err := a.begin()
		if err != nil {
			t.Fatal(err)
		}
		finishing.Wait()
		if j.gone() {
			t.Fatal("the journal that is being written was removed")
		}
		j.flush()
		j.close()
	}
}

// A folder that somebody removes is told of once, until it is there again; what
// was in it counts as dropped.
func TestTheFolderIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "rows")
		var log bytes.Buffer
		a, err := Open(Options{Folder: folder, Every: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		second := func() {
			a.Done(request(1, time.Now()))
			pause(time.Second)
		}
		for range 10 {
			second()
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Skip(err) // this system removes no open files
		}
		for range 90 {
			second()
		}
		if got := a.Dropped(); got != 100 {
			t.Errorf("%d of 100 rows count as dropped", got)
		}
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		pause(time.Second)
		for range 10 {
			second()
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if got := count(column(t, folder, "request")); got != 10 || a.Dropped() != 100 {
			t.Errorf("%d rows, %d dropped", got, a.Dropped())
		}
		if text := log.String(); strings.Count(text, "can't be written") != 1 || strings.Count(text, "written again") != 1 {
			t.Errorf("the log:\n%s", text)
		}
	})
}

// pause lets virtual time pass and then all finish what they do at that moment: work
// on real files takes none of it.
func pause(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// writing runs the part of an archive that writes, for so long, and returns its
// log up to then.
func writing(t *testing.T, folder string, disk sink, every, long time.Duration) string {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a := &Archive{o: Options{Folder: folder, Every: every, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))},
		queue: traffic.NewQueue[*run.LiveRow](1), tidy: make(chan struct{}, 1)}
	j, err := newJournal(path, disk, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() { a.write(j) })
	a.queue.Put(rowOf(request(1, time.Now()), nil))
	pause(long)
	text := log.String()
	a.queue.Close()
	ended.Wait()
	return text
}

// unsynced is a disk that takes bytes but can't keep them.
type unsynced struct{ full }

func (*unsynced) Sync() error { return errors.New("input/output error") }

// What goes wrong again and again is told of once.
func TestTroublesAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, text := range map[string]string{
			"no new journal": writing(t, filepath.Join(t.TempDir(), "nowhere"), &full{room: 1 << 20}, time.Minute, 3*time.Minute),
			"sync":           writing(t, t.TempDir(), &unsynced{full{room: 1 << 20}}, time.Hour, 3*time.Minute),
			"full":           writing(t, t.TempDir(), &full{}, time.Hour, 3*time.Minute),
		} {
			if strings.Count(text, "can't be written") != 1 || strings.Contains(text, "written again") {
				t.Errorf("%s:\n%s", name, text)
			}
		}
	})
}
