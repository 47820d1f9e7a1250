package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/metric"
	"tokenmeter/run"
	"tokenmeter/sweep/result"
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
		if dir, err = makeFolder(root, s); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	s.Dir = dir
	if force {
		if err := clear(dir); err != nil {
			return &run.WriteError{Path: dir, Err: err}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &run.WriteError{Path: dir, Err: err}
	}
	if len(entries) > 0 {
		return &run.ExistsError{Path: dir}
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

func makeFolder(root string, s *result.Sweep) (string, error) {
	if root == "" {
		root = run.DefaultRoot
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", &run.WriteError{Path: root, Err: err}
	}
	name := s.Name
	if name == "" {
		name = "sweep-" + s.Variable
	}
	base := filepath.Join(root, s.Started.Format("2006-01-02T150405")+"-"+run.Slug(name))
	for n := 1; ; n++ {
		dir := base
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", &run.WriteError{Path: dir, Err: err}
		}
	}
}

// clear removes an earlier sweep and its runs, and nothing else.
func clear(dir string) error {
	old, err := Open(dir)
	if err != nil {
		return nil // there is none; what else is there stays
	}
	names := map[string]bool{}
	for _, p := range old.Points {
		names[p.Run] = true
	}
	if old.Found != nil {
		for _, s := range old.Found.Steps {
			names[s.Run] = true
		}
	}
	for name := range names {
		if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, name, "run.json")); err != nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(dir, result.File))
}

// Save writes sweep.json: a temporary file, then a rename.
func Save(s *result.Sweep) error {
	if s.Points == nil {
		s.Points, s.Order, s.Pareto = []result.Point{}, []int{}, []result.Pareto{}
	}
	if s.Warnings == nil {
		s.Warnings = []metric.Warning{}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, result.File)
	tmp := filepath.Join(s.Dir, ".tmp-"+result.File)
	if err := os.WriteFile(tmp, append(data, '\n'), 0o644); err != nil {
		return &run.WriteError{Path: path, Err: err}
	}
	if err := os.Rename(tmp, path); err != nil {
		return &run.WriteError{Path: path, Err: err}
	}
	return nil
}

// Open reads the sweep of a folder.
func Open(path string) (*result.Sweep, error) {
	if filepath.Base(path) == result.File {
		path = filepath.Dir(path)
	}
	file := filepath.Join(path, result.File)
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var s result.Sweep
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.Schema != result.Schema {
		return nil, fmt.Errorf("%s: schema %q, want %q", file, s.Schema, result.Schema)
	}
	s.Dir = path
	return &s, nil
}
