package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tokenmeter/record/timeline"
)

// Finish ends the run: what is pending is written, the journal becomes
// requests.parquet, and run.json is computed from the finished folder by the
// code that reports use. final is the manifest as it is known now; its summary
// is ignored, its Partial says whether the run was stopped early.
//
// The summary is returned even with an error, as far as it could be computed.
// After an error the journal is still there, with everything that was written.
func (w *Writer) Finish(final Run) (Run, error) {
	defer closeLock(w.lock)
	if err := w.close(); err != nil {
		if err == ErrClosed {
			return Run{}, err
		}
		return w.salvage(w.manifest(final), err)
	}
	final = w.manifest(final)
	sum, err := w.convert(final)
	if err != nil {
		return w.salvage(final, err)
	}
	return sum, nil
}

// manifest completes the final manifest with what Create fixed.
func (w *Writer) manifest(final Run) Run {
	final.Schema, final.ID, final.Started, final.Dir = Schema, w.m.ID, w.m.Started, w.dir
	if final.Finished == nil {
		now := time.Now().UTC().Round(0)
		final.Finished = &now
	}
	return final
}

// convert computes the summary, makes the table from the journal, and puts the
// two in its place. The final manifest goes to disk first, so that a crash
// from here on loses nothing that it says.
func (w *Writer) convert(final Run) (Run, error) {
	early := final
	early.Requests = w.counts.Copied()
	if err := writeManifest(w.dir, &early); err != nil {
		return Run{}, err
	}
	f, err := Open(w.dir)
	if err != nil {
		return Run{}, err
	}
	defer f.Close()
	var sum Run
	if !tables {
		if sum, err = Summarise(f); err != nil {
			return Run{}, err
		}
		return sum, writeManifest(w.dir, &sum)
	}
	path := filepath.Join(w.dir, tableFile)
	var tableSum string
	err = ReplaceFile(path, func(out *os.File) error {
		err := f.writeChecked(out, func(add func(*timeline.Timeline) error) (err error) {
			sum, err = f.summarise(add, false)
			return err
		})
		if err == nil {
			tableSum, err = sealTable(out)
		}
		return err
	})
	if err != nil {
		return Run{}, err
	}
	sum.Files = map[string]string{tableFile: tableSum}
	told, err := f.sum(serverFile, func(file *os.File) (string, error) { return sumOf(file) })
	switch {
	case err == nil:
		sum.Files[serverFile] = told
	case !errors.Is(err, fs.ErrNotExist): // without a sum nobody would see that it was altered
		return Run{}, err
	}
	if err := sum.seal(); err != nil {
		return Run{}, err
	}
	if err := writeManifest(w.dir, &sum); err != nil {
		return Run{}, err
	}
	f.Close() // some systems remove no open file
	path = filepath.Join(w.dir, journalFile)
	if err := os.Remove(path); err != nil {
		return Run{}, &WriteError{Path: path, Err: err}
	}
	return sum, nil
}

// writeChecked writes the requests that from adds as Parquet, and looks at the
// table once more before the journal may go.
func (f *Folder) writeChecked(out *os.File, from func(add func(*timeline.Timeline) error) error) error {
	if err := f.writeTable(newTableWriter(out, sumKey, noSum), from); err != nil {
		return err
	}
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	t, err := openTable(out, size)
	if err != nil {
		return err
	}
	if t.count() != f.Len() {
		return fmt.Errorf("%d of %d requests were written", t.count(), f.Len())
	}
	return nil
}

// WriteTable writes all requests as Parquet, each with its events.
func (f *Folder) WriteTable(w io.Writer) error {
	return f.writeTable(newTableWriter(w), func(add func(*timeline.Timeline) error) error {
		for tl, err := range f.Timelines() {
			if err == nil {
				err = add(tl)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *Folder) writeTable(table *tableWriter, from func(add func(*timeline.Timeline) error) error) error {
	judge := f.judge()
	err := from(func(tl *timeline.Timeline) error {
		rec := judge(tl)
		return table.write(&rec, tl)
	})
	if err != nil {
		return err
	}
	return table.close()
}

// salvage summarises what reached the disk before it refused to go on.
func (w *Writer) salvage(final Run, cause error) (Run, error) {
	f, err := Open(w.dir)
	if err != nil {
		final.Requests = w.counts.Copied()
		return final, cause
	}
	defer f.Close()
	var write *WriteError
	if errors.As(cause, &write) {
		write.Lost = max(w.appended-f.Len(), 0)
	}
	f.run = final
	sum, err := Summarise(f)
	if err != nil {
		return final, cause
	}
	return sum, cause
}
