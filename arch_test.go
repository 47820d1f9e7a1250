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

// wings lists the folders at the root that hold packages, lowest first, and
// which other wings each may import. What nobody may import is wiring.
var wings = map[string][]string{
	"base":    {},
	"physics": {"base"},
	"record":  {"base"},
	"wire":    {"record", "base"},
	"load":    {"wire", "record", "base"},
	"service": {"wire", "record", "base"},
	"reader":  {"service", "load", "wire", "record", "base"},
}

// rooms lists what each package may import of its own wing, and, where it is
// less than its wing may, of the wings below ("record/timeline" for one room).
// A package that is not here is a mistake: say where it belongs, in
// docs/design.md too.
var rooms = map[string][]string{
	"base/printable": {},
	"base/heap":      {},
	"base/limitio":   {},
	"base/pyjson":    {},
	"base/spelling":  {},
	"base/config":    {"base/pattern", "base/spelling"},
	"base/cmdline":   {"base/printable", "base/spelling"},
	"base/secret":    {"base/pattern", "base/printable"},
	"base/pattern":   {},
	"base/clock":     {},
	"base/random":    {},
	"base/process":   {},
	"base/child":     {},

	"physics/engine":    {"base/heap"},
	"physics/laws":      {"base/heap", "base/random"},
	"physics/sim":       {"physics/engine", "base/clock", "base/heap"},
	"physics/published": {"physics/engine", "physics/sim", "base/printable"},

	"record/timeline":  {},
	"record/stat":      {},
	"record/metric":    {"record/stat", "record/timeline", "base/pattern", "base/printable", "base/spelling"},
	"record/objective": {"record/metric", "record/stat", "record/timeline", "base/pattern", "base/printable"},
	"record/validity":  {"record/metric", "record/stat", "record/timeline"},
	"record/cost":      {"record/metric", "record/stat", "record/timeline", "base/config"},
	"record/exit":      {"record/metric", "record/timeline"},
	"record/run":       {"record/cost", "record/metric", "record/objective", "record/stat", "record/timeline", "record/validity", "base/limitio", "base/pattern", "base/printable", "base/secret"},
	"record/genai":     {"record/timeline"},
	"record/imports":   {"record/genai", "record/metric", "record/run", "record/timeline", "base/config", "base/limitio", "base/printable", "base/pyjson"},
	"record/export":    {"record/metric", "record/run", "record/stat", "record/timeline", "base/printable"},

	"wire/framing":  {},
	"wire/jsonscan": {},
	"wire/tokens":   {"wire/jsonscan", "base/limitio"},
	"wire/scrape":   {"wire/api", "wire/client", "record/metric", "record/timeline", "base/child"},
	"wire/audio":    {},
	"wire/picture":  {},
	"wire/sigv4":    {},
	"wire/api":      {"wire/audio", "wire/jsonscan", "wire/picture", "wire/framing", "record/timeline"},
	"wire/capture":  {"wire/api", "wire/framing", "record/timeline", "base/limitio", "base/pattern", "base/printable", "base/secret"},
	"wire/client":   {"wire/api", "wire/capture", "wire/framing", "record/timeline", "base/clock", "base/printable", "base/secret"},

	"load/machine":   {"record/timeline", "record/validity", "base/clock"},
	"load/answer":    {"base/pattern", "base/secret"},
	"load/translate": {"wire/api", "base/config", "base/limitio", "base/secret"},
	"load/schedule":  {"base/random"},
	"load/workload":  {"load/answer", "wire/api", "record/genai", "record/stat", "record/timeline", "base/config", "base/limitio", "base/pattern", "base/printable", "base/pyjson", "base/random"},
	"load/doctor":    {"load/machine", "wire/api", "wire/client", "record/timeline", "base/clock", "base/printable", "base/secret"},
	"load/probe":     {"load/answer", "load/machine", "load/workload", "wire/api", "wire/client", "record/cost", "record/metric", "record/run", "record/timeline", "base/clock", "base/limitio", "base/printable", "base/random"},
	"load/bench":     {"load/answer", "load/machine", "load/schedule", "load/workload", "wire/api", "wire/capture", "wire/client", "record/cost", "record/exit", "record/metric", "record/objective", "record/run", "record/stat", "record/timeline", "record/validity", "base/clock", "base/printable", "base/random", "base/secret"},
	"load/control":   {"load/bench", "wire/api", "wire/client", "record/metric", "record/run", "record/timeline", "base/child", "base/printable", "base/secret"},
	"load/sweep":     {"load/bench", "wire/client", "record/cost", "record/exit", "record/metric", "record/objective", "record/run", "record/stat", "record/timeline", "record/validity", "base/clock", "base/limitio", "base/pattern", "base/printable", "base/random"},
	"load/method":    {"load/bench", "load/sweep", "load/workload", "record/cost", "record/metric", "record/objective", "record/run", "record/stat", "record/timeline", "record/validity", "wire/api"},

	"service/gate":      {},
	"service/traffic":   {"record/cost", "record/metric", "record/objective", "record/run", "record/timeline", "wire/tokens", "base/secret"},
	"service/proxy":     {"service/gate", "service/traffic", "wire/api", "wire/client", "wire/framing", "record/metric", "record/timeline", "base/clock", "base/secret"},
	"service/slo":       {"service/traffic", "record/cost", "record/metric", "record/objective", "record/stat", "record/timeline", "base/config", "base/limitio", "base/pattern", "base/printable", "base/secret"},
	"service/telemetry": {"service/traffic", "record/metric", "record/objective", "record/timeline"},

	"reader/typeset": {"record/metric", "record/timeline", "base/printable"},
	"reader/trend":   {"reader/report", "reader/typeset", "record/metric", "record/run", "record/stat", "record/timeline", "base/printable"},
	"reader/runs":    {"reader/report", "reader/typeset", "record/metric", "record/objective", "record/run", "record/timeline", "record/validity"},
	"reader/compare": {"reader/typeset", "base/limitio", "base/pattern", "base/printable", "base/random", "record/exit", "record/metric", "record/objective", "record/run", "record/stat", "record/timeline", "record/validity"},
	"reader/report":  {"reader/compare", "reader/typeset", "load/sweep", "record/metric", "record/objective", "record/run", "record/stat", "record/timeline", "record/validity", "base/pattern", "base/printable"},
}

