package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Find returns the run folders at or below some paths, and the regular files there
// that also wants by their names; nil wants none. Each is there once, whichever of
// the paths lead to it. What lies in a run folder is the run's, and links below a
// path are not followed, so there is no circle. What is below folders that can't be
// read is missing, and the error says so: beside it stands what was found elsewhere.
func Find(paths []string, also func(name string) bool) (found []string, err error) {
	var unread []error
	known := map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			err = ErrDevice
		}
		if err != nil {
			if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
				err = inner.Err
			}
			return nil, fmt.Errorf("no runs can be read at %s: %w", path, err)
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		below, errs := findBelow(path, also)
		unread = append(unread, errs...)
		for _, at := range below {
			if one := Absolute(at); !known[one] {
				known[one] = true
				found = append(found, at)
			}
		}
	}
	return found, errors.Join(unread...)
}

// ErrDevice is of a path that is there and can hold no runs: a device or a pipe.
var ErrDevice = errors.New("it is neither a folder nor a file")

// findBelow is Find for one path that is no link, with all that can't be read.
func findBelow(path string, also func(name string) bool) (found []string, unread []error) {
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
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
	if err != nil {
		unread = append(unread, err)
	}
	return found, unread
}

// Absolute is the one name of a file or folder, whatever links lead to it.
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}
