package run

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pattern"
)

// This file decides which folders may be written to, and what of them is replaced.

// Kind is what a folder holds; 0: nothing that is known.
type Kind int

// What folders hold.
const (
	OneRun     Kind = iota + 1
	SweepRuns       // the points of a sweep, with SweepFile
	TurnRuns        // repeats, and servers in turns
	ProbeFiles      // all probes, with what the day has cost
)

// Files of folders that hold runs.
const (
	SweepFile = "sweep.json"
	SpentFile = "spent.json" // beside probes
)

// LookPrefix begins the names of folders for what a sweep asks between its points.
const LookPrefix = ".settle-"

// layout is how a folder of a kind is told and made up.
type layout struct {
	some, none string // in words
	is         func(dir string, entries []fs.DirEntry) bool
	// What is replaced: files, and folders of runs that are called so. What the kind is told
	// by is removed last, so that a removal that was broken off can be made again.
	files  []string
	runs   func(name string) bool
	byRuns bool // it is told by the runs
}

var (
	numbered = pattern.Lazy(`^\d{3,}-`)
	lettered = pattern.Lazy(`^[a-z]-\d{2,}$`)
)

// layouts are those of each Kind.
var layouts = [...]layout{
	OneRun:     {some: "a run", none: "run", is: hasRun},
	SweepRuns:  {some: "a sweep", none: "sweep", is: hasSweep, files: []string{"sweep.html", SweepFile}, runs: func(name string) bool { return numbered().MatchString(name) }},
	TurnRuns:   {some: "runs in turns", none: "turns", is: hasTurns, files: []string{"compare.json", "compare.html", "canary.json"}, runs: func(name string) bool { return lettered().MatchString(name) }, byRuns: true},
	ProbeFiles: {some: "probes", none: "probes", is: func(dir string, _ []fs.DirEntry) bool { return exists(filepath.Join(dir, SpentFile)) }},
}

// Held is a folder that no other process writes until it is closed.
type Held struct {
	dir  string
	kind Kind
	lock *os.File // nil: the system has none
}

// Hold takes a folder, and makes it where there is none, for output of one kind. It has to
// be empty; with replace it may hold output of the same kind, which Clear removes, and what
// is known as none. Readers would take what another kind left for what was asked for, so
// that is never free. Errors are *ExistsError or *WriteError.
func Hold(dir string, kind Kind, replace bool) (*Held, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &WriteError{Path: dir, Err: err}
	}
	lock, busy, err := lockFolder(dir)
	if err != nil {
		return nil, &WriteError{Path: dir, Err: err}
	}
	if busy {
		return nil, &ExistsError{Path: dir, Busy: true}
	}
	h := &Held{dir, kind, lock}
	if err := h.free(replace); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close lets others have the folder.
func (h *Held) Close() error {
	closeLock(h.lock)
	h.lock = nil
	return nil
}

// free returns without an error only for a folder that may be written to.
func (h *Held) free(replace bool) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return &WriteError{Path: h.dir, Err: err}
	}
	if len(entries) == 0 {
		return nil
	}
	holds := Kind(0)
	for kind := OneRun; kind <= ProbeFiles; kind++ {
		if !layouts[kind].is(h.dir, entries) {
			continue
		}
		if kind != h.kind {
			return &ExistsError{Path: h.dir, Holds: kind, Wants: h.kind}
		}
		holds = kind
	}
	for _, e := range entries {
		if _, alike := oneOfTurns(h.dir, e); alike && h.kind == TurnRuns { // in the way of one
			return &ExistsError{Path: filepath.Join(h.dir, e.Name()), Holds: OneRun, Wants: h.kind}
		}
	}
	if !replace {
		return &ExistsError{Path: h.dir, Holds: holds, Wants: h.kind}
	}
	return nil
}

// Clear removes what earlier output of the same kind left, finished or killed, and
// nothing else.
func (h *Held) Clear() error {
	entries, err := os.ReadDir(h.dir)
	if err == nil && h.kind == OneRun {
		for _, e := range entries {
			if err = removePart(h.dir, e.Name()); err != nil {
				break
			}
		}
	} else if k := &layouts[h.kind]; err == nil && k.is(h.dir, entries) {
		err = k.clear(h.dir, entries)
	}
	if err != nil {
		return &WriteError{Path: h.dir, Err: err}
	}
	return nil
}

func (k *layout) clear(dir string, entries []fs.DirEntry) error {
	if k.byRuns {
		if err := k.clearFiles(dir); err != nil {
			return err
		}
		return k.clearRuns(dir, entries)
	}
	if err := k.clearRuns(dir, entries); err != nil {
		return err
	}
	return k.clearFiles(dir)
}

func (k *layout) clearRuns(dir string, entries []fs.DirEntry) error {
	for _, e := range entries {
		if !k.has(dir, e) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (k *layout) clearFiles(dir string) error {
	for _, name := range k.files {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// has reports whether an entry of such a folder is a part of it, finished or not, beside
// its files.
func (k *layout) has(dir string, e fs.DirEntry) bool {
	name := e.Name()
	if !e.IsDir() {
		return slices.ContainsFunc(k.files, func(file string) bool {
			return name == temporary+file || strings.HasPrefix(name, "."+file+temporary)
		})
	}
	if strings.HasPrefix(name, LookPrefix) {
		return true
	}
	if !k.runs(name) {
		return false
	}
	inside, err := os.ReadDir(filepath.Join(dir, name))
	return err == nil && (len(inside) == 0 || hasRun("", inside)) // empty: killed before it began
}

// hasRun reports whether a folder is that of a run, whatever is left of it.
func hasRun(_ string, entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(Files(), e.Name()) })
}

// hasSweep reports whether a folder holds a sweep. An empty sweep.json is one that was
// killed before it began; one with other content is somebody else's.
func hasSweep(dir string, _ []fs.DirEntry) bool {
	path := filepath.Join(dir, SweepFile)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return true
	}
	t, err := titleOf(path)
	return err == nil && strings.HasPrefix(t.Schema, "tokenmeter.sweep/")
}

// hasTurns reports whether a folder holds runs that say that they are some of several in
// turns.
func hasTurns(dir string, entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { is, _ := oneOfTurns(dir, e); return is })
}

// oneOfTurns reports whether an entry is a run that says that it is one of several in
// turns, or can't say what it is; else whether it is a run that is called like one of them.
func oneOfTurns(dir string, e fs.DirEntry) (is, alike bool) {
	if !e.IsDir() || !lettered().MatchString(e.Name()) {
		return false, false
	}
	inside, err := os.ReadDir(filepath.Join(dir, e.Name()))
	if err != nil || !hasRun("", inside) {
		return false, false
	}
	t, err := titleOf(filepath.Join(dir, e.Name(), manifestFile))
	is = err != nil || t.Tags["side"] != "" && t.Tags["round"] != ""
	return is, !is
}

// title is what a file of JSON says that it is.
type title struct {
	Schema string            `json:"schema"`
	Tags   map[string]string `json:"tags"`
}

// titleOf reads it.
func titleOf(path string) (t title, err error) {
	data, err := limitio.File(path, mostManifest)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
