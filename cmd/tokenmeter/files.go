package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"tokenmeter/run"
)

// writeFile writes a file as a whole: a temporary file beside it, then a
// rename. An existing one is replaced only with force.
func writeFile(path string, force bool, write func(io.Writer) error) (err error) {
	if _, statErr := os.Stat(path); statErr == nil && !force {
		return &usageError{fmt.Errorf("%s exists already; name another file or pass --force", path)}
	} else if statErr != nil && !errors.Is(statErr, fs.ErrNotExist) {
		return &run.WriteError{Path: path, Err: statErr}
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp-"+strconv.Itoa(os.Getpid()))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return &run.WriteError{Path: path, Err: err}
	}
	disk := &diskWriter{f: f}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(name)
		}
		if disk.err != nil {
			err = &run.WriteError{Path: path, Err: disk.err}
		}
	}()
	if err = write(disk); err != nil {
		return err
	}
	for _, step := range []func() error{f.Sync, f.Close, func() error { return os.Rename(name, path) }} {
		if err = step(); err != nil {
			return &run.WriteError{Path: path, Err: err}
		}
	}
	return nil
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
