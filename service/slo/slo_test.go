package slo

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"

	"pgregory.net/rapid"
)

func TestCompiled(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"objective: p99 tpot < 120ms", "99 % of requests to which it applies with tpot < 120ms; failed ones are bad; rolling 28d; budget 1 %"},
		{"objective: p99 tpot < 120ms valid: success", "99 % of requests to which it applies with tpot < 120ms; failed ones left out; rolling 28d; budget 1 %"},
		{"objective: availability >= 99.95%, calendar: month", "99.95 % of requests did not fail; calendar month in UTC; budget 0.05 %"},
		{"objective: p99 itl < 50ms, window: 7d", "99 % of the gaps between tokens with itl < 50ms; a failed request is a bad gap; rolling 7d; budget 1 %"},
		{"objective: p95 ttft < 500ms, slice: 1m, target: 99%", "99 % of the 1m slices in which 95 % of the requests had ttft < 500ms; failed ones are bad; rolling 28d; budget 1 %"},
		{"objective: p99 itl < 50ms, slice: 1m, target: 95%", "95 % of the 1m slices in which 99 % of the gaps between tokens had itl < 50ms; failed ones are bad; rolling 28d; budget 5 %"},
		{"objective: availability >= 99%, slice: 1m, target: 95%", "95 % of the 1m slices in which 99 % of the requests did not fail; rolling 28d; budget 5 %"},
		{"objective: system_output_tps >= 1000, slice: 1m, target: 99.5%", "99.5 % of the 1m slices with system_output_tps >= 1000 tok/s; rolling 28d; budget 0.5 %"},
		{"objective: usd_per_1k_output < 0.002, slice: 5m, target: 90%", "90 % of the 5m slices with usd_per_1k_output < 0.002 usd; rolling 28d; budget 10 %"},
		{"objective: 'goodput > 99% and ttft:500 and tpot:50'", "99 % of requests met ttft:500ms and tpot:50ms; failed ones are bad; rolling 28d; budget 1 %"},
		{"objective: 'ttft:500 tpot:50', target: 95%", "95 % of requests met ttft:500ms and tpot:50ms; failed ones are bad; rolling 28d; budget 5 %"},
		{"objective: check pass >= 98%", "98 % of checked requests passed their check; rolling 28d; budget 2 %"},
		{"objective: task success < 60s >= 95%", "95 % of tasks succeeded within 1m; failed ones are bad; rolling 28d; budget 5 %"},
		{"objective: p10 decode_tps > 30", "90 % of requests to which it applies with decode_tps > 30 tok/s; failed ones are bad; rolling 28d; budget 10 %"},
	} {
		o := must(t, "objectives:\n  - {name: x, "+c.yaml+"}")[0]
		if got := o.Compiled(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.yaml, got, c.want)
		}
	}
}

// The same predicate in other words, or with another window, keeps its counters.
func TestHash(t *testing.T) {
	o := must(t, `
objectives:
  - {name: a, objective: p99 tpot < 120ms}
  - {name: b, objective: TPOT P99 below 0.12 s, window: 7d}
  - {name: c, objective: p99 tpot < 121ms}
  - {name: d, objective: p99 tpot < 120ms, where: {model: x}}
  - {name: e, objective: p99 tpot < 120ms, slice: 1m, target: 99%}`)
	if o[0].Hash != o[1].Hash || o[0].Hash != traffic.Hash("p99 tpot < 120ms") {
		t.Error("the same predicate has two hashes")
	}
	for _, other := range o[2:] {
		if other.Hash == o[0].Hash {
			t.Errorf("%s shares the counters of another predicate", other.Name)
		}
	}
}

