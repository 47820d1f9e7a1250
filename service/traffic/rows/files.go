package rows

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/record/run"
)

// Names in the folder.
const (
	dayPrefix = "date="   // folders of days, as Hive writes them
	waiting   = ".upload" // folder with an empty file for each that is to be uploaded
	filePref  = "live-"
	fileSuff  = ".parquet"
	nameSplit = "__" // between day and file in the names there
)

// trouble tells of an error once, and when it is over.
func (a *Archive) trouble(what string, err error) {
	switch before := a.troubles[what]; {
	case err != nil && !before:
		a.o.Log.Warn("rows: "+what+" failed; it is tried again", "error", err.Error())
	case err == nil && before:
		a.o.Log.Info("rows: " + what + " works again")
	}
	a.troubles[what] = err != nil
}

// tidyUp makes files of the journals that are over, uploads what waits, and
// removes files that are too old. Of one goroutine at a time.
func (a *Archive) tidyUp() error {
	err := a.finish()
	a.trouble("making a file", err)
	up := a.upload()
	if a.o.Bucket != nil {
		a.trouble("an upload", up)
	}
	var old error
	if now := a.o.Now(); a.clock.settled(now) {
		old = a.expire(now)
		a.trouble("removing old files", old)
	}
	return errors.Join(err, old)
}

// sweep removes what a process left that died while it wrote a file.
func (a *Archive) sweep() {
	parts, _ := filepath.Glob(filepath.Join(a.o.Folder, dayPrefix+"*", filePref+"*"+fileSuff+".tmp-*"))
	for _, p := range parts {
		_ = os.Remove(p)
	}
}

// finish makes files of all journals but the one that is being written.
func (a *Archive) finish() error {
	a.naming.Lock()
	journals, err := filepath.Glob(filepath.Join(a.o.Folder, journalPrefix+"*"+journalSuffix))
	current := a.current
	a.naming.Unlock()
	if err != nil {
		return err
	}
	var errs []error
	for _, j := range journals {
		if filepath.Base(j) != current {
			errs = append(errs, a.convert(j))
		}
	}
	return errors.Join(errs...)
}

// convert makes a file for each day of a journal, and removes it. Their names
// are the journal's: when that is done again after a crash, they are replaced
// and no row is there twice.
func (a *Archive) convert(journal string) error {
	stem := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(journal), journalPrefix), journalSuffix)
	byDay := map[string]bool{}
	damaged, err := readJournal(journal, func(r *run.LiveRow) error { byDay[day(r.At)] = true; return nil })
	if errors.Is(err, run.ErrNoJournal) {
		return a.setAside(journal, "rows: a journal is damaged from its first byte; its rows are lost")
	}
	if err != nil {
		return err
	}
	for d := range byDay {
		if err := a.writeDay(journal, stem, d); err != nil {
			return err
		}
	}
	if damaged != "" {
		return a.setAside(journal, "rows: a journal is damaged; what could be read of it is kept", "damage", damaged)
	}
	return os.Remove(journal)
}

// damagedSuffix marks a journal of which rows are lost: after a power failure its
// bytes may never have reached the disk.
const damagedSuffix = ".damaged"

// setAside keeps a damaged journal out of the way, and says why.
func (a *Archive) setAside(journal, why string, attrs ...any) error {
	if err := os.Rename(journal, journal+damagedSuffix); err != nil {
		return err
	}
	a.failed.Add(1)
	a.o.Log.Error(why, append(attrs, "kept", filepath.Base(journal)+damagedSuffix)...)
	return nil
}

// writeDay writes the rows of a day.
func (a *Archive) writeDay(journal, stem, d string) error {
	name := filePref + stem + fileSuff
	dir := filepath.Join(a.o.Folder, dayPrefix+d)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if a.o.Bucket != nil { // before the file is there, so that it is never forgotten
		if err := os.MkdirAll(filepath.Join(a.o.Folder, waiting), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(a.o.Folder, waiting, d+nameSplit+name), nil, 0o600); err != nil {
			return err
		}
	}
	return run.ReplaceFile(filepath.Join(dir, name), func(f *os.File) error {
		t := run.NewLiveTable(f)
		_, err := readJournal(journal, func(r *run.LiveRow) error {
			if day(r.At) != d {
				return nil
			}
			return t.Write(r)
		})
		if err != nil {
			return err
		}
		return t.Close()
	})
}

// uploadTime is how long one file may take.
const uploadTime = 5 * time.Minute

// upload puts what waits into the bucket, the oldest first, and stops at the
// first failure.
func (a *Archive) upload() error {
	if a.o.Bucket == nil {
		return nil
	}
	dir := filepath.Join(a.o.Folder, waiting)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		d, name, ok := strings.Cut(e.Name(), nameSplit)
		if !ok {
			continue
		}
		if a.uploads.Err() != nil {
			return errors.New("the process ends; what waits is uploaded by the next one")
		}
		if err := a.put(dayPrefix+d, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.failed.Add(1)
			return err
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) put(folder, name string) error {
	f, err := os.Open(filepath.Join(a.o.Folder, folder, name))
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := context.WithTimeout(a.uploads, uploadTime)
	defer stop()
	return a.o.Bucket.Put(ctx, path.Join(folder, name), f)
}

// How long a clock must have gone on by itself before files are removed by it,
// and by how much it may be off between two looks.
const (
	settling  = 10 * time.Minute
	tolerated = 15 * time.Second
)

// steady tells a clock that goes on by itself from one that was set.
type steady struct {
	wall  time.Time
	at    time.Time // the same moment by the clock that nobody sets
	since time.Time // likewise, when the other one was set last
}

// settled takes a look at the clock and reports whether it can be trusted.
func (s *steady) settled(wall time.Time) bool {
	wall, at := wall.Round(0), time.Now()
	if s.at.IsZero() || (wall.Sub(s.wall)-at.Sub(s.at)).Abs() > tolerated {
		s.since = at
	}
	s.wall, s.at = wall, at
	return at.Sub(s.since) >= settling
}

// expire removes our files of days that are over for longer than they are kept,
// but none that still has to be uploaded.
func (a *Archive) expire(now time.Time) error {
	if a.o.Days <= 0 {
		return nil
	}
	oldest := day(now.AddDate(0, 0, -a.o.Days))
	entries, err := os.ReadDir(a.o.Folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		d, ok := strings.CutPrefix(e.Name(), dayPrefix)
		if !ok || !e.IsDir() || !isDay(d) || d >= oldest {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(a.o.Folder, e.Name(), filePref+"*"+fileSuff))
		for _, f := range files {
			if _, err := os.Stat(filepath.Join(a.o.Folder, waiting, d+nameSplit+filepath.Base(f))); err == nil {
				continue
			}
			errs = append(errs, os.Remove(f))
		}
		_ = os.Remove(filepath.Join(a.o.Folder, e.Name())) // stays if others keep something there
	}
	aside, _ := filepath.Glob(filepath.Join(a.o.Folder, journalPrefix+"*"+damagedSuffix))
	for _, f := range aside {
		if info, err := os.Stat(f); err == nil && day(info.ModTime()) < oldest {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(errs...)
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
