package watch

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/slo/history/sqlstore"
)

// A clock that is wrong for a while, at the beginning, or before a
// restart: when it is right again every event counts once, none lies in
// the future then or a day later, and something was said. Truth is the list of
// events by a clock that is never wrong.
func TestWrongClocks(t *testing.T) {
	const day = 24 * time.Hour
	const never = time.Duration(1 << 62)
	for _, c := range []struct {
		name     string
		by       time.Duration // how wrong
		from, to time.Duration // when
		restart  time.Duration // the process is killed then, and is back after a minute; 0: never
		moved    bool          // what was counted is a day off, for good
	}{
		{"ahead for five minutes", day, time.Hour, time.Hour + 5*time.Minute, never, false},
		{"ahead for two hours", day, time.Hour, 3 * time.Hour, never, false},
		{"ahead by a year", 365 * day, time.Hour, time.Hour + 3*time.Minute, never, false},
		{"ahead at first", day, 0, time.Hour, never, false},
		{"ahead, killed, and right after", day, time.Hour, 2 * time.Hour, 2*time.Hour - 30*time.Second, false},
		{"ahead, killed in between", day, time.Hour / 2, time.Hour, 45 * time.Minute, true},
		{"back for five minutes", -day, time.Hour, time.Hour + 5*time.Minute, never, false},
		{"back by an hour for five minutes", -time.Hour, 90 * time.Minute, 95 * time.Minute, never, false},
		{"back for an hour", -day, time.Hour, 2 * time.Hour, never, true},
		{"back for an hour, killed", -day, time.Hour, 2 * time.Hour, 90 * time.Minute, true},
		{"back for two minutes, killed", -day, time.Hour, time.Hour + 2*time.Minute, time.Hour + time.Minute, false},
		// A machine without a battery begins in its build's year, and is set by NTP moments after
		// (systemd-timesyncd; gokrazy/gokrazy#392).
		{"behind at its restart for five minutes", -300 * day, time.Hour, time.Hour + 6*time.Minute, time.Hour - 30*time.Second, false},
		{"behind at its restart for an hour", -2 * day, time.Hour, 2 * time.Hour, time.Hour - 30*time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it waits for the disk
			path := filepath.Join(t.TempDir(), "h.db")
			begun := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
			var passed time.Duration // the truth
			now := func() time.Time {
				if passed >= c.from && passed < c.to {
					return begun.Add(passed + c.by)
				}
				return begun.Add(passed)
			}
			objectives := compiled(t, up)
			key := slo.Key{Hash: objectives[0].Hash, Source: slo.Live}
			var db *sqlstore.Store
			var w *Watch
			var words []string
			start := func() {
				var err error
				if db, err = sqlite.Open(path); err != nil {
					t.Fatal(err)
				}
				if w, err = New(t.Context(), db, Plan{Objectives: objectives}, now); err != nil {
					t.Fatal(err)
				}
			}
			start()
			defer func() { db.Close() }()
			var events []time.Duration
			step := func(asked bool) {
				if asked {
					w.Done(request("m", timeline.HTTP5xx, 0))
					events = append(events, passed)
				}
				passed += 10 * time.Second
				if err := w.Step(t.Context()); err != nil {
					words = append(words, err.Error())
				}
			}
			for passed < c.to+70*time.Minute {
				if passed == c.restart {
					if err := w.recorder.Flush(t.Context(), now()); err != nil {
						t.Fatal(err)
					}
					db.Close()
					passed += time.Minute
					start()
				}
				step(true)
			}
			within := func(long time.Duration) (n int64) {
				for _, at := range events {
					if at >= passed-long && at < passed {
						n++
					}
				}
				return n
			}
			sum := func(long time.Duration) int64 {
				c, _ := w.recorder.Memory().Sum(key, now().Add(-long), now(), now(), nil)
				return c.Valid
			}
			if got, want := sum(6*day), within(6*day); got != want {
				t.Errorf("%d events of %d are there", got, want)
			}
			if got, want := sum(time.Hour), within(time.Hour); max(got-want, want-got) > 2 {
				t.Errorf("the last hour has %d events, want %d", got, want)
			}
			if got, want := sum(6*time.Hour), within(6*time.Hour); !c.moved && max(got-want, want-got) > 15 {
				t.Errorf("the last six hours have %d events, want %d", got, want)
			}
			if got := w.Totals()[0].Valid; got != int64(len(events)) {
				t.Errorf("the counter is %d of %d", got, len(events))
			}
			if len(words) == 0 || !strings.Contains(words[0], "clock") {
				t.Errorf("it says %q", words)
			}
			check := func() {
				t.Helper()
				if err := db.Cells(t.Context(), now().Add(10*time.Second), begun.Add(1000*day), func(c history.Cell) error {
					t.Errorf("%+v at %s lies in the future", c.Counts, c.At.Sub(now()))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			check()
			// A day and a half later, after a restart, it is what it was.
			want := sum(6 * day)
			db.Close()
			passed += 36 * time.Hour
			start()
			step(false)
			step(false)
			if got := sum(6 * day); got != want {
				t.Errorf("two days later there are %d events, there were %d", got, want)
			}
			if got := sum(24 * time.Hour); got != 0 {
				t.Errorf("two days later the last one has %d events", got)
			}
			check()
			if n := w.recorder.Memory().Watched(slo.Live, now().Add(-30*time.Hour), now()); n > time.Minute {
				t.Errorf("it was watched for %s while nothing ran", n)
			}
		})
	}
}
