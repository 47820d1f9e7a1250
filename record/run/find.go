package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Find returns the run folders at or below a path, and the regular files there
// that also wants by their names; nil wants none. What lies in a run folder is
// the run's, and links below the path are not followed, so there is no circle. What
// is below folders that can't be read is missing, and the error says so: beside it
// stands what was found elsewhere.
func Find(path string, also func(name string) bool) (found []string, err error) {
	if _, err := os.Stat(path); err != nil {
		if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, fmt.Errorf("no runs can be read at %s: %w", path, err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var unread []error
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			unread = append(unread, err)
			return nil // it goes on beside it
		}
		if !d.IsDir() {
			if also != nil && also(d.Name()) && d.Type().IsRegular() {
				found = append(found, at)
			}
			return nil
		}
		for _, name := range Files() {
			info, err := os.Stat(filepath.Join(at, name))
			switch {
			case errors.Is(err, fs.ErrPermission): // what is inside is hidden
				unread = append(unread, err)
				return fs.SkipDir
			case err == nil && info.Mode().IsRegular():
				found = append(found, at)
				return fs.SkipDir
			}
		}
		return nil
	})
	return found, errors.Join(append(unread, err)...)
}
