package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock reports whether somebody else holds the file. A byte far beyond its
// end is locked, so that others can read who does.
func tryLock(f *os.File) (held bool, err error) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	return false, err
}