func TestTallyOfGaps(t *testing.T) {
	o := must(t, "objectives: [{name: x, objective: p99 itl < 50ms}, {name: y, objective: p99 tpot < 50ms, where: {model: m}, by: [route]}]")
	for _, c := range []struct {
		r    metric.Record
		want Counts
	}{
		{metric.Record{Outcome: timeline.OK, ITLMS: []float64{10, 50, 49.9}}, Counts{Good: 2, Valid: 3, Excluded: 0}},
		{metric.Record{Outcome: timeline.OK}, Counts{Good: 0, Valid: 0, Excluded: 1}},
		{metric.Record{Outcome: timeline.HTTP5xx}, Counts{Good: 0, Valid: 1, Excluded: 0}},
		{metric.Record{Outcome: timeline.StreamTruncated, ITLMS: []float64{10, 10}}, Counts{Good: 0, Valid: 2, Excluded: 0}},
		{metric.Record{Outcome: timeline.CancelledUser, ITLMS: []float64{10}}, Counts{Good: 0, Valid: 0, Excluded: 1}},
	} {
		c.r.Phase = timeline.Measure
		if got := o[0].Tally(&c.r); got != c.want {
			t.Errorf("%+v: got %+v, want %+v", c.r.Outcome, got, c.want)
		}
	}
	r := metric.Record{Phase: timeline.Measure, Outcome: timeline.OK, TPOTMS: timeline.Some(20.0), ITLMS: []float64{20}}
	all := Increments(o, Live, Labels{"model": "m", "route": "chat"}, begin, &r)
	if len(all) != 2 || all[1].Key.Group != "chat" {
		t.Errorf("got %+v", all)
	}
	if all := Increments(o, Live, Labels{"model": "other"}, begin, &r); len(all) != 1 {
		t.Errorf("a request of another model counts: %+v", all)
	}
	if all := Increments(o, Probe, Labels{"model": "m"}, begin, &r); len(all) != 0 {
		t.Errorf("a probe counts as live: %+v", all)
	}
}

// Whatever the order of what comes in, a window's sum is that of the cells that
// begin in it.
func TestCellsAgainstASimpleSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cells Cells
		type event struct {
			at int64
			c  Counts
		}
		var all []event
		base := begin.Unix()
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			e := event{base + rapid.Int64Range(0, 3000).Draw(t, "at"), Counts{Good: rapid.Int64Range(0, 5).Draw(t, "good"), Valid: 5, Excluded: 1}}
			all = append(all, e)
			cells.Add(time.Unix(e.at, 0), 0, e.c)
		}
		from := base + 10*rapid.Int64Range(0, 150).Draw(t, "from")
		to := from + 10*rapid.Int64Range(0, 150).Draw(t, "length") + 9
		var want Counts
		for _, e := range all {
			if e.at >= from && e.at <= to {
				want = want.Plus(e.c)
			}
		}
		got, _ := cells.Sum(time.Unix(from, 0), time.Unix(to, 0), time.Unix(base+3000, 0), nil)
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestStartOfDay(t *testing.T) {
	for _, c := range []struct{ zone, day, want string }{
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z"},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z"},
		// Midnight does not exist there: the day begins at one.
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},
		{"Asia/Beirut", "2022-03-27", "2022-03-26T22:00:00Z"},
		// Midnight comes twice: the first counts.
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},
		{"Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"}, // the 30th was skipped
	} {
		loc, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip(err)
		}
		d, _ := time.Parse("2006-01-02", c.day)
		if got := startOfDay(d.Year(), d.Month(), d.Day(), loc).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s begins at %s, want %s", c.day, c.zone, got, c.want)
		}
	}
}

// Calendar windows follow each other without gap or overlap, whatever the zone.
func TestCalendarWindowsTile(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, zone := range zones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip(err)
		}
		for range 200 {
			at := time.Unix(1_262_304_000+random.Int64N(600_000_000), 0)
			for _, c := range Calendars() {
				w := Window{Calendar: c, Location: loc}
				from, until := w.Bounds(at)
				if at.Before(from) || !at.Before(until) {
					t.Fatalf("%s, %s: %s is not in %s to %s", zone, c, at.In(loc), from, until)
				}
				if next, _ := w.Bounds(until); !next.Equal(until) {
					t.Fatalf("%s, %s: the window after %s begins at %s", zone, c, until, next)
				}
				if _, end := w.Bounds(until.Add(-time.Second)); !end.Equal(until) {
					t.Fatalf("%s, %s: the second before %s is in another window", zone, c, until)
				}
			}
		}
	}
}

