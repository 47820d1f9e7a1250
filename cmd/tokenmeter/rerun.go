//go:build !lean

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/secret"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

type rerunCmd struct {
	Dir  string   `arg:"" name:"run" help:"The folder of a run."`
	More []string `arg:"" optional:"" passthrough:"" name:"flags" help:"Flags of bench behind --, which replace or add to those of the run, like -- --out DIR."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (rerunCmd) Help() string {
	return `Runs the command that made the run once more, with the same seed, and the same salt: the very same prompts at the same times. Give --salt behind -- for prompts that no server has cached.

What can't be had back is said: secrets, which no run holds, and what has changed since.`
}

// Run repeats the run and leaves with the exit code of that.
func (c *rerunCmd) Run(a *app) error {
	f, err := a.open(c.Dir)
	if err != nil {
		return err
	}
	m := f.Run()
	more := c.More
	if len(more) > 0 && more[0] == "--" {
		more = more[1:]
	}
	if !given(m.Command, "--model") && !given(more, "--model") && forOthers(f, m.Target.Model) {
		a.note("requests of the run were for models that its workload or records name, and are again; the server's own model, then %s, is asked for anew", m.Target.Model)
		m.Target.Model = "" // pinned, it would go before those of records
	}
	f.Close()
	args, err := again(&m, more)
	if err != nil {
		return err
	}
	if m.Version != fullVersion() {
		a.warn("note: the run was made by tokenmeter %s, this is %s: defaults may have changed", m.Version, fullVersion())
	}
	if m.Workload.Salt != "" && valueOf(args, "--salt") != m.Workload.Salt {
		a.note("the prompts have another salt than the run's: they are of the same lengths, with other words")
	} else if m.Workload.Salt != "" {
		a.note("the prompts are the very same: a server that has them cached is faster now")
	}
	a.note("tokenmeter %s", typeset.CommandLine(args))
	return a.instead(args)
}

// forOthers reports whether any request of a run was for another model than the run's own,
// as far as its records can be read.
func forOthers(f *run.Folder, own string) bool {
	for tl, err := range f.Timelines() {
		if err != nil {
			break
		}
		if tl.Model != "" && tl.Model != own {
			return true
		}
	}
	return false
}

// again is the command line, without the program's name, that repeats a run. The
// flags in more come last; each replaces the run's own where it is given once.
func again(m *run.Run, more []string) ([]string, error) {
	if len(m.Command) < 2 || m.Command[1] != "bench" {
		return nil, fmt.Errorf("the run was not made by tokenmeter bench but by %q: there is no load to repeat", strings.Join(m.Command, " "))
	}
	args, lost := []string{"bench"}, []string(nil)
	for i := 2; i < len(m.Command); i++ {
		arg := m.Command[i]
		name, _, inOne := strings.Cut(arg, "=")
		switch {
		case name == "--out":
			if !inOne {
				i++
			}
		case name == "--html": // into its own folder
			args = append(args, name)
			if i+1 < len(m.Command) && !inOne && isPage(m.Command[i+1]) {
				i++
			}
		case name == "--force" || name == "--dry-run":
		case strings.HasPrefix(arg, "--") && !inOne && i+1 < len(m.Command) && strings.Contains(m.Command[i+1], secret.Mask):
			if !given(more, arg) {
				lost = append(lost, arg+" "+m.Command[i+1])
			}
			i++
		case strings.Contains(arg, secret.Mask):
			if !given(more, name) && !(strings.Contains(arg, "://") && slices.ContainsFunc(more, isURL)) {
				lost = append(lost, arg)
			}
		default:
			args = append(args, arg)
		}
	}
	for _, flag := range []string{"--before-point", "--after-point"} {
		if given(args, flag) {
			return nil, fmt.Errorf("the run had commands around it (%s): a folder may come from anybody, so nothing of it is run in a shell; type the command yourself if you know it: tokenmeter %s", flag, typeset.CommandLine(args))
		}
	}
	args, names := theirs(args, more, filepath.Dir(valueOf(slices.Concat(args, more), "--workload")))
	if len(names) > 0 {
		return nil, fmt.Errorf("a folder may come from anybody, so it does not say which keys and files of this machine are sent, or who may read them: give again, behind --, what you mean of %s", strings.Join(names, " and "))
	}
	if len(lost) > 0 {
		return nil, fmt.Errorf("secrets are in no run: give again, behind --, what was %s", strings.Join(lost, " and "))
	}
	for _, pin := range [][2]string{{"--salt", m.Workload.Salt}, {"--model", m.Target.Model}, {"--api", m.Target.API}} {
		if pin[1] != "" && !given(args, pin[0]) && !given(more, pin[0]) {
			args = append(args, pin[0]+"="+pin[1])
		}
	}
	return append(args, more...), nil
}

