package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"

	"modernc.org/sqlite"
	code "modernc.org/sqlite/lib"
)

// Damaged reports whether an error says that a store can't be read, now or later:
// it is no database, or parts of it are broken or missing. That it is full,
// locked, newer or not ours to open is no damage.
func Damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case code.SQLITE_CORRUPT, code.SQLITE_NOTADB, code.SQLITE_FORMAT, code.SQLITE_ERROR:
		return true
	}
	return false
}

// SetAside renames a damaged store, with all that belongs to it, so that a new
// one can begin in its place, and returns its new name. Nothing is deleted.
func SetAside(path string, now time.Time) (aside string, err error) {
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
