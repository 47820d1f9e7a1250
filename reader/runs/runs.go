// Package runs finds measured runs, puts them beside each other, and says which
// is best by a figure. A run's folder is all there is of a run: no register could
// disagree with it, and what is moved, copied or deleted is so here too.
package runs

import (
	"fmt"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tokenmeter/record/run"
)

// Want says which runs are meant; what is empty wants any.
type Want struct {
	Since, Until time.Time // of the start; until is left out
	Name         string    // a pattern of path.Match, as the next
	Model        string
	Server       string            // a part of the URL or of what the server says it is
	Tags         map[string]string // each must be there, with a value that matches the pattern
}

// Check says what is wrong with its patterns.
func (w *Want) Check() error {
	for _, p := range w.patterns() {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no pattern: write * for any letters, ? for one, \\* for a star", p)
		}
	}
	return nil
}

func (w *Want) patterns() []string {
	all := []string{w.Name, w.Model}
	for _, p := range w.Tags {
		all = append(all, p)
	}
	return all
}

// takes reports whether a run is meant.
func (w *Want) takes(r *run.Run) bool {
	matches := func(pattern, text string) bool {
		ok, _ := path.Match(pattern, text)
		return pattern == "" || ok || pattern == text
	}
	for tag, pattern := range w.Tags {
		if value, there := r.Tags[tag]; !there || !matches(pattern, value) {
			return false
		}
	}
	return matches(w.Name, r.Name) && matches(w.Model, r.Target.Model) &&
		(w.Server == "" || strings.Contains(r.Target.URL, w.Server) || strings.Contains(r.Target.Server, w.Server)) &&
		!r.Started.Before(w.Since) && (w.Until.IsZero() || r.Started.Before(w.Until))
}

// Find returns the runs at or below some paths that are wanted, without their
// records, by their start; seen is how many runs there are in all. notes say what
// can't be read or is damaged.
func Find(paths []string, want Want) (list []run.Run, seen int, notes []string, err error) {
	dirs, err := run.Find(paths, nil)
	switch {
	case err != nil && len(dirs) == 0:
		return nil, 0, nil, err
	case err != nil:
		notes = append(notes, "not every folder can be read: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for _, dir := range dirs {
		f, err := run.Open(dir)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", dir, err))
			continue
		}
		r := f.Run()
		for _, note := range f.Notes() {
			notes = append(notes, dir+": "+note)
		}
		f.Close()
		seen++
		if want.takes(&r) {
			list = append(list, r)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Started.Before(list[j].Started) })
	return list, seen, notes, nil
}

// Named returns the run that somebody means: by its folder, its id, or its name,
// of which the latest is meant.
func Named(list []run.Run, name string) (*run.Run, error) {
	folder := run.Absolute(name)
	for _, is := range []func(r *run.Run) bool{
		func(r *run.Run) bool { return r.ID == name || run.Absolute(r.Dir) == folder },
		func(r *run.Run) bool { return filepath.Base(r.Dir) == name },
		func(r *run.Run) bool { return r.Name == name },
	} {
		for i := len(list) - 1; i >= 0; i-- {
			if is(&list[i]) {
				return &list[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no run has the id, the folder or the name %q", name)
}

// workloadWords say in a few letters what was sent: "256/128 tokens", a name.
func workloadWords(w *run.Workload) string {
	switch {
	case w.Name != "":
		return w.Name
	case w.InputTokens != "" || w.OutputTokens != "":
		return w.InputTokens + "/" + w.OutputTokens + " tokens"
	case w.Source != "":
		return w.Source
	}
	return w.Kind
}

// tagWords are a run's tags, in order of their names.
func tagWords(tags map[string]string) string {
	var words []string
	for name, value := range tags {
		if value != "" {
			name += "=" + value
		}
		words = append(words, name)
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}
