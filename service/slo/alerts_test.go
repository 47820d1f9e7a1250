package slo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// Every alert on slices, written down or not, fires when every slice is bad, and
// at every moment: a slice counts from its beginning, once it is over.
func TestAlertsOnSlicesFire(t *testing.T) {
	for _, slice := range []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour} {
		for _, alerts := range []string{"", ", alerts: [{share: 1%, long: 6h}, {factor: 2, long: 12h, min_events: 2}, {budget_below: 50%}, {exhausted_within: 3d}]"} {
			o := must(t, fmt.Sprintf("objectives:\n  - {name: x, objective: system_output_tps >= 1000, slice: %s, target: 99%%%s}", slice, alerts))[0]
			if len(o.Alerts) < 3 {
				t.Fatalf("%s: alerts %+v, %v", slice, o.Alerts, o.Notes)
			}
			memory := &Memory{}
			now := day0.Add(100 * time.Hour)
			for at := day0; at.Add(slice + 2*time.Second).Before(now.Add(4 * time.Hour)); at = at.Add(slice) {
				memory.Add(Key{o.Hash, Live, ""}, at, 0, Counts{Valid: 1})
			}
			for range 30 {
				now = now.Add(slice/15 + time.Second)
				seen := &until{memory, now.Add(-slice - 2*time.Second)}
				for i, a := range o.Evaluate(seen, Live, nil, now).Alerts {
					if !a.Firing {
						t.Fatalf("%s at %s: %s does not fire: %s", slice, now.Format(time.TimeOnly), o.Alerts[i].Name, a.Says)
					}
				}
			}
		}
	}
}

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// until is a memory without the slices that are not over.
type until struct {
	*Memory
	last time.Time
}

func (u *until) Sum(k Key, from, _, now time.Time, holes []Interval) (kept, cut Counts) {
	return u.Memory.Sum(k, from, u.last, now, holes)
}

