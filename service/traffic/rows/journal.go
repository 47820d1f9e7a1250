package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"tokenmeter/record/run"
)

// A journal is a magic and frames, as those of runs; each holds the rows of half
// a second, JSON lines packed with zstd. Names begin with a dot, so that no
// pattern takes them for results.
const (
	journalMagic  = "tmlive1\n"
	journalPrefix = ".live-"
	journalSuffix = ".journal"
)

// journal is one that is being written. Of one goroutine only.
type journal struct {
	path  string
	out   sink
	pack  *zstd.Encoder
	begun time.Time
	size  int64

	batch   bytes.Buffer // rows that are not packed yet
	rows    int64        // in the batch
	pending []byte       // frames that are not written yet
	held    int64        // rows in them
	written int64        // rows in the file
}

// sink is the journal's file.
type sink interface {
	io.Writer
	Sync() error
	Close() error
}

func createJournal(path string, now time.Time) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return newJournal(path, f, now)
}

func newJournal(path string, out sink, now time.Time) (*journal, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	return &journal{path: path, out: out, pack: pack, begun: now, pending: []byte(journalMagic)}, nil
}

// add takes a row and returns how many were dropped instead. The first one
// begins the journal's time.
func (j *journal) add(r *run.LiveRow, now time.Time) int64 {
	if len(j.pending) > maxPending {
		return 1
	}
	if j.rows == 0 && j.held == 0 && j.size <= int64(len(journalMagic)) {
		j.begun = now
	}
	before := j.batch.Len()
	if err := json.NewEncoder(&j.batch).Encode(r); err != nil {
		j.batch.Truncate(before)
		return 1
	}
	if j.rows++; j.batch.Len() >= maxBatch {
		j.seal()
	}
	return 0
}

// seal makes a frame of the batch.
func (j *journal) seal() {
	if j.rows == 0 {
		return
	}
	j.pending = run.AppendFrame(j.pending, func(b []byte) []byte { return j.pack.EncodeAll(j.batch.Bytes(), b) })
	j.held += j.rows
	j.rows = 0
	j.batch.Reset()
}

// flush writes what is pending. After a failure it goes on at the very byte
// where the disk stopped.
func (j *journal) flush() error {
	j.seal()
	if len(j.pending) == 0 {
		return nil
	}
	n, err := j.out.Write(j.pending)
	j.size += int64(n)
	j.pending = j.pending[:copy(j.pending, j.pending[n:])]
	if err == nil {
		j.written += j.held
		j.held = 0
	}
	return err
}

// gone reports whether somebody has removed the file, or the folder: what is
// written then is nowhere.
func (j *journal) gone() bool {
	_, err := os.Stat(j.path)
	return errors.Is(err, fs.ErrNotExist)
}

// lose forgets the rows of a file that is gone, and returns how many there were.
func (j *journal) lose() int64 {
	lost := j.written + j.held + j.rows
	j.written, j.held, j.rows, j.pending = 0, 0, 0, j.pending[:0]
	j.batch.Reset()
	return lost
}

// unwritten is how many rows did not get to the disk, at most.
func (j *journal) unwritten() int64 { return j.held + j.rows }

// over reports whether the journal is to become a file: it is large, or a new
// day or span has begun. It never is while the disk takes nothing.
func (j *journal) over(now time.Time, every time.Duration) bool {
	if len(j.pending) > 0 || j.size <= int64(len(journalMagic)) {
		return false
	}
	return j.size >= maxJournal || !now.Truncate(every).Equal(j.begun.Truncate(every)) || day(now) != day(j.begun)
}

func (j *journal) sync() error { return j.out.Sync() }

func (j *journal) close() error {
	j.pack.Close()
	err := j.out.Sync()
	if closeErr := j.out.Close(); err == nil {
		err = closeErr
	}
	return err
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// maxFrame bounds what a frame may unpack to.
const maxFrame = 256 << 20

// readJournal yields the rows of a journal, and says what of it was damaged.
func readJournal(path string, yield func(*run.LiveRow) error) (damaged string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		return "", err
	}
	defer unpack.Close()
	var text []byte
	wrong := 0
	frames, torn, err := run.ScanFrames(f, info.Size(), journalMagic, func(_ int64, payload []byte) error {
		var err error
		if text, err = unpack.DecodeAll(payload, text[:0]); err != nil {
			wrong++
			return nil
		}
		lines := json.NewDecoder(bytes.NewReader(text))
		for {
			r := new(run.LiveRow)
			switch err := lines.Decode(r); err {
			case nil:
			case io.EOF:
				return nil
			default:
				wrong++
				return nil
			}
			if err := yield(r); err != nil {
				return err
			}
		}
	})
	if frames+wrong > 0 || torn > 0 {
		damaged = fmt.Sprintf("%d damaged blocks, %d bytes at the end", frames+wrong, torn)
	}
	return damaged, err
}
