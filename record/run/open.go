package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Folder is a run that can be read: finished, still going on, or broken off.
type Folder struct {
	dir   string
	run   Run
	notes []string
	// damaged says why nobody knows any more whether the run is valid.
	damaged string
	source  interface {
		each(yield func(*timeline.Timeline, error) bool)
	}
	count int64
	files []*os.File
}

// ErrNoRun says that a path holds no run.
var ErrNoRun = errors.New("no run")

// Open opens a run folder, or the folder of a file in it. It takes a finished
// folder, one whose writer died (all but a torn last record is there), and one
// whose run.json is missing or damaged: then Run tells what the records tell.
func Open(path string) (*Folder, error) {
	dir, err := folderOf(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir}
	manifest, manifestErr := readManifest(dir)
	if errors.Is(manifestErr, errSchema) {
		return nil, fmt.Errorf("%s: %w", dir, manifestErr)
	}
	if err := f.openRecords(manifest != nil); err != nil {
		f.Close()
		return nil, err
	}
	if manifest != nil {
		f.run = *manifest
	} else {
		f.rebuild(manifestErr)
	}
	if errors.Is(manifestErr, errAltered) {
		f.damage("%s is not as it was written (its checksum is of another content): nobody knows which of its figures were altered", manifestFile)
	}
	if err := f.verify(); err != nil {
		f.Close()
		return nil, err
	}
	if f.damaged != "" {
		f.run.Validity.Damaged(f.damaged)
		f.run.Files, f.run.Checksum = nil, ""
	}
	f.run.Dir = dir
	return f, nil
}

func folderOf(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w at %s: there is no such folder", ErrNoRun, path)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		if slices.Contains(Files(), filepath.Base(path)) {
			return filepath.Dir(path), nil
		}
		return "", fmt.Errorf("%w at %s: it is a file, give the folder of a run", ErrNoRun, path)
	}
	return path, nil
}

// openRecords prefers the table: it is written as a whole, and a journal
// beside it is what a crash before its removal left. A damaged table with a
// journal beside it is passed over.
func (f *Folder) openRecords(known bool) error {
	tableErr := f.openTable()
	if tableErr == nil {
		return nil
	}
	journalErr := f.openJournal()
	switch {
	case journalErr == nil:
		if !errors.Is(tableErr, fs.ErrNotExist) {
			f.note("%s could not be read (%v); the journal was taken instead", tableFile, tableErr)
		}
		return nil
	case !errors.Is(tableErr, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", filepath.Join(f.dir, tableFile), tableErr)
	case !errors.Is(journalErr, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", filepath.Join(f.dir, journalFile), journalErr)
	case !known:
		instead := "the folder that bench printed as saved"
		entries, _ := os.ReadDir(f.dir)
		for _, e := range entries {
			inside := filepath.Join(f.dir, e.Name())
			if _, err := os.Lstat(filepath.Join(inside, manifestFile)); err == nil {
				instead = "one of the runs in it, like " + inside
				break
			}
		}
		return fmt.Errorf("%w at %s: it has neither %s nor %s; give %s", ErrNoRun, f.dir, tableFile, journalFile, instead)
	}
	f.note("the folder has no records, only %s", manifestFile)
	f.source = &journal{}
	return nil
}

func (f *Folder) openTable() error {
	file, size, err := f.open(tableFile)
	if err != nil {
		return err
	}
	t, err := openTable(file, size)
	if err != nil {
		return err
	}
	f.source, f.count = t, t.count()
	return nil
}

func (f *Folder) openJournal() error {
	file, size, err := f.open(journalFile)
	if err != nil {
		return err
	}
	j, err := indexJournal(file, size)
	if err != nil {
		return err
	}
	if j.torn > 0 {
		f.note("the last %d bytes of the journal are an unfinished record and were left out", j.torn)
	}
	if j.damaged > 0 {
		f.damage("damaged records of the journal, left out: %d", j.damaged)
	}
	f.source, f.count = j, int64(len(j.frames))
	return nil
}

func (f *Folder) open(name string) (*os.File, int64, error) {
	file, err := limitio.Open(filepath.Join(f.dir, name))
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // whoever asks names the file
	}
	if err != nil {
		return nil, 0, err
	}
	f.files = append(f.files, file)
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Owns reports whether a path is one of the files of a run that is there, raw
// streams among them. They hold the only copy of what was measured, so nothing
// else may be written there.
func Owns(path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	dir, name := filepath.Split(path)
	switch dir = filepath.Clean(dir); {
	case slices.Contains(Files(), name):
	case filepath.Base(dir) == captureDir && strings.HasSuffix(name, captureEnd):
		dir = filepath.Dir(dir)
	default:
		return false
	}
	return slices.ContainsFunc([]string{manifestFile, journalFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// rebuild makes a manifest from the records when run.json can't be read.
func (f *Folder) rebuild(cause error) {
	if errors.Is(cause, fs.ErrNotExist) {
		f.damage("%s is missing; what it said of load and workload is unknown", manifestFile)
	} else {
		f.damage("%s could not be read (%v); what it said of load and workload is unknown", manifestFile, cause)
	}
	f.run = Run{Schema: Schema, ID: filepath.Base(f.dir), Partial: true}
	if abs, err := filepath.Abs(f.dir); err == nil {
		f.run.ID = filepath.Base(abs)
	}
	f.run.Requests = metric.NewRequests()
	for tl, err := range f.Timelines() {
		if err != nil {
			continue
		}
		f.run.Target.API = cmp.Or(f.run.Target.API, tl.API)
		f.run.Target.Model = cmp.Or(f.run.Target.Model, tl.Model)
		count(&f.run.Requests, tl)
	}
}

func (f *Folder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// Dir is the folder's path.
func (f *Folder) Dir() string { return f.dir }

// Run is run.json as it stands in the folder. Its summary may be older than
// the records: Summarise computes it from them.
func (f *Folder) Run() Run { return f.run }

// Notes are sentences about what was not as it should be in the folder.
func (f *Folder) Notes() []string { return f.notes }

// Len is the number of recorded requests, warm-up included.
func (f *Folder) Len() int64 { return f.count }

// Table is the path of requests.parquet, or empty when there is only a journal.
func (f *Folder) Table() string {
	if _, ok := f.source.(*table); ok {
		return filepath.Join(f.dir, tableFile)
	}
	return ""
}

// Timelines yields the recorded requests in the order of their ordinals, one
// in memory at a time. A record that can't be read is an error in its place;
// reading goes on behind it where that is possible.
func (f *Folder) Timelines() iter.Seq2[*timeline.Timeline, error] {
	return func(yield func(*timeline.Timeline, error) bool) {
		for tl, err := range f.source.each {
			if err != nil {
				err = fmt.Errorf("%s: %w", cmp.Or(f.Table(), filepath.Join(f.dir, journalFile)), err)
			}
			if !yield(tl, err) {
				return
			}
		}
	}
}

// Close closes the files. The folder can't be read afterwards.
func (f *Folder) Close() error {
	var err error
	for _, file := range f.files {
		if e := file.Close(); err == nil && !errors.Is(e, fs.ErrClosed) {
			err = e
		}
	}
	f.files = nil
	return err
}
