// Package limitio reads files and lines that may turn out to have no end: a
// device, a wrong file, a compressed bomb. Too much is an error, not a full memory.
package limitio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLong is what every error about too many bytes is.
var ErrTooLong = errors.New("too long")

type tooLong struct{ most int64 }

func (e *tooLong) Error() string        { return "more than " + size(e.most) }
func (e *tooLong) Is(target error) bool { return target == ErrTooLong }

func size(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 1<<10 || n%(1<<10) != 0 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n >>= 10
	}
	return fmt.Sprintf("%d GiB", n)
}

// All reads to the end, which must come within most bytes. A file that says that
// it is larger is not begun.
func All(r io.Reader, most int64) ([]byte, error) {
	var known int64
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			known = info.Size()
		}
		if known > most {
			return nil, &tooLong{most}
		}
	}
	// A place of the right size at once: one that grows is there twice for a while. Where
	// the size is not known it grows to what may be read, and no further.
	into := make([]byte, 0, known+bytes.MinRead)
	for {
		if len(into) == cap(into) {
			next := 2 * int64(cap(into))
			if next >= most {
				next = most + bytes.MinRead
			}
			into = append(make([]byte, 0, next), into...)
		}
		n, err := r.Read(into[len(into):cap(into)])
		into = into[:len(into)+n]
		switch {
		case int64(len(into)) > most:
			return nil, &tooLong{most}
		case err == io.EOF:
			return into, nil
		case err != nil:
			return into, err
		}
	}
}

// Twice reads to the end what opens anew from its start, which must come within most
// bytes: it is counted first, so that too much takes no memory, and what is not too
// much a place of its size.
func Twice(open func() (io.Reader, error), most int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, most+1))
	if n > most {
		return nil, &tooLong{most}
	}
	if err == nil {
		r, err = open()
	}
	if err != nil {
		return nil, err
	}
	data := make([]byte, n)
	_, err = io.ReadFull(r, data)
	return data, err
}

// File reads a whole file of at most so many bytes. The error names it.
func File(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := All(f, most)
	if errors.Is(err, ErrTooLong) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return data, err
}

// Line reads up to and with the next line feed, like ReadBytes, within most bytes.
func Line(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, &tooLong{int64(most)}
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
