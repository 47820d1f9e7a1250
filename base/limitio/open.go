package limitio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotPlain is the error of a path at which there is no file but a pipe, a
// socket or a device.
var ErrNotPlain = errors.New("it is no plain file")

var errFolder = errors.New("it is a folder, not a file")

// Open opens a file to read it. What is no plain file is refused: a named pipe
// would wait for a writer for ever, and a device has no end. A pipe that the
// process was given when it began (/dev/stdin, and /dev/fd/63 of a shell's <(…))
// has its writer and is read as a file; it can't be read at any place but the next.
func Open(path string) (*os.File, error) {
	if err := Plain(path); err != nil && !(errors.Is(err, ErrNotPlain) && inherited(path)) {
		return nil, err
	}
	return os.Open(path)
}

// Plain returns why a path can't be opened as a file; nil: nothing is known
// against it.
func Plain(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		err = errors.Unwrap(err) // why, without "stat"
	case info.IsDir():
		err = errFolder
	case !info.Mode().IsRegular():
		err = ErrNotPlain
	default:
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// inherited reports whether a path is that of a pipe that the process was given.
func inherited(path string) bool {
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return false
	}
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
