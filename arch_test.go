// Package tokenmeter_test checks the rules of the house: which package may
// import which, and that every package says what it is for.
package tokenmeter_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed lists what each package may import of ours. A package that is not
// here is a mistake: say where it belongs, in docs/design.md too.
var allowed = map[string][]string{
	// the record
	"bounded":   {},
	"inert":     {},
	"timeline":  {},
	"stat":      {},
	"metric":    {"stat", "timeline"},
	"objective": {"metric", "stat", "timeline"},
	"validity":  {"metric", "stat", "timeline"},
	"run":       {"cost", "bounded", "metric", "objective", "secret", "stat", "timeline", "validity"},
	"export":    {"metric", "inert", "run", "timeline"},
	// the wire
	"wire":    {},
	"tokens":  {"bounded"},
	"clock":   {},
	"secret":  {},
	"api":     {"timeline", "wire"},
	"capture": {"bounded", "api", "timeline", "wire"},
	"client":  {"api", "capture", "clock", "secret", "timeline", "wire"},
	// the load
	"machine":  {"timeline", "validity"},
	"config":   {},
	"check":    {},
	"workload": {"bounded", "api", "check", "config", "random", "timeline"},
	"random":   {},
	"schedule": {"random"},
	"doctor":   {"api", "client", "clock", "machine", "secret", "timeline"},
	"cost":     {"config", "metric", "stat", "timeline"},
	"method":   {"bench", "cost", "metric", "objective", "run", "stat", "sweep", "timeline", "validity"},
	"sweep":    {"bench", "client", "cost", "metric", "objective", "random", "run", "stat", "timeline", "validity"},
	"bench":    {"api", "check", "cost", "random", "capture", "client", "clock", "machine", "metric", "objective", "inert", "run", "schedule", "secret", "stat", "timeline", "validity", "workload"},
	// the service
	"live":      {"metric", "objective", "timeline"},
	"proxy":     {"api", "client", "clock", "live", "metric", "secret", "timeline", "wire"},
	"engine":    {},
	"sim":       {"clock", "engine"},
	"slo":       {"config", "metric", "objective", "secret", "stat", "timeline"},
	"store":     {"cost", "live", "metric", "objective", "slo", "stat", "timeline"},
	"scrape":    {},
	"rows":      {"cost", "live", "run", "secret", "timeline"},
	"telemetry": {"live", "metric", "objective", "timeline"},
	// the reader
	"compare": {"metric", "objective", "run", "stat", "timeline", "validity"},
	"report":  {"compare", "sweep", "metric", "objective", "inert", "run", "stat", "timeline", "validity"},
}

// wiring may import anything; nobody imports it.
var wiring = []string{"cmd/", "serve/", "benchmarks/", "examples/", "tools/"}

func TestImportRules(t *testing.T) {
	for dir, files := range packages(t) {
		if isWiring(dir) {
			continue
		}
		may, known := allowed[top(dir)]
		if !known {
			t.Errorf("package %s has no place in the import rules", dir)
			continue
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				if path == "C" {
					t.Errorf("%s uses cgo", file)
				}
				ours, ok := strings.CutPrefix(path, "tokenmeter/")
				if !ok || top(ours) == top(dir) {
					continue
				}
				if isWiring(ours) || !slices.Contains(may, top(ours)) {
					t.Errorf("%s imports %s, which its package may not", file, ours)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for dir, files := range packages(t) {
		name := filepath.Base(dir)
		if !slices.ContainsFunc(files, func(file string) bool {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			return strings.HasPrefix(f.Doc.Text(), "Package "+name+" ") || strings.HasPrefix(f.Doc.Text(), "Command "+name+" ")
		}) {
			t.Errorf("package %s has no comment that starts with its name", dir)
		}
	}
}

// packages lists the non-test Go files by folder.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			dir := filepath.ToSlash(filepath.Dir(path))
			found[dir] = append(found[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

func top(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

func isWiring(dir string) bool {
	return slices.ContainsFunc(wiring, func(prefix string) bool { return strings.HasPrefix(dir+"/", prefix) })
}
