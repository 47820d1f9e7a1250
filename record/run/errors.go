package run

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WriteError says that results could not be written. What had been recorded
// before is still in the folder (exit code 5).
type WriteError struct {
	Path string // file or folder
	Err  error
	// Lost counts finished requests that never reached the disk.
	Lost int64
	// Named says that the path is a file which the user named, not the run's folder.
	Named bool
}

// Error says what failed, where, and what to do next.
func (e *WriteError) Error() string {
	cause := e.Err
	if path := (*fs.PathError)(nil); errors.As(cause, &path) {
		cause = path.Err // the path is named already
	}
	lost := ""
	if e.Lost > 0 {
		lost = fmt.Sprintf(" (finished requests that are not in it: %d)", e.Lost)
	}
	return fmt.Sprintf("cannot write %s: %v%s; %s", e.Path, cause, lost, e.hint())
}

func (e *WriteError) Unwrap() error { return e.Err }

func (e *WriteError) hint() string {
	switch {
	case e.Named && errors.Is(e.Err, syscall.ENOSPC):
		return "free some space or name a file on another disk"
	case e.Named && errors.Is(e.Err, fs.ErrPermission):
		return "name a file that you may write"
	case e.Named:
		return "name another file"
	case errors.Is(e.Err, syscall.ENOSPC):
		return "free some space or choose another disk with --out"
	case errors.Is(e.Err, fs.ErrPermission), errors.Is(e.Err, syscall.EROFS):
		return "choose a folder that you may write with --out"
	}
	return "choose another folder with --out"
}

// ExistsError says that a folder is not free for a new run.
type ExistsError struct {
	Path string
	Busy bool // another process is writing there at this moment
	// Holds is what it holds already, and Wants what was to be written; of the same kind
	// it could be replaced.
	Holds, Wants Kind
}

func (e *ExistsError) Error() string {
	switch {
	case e.Busy:
		return fmt.Sprintf("%s: another process is writing there; choose another folder with --out", e.Path)
	case e.Holds == 0:
		return fmt.Sprintf("%s is not empty and holds no %s; choose another folder with --out, or use it with --force", e.Path, layouts[e.Wants].none)
	case e.Holds == e.Wants:
		return fmt.Sprintf("%s already holds %s; choose another folder with --out, or replace it with --force", e.Path, layouts[e.Holds].some)
	}
	return fmt.Sprintf("%s holds %s and no %s: choose another folder", e.Path, layouts[e.Holds].some, layouts[e.Wants].none)
}
