package tokenmeter_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofTheProcess are calls that change the process for everybody in it. A library
// leaves the process of those who embed it alone; programs may use base/process.
var ofTheProcess = []string{
	"os.Setenv", "os.Unsetenv", "os.Clearenv", "os.Chdir", "os.Exit",
	"log.SetOutput", "log.SetFlags", "log.SetPrefix", "log.Fatal", "log.Fatalf", "slog.SetDefault", "slog.SetLogLoggerLevel",
	"signal.Notify", "signal.NotifyContext", "signal.Ignore", "signal.Reset", "signal.Stop",
	"debug.SetGCPercent", "debug.SetMemoryLimit", "debug.SetMaxThreads", "debug.SetMaxStack", "debug.SetPanicOnFault", "debug.SetTraceback",
	"runtime.SetDefaultGOMAXPROCS", "runtime.SetBlockProfileRate", "runtime.SetMutexProfileFraction",
	"syscall.Setrlimit", "unix.Setrlimit", "syscall.Umask", "unix.Umask",
}

// allowed is where a library has to, and why.
var allowed = map[string]string{
	"base/process/process.go":     "what only programs call",
	"base/clock/processors.go":    "a goroutine that waits in the kernel keeps a processor: one is added meanwhile, and given back",
	"load/machine/limits_unix.go": "every connection is an open file: the soft limit is lifted to the hard one, as Go does at its start",
	"record/run/outside.go":       "decoders that are pooled for the process may not be made in a test's virtual time",
}

func TestLibrariesLeaveTheProcessAlone(t *testing.T) {
	for dir, files := range packages(t) {
		if isWiring(dir) && dir != "service/daemon" {
			continue
		}
		for _, file := range files {
			if allowed[filepath.ToSlash(file)] != "" {
				continue
			}
			calls(t, file, func(call *ast.CallExpr, name, at string) {
				if slices.Contains(ofTheProcess, name) || name == "runtime.GOMAXPROCS" && !isZero(call.Args) {
					t.Errorf("%s: %s changes the process for everybody in it", at, name)
				}
			})
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if fn, ok := n.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Recv == nil {
					ast.Inspect(fn, func(n ast.Node) bool {
						if _, ok := n.(*ast.GoStmt); ok {
							t.Errorf("%s: a goroutine begins in init", file)
						}
						return true
					})
				}
				return true
			})
		}
	}
}

func isZero(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	lit, ok := args[0].(*ast.BasicLit)
	return ok && lit.Value == "0"
}

// waiting are the tests that wait for what has a time of its own: another
// process, a kernel's socket. The others run in virtual time (testing/synctest).
var waiting = map[string]string{
	"cmd/tokenmeter/connection_test.go":           "the command's own process",
	"cmd/tokenmeter/detect_test.go":               "the command's own process",
	"cmd/tokenmeter/outcome_test.go":              "the command's own process",
	"service/daemon/budgets_test.go":              "a database on the disk",
	"service/daemon/canary_test.go":               "real listeners",
	"service/daemon/slo_test.go":                  "a database on the disk",
	"service/daemon/telemetry_test.go":            "real listeners",
	"service/proxy/direct_test.go":                "the kernel's sockets",
	"service/slo/rules/oracle_test.go":            "Prometheus, another process",
	"service/telemetry/otel/collector_test.go":    "a collector, another process",
	"service/telemetry/prometheus/oracle_test.go": "Prometheus, another process",
	"physics/sim/tcp_test.go":                     "the kernel's sockets",
	"wire/client/follow_linux_test.go":            "the kernel's sockets",
	"wire/client/forms_test.go":                   "the kernel's sockets",
	"wire/client/socket_test.go":                  "the kernel's sockets",
	"wire/client/stamp_linux_test.go":             "the kernel's stamps",
	"wire/client/start_test.go":                   "the kernel's sockets",
	"wire/client/fake_test.go":                    "a server that both kinds of tests have: its waits are virtual, or of the kernel's sockets",
	"physics/sim/engine_test.go":                  "virtual time, which raw_test.go's helper begins",
	"physics/sim/fault_test.go":                   "virtual time, which raw_test.go's helper begins",
	"physics/sim/sim_test.go":                     "virtual time, which raw_test.go's helper begins",
}

