package translate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// peerFlag is a flag of a tool's own parser, as tools/oracle/peer_flags.py read it.
type peerFlag struct {
	names    []string
	takes    string // "-": a switch, "1": a value, "*": several, "key": a key of the flag before it
	fallback string // its default; empty where it has none, or it is computed
	choices  []string
}

// peerFlags are those of a tool, with dashes for underscores; the version is in the first line.
func peerFlags(t *testing.T, file string) (tool *tool, all []peerFlag) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(data), "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(head, "# "), ",")
	for _, each := range tools {
		if each.names[0] == name {
			tool = each
		}
	}
	if tool == nil {
		t.Fatalf("%s: no tool is called %s", file, name)
	}
	for line := range strings.Lines(body) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		f = append(f, "", "", "")[:4]
		names := strings.Fields(f[0])
		if f[1] == "key" {
			names = strings.Split(f[0], "|")
		}
		all = append(all, peerFlag{names, f[1], f[2], strings.Fields(f[3])})
	}
	return tool, all
}

func flagFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/flags/*.txt")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	return files
}

// Every flag that a tool's own parser takes is in its table, as one that is carried, has no
// equal, or changes nothing of what is sent; and takes as many words as there.
func TestEveryFlagOfAPeerIsKnown(t *testing.T) {
	for _, file := range flagFiles(t) {
		tool, all := peerFlags(t, file)
		c := &call{known: tool.known()}
		for _, f := range all {
			if f.takes == "key" {
				continue
			}
			for _, name := range f.names {
				k, ok := c.flag(flagName(name))
				switch {
				case !ok:
					t.Errorf("%s: %s is unknown", tool.names[0], name)
				case k.bare != (f.takes == "-"):
					t.Errorf("%s: %s is a switch here: %v, there: %s", tool.names[0], name, k.bare, f.takes)
				case f.takes == "*" && !k.several:
					t.Errorf("%s: %s takes several words there and one here", tool.names[0], name)
				}
			}
		}
	}
}

// sorted is a command without its order, and without what ours does unsaid.
func sorted(args []string) string {
	out := slices.Clone(args)
	if i := slices.Index(out, "--seed"); i >= 0 && out[i+1] == "0" {
		out = slices.Delete(out, i, i+2)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// notDefaults are defaults that stand for something else where they are written out: an
// address is one then, and a part of an object makes the object.
const notDefaults = " host api.response-format.type "

// anyGiven reports whether a line has a flag already, by one of its names.
func anyGiven(line string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(line+" ", name+" ") || strings.Contains(line, name+"=")
	})
}

// A default that is written out changes no translation: what a tool does without being told
// is in the command already.
func TestDefaultsOfPeers(t *testing.T) {
	for _, file := range flagFiles(t) {
		tool, all := peerFlags(t, file)
		for _, line := range netLines[tool.names[0]] {
			base := append(strings.Fields(tool.names[0]), strings.Fields(line)...)
			before, err := Of(base)
			if err != nil {
				t.Fatal(base, err)
			}
			for _, f := range all {
				if f.takes == "key" || f.fallback == "" || strings.Contains(notDefaults, " "+flagName(f.names[0])+" ") || anyGiven(line, f.names) {
					continue
				}
				for _, name := range f.names {
					after, err := Of(append(slices.Clone(base), name, f.fallback))
					if err != nil {
						t.Errorf("%s %s %s: %v", line, name, f.fallback, err)
						continue
					}
					if sorted(before.Args) != sorted(after.Args) {
						t.Errorf("%s %s\n%s %s, its default, makes\n%s", tool.names[0], line, name, f.fallback, strings.Join(after.Args, " "))
					}
				}
			}
		}
	}
}

// sameChoices mean what the tool does unsaid, or what another choice does.
const sameChoices = " --backend sglang-native --backend vllm --dataset-sampling-strategy sequential "

// Each value of a flag that takes one of a few changes the command, or is named.
func TestChoicesOfPeers(t *testing.T) {
	for _, file := range flagFiles(t) {
		tool, all := peerFlags(t, file)
		c := &call{known: tool.known()}
		for _, line := range netLines[tool.names[0]] {
			base := append(strings.Fields(tool.names[0]), strings.Fields(line)...)
			before, err := Of(base)
			if err != nil {
				t.Fatal(base, err)
			}
			for _, f := range all {
				if anyGiven(line, f.names) {
					continue
				}
				name := strings.TrimLeft(f.names[0], "-")
				if k, _ := c.flag(flagName(name)); f.takes == "key" || k.quiet {
					continue
				}
				for _, choice := range f.choices {
					if choice == f.fallback || strings.Contains(sameChoices, " "+f.names[0]+" "+choice+" ") {
						continue
					}
					after, err := Of(append(slices.Clone(base), f.names[0], choice))
					if err != nil {
						continue
					}
					if sorted(before.Args) == sorted(after.Args) && slices.Equal(before.Notes, after.Notes) {
						t.Errorf("%s %s %s %s: nothing differs, and nothing is said", tool.names[0], line, f.names[0], choice)
					}
				}
			}
		}
	}
}

// guideQuiet are keys of GuideLLM's that are about what is printed, kept or looked at first;
// and another name of a file beside the one that goes before it.
const guideQuiet = " data:source metrics:confidence metrics:sample_size metrics:warnings backend:validate_backend "

// Each key of a kind that a flag of GuideLLM takes changes the command, or is named.
func TestKeysOfGuideLLM(t *testing.T) {
	_, all := peerFlags(t, "testdata/flags/guidellm.txt")
	for _, f := range all {
		if f.takes != "key" {
			continue
		}
		flag, rest, _ := strings.Cut(f.names[0], " ")
		kind, key, _ := strings.Cut(rest, ",")
		kind = strings.Replace(kind, "*", map[string]string{"profile": "concurrent,streams=2", "data": "trace_synthetic,path=t.jsonl", "metrics": "generative"}[flag], 1)
		if strings.Contains(guideQuiet, " "+flag+":"+key+" ") {
			continue
		}
		base := []string{"guidellm", "run", "--" + flag, kind}
		if flag != "profile" {
			base = append(base, "--profile", "kind=concurrent,streams=3")
		}
		if flag == "data" && strings.Contains(kind, "synthetic_text") {
			base[3] += ",prompt_tokens=9,output_tokens=4"
		}
		before, err := Of(base)
		if err != nil {
			t.Fatal(base, err)
		}
		said := false
		for _, value := range append([]string{"7", "false", "true", "0.5", "http://h", "x"}, f.choices...) {
			args := slices.Clone(base)
			args[3] = kind + "," + key + "=" + value
			if i := strings.Index(base[3], ",prompt_tokens"); i > 0 {
				args[3] += strings.ReplaceAll(base[3][i:], ","+key+"=", ",other=")
			}
			after, err := Of(args)
			if said = err != nil || !slices.Equal(before.Args, after.Args) || !slices.Equal(before.Notes, after.Notes); said {
				break
			}
		}
		if !said {
			t.Errorf("--%s %s,%s: nothing differs, and nothing is said", flag, kind, key)
		}
	}
}