// theirs takes from a run's command line the flags by which a folder of somebody else's
// would send a key or a private file of this machine to a server that it names, or let
// others read a key on its way, and names those that were not typed behind --. dir is the
// workload's, beside which the files that its fields name are looked for.
func theirs(args, more []string, dir string) (rest, names []string) {
	for i := 0; i < len(args); i++ {
		name, value, inOne := strings.Cut(args[i], "=")
		last := i
		if !inOne && name != "--insecure" && i+1 < len(args) {
			last, value = i+1, args[i+1]
		}
		if !sends(name, value, dir) {
			rest = append(rest, args[i])
			continue
		}
		i = last
		if !given(more, name) && !(isKey(name) && (given(more, "--api-key-env") || given(more, "--api-key-file"))) {
			names = append(names, strings.TrimSpace(name+" "+value))
		}
	}
	return rest, names
}

// isKey reports whether a flag says where the server's key is: either way of saying it
// stands in for the other.
func isKey(flag string) bool { return flag == "--api-key-env" || flag == "--api-key-file" }

// sends reports whether a flag is one of theirs.
func sends(name, value, dir string) bool {
	switch name {
	case "--api-key-env", "--api-key-file", "--telemetry", "--telemetry-key-env", "--proxy", "--insecure", "--ca-file", "--cert", "--key":
		return true
	case "--workload": // YAML may name other files, and a judge and its key
		ext := strings.ToLower(filepath.Ext(value))
		return ext == ".yaml" || ext == ".yml" || !isHere(value)
	case "--set":
		field, value, _ := strings.Cut(value, "=")
		value = strings.TrimPrefix(strings.TrimSpace(value), "file:")
		return strings.Contains(field, "judge") || !isHere(value) || !isHere(filepath.Join(dir, value))
	case "--prompts", "--check", "--audio", "--images", "--video", "--input-tokens", "--isl", "--output-tokens", "--osl", "--batch":
		return !isHere(strings.TrimPrefix(value, "file:"))
	}
	return false
}

// isHere reports whether a file stands where rerun was typed, or below, and is not hidden,
// nor a link to one that isn't and is. Of a folder, and of a pattern, so must all be that
// it leads to.
func isHere(path string) bool {
	named, _ := filepath.Glob(path)
	inside, _ := filepath.Glob(filepath.Join(path, "*"))
	entries, _ := os.ReadDir(path) // of a folder whose name is a pattern, too
	for _, e := range entries {
		inside = append(inside, filepath.Join(path, e.Name()))
	}
	for _, p := range slices.Concat([]string{path}, named, inside) {
		// An error is told by who opens it.
		if real, err := filepath.EvalSymlinks(p); !plainBelow(p) || err == nil && !plainBelow(real) {
			return false
		}
	}
	return true
}

func plainBelow(path string) bool {
	return filepath.IsLocal(path) && !slices.ContainsFunc(strings.Split(filepath.ToSlash(filepath.Clean(path)), "/"), func(part string) bool {
		return part != "." && strings.HasPrefix(part, ".")
	})
}

func isURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// valueOf is the value that a flag has in a command line: its last.
func valueOf(args []string, flag string) (value string) {
	for i, arg := range args {
		if v, ok := strings.CutPrefix(arg, flag+"="); ok {
			value = v
		} else if arg == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// given reports whether a command line has a flag.
func given(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") })
}
