package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

var begin = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// made is a run of two hundred requests.
func made(dir, model string, p95 float64, ci [2]float64, verdict string) run.Run {
	r := run.Run{Dir: dir, ID: "id-" + dir, Name: dir, Started: begin, Target: run.Target{Model: model}, Load: run.Load{Kind: "closed", Concurrency: timeline.Some(int64(4))}}
	r.Requests.OK = 200
	r.Metrics = map[string]metric.Dist{"ttft_ms": {N: 200, P95: timeline.Some(p95), CI95: map[string][2]float64{"p95": ci}}}
	r.Throughput.SystemOutputTPS = timeline.Some(1000 / p95)
	r.Validity.Verdict = verdict
	return r
}

func figure(t *testing.T, text string) objective.Figure {
	t.Helper()
	f, err := objective.ParseFigure(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The lowest wins where less is better and the highest where more is; what is
// invalid, broken off or unmeasured wins nothing and is named.
func TestBest(t *testing.T) {
	half := made("half", "m", 1, [2]float64{1, 1}, validity.Valid)
	half.Partial = true
	silent := made("silent", "m", 1, [2]float64{1, 1}, validity.Valid)
	silent.Metrics, silent.Throughput = nil, metric.Throughput{}
	list := []run.Run{
		made("slow", "m", 90, [2]float64{80, 100}, validity.Valid),
		made("fast", "m", 50, [2]float64{45, 55}, validity.Suspect),
		made("wrong", "m", 10, [2]float64{9, 11}, validity.Invalid),
		made("unjudged", "m", 10, [2]float64{9, 11}, ""),
		half, silent,
		made("other", "n", 70, [2]float64{60, 81}, validity.Valid),
		made("other2", "n", 71, [2]float64{60, 81}, validity.Valid),
		made("alone", "o", 71, [2]float64{60, 81}, validity.Invalid),
	}
	group, err := Grouping("model")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"p95 ttft", "output tps"} {
		best := FindBest(list, figure(t, text), group)
		if len(best) != 3 {
			t.Fatalf("%s: %d groups", text, len(best))
		}
		m, n, o := best[0], best[1], best[2]
		if m.Run == nil || m.Run.Name != "fast" || m.Next.Name != "slow" || m.Of != 2 || len(m.LeftOut) != 4 {
			t.Errorf("%s: of m %+v", text, m)
		}
		for _, name := range []string{"wrong", "unjudged", "half", "silent"} {
			if !slices.ContainsFunc(m.LeftOut, func(s string) bool { return strings.HasPrefix(s, name+": ") }) {
				t.Errorf("%s: %s is not said to be left out: %q", text, name, m.LeftOut)
			}
		}
		if o.Run != nil || o.Of != 0 || o.Next != nil {
			t.Errorf("%s: an invalid run won: %+v", text, o)
		}
		if text == "p95 ttft" {
			if m.Apart == nil || !*m.Apart || n.Apart == nil || *n.Apart {
				t.Errorf("intervals: %v, %v", m.Apart, n.Apart)
			}
		} else if m.Apart != nil {
			t.Errorf("a rate without an interval is apart: %v", *m.Apart)
		}
	}
}

// Runs of one group agree in all that is asked for; a copy is no second run.
func TestGroups(t *testing.T) {
	one, four := made("one", "m", 50, [2]float64{45, 55}, validity.Valid), made("four", "m", 90, [2]float64{80, 99}, validity.Valid)
	one.Load.Concurrency = timeline.Some(int64(1))
	long := made("long", "m", 70, [2]float64{60, 80}, validity.Valid)
	long.Workload.InputTokens, long.Workload.OutputTokens = "8000", "100"
	copied := one
	copied.Dir = "copy"
	leaves, fresh := four, four // of its users some hang up; each of its requests connects, and may be sent again
	leaves.ID, leaves.Name, leaves.Workload.Users = "leaves", "leaves", "50 % leave after 4 pieces of text"
	fresh.ID, fresh.Name, fresh.Load.NoKeepAlive, fresh.Load.Retries = "fresh", "fresh", true, timeline.Some[int64](2)
	four.Workload.Users, four.Load.Retries = "none", timeline.Some[int64](0)
	group, err := Grouping("load,workload")
	if err != nil {
		t.Fatal(err)
	}
	if got := FindBest([]run.Run{four, leaves, fresh}, figure(t, "p95 ttft"), group); len(got) != 3 {
		t.Errorf("other users, connections and retries are held against each other: %+v", got)
	}
	list := []run.Run{one, four, long, copied}
	for kinds, want := range map[string]string{
		"model":               "m one 3",
		"model,load":          "m, 1 stream one 1; m, 4 streams long 2",
		"load , workload":     "1 stream one 1; 4 streams four 1; 4 streams, 8000/100 tokens long 1",
		"model,load,workload": "m, 1 stream one 1; m, 4 streams four 1; m, 4 streams, 8000/100 tokens long 1",
	} {
		group, err := Grouping(kinds)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range FindBest(list, figure(t, "p95 ttft"), group) {
			got = append(got, fmt.Sprint(b.Group, " ", b.Run.Name, " ", b.Of))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("by %s: %q, want %q", kinds, s, want)
		}
	}
	for _, kinds := range []string{"", "size", "model,", "tag:", "model,tag"} {
		if _, err := Grouping(kinds); err == nil {
			t.Errorf("%q groups runs", kinds)
		}
	}
}

func TestNamed(t *testing.T) {
	list := []run.Run{{Dir: "a/x", ID: "1", Name: "n"}, {Dir: "b/y", ID: "2", Name: "n"}, {Dir: "c/n", ID: "3", Name: "x"}}
	for name, want := range map[string]string{"1": "1", "b/y": "2", "b/y/": "2", "y": "2", "x": "1", "n": "3"} {
		if r, err := Named(list, name); err != nil || r.ID != want {
			t.Errorf("%s is %+v, %v", name, r, err)
		}
	}
	if r, err := Named(list[:2], "n"); err != nil || r.ID != "2" {
		t.Errorf("of two runs of one name %+v was taken, %v", r, err)
	}
	if _, err := Named(list, ""); err == nil {
		t.Error("no name is a run")
	}
}

func TestWant(t *testing.T) {
	r := run.Run{Name: "nightly-7", Started: begin, Tags: map[string]string{"gpu": "h100", "new": ""}, Target: run.Target{Model: "org/m", URL: "http://a:1/v1", Server: "vllm/0.9"}}
	for _, c := range []struct {
		want Want
		is   bool
	}{
		{Want{}, true},
		{Want{Name: "nightly-*"}, true},
		{Want{Name: "daily-*"}, false},
		{Want{Model: "org/*"}, true},
		{Want{Model: "*"}, false}, // as of paths: a star ends at a slash
		{Want{Server: "a:1"}, true},
		{Want{Server: "vllm"}, true},
		{Want{Server: "sglang"}, false},
		{Want{Tags: map[string]string{"gpu": "h*", "new": ""}}, true},
		{Want{Tags: map[string]string{"gpu": "a100"}}, false},
		{Want{Tags: map[string]string{"old": ""}}, false},
		{Want{Since: begin}, true},
		{Want{Since: begin.Add(1)}, false},
		{Want{Until: begin}, false},
	} {
		if c.want.takes(&r) != c.is {
			t.Errorf("%+v takes the run: %v", c.want, !c.is)
		}
	}
	if (&Want{Tags: map[string]string{"x": "["}}).Check() == nil {
		t.Error("[ is a pattern")
	}
}

// Every form says the same, and what was not measured is no number in any.
func TestForms(t *testing.T) {
	list := []run.Run{made("a", "m", 50, [2]float64{45, 55}, validity.Valid), {Dir: "b", Name: "b\x1b[2J|"}}
	var out bytes.Buffer
	if err := WriteList(&out, "json", list, Columns()); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Runs []Line }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Runs) != 2 {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	if v, ok := doc.Runs[0].Figures[1].Value.Get(); !ok || v != 50 || doc.Runs[1].Figures[1].Value.Or(-1) != -1 || doc.Runs[1].Verdict != "unknown" {
		t.Errorf("%s", out.Bytes())
	}
	out.Reset()
	if err := WriteList(&out, "csv", list, Columns()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][8] != "50" || rows[2][8] != "" {
		t.Errorf("%v: %q", err, rows)
	}
	for _, form := range []string{"table", "markdown"} {
		out.Reset()
		if err := WriteList(&out, form, list, Columns()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") < 3 || form == "markdown" && !strings.Contains(out.String(), `\|`) {
			t.Errorf("%s: %q", form, out.String())
		}
	}
}
