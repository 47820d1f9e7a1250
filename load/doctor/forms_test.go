package doctor

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tokenmeter/record/timeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a report with every verdict.
func sample() *Report {
	s := calm()
	s.timer.p99 = 4 * time.Millisecond
	s.settings.Governor = ""
	r := &Report{Schema: Schema, Version: "v1.2.3", Checks: judge(s),
		Target: &Target{URL: "http://h:8000/v1/chat/completions", API: "openai-chat", Engine: "vllm", Version: "0.11.0", Models: []string{"m"}}}
	p := &patient{found: r.Target}
	p.add(Check{Name: "access", Verdict: Fail, Value: "GET /v1/models answers HTTP 401", Facts: facts{"http_status": 401}, Fix: "give the key with --api-key-env or --api-key-file"})
	p.add(Check{Name: "server", Value: "it does not tell its name; its Server header says \"\x1b[31mbad \u202e☃\""})
	p.cache(timeline.New())
	r.Checks = append(r.Checks, p.checks...)
	r.Verdict = worst(r.Checks)
	return r
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func TestForms(t *testing.T) {
	r := sample()
	var table, narrow, colour, document strings.Builder
	for _, err := range []error{r.Table(&table, Form{}), r.Table(&narrow, Form{Width: 30, ASCII: true}),
		r.Table(&colour, Form{Color: true}), r.JSON(&document)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "table.txt", table.String())
	golden(t, "report.json", document.String())
	for line := range strings.Lines(table.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.Contains(line, "--probe") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for i := range len(narrow.String()) {
		if narrow.String()[i] >= 0x80 {
			t.Fatalf("not ASCII:\n%s", narrow.String())
		}
	}
	if strings.Contains(table.String(), "\x1b") || strings.Count(colour.String(), "\x1b[31m") != 1 || strings.Contains(colour.String(), "\x1b[31mbad") {
		t.Errorf("colours:\n%q", colour.String())
	}
	var back Report
	if err := json.Unmarshal([]byte(document.String()), &back); err != nil {
		t.Fatal(err)
	}
	if back.Verdict != Fail || len(back.Checks) != len(r.Checks) || find(t, back.Checks, "governor").Verdict != "" {
		t.Errorf("%+v", back)
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		of   []Verdict
		want Verdict
	}{{nil, OK}, {[]Verdict{"", OK}, OK}, {[]Verdict{Warn, OK, ""}, Warn}, {[]Verdict{Fail, Warn}, Fail}, {[]Verdict{Warn, Fail, Warn}, Fail}} {
		var checks []Check
		for _, v := range c.of {
			checks = append(checks, Check{Verdict: v})
		}
		if got := worst(checks); got != c.want {
			t.Errorf("%q: %q", c.of, got)
		}
	}
}

// The machine the tests run on can be looked at.
func TestThisMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or two")
	}
	r := Run(t.Context(), Options{Version: "v0"})
	if r.Target != nil || len(r.Checks) != 10 || r.Schema != Schema || r.Version != "v0" {
		t.Errorf("%+v", r)
	}
	if c := find(t, r.Checks, "stamps"); c.Facts["tokens"] != streamTokens {
		t.Errorf("%+v", c)
	}
	if c := find(t, r.Checks, "timer"); c.Facts["waits"].(int) < 10 {
		t.Errorf("%+v", c)
	}
}

// A socket's file is shown as a path; the URL keeps it escaped.
func TestSocketsAreReadable(t *testing.T) {
	r := Report{Target: &Target{URL: "http+unix://%2Frun%2Fmy%20llm.sock/v1/chat/completions"}}
	if got, want := r.title(OfTarget), "Unix socket /run/my llm.sock, path /v1/chat/completions"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
