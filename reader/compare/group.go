package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/record/exit"
	"tokenmeter/record/run"
)

// Sections splits arguments at the word "vs": what stands between is one side.
func Sections(args []string) (sections [][]string, split bool) {
	current := []string{}
	for _, a := range args {
		if strings.EqualFold(a, "vs") {
			sections, current, split = append(sections, current), []string{}, true
			continue
		}
		current = append(current, a)
	}
	return append(sections, current), split
}

// Expand turns one argument into paths of runs or of one baseline file: a run
// folder, a folder of run folders, a pattern (runs/main-*), or several of
// these with commas between them.
func Expand(arg string) ([]string, error) {
	if _, err := os.Stat(arg); err == nil {
		return folders(arg)
	}
	var paths []string
	for _, part := range strings.Split(arg, ",") {
		if strings.TrimSpace(part) == "" { // as of "$A,$B" where one is not set
			return nil, errors.New("an empty argument, or nothing between two commas, names no run")
		}
		found, err := expandOne(part)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

func expandOne(part string) ([]string, error) {
	if _, err := os.Stat(part); err == nil {
		return folders(part)
	}
	if !strings.ContainsAny(part, "*?[") {
		return nil, fmt.Errorf("%s: there is no such folder or file; give the folder that bench printed as saved", part)
	}
	matches, err := filepath.Glob(part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	var paths []string
	for _, m := range matches {
		if found, err := folders(m); err == nil {
			paths = append(paths, found...)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s matches no run", part)
	}
	return paths, nil
}

// folders is the path itself where it is a run or a file, else the runs in it.
func folders(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || isRun(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		if sub := filepath.Join(path, e.Name()); e.IsDir() && isRun(sub) {
			runs = append(runs, sub)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s holds no run; give the folder that bench printed as saved", path)
	}
	return runs, nil
}

func isRun(dir string) bool {
	return slices.ContainsFunc(run.Files(), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil || !errors.Is(err, fs.ErrNotExist)
	})
}

// Open reads what an argument names: runs, or one baseline file.
func Open(path string, gates ...Gate) (Group, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !slices.Contains(run.Files(), filepath.Base(path)) {
		f, err := limitio.Open(path)
		if err != nil {
			return Group{}, err
		}
		defer f.Close()
		g, err := ReadBaseline(f)
		if err != nil {
			return Group{}, fmt.Errorf("%s: %w", path, err)
		}
		return g, nil
	}
	r, err := Load(path, gates...)
	if err != nil {
		return Group{}, err
	}
	return Group{Name: NameOf(&r.Facts), Runs: []*Run{r}}, nil
}

// NameOf is what a run is called: its name, else its folder, else its id.
func NameOf(f *Facts) string {
	switch {
	case f.Name != "":
		return f.Name
	case f.Dir != "":
		return filepath.Base(filepath.Clean(f.Dir))
	}
	return f.ID
}

// Asked is what became of the requests of all runs, for the exit code: each run stands
// by itself, so that one that answered nothing is found beside others that answered.
func Asked(groups []Group) (all exit.Facts) {
	for _, g := range groups {
		for _, r := range g.Runs {
			all = all.Beside(cmp.Or(r.Facts.Dir, NameOf(&r.Facts)), r.Facts.Asked)
		}
	}
	return all
}

// Joined is several groups as one side, with the name of the first; the zero group
// when there are none.
func Joined(groups []Group) Group {
	if len(groups) == 1 {
		return groups[0]
	}
	var g Group
	for _, part := range groups {
		g.Runs = append(g.Runs, part.Runs...)
		if g.Name == "" {
			g.Name = part.Name
		}
	}
	same := true
	for _, part := range groups {
		same = same && part.Name == g.Name
	}
	if !same {
		g.Name = fmt.Sprintf("%s and %d more", g.Name, len(groups)-1)
	}
	return g
}

// Apart makes a group of every run.
func Apart(groups []Group) []Group {
	var out []Group
	for _, g := range groups {
		if len(g.Runs) == 1 {
			out = append(out, g)
			continue
		}
		for _, r := range g.Runs {
			out = append(out, Group{Name: NameOf(&r.Facts), Runs: []*Run{r}})
		}
	}
	return out
}

// ByName gathers runs of one name as repeats of one side, in the order in
// which the names first appear.
func ByName(groups []Group) []Group { return by(groups, func(g Group) string { return g.Name }) }

// ByTag gathers runs by the value of a tag. Runs without it are an error.
func ByTag(groups []Group, tag string) ([]Group, error) {
	for _, g := range groups {
		for _, r := range g.Runs {
			if _, ok := r.Facts.Tags[tag]; !ok {
				return nil, fmt.Errorf("%s has no tag %q", NameOf(&r.Facts), tag)
			}
		}
	}
	out := by(groups, func(g Group) string { return g.Runs[0].Facts.Tags[tag] })
	for i := range out {
		if value := out[i].Runs[0].Facts.Tags[tag]; value != "" {
			out[i].Name = value
		}
	}
	return out, nil
}

func by(groups []Group, key func(Group) string) []Group {
	var out []Group
	for _, g := range groups {
		i := slices.IndexFunc(out, func(o Group) bool { return key(o) == key(g) })
		if i < 0 {
			out = append(out, g)
			continue
		}
		out[i] = Group{Name: out[i].Name, Runs: append(slices.Clip(out[i].Runs), g.Runs...)}
	}
	return out
}

// Unique makes the names of groups differ, by their folders or by letters.
func Unique(groups []Group) {
	seen := map[string]int{}
	for _, g := range groups {
		seen[g.Name]++
	}
	used := map[string]bool{}
	for i := range groups {
		g := &groups[i]
		if seen[g.Name] > 1 || g.Name == "" {
			if len(g.Runs) > 0 && g.Runs[0].Facts.Dir != "" {
				g.Name = filepath.Base(filepath.Clean(g.Runs[0].Facts.Dir))
			}
		}
		for base, n := g.Name, 2; used[g.Name] || g.Name == ""; n++ {
			g.Name = strings.TrimSpace(fmt.Sprintf("%s %d", base, n))
		}
		used[g.Name] = true
	}
}