// What can never be met, or never fire, is a mistake.
func TestWhatCanNeverBe(t *testing.T) {
	const sliced = "system_output_tps >= 1000, slice: 10m, target: 99%"
	for text, want := range map[string]string{
		"gpu_utilization >= 60, slice: 1m, target: 90%":   "gpu_utilization is a share: write 60%, or 0.6",
		"gpu_utilization >= 600%, slice: 1m, target: 90%": "busy for 100 % at most",
		"gpu_utilization > 100%, slice: 1m, target: 90%":  "busy for 100 % at most",
		"gpu_utilization >= 100%, slice: 1m, target: 90%": "",
		"gpu_utilization >= 0.6, slice: 1m, target: 90%":  "",
		"requests_per_usd >= 5%, slice: 1m, target: 90%":  "is no share",
		"requests_per_usd < 0, slice: 1m, target: 90%":    "nothing is below 0",
		"p99 ttft < 0s": "nothing is below 0",
		"task success >= 90%, slice: 1m, target: 90%":                 "a task has no slice",
		sliced + ", alerts: [{factor: 2, long: 1h, short: 5m}]":       "short window must be at least 30m",
		sliced + ", alerts: [{factor: 2, long: 2h}]":                  "",
		sliced + ", alerts: [{factor: 2, long: 20m}]":                 "the short one is shorter",
		sliced + ", alerts: [{factor: 2, long: 1h, min_events: 7}]":   "1h has at most 6 slices",
		sliced + ", alerts: [{no_data_for: 10m}]":                     "wait for at least 30m",
		"p99 ttft < 1s, alerts: [{factor: 2, long: 1h, min_bad: -1}]": "it can't be negative",
	} {
		_, _, err := Load("x.yaml", []byte("objectives:\n  - {name: x, objective: "+text+"}"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Usual alerts that do not fit leave a note.
func TestNotesOnUsualAlerts(t *testing.T) {
	for text, want := range map[string]string{
		"p99 ttft < 1s, window: 1h":                                     "no alerts: a window of 1h is too short",
		"system_output_tps >= 1000, slice: 1h, target: 99%":             "no alert over 1h: slices of 1h are too long for it",
		"system_output_tps >= 1000, slice: 1h, target: 99%, alerts: []": "",
	} {
		o := must(t, "objectives:\n  - {name: x, objective: "+text+"}")[0]
		if got := strings.Join(o.Notes, "; "); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// Times of the day on which clocks are set are there twice, or not at all.
func TestCorrectionsWhenClocksAreSet(t *testing.T) {
	for from, want := range map[string]string{
		"2026-03-29 02:30":          "does not exist in Europe/Berlin",
		"2026-10-25 02:30":          "is there twice in Europe/Berlin",
		"2026-10-25T02:30:00+01:00": "",
		"2026-03-29 01:59":          "",
		"2026-03-29":                "",
		"2026-10-25 03:00":          "",
	} {
		_, _, err := Load("x.yaml", []byte("timezone: Europe/Berlin\nobjectives: [{name: x, objective: p99 ttft < 1s}]\ncorrections: [{from: \""+from+"\", to: 2026-12-01, reason: r}]"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
	_, _, err := Load("x.yaml", []byte("objectives: [{name: x, objective: p99 ttft < 1s}]\ncorrections: [{from: 2026-01-01, to: 2026-01-02, reason: \"\", objectives: [y], sources: [z]}]"))
	for _, want := range []string{"from, to and reason", `no objective is called "y"`, `"z": choose among`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing says %q: %v", want, err)
		}
	}
}

// Nothing that comes is told, once it was watched for so long; not before.
func TestNoData(t *testing.T) {
	o := must(t, "objectives:\n  - {name: x, objective: availability >= 99%, alerts: [{no_data_for: 15m}]}")[0]
	memory := &Memory{}
	fires := func(now time.Time) bool { return o.Evaluate(memory, Live, nil, now).Alerts[0].Firing }
	memory.Watch(Live, day0, day0.Add(10*time.Minute))
	if fires(day0.Add(10 * time.Minute)) {
		t.Error("it fires on a daemon that has just begun")
	}
	memory.Watch(Live, day0.Add(10*time.Minute), day0.Add(40*time.Minute))
	if !fires(day0.Add(20 * time.Minute)) {
		t.Error("it does not fire without a request")
	}
	memory.Add(Key{o.Hash, Live, ""}, day0.Add(25*time.Minute), 0, Counts{Excluded: 1})
	if fires(day0.Add(30 * time.Minute)) {
		t.Error("it fires although somebody asked")
	}
	memory.Watch(Live, day0.Add(time.Hour), day0.Add(time.Hour+time.Second))
	if fires(day0.Add(time.Hour + time.Second)) {
		t.Error("it fires after a time in which nobody watched")
	}
}

// What has just begun to be counted is not silent, however long others were
// watched; nor is what was silent over by a time in which nobody watched.
func TestNoDataOfWhatIsNew(t *testing.T) {
	o := must(t, "objectives:\n  - {name: x, objective: availability >= 99%, alerts: [{no_data_for: 15m}]}")[0]
	memory := &Memory{}
	memory.Watch(Live, day0, day0.Add(72*time.Hour))
	begun := day0.Add(48 * time.Hour)
	memory.Counting(map[Key]time.Time{{Hash: o.Hash, Source: Live}: begun})
	for _, c := range []struct {
		after          time.Duration
		firing, frozen bool
	}{
		{time.Second, false, true}, {15*time.Minute - time.Second, false, true}, {15 * time.Minute, true, false},
		// Restarts of five minutes hide nothing.
		{24*time.Hour + 6*time.Minute, true, false}, {24*time.Hour + 18*time.Minute, true, false}, {24*time.Hour + 21*time.Minute, true, false},
	} {
		after := c.after
		if after > 24*time.Hour { // nobody watched for 5 minutes
			memory.Watch(Live, day0.Add(72*time.Hour+5*time.Minute), begun.Add(after))
		}
		if got := o.Evaluate(memory, Live, nil, begun.Add(after)).Alerts[0]; got.Firing != c.firing || got.Frozen != c.frozen {
			t.Errorf("after %s: %+v", after, got)
		}
	}
	memory.Add(Key{o.Hash, Live, ""}, begun.Add(24*time.Hour+6*time.Minute), 0, Counts{Good: 1, Valid: 1})
	if got := o.Evaluate(memory, Live, nil, begun.Add(24*time.Hour+10*time.Minute)).Alerts[0]; got.Firing || got.Frozen {
		t.Errorf("after a request: %+v", got)
	}
}

// Windows that follow from slices are whole minutes, and hold some.
func TestWindowsOfOddSlices(t *testing.T) {
	for text, want := range map[string][2]time.Duration{
		"slice: 30s, target: 90%, alerts: [{factor: 5, long: 10m}]": {10 * time.Minute, 2 * time.Minute},
		"slice: 20s, target: 90%, alerts: [{factor: 5, long: 10m}]": {10 * time.Minute, time.Minute},
		"slice: 30s, target: 90%, alerts: [{factor: 5, long: 25m}]": {25 * time.Minute, 2 * time.Minute},
		"slice: 5m, target: 90%, alerts: [{factor: 5, long: 1h}]":   {time.Hour, 15 * time.Minute},
		"slice: 150s, target: 99%":                                  {time.Hour, 8 * time.Minute},
	} {
		a := must(t, "objectives:\n  - {name: x, objective: system_output_tps >= 1000, "+text+"}")[0].Alerts[0]
		if a.Long != want[0] || a.Short != want[1] {
			t.Errorf("%s: %s and %s, want %s", text, a.Long, a.Short, want)
		}
	}
}

// Two objectives that differ in window only are counted once in a run too.
func TestDistinct(t *testing.T) {
	all := must(t, "objectives:\n  - {name: a, objective: p99 ttft < 1s}\n  - {name: b, objective: p99 ttft < 1s, window: 7d}\n  - {name: c, objective: p99 ttft < 2s}")
	if got := Distinct(all); len(got) != 2 || got[0] != all[0] || got[1] != all[2] {
		t.Errorf("%d are distinct", len(got))
	}
}

// A task of a run belongs where its first request went.
func TestTasksOfRuns(t *testing.T) {
	all := must(t, "objectives:\n  - {name: a, objective: task success >= 90%}\n  - {name: b, objective: task success >= 90%, where: {model: x}}\n  - {name: c, objective: task success >= 90%, by: [model]}")
	var list []*timeline.Timeline
	for i, what := range []string{"1 x ok", "1 y ok", "2 y ok", "3 x http_5xx", "4 x ok"} {
		f := strings.Fields(what)
		tl := timeline.New()
		tl.Request, tl.Task, tl.Model, tl.DueUS, tl.Phase, tl.Outcome = int64(i), f[0], f[1], int64(i)*1e6, timeline.Measure, timeline.Outcome(f[2])
		list = append(list, tl)
	}
	memory := &Memory{}
	end, err := TallyRun(day0, func(yield func(*timeline.Timeline, error) bool) {
		for _, tl := range list {
			if !yield(tl, nil) {
				return
			}
		}
	}, all, memory)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]Counts{{"": {Good: 3, Valid: 4}}, {"": {Good: 2, Valid: 3}}, {"x": {Good: 2, Valid: 3}, "y": {Good: 1, Valid: 1}}} {
		for group, c := range want {
			if got, _ := memory.Sum(Key{all[i].Hash, Run, group}, day0, end, end, nil); got != c {
				t.Errorf("%s %q: %+v, want %+v", all[i].Name, group, got, c)
			}
		}
	}
}
