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
// two sweeps ever share a folder, which is to be closed after the last point; an existing
// sweep is replaced only with force, and what is no part of it stays.
func Create(dir, root string, s *result.Sweep, force bool) (held *run.Held, err error) {
	s.Schema, s.Partial = result.Schema, true
	if s.Started.IsZero() {
		s.Started = time.Now().UTC().Round(0)
	}
	if dir == "" {
		if dir, err = run.MakeFolder(root, s.Started, cmp.Or(s.Name, "sweep-"+s.Variable)); err != nil {
			return nil, err
		}
	}
	s.Dir = dir
	if held, err = run.Hold(dir, run.SweepRuns, force); err != nil {
		return nil, err
	}
	if err = held.Clear(); err == nil {
		err = begin(s)
	}
	if err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

// begin writes the first sweep.json, over none that is somebody else's.
func begin(s *result.Sweep) error {
	path := filepath.Join(s.Dir, result.File)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &bench.UsageError{Err: fmt.Errorf("%s in %s is not of a sweep: choose another folder", result.File, s.Dir)}
	}
	if err != nil {
		return &run.WriteError{Path: s.Dir, Err: err}
	}
	f.Close()
	return Save(s)
}

// numbered is how the folders of a sweep's runs are called.
var numbered = pattern.Lazy(`^\d{3,}-`)

// isRun reports whether a folder is that of a run, whatever is left of it.
func isRun(dir string) bool {
	return slices.ContainsFunc(run.Files(), func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
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
