//go:build linux || darwin || freebsd || netbsd || openbsd

package run

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder keeps other processes from writing a run into the same folder, as
// long as the returned file is open. Where a file system knows no locks, the
// exclusive creation of the journal has to do.
func lockFolder(dir string) (held *os.File, busy bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == unix.EWOULDBLOCK {
		f.Close()
		return nil, true, nil
	}
	return f, false, nil
}

// syncFolder makes a rename in dir last through a power failure.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil // some file systems cannot sync a folder
}