func TestSection(t *testing.T) {
	objectives, _, err := Load("tokenmeter.yaml", []byte("listen: :8088\nupstreams:\n  - url: x\nslo:\n  objectives:\n    - name: a\n      objective: p99 ttft < 1s\nlog:\n  level: info\n"))
	if err != nil || len(objectives) != 1 {
		t.Errorf("%v %v", objectives, err)
	}
	_, _, err = Load("tokenmeter.yaml", []byte("listen: :8088\nslo:\n  objectives:\n    - name: a\n      objektive: p99 ttft < 1s\n"))
	if err == nil || !strings.Contains(err.Error(), "tokenmeter.yaml:5:7") {
		t.Errorf("got %v", err)
	}
}

// A file of the daemon without budgets says so, and not that its own fields are
// unknown.
func TestDaemonWithoutBudgets(t *testing.T) {
	_, _, err := Load("d.yaml", []byte("listeners: []\nobjectives:\n  - p99 tpot < 120ms\n"))
	if err == nil || !strings.Contains(err.Error(), "d.yaml: there is no slo: part") {
		t.Error(err)
	}
}

// The file that docs/slo.md shows is one that can be read.
func TestDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/slo.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(data), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	objectives, spec, err := Load("tokenmeter.yaml", []byte(block))
	if err != nil || len(objectives) != 3 || len(spec.Notify) != 2 || len(objectives[1].Holes) != 1 {
		t.Errorf("%d objectives, %v", len(objectives), err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("objectives:\n  - {name: a, objective: p99 ttft < 1s, alerts: [{share: 2%, long: 1h}]}\ncorrections:\n  - {from: 2026-03-01, to: 2026-03-02, reason: x}")
	f.Add("slo:\n  timezone: Europe/Berlin\n  objectives: [{name: b, objective: gpu utilisation > 50%, slice: 1m, target: 9%}]")
	f.Add("slo:\nobjectives: [{name: b, objective: 'ttft:1 tpot:1', target: 0.5, calendar: week}]")
	f.Fuzz(func(t *testing.T, text string) {
		objectives, _, err := Load("f.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, r := range Evaluate(objectives, &Memory{}, begin) {
			if r.Says == "" || r.Compiled == "" {
				t.Errorf("%+v", r)
			}
		}
		for _, o := range objectives {
			if !(o.Budget > 0 && o.Budget < 1) {
				t.Errorf("a budget of %v", o.Budget)
			}
			for _, a := range o.Alerts {
				if a.Factor > 0 && a.Factor*o.Budget >= 1 {
					t.Errorf("alert %+v can never fire", a)
				}
			}
		}
	})
}

// filled is 28 days of a request a second for n objectives.
func filled(n int) ([]*Objective, *Memory, time.Time) {
	var yaml strings.Builder
	yaml.WriteString("objectives:\n")
	for i := range n {
		yaml.WriteString("  - {name: o" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + ", objective: p99 ttft < " + string(rune('1'+i%9)) + strings.Repeat("0", 1+i/9%4) + "." + string(rune('0'+i/36%10)) + "ms}\n")
	}
	objectives, _, err := Load("b.yaml", []byte(yaml.String()))
	if err != nil {
		panic(err)
	}
	m := &Memory{}
	now := begin.Add(28 * 24 * time.Hour)
	for at := begin; at.Before(now); at = at.Add(10 * time.Second) {
		for i, o := range objectives {
			c := Counts{Good: 10, Valid: 10}
			if (at.Unix()/10+int64(i))%150 == 0 {
				c.Good = 9
			}
			m.Add(Key{o.Hash, Live, ""}, at, 0, c)
		}
	}
	m.Watch(Live, begin, now)
	return objectives, m, now
}

func BenchmarkEvaluate100Objectives28Days(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	objectives, m, now := filled(100)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if names := slices.Compact(slices.SortedFunc(slices.Values(objectives), func(a, b *Objective) int { return strings.Compare(a.Hash, b.Hash) })); len(names) < 100 {
		b.Fatal("objectives share counters")
	}
	b.ResetTimer()
	for range b.N {
		if r := Evaluate(objectives, m, now); r[0].Valid < 2_400_000 {
			b.Fatal(r[0].Counts)
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
}

// Calendars lists the periods.
func Calendars() []Calendar { return []Calendar{Day, Week, Month, Quarter, Year} }
