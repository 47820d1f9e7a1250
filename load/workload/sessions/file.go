package sessions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/load/workload/records"
)

// File is a recording that was opened: one file or a folder of them. Sessions are
// read when they are asked for. Safe for concurrent use.
type File struct {
	Name   string
	Format string
	// Timed: sessions begin when they were recorded to, Session.At.
	Timed bool

	read  func(*scanner) (*Session, error) // of a format whose sessions stand one by one
	parts []part                           // where each of them stands
	whole []*Session                       // of other formats: all sessions
	open  []*os.File
}

// part is where in the files a session is written.
type part struct {
	file     int
	at, size int64
}

// Len is how many sessions there are.
func (f *File) Len() int64 { return int64(max(len(f.parts), len(f.whole))) }

// Unsent says of how many calls something was recorded that is not sent, by its name.
func (f *File) Unsent() map[string]int64 {
	held := map[string]int64{}
	for _, s := range f.whole {
		for i := range s.Calls {
			for _, name := range s.Calls[i].Unsent {
				held[name]++
			}
		}
	}
	return held
}

// Session reads session i, from 0. Errors name the file and the place.
func (f *File) Session(i int64) (*Session, error) {
	if f.whole != nil {
		return f.whole[i], nil
	}
	p := f.parts[i]
	s := newScanner(io.NewSectionReader(f.open[p.file], p.at, p.size))
	out, err := f.read(s)
	if err == nil && s.peek() != 0 {
		err = errors.New("something follows the session")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: session %d: %w", filepath.Base(f.open[p.file].Name()), i+1, err)
	}
	out.ID = cmp.Or(out.ID, fmt.Sprint(i+1))
	return out, nil
}

// Close closes the files.
func (f *File) Close() error {
	var errs []error
	for _, in := range f.open {
		errs = append(errs, in.Close())
	}
	return errors.Join(errs...)
}

// Open opens a recording: a file, or a folder of files. The format is told by what
// it begins with unless it is named. ErrUnknown where it is none of ours.
func Open(path, format string) (*File, error) {
	paths, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	f := &File{Name: path}
	if err := f.openAll(paths, format); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ErrUnknown is a file that holds no sessions in a form that is known here.
var ErrUnknown = errors.New("no recording of sessions that is known here")

// filesOf is a file itself, or the files of a folder and those below it.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var paths []string
	err = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.ContainsFunc([]string{".json", ".jsonl", ".json.gz", ".jsonl.gz", ".json.zst", ".jsonl.zst"},
			func(ext string) bool { return strings.HasSuffix(strings.ToLower(p), ext) }) {
			paths = append(paths, p)
		}
		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: there is no .json and no .jsonl file in the folder: %w", path, ErrUnknown)
	}
	slices.Sort(paths)
	return paths, err
}

func (f *File) openAll(paths []string, name string) error {
	var format *format
	for _, path := range paths {
		in, _, err := records.OpenFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f.open = append(f.open, in)
		if format == nil {
			if format, err = formatOf(in, name); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	f.Format, f.Timed = format.name, format.timed
	if format.all != nil {
		var err error
		f.whole, err = format.all(f.open)
		if err == nil && len(f.whole) == 0 {
			err = errSkip
		}
		return named(f.Name, err)
	}
	f.read = format.one
	for i := range f.open {
		if err := f.index(i); err != nil {
			return named(paths[i], err)
		}
	}
	if len(f.parts) == 0 {
		return named(f.Name, errSkip)
	}
	return nil
}

func named(path string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// index finds where the sessions of a file stand: one a line, or else one value
// after another, or the elements of a list.
func (f *File) index(i int) error {
	in := f.open[i]
	info, err := in.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	s := newScanner(io.NewSectionReader(in, 0, size))
	if s.peek() == '[' {
		s.array(func() { f.value(s, i) })
		return s.err
	}
	from := s.where()
	if s.peek() != 0 {
		f.value(s, i)
	}
	if s.err != nil {
		return s.err
	}
	first := make([]byte, s.where()-from)
	if _, err := in.ReadAt(first, from); err != nil && err != io.EOF {
		return err
	}
	if bytes.IndexByte(first, '\n') < 0 {
		return f.lines(i, s.where(), size)
	}
	for s.peek() != 0 && s.err == nil {
		f.value(s, i)
	}
	return s.err
}

// value notes where the next value stands.
func (f *File) value(s *scanner, i int) {
	s.peek()
	from := s.where()
	s.skip()
	f.parts = append(f.parts, part{i, from, s.where() - from})
}

// lines notes the lines from a place on.
func (f *File) lines(i int, at, size int64) error {
	buf := make([]byte, 1<<20)
	begin := at
	blank := true
	end := func(to int64) {
		if !blank {
			f.parts = append(f.parts, part{i, begin, to - begin})
		}
		begin, blank = to+1, true
	}
	for at < size {
		n, err := f.open[i].ReadAt(buf, at)
		if n == 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			k := bytes.IndexByte(rest, '\n')
			line := rest
			if k >= 0 {
				line = rest[:k]
			}
			blank = blank && len(bytes.TrimSpace(line[:min(len(line), 4096)])) == 0
			if k < 0 {
				break
			}
			end(at + int64(n-len(rest)+k))
			rest = rest[k+1:]
		}
		at += int64(n)
	}
	end(size)
	return nil
}
