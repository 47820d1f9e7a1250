package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"tokenmeter/service/slo/history/sqlstore"
)

// Damaged reports whether an error says that a store's file is broken: it can't
// be read, now or later. That it is full, locked, newer, of somebody else or not
// ours to open is no damage, and neither is a statement that failed.
func Damaged(err error) bool {
	if errors.Is(err, sqlstore.ErrDamaged) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case code.SQLITE_CORRUPT, code.SQLITE_NOTADB, code.SQLITE_FORMAT:
		return true
	}
	return false
}

// ForeignError says that a file is something else than a store.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return e.Path + " is another program's file and stays as it is; name another file in store"
}

// magic is what every SQLite file begins with.
const magic = "SQLite format 3\x00"

// marks are bytes that a store holds, in different pages: its tables' names, and
// what is kept under a name.
var marks = [][]byte{[]byte("CREATE TABLE series (\n\tid INTEGER PRIMARY KEY,\n\thash TEXT"), []byte("CREATE TABLE cells (\n\tseries INTEGER NOT NULL"), []byte("slo.alerts"), []byte("slo.since"), []byte("slo.counters")}

// ours reports whether a file, or the journal beside it, is or was a store,
// however damaged it may be. Text that only speaks of one is none.
func ours(path string) (bool, error) {
	for _, name := range []string{path, path + "-wal"} {
		found, err := marked(name)
		if found || err != nil && !errors.Is(err, os.ErrNotExist) {
			return found, err
		}
	}
	return false, nil
}

// marked looks for a mark in a file that is no text.
func marked(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const overlap = 128 // longer than a mark
	part, kept, binary, mark := make([]byte, 1<<20), 0, false, false
	for {
		n, err := io.ReadFull(f, part[kept:])
		seen := part[:kept+n]
		binary = binary || bytes.IndexByte(seen, 0) >= 0
		for _, m := range marks {
			mark = mark || bytes.Contains(seen, m)
		}
		switch {
		case binary && mark:
			return true, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, nil
		case err != nil:
			return false, err
		}
		kept = copy(part, seen[len(seen)-overlap:])
	}
}

// refuseForeign refuses a file that is no store and never was one, before
// anything in it is changed or made beside it.
func refuseForeign(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it is made
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	f.Close()
	if n == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	if string(head[:n]) == magic {
		d, err := open(path, "ro", func() {}) // to write is to change it, if only its kind of journal
		if err != nil {
			return err
		}
		defer d.Close()
		return foreign(d, path)
	}
	if is, err := ours(path); err != nil || is {
		return err
	}
	return &ForeignError{path}
}

// SetAside renames a damaged store, with all that belongs to it, so that a new
// one can begin in its place, and returns its new name. Nothing is deleted. What
// never was a store is a ForeignError and stays.
func SetAside(path string, now time.Time) (aside string, err error) {
	path = linked(path)
	switch is, err := ours(path); {
	case err != nil:
		return "", err
	case !is:
		return "", &ForeignError{path}
	}
	aside = path + ".damaged-" + now.UTC().Format("20060102T150405")
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.damaged-%s-%d", path, now.UTC().Format("20060102T150405"), i)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
