package run

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names of the files in a run folder.
const (
	manifestFile = "run.json"
	journalFile  = "requests.journal"
	tableFile    = "requests.parquet"
	captureDir   = "captures"
	captureEnd   = ".capture.jsonl"
	reportFile   = "report.html"
	serverFile   = "server_metrics.parquet"
	temporary    = ".tmp-" // in the names of files that are not finished
)

// ControlLog has what the commands around a run print.
const ControlLog = "control.log"

// Files are the names of which a run folder has at least one.
func Files() []string { return []string{manifestFile, journalFile, tableFile} }

// DefaultRoot is where runs go that were given no folder.
const DefaultRoot = "runs"

// Options of Create. The zero value is right for most.
type Options struct {
	// Force lets the new run replace one that the folder holds. Files that are
	// no part of a run folder are never touched.
	Force bool
	// Root is where a folder is made when none was named; empty: DefaultRoot.
	Root string
	// Refresh, when set, may add to run.json each time it is refreshed while
	// the run goes on. It must not block.
	Refresh func(*Run)

	// openJournal replaces the journal's file in tests.
	openJournal func(path string) (sink, error)
}

// sink is the journal's file.
type sink interface {
	io.Writer
	Sync() error
	Close() error
}

// Create makes the folder of a new run and writes the first run.json, which is
// partial. With an empty dir the folder is made under Root from the start time
// and the run's or the model's name. An existing folder is taken only when it
// is empty, or with Force; no two processes ever share one. Errors are
// *ExistsError or *WriteError; what was made until then goes again.
func Create(dir string, manifest Run, opts Options) (*Writer, error) {
	begin(&manifest)
	var err error
	_, missing := os.Stat(dir) // also where dir is empty
	if dir == "" {
		dir, err = MakeFolder(opts.Root, manifest.Started, cmp.Or(manifest.Name, manifest.Target.Model))
	}
	if err != nil {
		return nil, err
	}
	held, err := Hold(dir, OneRun, opts.Force)
	if err != nil {
		return nil, err
	}
	w, err := claim(held, manifest, opts)
	if err != nil {
		held.Close()
		if missing != nil {
			os.Remove(dir) // there is nothing in it
		}
		return nil, err
	}
	w.lock = held.lock
	go w.loop()
	return w, nil
}

// begin fills what every manifest needs.
func begin(m *Run) {
	m.Schema, m.Partial, m.Finished = Schema, true, nil
	if m.Started.IsZero() {
		m.Started = time.Now()
	}
	m.Started = m.Started.UTC().Round(0)
	if m.ID == "" {
		var id [6]byte
		rand.Read(id[:]) // never fails
		m.ID = hex.EncodeToString(id[:])
	}
}

// MakeFolder makes a folder of its own under root (DefaultRoot when empty), called
// by the moment and a name. No two callers get the same: a plain mkdir is exclusive.
// Errors are *WriteError.
func MakeFolder(root string, at time.Time, name string) (string, error) {
	root = cmp.Or(root, DefaultRoot)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", &WriteError{Path: root, Err: err}
	}
	base := filepath.Join(root, folderName(at, name))
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
			return "", &WriteError{Path: dir, Err: err}
		}
	}
}

// claim takes a folder for a new run: empty it of an older one, create the journal
// exclusively, write the first run.json.
func claim(held *Held, m Run, opts Options) (*Writer, error) {
	if err := held.Clear(); err != nil {
		return nil, err
	}
	dir := held.dir
	open := opts.openJournal
	if open == nil {
		open = createJournal
	}
	path := filepath.Join(dir, journalFile)
	out, err := open(path)
	if errors.Is(err, fs.ErrExist) {
		return nil, &ExistsError{Path: dir, Busy: true}
	}
	if err != nil {
		return nil, &WriteError{Path: path, Err: err}
	}
	w := newWriter(dir, m, opts, out)
	if err := w.refresh(); err != nil {
		out.Close()
		os.Remove(path) // nothing was written to it yet
		return nil, err
	}
	return w, nil
}

func createJournal(path string) (sink, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// removePart removes name when it is a part of a run folder.
func removePart(dir, name string) error {
	path := filepath.Join(dir, name)
	if info, err := os.Lstat(path); name == captureDir && err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return os.Remove(path) // and nothing of what it leads to
	}
	switch {
	case slices.Contains(Files(), name), name == reportFile, name == serverFile, name == ControlLog, strings.Contains(name, temporary):
		return os.Remove(path)
	case name == captureDir:
		captures, err := filepath.Glob(filepath.Join(path, "*"+captureEnd))
		if err != nil {
			return err
		}
		for _, c := range captures {
			if err := os.Remove(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func closeLock(f *os.File) {
	if f != nil {
		f.Close()
	}
}
