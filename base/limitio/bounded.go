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
	// A place of the right size at once: one that grows is there twice for a while.
	into := bytes.NewBuffer(make([]byte, 0, known+bytes.MinRead))
	if _, err := into.ReadFrom(io.LimitReader(r, most+1)); err != nil {
		return into.Bytes(), err
	}
	if int64(into.Len()) > most {
		return nil, &tooLong{most}
	}
	return into.Bytes(), nil
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
