//go:build !lean

package run

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// half is a run of n requests of 100 ms, one every second, of a machine that began so
// many seconds after noon.
func half(t *testing.T, n int, after time.Duration, change func(*Run)) *Folder {
	t.Helper()
	began := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC).Add(after)
	ended := began.Add(time.Duration(n) * time.Second)
	m := Run{Started: began, Finished: &ended}
	m.Target.Model, m.Load.Kind, m.Load.Concurrency = "m", "closed", timeline.Some(int64(1))
	if change != nil {
		change(&m)
	}
	w, err := Create(t.TempDir(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		tl := timeline.New()
		tl.Request, tl.Outcome, tl.Streamed, tl.Attempts, tl.HTTPStatus, tl.Session = int64(i), timeline.OK, true, 1, 200, "s"
		tl.DueUS = int64(i) * 1_000_000
		tl.StartUS = tl.DueUS
		tl.Events.Append(timeline.Event{AtUS: 50_000, Kind: timeline.Text, Bytes: 1})
		tl.Events.Append(timeline.Event{AtUS: 100_000, Kind: timeline.Text, Bytes: 1, Read: 1})
		tl.CloseUS = timeline.Some(int64(100_000))
		tl.Usage.Output = timeline.Some(int64(2))
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
	return finished(t, w, m)
}

// finished is the folder of a run that ends.
func finished(t *testing.T, w *Writer, m Run) *Folder {
	t.Helper()
	if _, err := w.Finish(m); err != nil {
		t.Fatal(err)
	}
	f, err := Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// merged is the run that others make together.
func merged(t *testing.T, folders ...*Folder) *Folder {
	t.Helper()
	m, err := Merged(folders)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(t.TempDir(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := AppendMerged(w, folders); err != nil {
		t.Fatal(err)
	}
	return finished(t, w, m)
}

// Two machines that began half a second apart: the figures are those of all requests
// on one clock, and their sessions stay two.
func TestMerge(t *testing.T) {
	folders := []*Folder{half(t, 5, 500*time.Millisecond, func(m *Run) { m.ServerMetrics = &metric.ServerMetrics{Engine: "vllm"} }), half(t, 4, 0, nil)}
	if r := folders[0].Run(); r.ServerMetrics == nil {
		t.Error("what the server told is not kept")
	}
	m, err := Merged(folders)
	if err != nil {
		t.Fatal(err)
	}
	if m.ServerMetrics != nil {
		t.Error("what one machine read of the server stands for all")
	}
	w, err := Create(t.TempDir(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := AppendMerged(w, folders); err != nil {
		t.Fatal(err)
	}
	sum, err := w.Finish(m)
	if err != nil {
		t.Fatal(err)
	}
	// The last of the first run is due at 0.5 + 4 s and ends 0.1 s later.
	if d := sum.Throughput.WindowS.Or(0); d != 4.6 || sum.Requests.OK != 9 || sum.Load.Concurrency.Or(0) != 2 {
		t.Errorf("window %v, %d requests, %v streams", d, sum.Requests.OK, sum.Load.Concurrency)
	}
	if says := sum.Warnings[len(m.Noticed)-1].Says; !strings.Contains(says, "began after 0.500 s") || !strings.Contains(says, "began after 0.000 s") {
		t.Errorf("offsets: %s", says)
	}
	f, err := Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sessions, workers := map[string]int{}, map[int]int{}
	for tl, err := range f.Timelines() {
		if err != nil {
			t.Fatal(err)
		}
		sessions[tl.Session]++
		workers[tl.Worker]++
	}
	if sessions["1/s"] != 5 || sessions["2/s"] != 4 || workers[0] != 5 || workers[1] != 4 {
		t.Errorf("sessions %v, workers %v", sessions, workers)
	}
}

func TestMergeRefuses(t *testing.T) {
	a := half(t, 1, 0, nil)
	if _, err := Merged([]*Folder{a}); err == nil {
		t.Error("one run alone was merged")
	}
	_, err := Merged([]*Folder{a, half(t, 1, 0, func(m *Run) { m.Target.Model = "other"; m.Load.Kind = "open" })})
	if err == nil || !strings.Contains(err.Error(), `model "other", not "m"; load "open", not "closed"`) {
		t.Errorf("another model: %v", err)
	}
	if _, err := Merged([]*Folder{a, a}); err == nil || !strings.Contains(err.Error(), "count twice") {
		t.Errorf("a run twice: %v", err)
	}
	b, c := half(t, 1, 0, nil), half(t, 1, 0, nil)
	ab, bc := merged(t, a, b), merged(t, b, c)
	if parts := ab.Run().Parts; len(parts) != 2 || parts[0] != a.Run().ID || parts[1] != b.Run().ID {
		t.Errorf("parts %q", parts)
	}
	for name, folders := range map[string][]*Folder{"its part": {ab, a}, "of which it is a part": {b, ab}, "a part of both": {ab, bc}, "a part of a part": {merged(t, ab, c), b}} {
		if _, err := Merged(folders); err == nil || !strings.Contains(err.Error(), "count twice") {
			t.Errorf("a run and %s: %v", name, err)
		}
	}
	if _, err := Merged([]*Folder{ab, c}); err != nil {
		t.Error(err)
	}
	busy := half(t, 1, 0, func(m *Run) { m.Client.CPUBusy = timeline.Some(1.0) })
	for _, order := range [][]*Folder{{a, busy}, {busy, a}} {
		if m, err := Merged(order); err != nil || m.Client.CPUBusy.Or(0) != 1 {
			t.Errorf("the machine that could not keep up is not the one that is judged: %+v, %v", m.Client, err)
		}
	}
	m, err := Merged([]*Folder{a, half(t, 1, time.Hour, nil)})
	if err != nil || m.Noticed[0].Name != "no_overlap" {
		t.Errorf("an hour apart: %+v, %v", m.Noticed, err)
	}
}

// Runs of two addresses may be of one server, seen from two machines: it is told, once
// for each address.
func TestMergeTellsAddresses(t *testing.T) {
	at := func(url string) *Folder { return half(t, 1, 0, func(m *Run) { m.Target.URL = url }) }
	for _, c := range []struct {
		urls []string
		says string
	}{
		{[]string{"http://a/v1", "http://a/v1"}, ""},
		{[]string{"http://a/v1", ""}, ""}, // another tool's
		{[]string{"http://a/v1", "http://b/v1", "http://a/v1"}, "http://a/v1, http://b/v1"},
	} {
		var folders []*Folder
		for _, url := range c.urls {
			folders = append(folders, at(url))
		}
		m, err := Merged(folders)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, n := range m.Noticed {
			if n.Name == "merged_targets" {
				said += n.Says
			}
		}
		if c.says == "" && said != "" || !strings.Contains(said, "loaded "+c.says+":") && c.says != "" {
			t.Errorf("%q: %q", c.urls, said)
		}
	}
}

// What is damaged, or has lost its records, does not become a part of a run that looks
// whole.
func TestMergeRefusesDamage(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"another run's records": func(dir string) error {
			data, err := os.ReadFile(filepath.Join(half(t, 3, 0, nil).Dir(), tableFile))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, tableFile), data, 0o644))
		},
		"no end, as kill -9 leaves it": func(dir string) error {
			w, err := Create(dir, half(t, 1, 0, nil).Run(), Options{Force: true})
			if err != nil {
				return err
			}
			for tl := range half(t, 5, 0, nil).Timelines() {
				err = errors.Join(err, w.Append(tl))
			}
			return errors.Join(err, w.Close())
		},
		"no records": func(dir string) error { return os.Remove(filepath.Join(dir, tableFile)) },
		"another manifest": func(dir string) error {
			path := filepath.Join(dir, manifestFile)
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, bytes.Replace(data, []byte(`"seed": 0`), []byte(`"seed": 1`), 1), 0o644))
		},
	} {
		well, dir := half(t, 5, 0, nil), half(t, 5, 0, nil).Dir()
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, folders := range [][]*Folder{{well, f}, {f, well}} {
			if _, err := Merged(folders); err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// broken is a table of which nobody saw that it was altered.
type broken struct{}

func (broken) each(yield func(*timeline.Timeline, error) bool) { yield(nil, errTable) }

// A run that can't be read to its end is refused before the one that the merged run is to
// replace is gone.
func TestMergeReadsBeforeItReplaces(t *testing.T) {
	folders := []*Folder{half(t, 3, 0, nil), half(t, 3, 0, nil)}
	folders[1].source = broken{}
	if _, err := Merged(folders); !errors.Is(err, errTable) {
		t.Errorf("a broken table: %v", err)
	}
}

// The load of a merged run is what all its machines sent, and where that is no one load,
// what each did: it is never that of one of them.
func TestMergedLoad(t *testing.T) {
	n, x := timeline.Some[int64], timeline.Some[float64]
	open := func(change func(*Load)) Load {
		l := Load{Kind: "open", Arrival: "constant"}
		change(&l)
		return l
	}
	rate := func(r float64, arrival string) Load {
		return Load{Kind: "open", Arrival: arrival, RatePerS: x(r)}
	}
	stages := func(s string) Load { return open(func(l *Load) { l.Stages = s }) }
	trace := func(speed float64) Load { return Load{Kind: "open", Arrival: "trace", Speed: x(speed)} }
	streams := func(k int64, change func(*Load)) Load {
		l := Load{Kind: "closed", Arrival: "closed", Concurrency: n(k)}
		if change != nil {
			change(&l)
		}
		return l
	}
	paced := func(l *Load) { l.PaceS = x(0.3) }
	capped := func(l *Load) { l.PrefillConcurrency = n(1) }
	for _, c := range []struct {
		of   []Load
		want string
	}{
		{[]Load{rate(10, "constant"), rate(20, "constant")}, "30 requests/s, constant"},
		{[]Load{rate(30, "constant"), rate(30, "poisson")}, "30 requests/s, constant + 30 requests/s, poisson"},
		{[]Load{rate(30, "constant"), open(func(l *Load) { l.RatePerS, l.Concurrency = x(5), n(2) })}, "30 requests/s, constant + 5 requests/s, constant, at most 2 at once"},
		{[]Load{stages("3s@10"), stages("3s@10")}, "stages 3s@20 requests/s, constant"},
		{[]Load{stages("3s@10,1m0s@1..4"), stages("3s@40,1m0s@2"), stages("3s@0.5,1m0s@1")}, "stages 3s@50.5,1m0s@4..7 requests/s, constant"},
		{[]Load{stages("1m0s@0.1"), stages("60s@0.2")}, "stages 1m0s@0.3 requests/s, constant"},
		{[]Load{stages("3s@10"), stages("4s@10")}, "stages 3s@10 requests/s, constant + stages 4s@10 requests/s, constant"},
		{[]Load{stages("3s@10"), stages("3s@10,1s@2")}, "stages 3s@10 requests/s, constant + stages 3s@10,1s@2 requests/s, constant"},
		{[]Load{rate(5, "constant"), stages("3s@10")}, "5 requests/s, constant + stages 3s@10 requests/s, constant"},
		{[]Load{trace(4), trace(4)}, "trace, 4 times as fast + trace, 4 times as fast"},
		{[]Load{trace(6), trace(4)}, "trace, 4 times as fast + trace, 6 times as fast"},
		{[]Load{streams(1, func(l *Load) { l.Stages = "3s@1" }), streams(8, func(l *Load) { l.Stages = "3s@8" })}, "stages 3s@9 streams"},
		{[]Load{streams(4, nil), streams(4, nil), streams(2, nil)}, "10 streams"},
		{[]Load{streams(4, paced), streams(4, paced)}, "8 streams, at least 0.3 s between a user's requests"},
		{[]Load{streams(4, paced), streams(4, nil)}, "4 streams + 4 streams, at least 0.3 s between a user's requests"},
		{[]Load{streams(4, capped), streams(4, capped)}, "8 streams, at most 2 before the first token"},
		{[]Load{streams(4, capped), streams(4, nil)}, "4 streams + 4 streams, at most 1 before the first token"},
	} {
		var folders []*Folder
		for _, l := range c.of {
			folders = append(folders, half(t, 1, 0, func(m *Run) { m.Load = l }))
		}
		all := merged(t, folders...).Run()
		if got := all.Load.Words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What is merged once more keeps what its parts did.
func TestMergedLoadTwice(t *testing.T) {
	of := func(arrival string) *Folder {
		return half(t, 1, 0, func(m *Run) {
			m.Load = Load{Kind: "open", Arrival: arrival, RatePerS: timeline.Some(1.0), DurationS: timeline.Some(9.0)}
		})
	}
	all := merged(t, merged(t, of("poisson"), of("constant")), of("gamma")).Run()
	if got, want := all.Load.Words(), "1 requests/s, constant + 1 requests/s, gamma + 1 requests/s, poisson"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if all.Load.RatePerS.Or(0) != 3 || all.Load.DurationS.Or(0) != 9 {
		t.Errorf("the rate is %v, each went on for %v", all.Load.RatePerS, all.Load.DurationS)
	}
}

// Of a file that another tool wrote not all is known, in a merged run neither.
func TestMergeKeepsThatItWasImported(t *testing.T) {
	from := func(tags map[string]string) *Folder { return half(t, 1, 0, func(m *Run) { m.Tags = tags }) }
	m, err := Merged([]*Folder{from(map[string]string{"gpu": "l4"}), from(map[string]string{"imported": "vllm"})})
	if err != nil || m.Tags["imported"] != "vllm" || m.Tags["gpu"] != "" {
		t.Errorf("%v, %v", m.Tags, err)
	}
}

// What all were asked to send is what they asked for together, not what the first did: the
// rate that was due, how many prompts differ, and how long these were.
func TestMergedRunsOffered(t *testing.T) {
	x, n := timeline.Some[float64], timeline.Some[int64]
	of := func(after time.Duration, salt string, unique int64, asked float64) *Folder {
		return half(t, 10, after, func(m *Run) {
			m.Load = Load{Kind: "open", Arrival: "constant", RatePerS: x(1)}
			m.Client.OfferedPerS = x(1)
			m.Workload.PromptsMade, m.Workload.Salt, m.Workload.UniquePrompts, m.Workload.AskedInput = true, salt, n(unique), x(asked)
		})
	}
	all := merged(t, of(0, "a", 10, 100), of(500*time.Millisecond, "b", 10, 140)).Run()
	if got := all.Throughput.OfferedPerS.Or(0); math.Abs(got-2) > 0.01 || math.Abs(all.Throughput.AchievedPerS.Or(0)-2) > 0.01 {
		t.Errorf("%v of %v/s due", all.Throughput.AchievedPerS, all.Throughput.OfferedPerS)
	}
	if all.Client.OfferedPerS.OK() || all.Workload.UniquePrompts != n(20) || all.Workload.AskedInput != x(120) {
		t.Errorf("offered %v, %v prompts of %v tokens", all.Client.OfferedPerS, all.Workload.UniquePrompts, all.Workload.AskedInput)
	}
	for _, c := range all.Validity.Checks {
		if c.Name == "achieved_over_offered" && math.Abs(c.Value.Or(0)-1) > 0.01 {
			t.Errorf("%+v", c)
		}
	}
	if same := merged(t, of(0, "a", 10, 100), of(0, "a", 10, 100)).Run(); same.Workload.UniquePrompts.OK() { // the same prompts twice
		t.Errorf("%v different prompts of one salt", same.Workload.UniquePrompts)
	}
	three := merged(t, merged(t, of(0, "a", 10, 100), of(0, "b", 10, 100)), of(0, "c", 10, 160)).Run()
	if three.Workload.AskedInput != x(120) || math.Abs(three.Throughput.OfferedPerS.Or(0)-29.0/9) > 0.01 {
		t.Errorf("%v tokens, %v/s due", three.Workload.AskedInput, three.Throughput.OfferedPerS)
	}
}

// Runs whose requests had other further fields, or asked for whole answers, are not one.
func TestMergeRefusesOtherBodies(t *testing.T) {
	of := func(parameters string, whole timeline.Opt[bool]) *Folder {
		return half(t, 1, 0, func(m *Run) { m.Workload.Parameters, m.Workload.NoStream = parameters, whole })
	}
	no, yes, unknown := timeline.Some(false), timeline.Some(true), timeline.Opt[bool]{}
	for _, c := range []struct {
		a, b *Folder
		fit  bool
	}{
		{of(`{"n":1}`, no), of(`{"n":1}`, no), true}, {of("", no), of("", unknown), true},
		{of(`{"n":1}`, no), of(`{"n":2}`, no), false}, {of("", no), of("", yes), false}, {of(`{"n":1}`, no), of("", no), false},
	} {
		if _, err := Merged([]*Folder{c.a, c.b}); (err == nil) != c.fit {
			t.Errorf("%v", err)
		}
	}
}
