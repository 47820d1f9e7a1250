// Package rows keeps live requests as rows of Parquet files, for DuckDB,
// ClickHouse, Spark and the like: a journal that is written twice a second, and
// files made of it, by UTC day, in a folder and in a bucket.
package rows

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/record/cost"
	"tokenmeter/record/run"
	"tokenmeter/service/traffic"
)

// Options of Open.
type Options struct {
	Folder string
	Every  time.Duration // how often a file is finished; 0: DefaultEvery
	Days   int           // how long files are kept; 0: for ever
	Bucket *Bucket       // nil: none
	// Pricing is what requests cost by their tokens; nil: not known.
	Pricing *cost.Pricing
	Log     *slog.Logger
	Now     func() time.Time
}

// DefaultEvery is how often a file is finished.
const DefaultEvery = time.Hour

// Bounds of what is held.
const (
	flushEvery  = 500 * time.Millisecond // so that kill -9 costs less than a second
	syncEvery   = 10 * time.Second
	tidyEvery   = time.Minute
	maxBatch    = 1 << 20  // of rows, before they are packed
	maxPending  = 16 << 20 // of packed rows, while the disk takes none
	maxJournal  = 32 << 20 // packed: some 200,000 rows
	queueLength = 4096
)

// Archive is a traffic.Sink. It never holds a request up: what the disk does not
// take in time is dropped and counted.
type Archive struct {
	o      Options
	lock   io.Closer
	queue  *traffic.Queue[*run.LiveRow]
	failed atomic.Int64

	naming  sync.Mutex // of a new journal: its file and current go together
	current string     // name of the journal that is being written
	tidy    chan struct{}
	stop    chan struct{}
	ended   sync.WaitGroup

	uploads context.Context // of all uploads; over some time after stop
	cancel  context.CancelFunc

	// Of the tidying goroutine.
	troubles map[string]bool // what was told
	clock    steady
}

// Open begins a journal in a folder, which is made if it is not there. What an
// earlier process left is finished first thing.
func Open(o Options) (*Archive, error) {
	o.Every = cmp.Or(o.Every, DefaultEvery)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(o.Folder, 0o750); err != nil {
		return nil, err
	}
	lock, busy, err := run.LockFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	if busy {
		return nil, errBusy(o.Folder)
	}
	a := &Archive{o: o, lock: lock, queue: traffic.NewQueue[*run.LiveRow](queueLength), tidy: make(chan struct{}, 1), stop: make(chan struct{}), troubles: map[string]bool{}}
	a.uploads, a.cancel = context.WithCancel(context.Background())
	a.sweep()
	j, err := a.begin()
	if err != nil {
		a.cancel()
		lock.Close()
		return nil, err
	}
	a.ended.Go(func() { a.write(j) })
	a.ended.Go(a.keepTidy)
	return a, nil
}

// Dropped is how many requests have no row.
func (a *Archive) Dropped() int64 { return a.queue.Dropped() }

// Failed is how many uploads did not succeed, which are tried again, and how
// many journals could not be read.
func (a *Archive) Failed() int64 { return a.failed.Load() }

// Done implements traffic.Sink.
func (a *Archive) Done(r *traffic.Request) {
	if r.Timeline == nil {
		return
	}
	a.queue.Put(rowOf(r, a.o.Pricing))
}

// lastUploads is how long uploads may go on when the process ends, all together.
const lastUploads = 5 * time.Second

// Close writes what is left and finishes the last file. What can't be uploaded
// now is by the next process.
func (a *Archive) Close() error {
	if !a.queue.Close() {
		return nil
	}
	close(a.stop)
	defer a.cancel()
	defer time.AfterFunc(lastUploads, a.cancel).Stop()
	a.ended.Wait()
	a.current = ""
	err := a.tidyUp()
	return errors.Join(err, a.lock.Close())
}

// begin makes the next journal. Its name is when it began, and chance: files of
// several machines can go into one bucket.
func (a *Archive) begin() (*journal, error) {
	id := make([]byte, 4)
	rand.Read(id)
	a.naming.Lock()
	defer a.naming.Unlock()
	stem := a.o.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(id)
	j, err := createJournal(filepath.Join(a.o.Folder, journalPrefix+stem+journalSuffix), a.o.Now())
	if err != nil {
		return nil, err
	}
	a.current = filepath.Base(j.path)
	return j, nil
}

// write takes rows into the journal, and begins another when it is time.
func (a *Archive) write(j *journal) {
	flush, sync := time.NewTicker(flushEvery), time.NewTicker(syncEvery)
	defer flush.Stop()
	defer sync.Stop()
	wrong := false
	var unsynced error // until the next time
	told := func(err error) {
		err = errors.Join(err, unsynced)
		switch {
		case err != nil && !wrong:
			a.o.Log.Error("rows can't be written; requests go on, and their rows are kept as long as there is room", "error", err.Error())
		case err == nil && wrong:
			a.o.Log.Info("rows are written again", "dropped", a.Dropped())
		}
		wrong = err != nil
	}
	for {
		select {
		case r, ok := <-a.queue.Waiting():
			if !ok {
				told(errors.Join(j.flush(), j.close()))
				if j.gone() {
					a.queue.Drop(j.lose())
				}
				a.queue.Drop(j.unwritten())
				return
			}
			a.queue.Drop(j.add(r, a.o.Now()))
		case <-flush.C:
			var err error
			j, err = a.turn(j)
			told(err)
		case <-sync.C:
			unsynced = j.sync()
		}
	}
}

// turn writes what is there, and begins another journal when it is time, or when
// somebody has removed this one with the rows in it. The folder is not made
// again: it may be a disk that is away.
func (a *Archive) turn(j *journal) (*journal, error) {
	err := j.flush()
	gone := j.gone()
	switch {
	case gone:
		lost := j.lose()
		a.queue.Drop(lost)
		err = fmt.Errorf("%s was removed, with %d rows", j.path, lost)
	case !j.over(a.o.Now(), a.o.Every):
		return j, err
	}
	var failed error
	if gone {
		failed = a.relock()
	}
	next := j
	if failed == nil {
		next, failed = a.begin()
	}
	if failed != nil {
		return j, errors.Join(err, failed)
	}
	a.wake()
	return next, errors.Join(err, j.close())
}

// relock takes the folder again, which may be another one of that name.
func (a *Archive) relock() error {
	a.lock.Close()
	lock, busy, err := run.LockFolder(a.o.Folder)
	a.lock = lock
	if busy {
		return errBusy(a.o.Folder)
	}
	return err
}

func errBusy(folder string) error {
	return fmt.Errorf("%s: another process writes its rows there", folder)
}

func (a *Archive) wake() {
	select {
	case a.tidy <- struct{}{}:
	default:
	}
}

// keepTidy finishes files, uploads them and removes old ones.
func (a *Archive) keepTidy() {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		_ = a.tidyUp()
		select {
		case <-a.stop:
			return
		case <-a.tidy:
		case <-ticker.C:
		}
	}
}
