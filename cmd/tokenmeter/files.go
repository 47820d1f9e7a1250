package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/run"
)

// replaceable refuses what no result is written to: a folder, a file of a run, or
// without force any file that exists.
func replaceable(path string, force bool) error {
	if path == "-" { // where it may mean stdout, it does not come here
		return errors.New("- would be standard output, which takes the result: name a file")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &run.WriteError{Path: path, Err: err, Named: true}
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it", path)
	case !info.Mode().IsRegular():
		return nil
	case !owned(path) && !force:
		return fmt.Errorf("%s exists already; name another file or pass --force", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if owned(path) || err == nil && owned(real) {
		return fmt.Errorf("%s belongs to a run and holds what it measured; name another file", path)
	}
	return nil
}

// put writes to stdout, where no file or - is named, or a file, and says so.
func (a *app) put(path string, force bool, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.stdout)
	}
	if err := writeFile(path, force, write); err != nil {
		return err
	}
	a.note("wrote %s", path)
	return nil
}

// writeFile writes a file as a whole: a temporary file beside it, then a
// rename. An existing one is replaced only with force; the files of a run never
// are, a device or a pipe is written into.
func writeFile(path string, force bool, write func(io.Writer) error) (err error) {
	if err := replaceable(path, force); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(path, write)
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // a link stays one
		}
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp-"+strconv.Itoa(os.Getpid()))
	halfFiles.Store(name, nil)
	defer halfFiles.Delete(name)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return &run.WriteError{Path: path, Err: err, Named: true}
	}
	disk := &diskWriter{f: f}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(name)
		}
		if disk.err != nil {
			err = &run.WriteError{Path: path, Err: disk.err, Named: true}
		}
	}()
	if err = write(disk); err != nil {
		return err
	}
	for _, step := range []func() error{f.Sync, f.Close, func() error { return os.Rename(name, path) }} {
		if err = step(); err != nil {
			return &run.WriteError{Path: path, Err: err, Named: true}
		}
	}
	return nil
}

// owned reports whether a path holds what was measured: a file of a run, or a sweep.
func owned(path string) bool {
	_, err := os.Lstat(path)
	return run.Owns(path) || err == nil && filepath.Base(path) == result.File
}

// writeInto writes to what is there already and can't be replaced.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return &run.WriteError{Path: path, Err: err, Named: true}
	}
	disk := &diskWriter{f: f}
	err = write(disk)
	if closeErr := f.Close(); disk.err == nil {
		disk.err = closeErr
	}
	if disk.err != nil {
		return &run.WriteError{Path: path, Err: disk.err, Named: true}
	}
	return err
}

// diskWriter remembers that it was the disk that failed, not what is written.
type diskWriter struct {
	f   *os.File
	err error
}

func (d *diskWriter) Write(p []byte) (int, error) {
	n, err := d.f.Write(p)
	if err != nil && d.err == nil {
		d.err = err
	}
	return n, err
}
