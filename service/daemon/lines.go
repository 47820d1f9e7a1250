package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
	"tokenmeter/service/traffic"
)

// lineFile appends lines of JSON to a file, of what requests bring. Writing is
// done by a goroutine of its own; when it can't keep up, lines are dropped and
// counted, never a stream held up. So are those that can't be written; it goes
// on with the next ones.
type lineFile[T any] struct {
	queue *traffic.Queue[T]
	done  chan struct{}
	to    io.WriteCloser
	err   error
}

// openLines opens a file for appending, and says whether it may end within a line.
// A named pipe that nobody reads is an error: it would be waited for.
func openLines(path string) (f io.WriteCloser, broke bool, err error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	info, err := os.Stat(path)
	pipe := err == nil && info.Mode()&fs.ModeNamedPipe != 0
	if pipe {
		flags |= syscall.O_NONBLOCK
	}
	f, err = os.OpenFile(path, flags, 0o600)
	if pipe && errors.Is(err, syscall.ENXIO) {
		err = fmt.Errorf("open %s: nobody reads this named pipe", path)
	}
	return f, err == nil && endsWithin(path), err
}

// endsWithin reports whether a file may end within a line, as one does whose
// writer was killed. A pipe or a device has no end.
func endsWithin(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	f, err := limitio.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err != nil || last[0] != '\n'
}

// begin writes to f; broke: it may end within a line. Room is how many wait at most; line
// is what is written of one, false: nothing.
func (r *lineFile[T]) begin(f io.WriteCloser, broke bool, room int, line func(T) (any, bool)) {
	r.queue, r.done, r.to = traffic.NewQueue[T](room), make(chan struct{}), f
	go r.write(f, broke, line)
}

// mostPacked is how much is written at once, but for longer rows.
const mostPacked = 64 << 10

func (r *lineFile[T]) write(f io.WriteCloser, broke bool, line func(T) (any, bool)) {
	defer close(r.done)
	p := packed{to: f, broke: broke}
	lost := func(rows int64, err error) {
		r.queue.Drop(rows)
		if r.err == nil {
			r.err = err
		}
	}
	flush := func() {
		if n, err := p.flush(); err != nil { // a full disk may have room again
			lost(n, err)
		}
	}
	rows := r.queue.Waiting()
	for one := range rows {
		out, some := line(one)
		data, err := json.Marshal(out)
		data = printable.JSON(data)
		if err != nil && some {
			lost(1, err)
		}
		if err != nil || !some {
			if len(rows) == 0 {
				flush()
			}
			continue
		}
		if len(p.data)+len(data) >= mostPacked {
			flush()
		}
		if p.add(data); len(rows) == 0 {
			flush()
		}
	}
	flush()
	if err := f.Close(); err != nil && r.err == nil {
		r.err = err
	}
}

// packed are lines that wait to be written in one piece.
type packed struct {
	to    io.Writer
	data  []byte
	ends  []int // of each line
	broke bool  // the file may end within a line
}

func (p *packed) add(line []byte) {
	if p.broke && len(p.data) == 0 {
		p.data = append(p.data, '\n')
	}
	p.data = append(append(p.data, line...), '\n')
	p.ends = append(p.ends, len(p.data))
}

// flush writes what waits. When that fails, lost lines are not in the file.
func (p *packed) flush() (lost int64, err error) {
	if len(p.data) == 0 {
		return 0, nil
	}
	n, err := p.to.Write(p.data)
	if err == nil || n > 0 {
		p.broke = err != nil
	}
	if err != nil {
		whole, _ := slices.BinarySearch(p.ends, n+1)
		lost = int64(len(p.ends) - whole)
	}
	if p.data, p.ends = p.data[:0], p.ends[:0]; cap(p.data) > 2*mostPacked {
		p.data = nil
	}
	return lost, err
}

// Dropped is how many lines are not in the file.
func (r *lineFile[T]) Dropped() int64 { return r.queue.Dropped() }

// lastWrites is how long the reader of a pipe may take for what is left.
const lastWrites = 5 * time.Second

// Close writes what is left and returns the first error, and how many lines were
// dropped: what a pipe's reader does not take in lastWrites is.
func (r *lineFile[T]) Close() (dropped int64, err error) {
	r.queue.Close()
	if pipe, ok := r.to.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = pipe.SetWriteDeadline(time.Now().Add(lastWrites)) // a file of a disk has none
	}
	<-r.done
	return r.queue.Dropped(), r.err
}
