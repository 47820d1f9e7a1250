package compare

import (
	"bytes"
	"encoding/xml"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func TestSections(t *testing.T) {
	got, split := Sections([]string{"a", "b", "vs", "c", "VS", "d"})
	if !split || len(got) != 3 || !slices.Equal(got[0], []string{"a", "b"}) || !slices.Equal(got[2], []string{"d"}) {
		t.Errorf("%v %v", got, split)
	}
	if got, split := Sections([]string{"a", "b"}); split || len(got) != 1 {
		t.Errorf("%v %v", got, split)
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main-1", "main-2", "pr-1", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "other" {
			if err := os.WriteFile(filepath.Join(dir, name, "run.json"), []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	in := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		return names
	}
	for arg, want := range map[string][]string{
		filepath.Join(dir, "pr-1"):   in("pr-1"),
		filepath.Join(dir, "main-*"): in("main-1", "main-2"),
		filepath.Join(dir, "*"):      in("main-1", "main-2", "pr-1"),
		dir:                          in("main-1", "main-2", "pr-1"),
		filepath.Join(dir, "main-1") + "," + filepath.Join(dir, "pr-1"): in("main-1", "pr-1"),
		filepath.Join(dir, "pr-1", "run.json"):                          in("pr-1/run.json"),
	} {
		if got, err := Expand(arg); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", arg, got, err, want)
		}
	}
	for _, arg := range []string{"", ",", filepath.Join(dir, "other"), filepath.Join(dir, "none-*"), filepath.Join(dir, "missing"), "[", filepath.Join(dir, "pr-1") + ",x"} {
		if got, err := Expand(arg); err == nil {
			t.Errorf("%s: %v", arg, got)
		}
	}
}

func TestGrouping(t *testing.T) {
	of := func(name, dir, tag string) Group {
		return Group{Name: name, Runs: []*Run{{Facts: Facts{Name: name, Dir: dir, Tags: map[string]string{"side": tag}}}}}
	}
	items := []Group{of("main", "r/1", "a"), of("pr", "r/2", "b"), of("main", "r/3", "a"), of("pr", "r/4", "b")}
	got := ByName(items)
	if len(got) != 2 || len(got[0].Runs) != 2 || got[0].Name != "main" || got[1].Name != "pr" || len(items[0].Runs) != 1 {
		t.Errorf("%+v", got)
	}
	tagged, err := ByTag([]Group{of("x", "r/1", "a"), of("x", "r/2", "b"), of("x", "r/3", "a")}, "side")
	if err != nil || len(tagged) != 2 || tagged[0].Name != "a" || len(tagged[0].Runs) != 2 {
		t.Errorf("%+v %v", tagged, err)
	}
	if _, err := ByTag(items, "colour"); err == nil {
		t.Error("a tag that no run has")
	}
	same := []Group{of("m", "r/1", ""), of("m", "r/2", ""), of("m", "x/2", ""), of("", "", "")}
	Unique(same)
	if names := []string{same[0].Name, same[1].Name, same[2].Name, same[3].Name}; !slices.Equal(names, []string{"1", "2", "2 2", "2 3"}) && same[0].Name == same[1].Name {
		t.Errorf("names %q", names)
	}
	seen := map[string]bool{}
	for _, g := range same {
		if g.Name == "" || seen[g.Name] {
			t.Errorf("name %q twice or empty", g.Name)
		}
		seen[g.Name] = true
	}
	if j := Joined(items); len(j.Runs) != 4 || j.Name != "main and 3 more" {
		t.Errorf("%q of %d", j.Name, len(j.Runs))
	}
}

// A load that is not known of one side may be another one, and so warns; of none it
// says nothing.
func TestALoadThatIsNotKnown(t *testing.T) {
	known := run.Load{Kind: "open", RatePerS: timeline.Some(4.0), Arrival: "constant"}
	for _, c := range []struct {
		a, b run.Load
		want []Gravity
	}{
		{known, run.Load{}, []Gravity{Warn}},
		{run.Load{}, known, []Gravity{Warn}},
		{run.Load{}, run.Load{}, nil},
		{known, run.Load{Kind: "closed"}, []Gravity{Refuse}},
	} {
		var got []Gravity
		for _, r := range reasons(&Facts{Load: c.a}, &Facts{Load: c.b}) {
			if r.Name == "load" {
				got = append(got, r.Level)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v and %+v: %v", c.a, c.b, got)
		}
	}
}

// What makes a load other than its rate: two runs of ours that differ in it are not compared,
// and another tool's file that doesn't tell it draws a warning.
func TestLoadsThatDifferInMoreThanTheRate(t *testing.T) {
	stages := func(text string) run.Load { return run.Load{Kind: "open", Arrival: "constant", Stages: text} }
	trace := func(x float64) run.Load { return run.Load{Kind: "open", Arrival: "trace", Speed: timeline.Some(x)} }
	pace := func(s float64) run.Load {
		return run.Load{Kind: "closed", Arrival: "closed", Concurrency: timeline.Some[int64](4), PaceS: timeline.Some(s)}
	}
	capped := pace(0)
	capped.PrefillConcurrency = timeline.Some[int64](1)
	rate := func(arrival string) run.Load {
		return run.Load{Kind: "open", RatePerS: timeline.Some(4.0), Arrival: arrival}
	}
	for _, c := range []struct {
		a, b     run.Load
		imported bool // the first
		want     []Gravity
	}{
		{stages("3s@10"), stages("3s@40"), false, []Gravity{Refuse}},
		{stages("3s@10"), stages("3s@10"), false, nil},
		{trace(4), trace(6), false, []Gravity{Refuse}},
		{pace(0), pace(0.3), false, []Gravity{Refuse}},
		{pace(0), capped, false, []Gravity{Refuse}},
		{rate("poisson"), rate("constant"), false, []Gravity{Refuse}},
		{rate(""), rate("poisson"), true, []Gravity{Warn}}, // vLLM's file tells a rate and no arrival
		{rate("poisson"), rate("constant"), true, []Gravity{Refuse}},
		{run.Load{Kind: "closed", Concurrency: timeline.Some[int64](4)}, pace(0.3), true, []Gravity{Warn}},
		{run.Load{Kind: "closed", Concurrency: timeline.Some[int64](4)}, pace(0), true, nil},
	} {
		a := &Facts{Load: c.a}
		if c.imported {
			a.Tags = map[string]string{"imported": "vllm"}
		}
		for _, pair := range [][2]*Facts{{a, {Load: c.b}}, {{Load: c.b}, a}} {
			var got []Gravity
			for _, r := range reasons(pair[0], pair[1]) {
				if r.Name == "load" {
					got = append(got, r.Level)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v and %+v: %v, want %v", c.a, c.b, got, c.want)
			}
		}
	}
}

// A budget of further attempts tells runs apart, but not from a run that doesn't tell whether
// it had one.
func TestRetryBudgets(t *testing.T) {
	with := func(budget timeline.Opt[float64]) *Facts {
		return &Facts{Load: run.Load{Retries: timeline.Some[int64](3), RetryBudget: budget}}
	}
	x := timeline.Some[float64]
	for _, c := range []struct {
		a, b timeline.Opt[float64]
		want int
	}{{x(0.2), x(0.2), 0}, {x(0.2), x(0.1), 1}, {x(0.2), x(0), 1}, {x(0.2), timeline.Opt[float64]{}, 0}, {x(0), timeline.Opt[float64]{}, 0}} {
		if got := reasons(with(c.a), with(c.b)); len(got) != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

// What folders of older programs and of other tools don't tell never refuses: it draws a warning
// where the other side is known to do something, and no word where it does nothing.
func TestUsersAndRetriesThatAreNotKnown(t *testing.T) {
	facts := func(users string, retries timeline.Opt[int64]) *Facts {
		return &Facts{Workload: run.Workload{Users: users}, Load: run.Load{Retries: retries}}
	}
	budget := facts("none", timeline.Some[int64](2))
	budget.Load.RetryBudget = timeline.Some(0.2)
	some := timeline.Some[int64]
	older := facts("", timeline.Opt[int64]{})
	for _, c := range []struct {
		b    *Facts
		want []string
	}{
		{older, nil},
		{facts("none", some(0)), nil},
		{facts("5 % read 2000 bytes/s", some(0)), []string{"users"}},
		{facts("none", some(2)), []string{"retries"}},
		{budget, []string{"retries"}},
	} {
		for _, pair := range [][2]*Facts{{older, c.b}, {c.b, older}} {
			var got []string
			for _, r := range reasons(pair[0], pair[1]) {
				if got = append(got, r.Name); r.Level != Warn {
					t.Errorf("%s is %s", r.Says, r.Level)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c.b, got, c.want)
			}
		}
	}
}

// A run from before these were kept doesn't tell them: its null is no load of another shape,
// no other parameters and no stream.
func TestARunFromBefore(t *testing.T) {
	gamma := run.Load{Kind: "open", RatePerS: timeline.Some(40.0), Arrival: "gamma"}
	trace := run.Load{Kind: "open", Arrival: "trace", Speed: timeline.Some(1.0)}
	shaped, part := gamma, trace
	shaped.Burstiness, part.FromS, part.ToS = timeline.Some(1.0), timeline.Some(0.03), timeline.Some(0.18)
	now := run.Workload{NoStream: timeline.Some(true), Parameters: `{"temperature":0.5}`}
	streams := run.Workload{NoStream: timeline.Some(false)}
	for _, c := range []struct {
		a, b Facts
		want []Gravity
	}{
		{Facts{Load: gamma}, Facts{Load: shaped, Workload: now}, []Gravity{Warn}},
		{Facts{Load: trace}, Facts{Load: part, Workload: now}, []Gravity{Warn}},
		{Facts{Load: trace}, Facts{Load: trace, Workload: now}, nil},
		{Facts{Load: gamma}, Facts{Load: trace, Workload: now}, []Gravity{Refuse}},
		{Facts{Load: trace, Workload: streams}, Facts{Load: part, Workload: streams}, []Gravity{Refuse}},
	} {
		for _, pair := range [][2]*Facts{{&c.a, &c.b}, {&c.b, &c.a}} {
			var got []Gravity
			for _, r := range reasons(pair[0], pair[1]) {
				got = append(got, r.Level)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s and %s: %v, want %v", pair[0].Load.Words(), pair[1].Load.Words(), got, c.want)
			}
		}
	}
}

// Reasons against a comparison, one at a time.
func TestComparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	list := made.records(rng, 60)
	for name, c := range map[string]struct {
		change func(*Facts)
		level  Gravity
	}{
		"input_tokens":       {func(f *Facts) { f.InputTokens.Mean = timeline.Some(256 * 1.06) }, Refuse},
		"output_tokens":      {func(f *Facts) { f.OutputTokens.Mean = timeline.Some(101 * 0.9) }, Refuse},
		"workload":           {func(f *Facts) { f.Workload.Kind = "prompts" }, Refuse},
		"load":               {func(f *Facts) { f.Load.Concurrency = timeline.Some(int64(8)) }, Refuse},
		"invalid":            {func(f *Facts) { f.Validity = "invalid" }, Refuse},
		"suspect":            {func(f *Facts) { f.Validity = "suspect" }, Warn},
		"partial":            {func(f *Facts) { f.Partial = true }, Warn},
		"api":                {func(f *Facts) { f.Target.API = "ollama-chat" }, Warn},
		"model":              {func(f *Facts) { f.Target.Model = "other" }, Warn},
		"served_model":       {func(f *Facts) { f.ServedModels = "m-2025, m-mini" }, Warn},
		"token_source":       {func(f *Facts) { f.TokenSource = "chunks" }, Warn},
		"evidence":           {func(f *Facts) { f.Evidence = timeline.RequestOnly }, Warn},
		"clock":              {func(f *Facts) { f.Clock = timeline.User }, Warn},
		"bursts":             {func(f *Facts) { f.Flags = map[string]int64{"coalesced_bursts": 60} }, Warn},
		"prefix_cache":       {func(f *Facts) { f.Flags = map[string]int64{"prefix_cache_active": 30} }, Warn},
		"failures":           {func(f *Facts) { f.Requests.Failed = 20 }, Warn},
		"streams":            {func(f *Facts) { f.Workload.NoStream = timeline.Some(true) }, Warn},
		"parameters":         {func(f *Facts) { f.Workload.Parameters = `{"temperature":0}` }, Warn},
		"users":              {func(f *Facts) { f.Workload.Users = "50 % leave after 4 pieces of text" }, Refuse},
		"connections":        {func(f *Facts) { f.Load.NoKeepAlive = true }, Warn},
		"retries":            {func(f *Facts) { f.Load.Retries = timeline.Some[int64](3) }, Warn},
		"ignore_eos":         {func(f *Facts) { f.Workload.OutputIsCap = !f.Workload.OutputIsCap }, Note},
		"server":             {func(f *Facts) { f.Target.Server = "engine 2" }, Note},
		"tokenmeter_version": {func(f *Facts) { f.Version = "v2" }, Note},
	} {
		a, b := fromRecords(manifest("A", 0), list), fromRecords(manifest("B", 1), list)
		a.Facts.Target.Server, a.Facts.Version = "engine 1", "v1"
		b.Facts.Target.Server, b.Facts.Version = "engine 1", "v1"
		for _, f := range []*Facts{&a.Facts, &b.Facts} {
			f.Workload.Users, f.Load.Retries = "none", timeline.Some[int64](0)
			f.ServedModels = "m-2025"
		}
		c.change(&b.Facts)
		r := mustCompare(t, Group{Name: "A", Runs: []*Run{a}}, Group{Name: "B", Runs: []*Run{b}}, Options{})
		if len(r.Comparable.Why) != 1 || r.Comparable.Why[0].Name != name || r.Comparable.Why[0].Level != c.level {
			t.Errorf("%s: %+v", name, r.Comparable.Why)
			continue
		}
		want := map[Gravity]Comparability{Refuse: NotComparableRuns, Warn: DoubtfulRuns, Note: ComparableRuns}[c.level]
		if r.Comparable.Verdict != want || (c.level == Refuse) != (r.Verdict == NotComparable) {
			t.Errorf("%s: %s, verdict %s", name, r.Comparable.Verdict, r.Verdict)
		}
		if slices.Contains(Refusals, name) != (c.level == Refuse) {
			t.Errorf("%s is %s; Refusals are %v", name, c.level, Refusals)
		}
		if c.level != Refuse {
			continue
		}
		r = mustCompare(t, Group{Name: "A", Runs: []*Run{a}}, Group{Name: "B", Runs: []*Run{b}}, Options{Allow: []string{name}})
		if r.Comparable.Verdict != DoubtfulRuns || r.Verdict == NotComparable {
			t.Errorf("%s is meant: %s, %s", name, r.Comparable.Verdict, r.Verdict)
		}
	}
	// Lengths within 5 % are alike.
	a, b := fromRecords(manifest("A", 0), list), fromRecords(manifest("B", 1), list)
	b.Facts.InputTokens.Mean = timeline.Some(256 * 1.049)
	if r := mustCompare(t, Group{Name: "A", Runs: []*Run{a}}, Group{Name: "B", Runs: []*Run{b}}, Options{}); r.Comparable.Verdict != ComparableRuns {
		t.Errorf("4.9 %%: %+v", r.Comparable)
	}
}

func TestNotInterleaved(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	names := func(r *Result) (list []string) {
		for _, why := range r.Comparable.Why {
			list = append(list, why.Name)
		}
		return list
	}
	a, b := made.group("A", rng, 3, 60, 0), made.group("B", rng, 3, 60, 1)
	if got := names(mustCompare(t, a, b, Options{})); len(got) != 0 {
		t.Errorf("in turns: %v", got)
	}
	b = made.group("B", rng, 3, 60, 100)
	if got := names(mustCompare(t, a, b, Options{})); !slices.Equal(got, []string{"not_interleaved"}) {
		t.Errorf("one after the other: %v", got)
	}
}

func TestPareto(t *testing.T) {
	side := func(name string, tpot float64, passed int, usd float64) Group {
		var list []metric.Record
		for i := range 100 {
			r := record(i, float64(i), 100, tpot, 101, 256)
			word := "fail"
			if i < passed {
				word = "pass"
			}
			r.Check = &word
			list = append(list, r)
		}
		run := fromRecords(manifest(name, 0), list)
		if usd > 0 {
			run.Facts.Prices.USDPerMOutput = timeline.Some(usd)
		}
		return Group{Name: name, Runs: []*Run{run}}
	}
	axes, err := ParseAxes("check, decode_tps, usd")
	if err != nil {
		t.Fatal(err)
	}
	groups := []Group{side("good", 20, 95, 2), side("fast", 10, 90, 2), side("cheap", 25, 90, 0.5), side("worse", 20, 90, 2), side("unpriced", 5, 99, 0)}
	p := NewPareto(groups, axes)
	if got := p.Front(); !slices.Equal(got, []string{"good", "fast", "cheap"}) {
		t.Errorf("front %v", got)
	}
	if pt := p.Points[3]; !pt.Dominated || !slices.Equal(pt.DominatedBy, []string{"good", "fast"}) {
		t.Errorf("%+v", pt)
	}
	if pt := p.Points[4]; pt.Placed || pt.Dominated || pt.Values[2].OK() || pt.Values[1].Or(0) != 200 {
		t.Errorf("%+v", pt)
	}
	for _, bad := range []string{"", "check", "check,speed of light", "max ttft,check"} {
		if _, err := ParseAxes(bad); err == nil {
			t.Errorf("%q: taken", bad)
		}
	}
	if axes, err := ParseAxes("p95 ttft,tpot p99"); err != nil || axes[0].Stat != "p95" || axes[1].Stat != "p99" {
		t.Errorf("%+v %v", axes, err)
	}
}

// junitSuite is a JUnit file as CI systems read it.
type junitSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Cases    []struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Failure *junitWords `xml:"failure"`
		Error   *junitWords `xml:"error"`
		Skipped *junitWords `xml:"skipped"`
		Out     string      `xml:"system-out"`
	} `xml:"testcase"`
}

type junitWords struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func TestJUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	gates := mustGates(t, "p50 tpot +5%", "p50 tpot +50%", "p99.9 tpot +5%")
	slow := made
	slow.tpot *= 1.2
	r := mustCompare(t, made.group("A", rng, 4, 60, 0), slow.group("<B> & \x1b", rng, 4, 60, 1), Options{Gates: gates})
	var b bytes.Buffer
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Skipped != 1 || got.Errors != 0 || got.Cases[1].Failure == nil || got.Cases[3].Skipped == nil {
		t.Errorf("%s", b.String())
	}
	if c := got.Cases[1]; c.Name != "p50 tpot +5%" || c.Failure != nil && c.Failure.Message != r.Gates[0].Words() || c.Out != r.Gates[0].Words() {
		t.Errorf("%+v", c)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a control byte in the file")
	}
}

// Repeats of few requests whose mean lengths differ by chance are one side;
// what counts is the length of all of them together.
func TestRepeatsOfFewRequestsAreOneWorkload(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a, b := made.group("A", rng, 4, 60, 0), made.group("B", rng, 4, 60, 1)
	for i, mean := range []float64{72, 76, 71, 77} {
		a.Runs[i].Facts.InputTokens.Mean = timeline.Some(mean)
		b.Runs[3-i].Facts.InputTokens.Mean = timeline.Some(mean)
	}
	r := mustCompare(t, a, b, Options{})
	if r.Comparable.Verdict != ComparableRuns || r.Rows[0].Group != nil {
		t.Errorf("%+v, group %v", r.Comparable, r.Rows[0].Group)
	}
	for i := range b.Runs {
		b.Runs[i].Facts.InputTokens.Mean = timeline.Some(80.0)
	}
	if r := mustCompare(t, a, b, Options{}); r.Comparable.Verdict != NotComparableRuns || r.Comparable.Why[0].Name != "input_tokens" {
		t.Errorf("8 %% apart: %+v", r.Comparable)
	}
}
