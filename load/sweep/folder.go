package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pattern"
	"tokenmeter/base/printable"
	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// Create makes the folder of a sweep and writes the first sweep.json. With an
// empty dir the folder is made under root from the start time and the name. No
// two sweeps ever share a folder; an existing sweep is replaced only with force.
func Create(dir, root string, s *result.Sweep, force bool) error {
	s.Schema, s.Partial = result.Schema, true
	if s.Started.IsZero() {
		s.Started = time.Now().UTC().Round(0)
	}
	var err error
	if dir == "" {
		if dir, err = run.MakeFolder(root, s.Started, cmp.Or(s.Name, "sweep-"+s.Variable)); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	s.Dir = dir
	if err := free(dir, force); err != nil {
		return err
	}
	// The exclusive creation is what two sweeps in one folder race for.
	f, err := os.OpenFile(filepath.Join(dir, result.File), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &run.ExistsError{Path: dir, Busy: true}
	}
	if err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	f.Close()
	return Save(s)
}

// free returns without an error only for a folder that a sweep may use: an empty one,
// or with force one that holds no run of its own. With force an earlier sweep is removed
// first; what is no part of it stays.
func free(dir string, force bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	holds := swept(dir)
	switch {
	case len(entries) == 0:
		return nil
	case !force:
		return &run.ExistsError{Path: dir, Run: holds || isRun(dir)}
	case isRun(dir):
		return &bench.UsageError{Err: fmt.Errorf("%s holds a run and no sweep: choose another folder", dir)}
	case !holds && exists(filepath.Join(dir, result.File)):
		return &bench.UsageError{Err: fmt.Errorf("%s in %s is not of a sweep: choose another folder", result.File, dir)}
	case !holds:
		return nil
	}
	if err := clear(dir, entries); err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	return nil
}

// swept reports whether a folder holds a sweep. An empty sweep.json is one that was
// killed before it began.
func swept(dir string) bool {
	if _, _, err := read(filepath.Join(dir, result.File)); err == nil {
		return true
	}
	info, err := os.Lstat(filepath.Join(dir, result.File))
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isRun reports whether a folder is that of a run, whatever is left of it.
func isRun(dir string) bool {
	return slices.ContainsFunc(run.Files(), func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// clear removes what a sweep writes, and nothing else. sweep.json goes last: a clearing
// that is broken off can be made again.
func clear(dir string, entries []fs.DirEntry) error {
	for _, e := range entries {
		if !partOf(dir, e) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(dir, result.File))
}

// numbered is how the folders of a sweep's runs are called.
var numbered = pattern.Lazy(`^\d{3,}-`)

// partOf reports whether an entry is a part of a sweep's folder, finished or not, beside
// sweep.json.
func partOf(dir string, e fs.DirEntry) bool {
	name := e.Name()
	if !e.IsDir() {
		return name == result.Page || name == temporary || strings.HasPrefix(name, "."+result.Page+".tmp-")
	}
	path := filepath.Join(dir, name)
	switch {
	case strings.HasPrefix(name, lookPrefix):
		return true
	case !numbered().MatchString(name):
		return false
	case isRun(path):
		return true
	}
	inside, err := os.ReadDir(path)
	return err == nil && len(inside) == 0 // killed before it began
}

// temporary is sweep.json while it is written.
const temporary = ".tmp-" + result.File

// Save writes sweep.json: a temporary file, then a rename.
func Save(s *result.Sweep) error {
	if s.Points == nil {
		s.Points, s.Order, s.Pareto = []result.Point{}, []int{}, []result.Pareto{}
	}
	if s.Warnings == nil {
		s.Warnings = []metric.Warning{}
	}
	sealed := *s
	var err error
	if sealed.Checksum, err = run.Seal(s); err != nil {
		return err
	}
	data, err := json.MarshalIndent(&sealed, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, result.File)
	tmp := filepath.Join(s.Dir, temporary)
	err = os.WriteFile(tmp, append(printable.JSON(data), '\n'), 0o644)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp) // a full disk has no use for half a file
		return &run.WriteError{Path: path, Err: err}
	}
	return nil
}

// mostBytes bounds what is read of a sweep.json: as much as of a run.json.
const mostBytes = 256 << 20

// Open reads the sweep of a folder. One that is not as it was written is an error: nobody
// knows which of its figures were altered, and they can be had again from its runs.
func Open(path string) (*result.Sweep, error) {
	if filepath.Base(path) == result.File {
		path = filepath.Dir(path)
	}
	file := filepath.Join(path, result.File)
	s, data, err := read(file)
	if err != nil {
		return nil, err
	}
	if !run.Intact(data) {
		return nil, fmt.Errorf("%s is not as it was written: its checksum is of another content", file)
	}
	s.Dir, s.Checksum = path, ""
	if s.Partial {
		s.Begun = begun(s)
	}
	return s, nil
}

// read reads a sweep.json, altered or not.
func read(file string) (*result.Sweep, []byte, error) {
	data, err := limitio.File(file, mostBytes)
	if err != nil {
		return nil, nil, err
	}
	var s result.Sweep
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.Schema != result.Schema {
		return nil, nil, fmt.Errorf("%s: schema %q, want %q", file, s.Schema, result.Schema)
	}
	return &s, data, nil
}

// begun lists the runs that a sweep began and did not live to make points of.
func begun(s *result.Sweep) (names []string) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		point := slices.ContainsFunc(s.Points, func(p result.Point) bool { return p.Run == e.Name() })
		if e.IsDir() && !point && numbered().MatchString(e.Name()) && isRun(filepath.Join(s.Dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}
