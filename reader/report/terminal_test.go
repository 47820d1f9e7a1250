package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

func terminalText(t *testing.T, r *run.Run, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTerminalGolden(t *testing.T) {
	for name, r := range allRuns() {
		golden(t, "terminal/"+name+".txt", []byte(terminalText(t, r, Options{Dir: "runs/2026-11-27T1011"})))
	}
	golden(t, "terminal/valid-60.txt", []byte(terminalText(t, validRun(), Options{Width: 60, Dir: "runs/2026-11-27T1011"})))
	golden(t, "terminal/suspect-ascii.txt", []byte(terminalText(t, suspectRun(), Options{ASCII: true, Dir: "runs/2026-11-27T1011"})))
	golden(t, "terminal/valid-colour.txt", []byte(terminalText(t, validRun(), Options{Color: true, Link: "/home/u/runs/2026-11-27T1011", Dir: "runs/2026-11-27T1011"})))
}

// B111: latencies of a run in which all failed are –, never 0.
func TestAllFailedHasNoZeros(t *testing.T) {
	text := terminalText(t, allFailedRun(), Options{})
	for _, line := range strings.Split(text, "\n") {
		for _, name := range []string{"TTFT", "TPOT", "E2E"} {
			if strings.HasPrefix(line, name) && (strings.Contains(strings.TrimSuffix(line, "0"), "0") || !strings.Contains(line, typeset.Missing)) {
				t.Errorf("figures where nothing was measured: %q", line)
			}
		}
	}
	for _, want := range []string{"INVALID", "All 20 requests failed", "http_4xx", "401 Unauthorized", "tokenmeter doctor"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// B107: a partial run says so.
func TestPartialSaysSo(t *testing.T) {
	if text := terminalText(t, partialRun(), Options{}); !strings.Contains(text, "Stopped after 30 of 100; figures cover what ended.") {
		t.Error(text)
	}
}

// B112: the unit is in sight and right.
func TestUnitsInSight(t *testing.T) {
	text := terminalText(t, tinyRun(1), Options{})
	if !strings.Contains(text, "214 ms") {
		t.Error(text)
	}
}

// Every line fits, no line carries control bytes, and colour adds nothing that
// is not in the text.
func TestTerminalFits(t *testing.T) {
	for name, r := range allRuns() {
		for _, w := range []int{40, 60, 80, 120} {
			text := terminalText(t, r, Options{Width: w, Dir: "runs/2026-11-27T1011"})
			for _, line := range strings.Split(text, "\n") {
				if n := typeset.Width(line); n > w && !strings.Contains(line, "tokenmeter report") {
					t.Errorf("%s: %d columns instead of %d: %q", name, n, w, line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) || typeset.Clean(line) != line {
					t.Errorf("%s: control bytes in %q", name, line)
				}
			}
			coloured := terminalText(t, r, Options{Width: w, Color: true, Dir: "runs/2026-11-27T1011"})
			if uncoloured(coloured) != text {
				t.Errorf("%s: colour changes the text", name)
			}
		}
		for _, b := range []byte(terminalText(t, r, Options{ASCII: true, Dir: "runs/ö"})) {
			if b > 0x7e || b < 0x20 && b != '\n' {
				t.Errorf("%s: byte %#x in ASCII", name, b)
				break
			}
		}
	}
}

func uncoloured(s string) string {
	for _, code := range []string{"0", "31", "32", "33"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}

func TestACommandIsNotBroken(t *testing.T) {
	for _, c := range []string{
		"tokenmeter report killed/003-concurrency-4",
		"tokenmeter report 'two words/run'",
	} {
		for n := range 80 {
			text := strings.Repeat("x ", n) + "see " + c + "."
			if lines := wrap(text, 60, 60); !strings.Contains(strings.Join(lines, "\n"), c) {
				t.Fatalf("%q was broken:\n%s", c, strings.Join(lines, "\n"))
			}
		}
	}
}