// A file whose tests sleep does so in virtual time, where a sleep takes none.
func TestTestsSleepInVirtualTime(t *testing.T) {
	sleeps := map[string]bool{}
	virtual := map[string]bool{} // files that have virtual time
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			path = filepath.ToSlash(path)
			if slices.Contains(imports(t, path), "testing/synctest") {
				virtual[path] = true
			}
			calls(t, path, func(_ *ast.CallExpr, name, _ string) {
				if name == "time.Sleep" {
					sleeps[path] = true
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range sleeps {
		if waiting[path] == "" && !virtual[path] {
			t.Errorf("%s sleeps in real time: use testing/synctest, or a channel that says when it is time", path)
		}
	}
	for path := range waiting {
		if !sleeps[path] {
			t.Errorf("%s sleeps no more: take it from the list", path)
		}
	}
}

// calls yields the calls of functions of packages in a file: "time.Sleep".
func calls(t *testing.T, file string, yield func(call *ast.CallExpr, name, at string)) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok {
					yield(call, x.Name+"."+sel.Sel.Name, set.Position(call.Pos()).String())
				}
			}
		}
		return true
	})
}

// flagged are where a library's texts name flags, and why. Elsewhere an error
// says what is wrong, by the name of the field, and the command adds the flag.
var flagged = map[string]string{
	"base/secret/args.go": "it reads the command line that a run was made with",

	"record/metric/advice.go":             advises,
	"record/metric/warning_meanings.go":   advises,
	"record/metric/flag_meanings.go":      advises,
	"record/metric/catalogue_request.go":  advises,
	"record/metric/collector_warnings.go": advises,
	"record/exit/exit.go":                 advises,
	"record/validity/checks_client.go":    advises,
	"record/validity/checks_sample.go":    advises,
	"record/validity/rules.go":            advises,
	"record/run/errors.go":                advises,
	"record/run/row.go":                   advises,
	"load/workload/spec.go":               advises,
	"load/workload/maker.go":              advises,
	"load/doctor/gets.go":                 advises,
	"load/doctor/probe.go":                advises,
	"load/doctor/table.go":                advises,
	"load/bench/calibrate.go":             advises,
	"load/bench/preflight.go":             advises,
	"load/bench/run.go":                   advises,
	"load/bench/warmup.go":                advises,
	"load/method/method.go":               advises,
	"load/method/mlperf.go":               advises,
	"load/method/tools.go":                advises,
	"load/method/llamacpp.go":             advises,
	"load/method/depth.go":                advises,
	"load/sweep/found.go":                 advises,
	"reader/compare/baseline_read.go":     advises,
	"reader/report/compare_notes.go":      advises,
	"reader/report/groups.go":             advises,
	"reader/report/sweep_kept.go":         advises,
	"reader/report/view/next.go":          advises,
	"record/metric/lengths.go":            advises,
	"record/metric/lens/request.go":       advises,
	"wire/api/providers.go":               advises,
	"record/export/export.go":             advises,
	"physics/sim/preset.go":               advises,
	"physics/published/claim.go":          advises,

	"record/metric/lens/aiperf.go":  others,
	"record/export/others.go":       others,
	"record/imports/imports.go":     others,
	"record/imports/vllm.go":        others,
	"service/slo/rules/promtool.go": others,
	"load/translate":                others,
	"wire/client/dryrun.go":         others,
	"wire/scrape/smi.go":            others,
}

const (
	advises = "it tells who measures what to do next, or what a figure means, in reports and in run.json"
	others  = "other programs' flags"
)

var flagName = regexp.MustCompile("(?:^|[\\s\"'`(])--[a-z][a-z0-9-]+")

func TestLibrariesKnowNoFlags(t *testing.T) {
	found := map[string]bool{}
	for dir, files := range packages(t) {
		if isWiring(dir) {
			continue
		}
		for _, file := range files {
			file = filepath.ToSlash(file)
			key := file
			if flagged[dir] != "" {
				key = dir
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING || !flagName.MatchString(lit.Value) || strings.Contains(lit.Value, "var(--") {
					return true
				}
				found[key] = true
				if flagged[key] == "" {
					t.Errorf("%s names a flag: %s", set.Position(lit.Pos()), lit.Value)
				}
				return true
			})
		}
	}
	for key := range flagged {
		if !found[key] {
			t.Errorf("%s names no flag any more: take it from the list", key)
		}
	}
}
