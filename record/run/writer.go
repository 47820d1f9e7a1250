package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

const (
	flushEvery   = 500 * time.Millisecond // so that kill -9 costs less than a second
	refreshEvery = 10 * time.Second
	flushBytes   = 1 << 18 // a full buffer is written at once
	// maxPending bounds the memory when the disk does not keep up: then Append
	// waits for it.
	maxPending = 64 << 20
)

// ErrClosed is returned by Append after Finish or Close.
var ErrClosed = errors.New("the run is finished already")

// Writer records a run while it goes on. Its methods may be called from any
// goroutine.
type Writer struct {
	dir  string
	opts Options
	lock *os.File // holds the folder against other processes

	mu       sync.Mutex
	room     sync.Cond // signalled when pending shrinks or err appears
	pending  []byte    // whole frames that are not written yet
	err      error     // the last write failed; it is tried again
	closed   bool
	appended int64
	counts   metric.Requests
	m        Run

	wake chan struct{}
	stop chan struct{}
	done chan struct{}

	// Of the writing goroutine only, and after its end of Finish and Close.
	out   sink
	spare []byte // the other buffer; what of it is unwritten is left
	left  []byte
}

func newWriter(dir string, m Run, opts Options, out sink) *Writer {
	w := &Writer{
		dir: dir, opts: opts, m: m, out: out,
		pending: []byte(journalMagic),
		counts:  metric.NewRequests(),
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	w.room.L = &w.mu
	return w
}

// Dir is the run folder.
func (w *Writer) Dir() string { return w.dir }

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// Append records a finished request. It copies what it needs, and waits only
// when the disk is far behind. An error is a *WriteError: the disk is full or
// gone. What was recorded before is safe, and what is not written yet is kept
// and tried again, so the caller should stop the run and call Finish.
func (w *Writer) Append(tl *timeline.Timeline) error {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	*buf = AppendFrame((*buf)[:0], func(b []byte) []byte { return encodeTimeline(b, tl) })
	if size := len(*buf) - frameHead; size > maxFrame {
		return fmt.Errorf("request %d: its record of %d bytes is too large to be kept", tl.Request, size)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > maxPending && w.err == nil && !w.closed {
		w.room.Wait()
	}
	if w.closed {
		return ErrClosed
	}
	if len(w.pending) > maxPending {
		return w.err
	}
	w.pending = append(w.pending, *buf...)
	w.appended++
	count(&w.counts, tl)
	if len(w.pending) >= flushBytes {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	return w.err
}

// Update replaces the manifest that run.json shows while the run goes on.
func (w *Writer) Update(manifest Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, started := w.m.ID, w.m.Started
	w.m = manifest
	w.m.ID, w.m.Started = id, started
	w.m.Schema, w.m.Partial, w.m.Finished = Schema, true, nil
}

// Capture creates the file for the raw reads of a request.
func (w *Writer) Capture(request int64) (*os.File, error) {
	dir := filepath.Join(w.dir, captureDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &WriteError{Path: dir, Err: err}
	}
	path := filepath.Join(dir, fmt.Sprintf("%06d"+captureEnd, request))
	f, err := os.Create(path)
	if err != nil {
		return nil, &WriteError{Path: path, Err: err}
	}
	return f, nil
}

// loop writes what is pending, away from the callers of Append.
func (w *Writer) loop() {
	defer close(w.done)
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	for {
		select {
		case <-w.wake:
			w.flush()
		case <-flush.C:
			w.flush()
		case <-refresh.C:
			if w.flush() == nil && w.fail(w.out.Sync()) == nil {
				_ = w.fail(w.refresh())
			}
		case <-w.stop:
			return
		}
	}
}

// flush writes all that is pending. After a failure it goes on, the next time,
// at the very byte where the disk stopped, so that no frame is torn.
func (w *Writer) flush() error {
	for {
		if len(w.left) == 0 {
			w.mu.Lock()
			w.left, w.pending = w.pending, w.spare[:0]
			w.room.Broadcast()
			w.mu.Unlock()
			w.spare = w.left
		}
		if len(w.left) == 0 {
			return w.fail(nil)
		}
		n, err := w.out.Write(w.left)
		w.left = w.left[n:]
		if err != nil {
			return w.fail(&WriteError{Path: filepath.Join(w.dir, journalFile), Err: err})
		}
	}
}

// fail notes the state of the disk for the callers of Append.
func (w *Writer) fail(err error) error {
	var write *WriteError
	if err != nil && !errors.As(err, &write) {
		err = &WriteError{Path: filepath.Join(w.dir, journalFile), Err: err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.room.Broadcast()
	return err
}

// refresh writes run.json as it stands, with the counts of what ended so far.
func (w *Writer) refresh() error {
	w.mu.Lock()
	m := w.m
	m.Requests = w.counts.Copied()
	w.mu.Unlock()
	if w.opts.Refresh != nil {
		w.opts.Refresh(&m)
	}
	return writeManifest(w.dir, &m)
}

// close ends the writing goroutine and closes the journal. It reports whether
// everything that was appended has reached the disk.
func (w *Writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.closed = true
	w.room.Broadcast()
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	err := w.flush()
	if err == nil {
		err = w.fail(w.out.Sync())
	}
	if closeErr := w.out.Close(); err == nil {
		err = w.fail(closeErr)
	}
	return err
}

// Close stops without a summary: the folder keeps its journal and stays
// partial. It is for leaving at once; Finish is the proper end.
func (w *Writer) Close() error {
	err := w.close()
	closeLock(w.lock)
	return err
}