// inner lists the packages of each room that has more than one, "." for the one
// the room is named after; each imports only what stands before it.
var inner = map[string][]string{
	"physics/sim":       {"simtest", "."},
	"record/metric":     {".", "lens"},
	"record/objective":  {".", "objectivetest"},
	"wire/api":          {".", "engines"},
	"wire/tokens":       {"char", "pattern", "bpe", "split", "ranks", "hf", "internal/corpustest", "."},
	"load/workload":     {"records", "sessions", "."},
	"load/sweep":        {"result", "."},
	"service/traffic":   {".", "rows", "trace"},
	"service/slo":       {".", "rules", "foreign", "kept", "notify", "history", "history/historytest", "history/postgrestest", "history/sqlstore", "history/sqlite", "history/postgres", "history/watch"},
	"service/telemetry": {".", "telemetrytest", "prometheus", "otel", "datadog", "mlflow"},
	"reader/report":     {"view", "gather", "chart", "."},
}

// wiring may import anything; nobody imports it.
var wiring = []string{"cmd/", "service/daemon/", "benchmarks/", "examples/", "tools/"}

func TestImportRules(t *testing.T) {
	for dir, files := range packages(t) {
		if isWiring(dir) {
			continue
		}
		if _, ok := wings[dir]; ok {
			if len(files) != 1 || len(imports(t, files[0])) != 0 {
				t.Errorf("%s is a wing: it holds doc.go and packages", dir)
			}
			continue
		}
		may, known := rooms[room(dir)]
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
				if !ok || room(ours) == room(dir) {
					continue
				}
				if wing(ours) != wing(dir) && !slices.Contains(wings[wing(dir)], wing(ours)) {
					t.Errorf("%s imports %s: an arrow between wings that runs up", file, ours)
				}
				if isWiring(ours) || !slices.Contains(may, room(ours)) {
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

// wing is the folder at the root.
func wing(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

// room is a package of a wing, its subfolders included.
func room(dir string) string {
	parts := strings.SplitN(dir, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// TestArrowsInsideARoomRunOneWay finds packages of a room that import what stands
// behind them in its list, and such as stand in none.
func TestArrowsInsideARoomRunOneWay(t *testing.T) {
	place := func(dir string) int {
		sub := strings.TrimPrefix(strings.TrimPrefix(dir, room(dir)), "/")
		if sub == "" {
			sub = "."
		}
		return slices.Index(inner[room(dir)], sub)
	}
	for dir, files := range packages(t) {
		if isWiring(dir) || rooms[room(dir)] == nil || dir == room(dir) && inner[dir] == nil {
			continue
		}
		if place(dir) < 0 {
			t.Errorf("package %s has no place in its room", dir)
		}
		for _, file := range files {
			for _, path := range imports(t, file) {
				if ours, ok := strings.CutPrefix(path, "tokenmeter/"); ok && room(ours) == room(dir) && place(ours) >= place(dir) {
					t.Errorf("%s imports %s: an arrow inside a room that runs up", file, ours)
				}
			}
		}
	}
}

// TestRooms finds rooms that are no longer there, and circles among those that are.
func TestRooms(t *testing.T) {
	there := map[string]bool{}
	for dir := range packages(t) {
		there[room(dir)] = true
	}
	for name, may := range rooms {
		if !there[name] {
			t.Errorf("the import rules name %s, which is not there", name)
		}
		for _, other := range may {
			if _, known := rooms[other]; !known {
				t.Errorf("%s may import %s, which is no room", name, other)
			}
		}
	}
	var visit func(name string, path []string)
	done := map[string]bool{}
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("a circle in the import rules: %s", strings.Join(append(path, name), " → "))
		}
		if done[name] {
			return
		}
		for _, other := range rooms[name] {
			visit(other, append(path, name))
		}
		done[name] = true
	}
	for name := range rooms {
		visit(name, nil)
	}
}

func isWiring(dir string) bool {
	return slices.ContainsFunc(wiring, func(prefix string) bool { return strings.HasPrefix(dir+"/", prefix) })
}
