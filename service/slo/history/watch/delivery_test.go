package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/notify"
)

// disk is a store in memory that outlives the processes of a test.
type disk struct {
	history.Store
	mu      sync.Mutex
	seq     map[string]int64
	counts  []slo.Increment
	totals  map[slo.Key]slo.Counts
	watched []history.Watched
	states  map[string]json.RawMessage
}

func (d *disk) Write(_ context.Context, b history.Batch) error {
	if b.Seq <= d.seq[b.Writer] {
		return nil
	}
	d.seq[b.Writer] = b.Seq
	for _, r := range b.Redated {
		for i := range d.counts {
			d.counts[i].At = r.Of(d.counts[i].At).Truncate(slo.Tiers[0].Step)
		}
		for i := range d.watched {
			d.watched[i].From, d.watched[i].To = r.Of(d.watched[i].From), r.Of(d.watched[i].To)
		}
	}
	d.counts, d.watched = append(d.counts, b.Counts...), append(d.watched, b.Watched...)
	for _, i := range b.Counts {
		d.totals[i.Key] = d.totals[i.Key].Plus(i.Counts)
	}
	return nil
}

func (d *disk) Cells(_ context.Context, from, to time.Time, yield func(history.Cell) error) error {
	for _, i := range d.counts {
		if !i.At.Before(from) && i.At.Before(to) {
			if err := yield(history.Cell{Key: i.Key, At: i.At, Step: slo.Tiers[0].Step, Counts: i.Counts}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *disk) Words() []error { return nil }

func (d *disk) Totals(context.Context) (map[slo.Key]slo.Counts, error) {
	return maps.Clone(d.totals), nil
}

func (d *disk) Watched(context.Context) (map[slo.Source][]slo.Interval, error) {
	all := map[slo.Source][]slo.Interval{}
	for _, w := range d.watched {
		all[w.Source] = append(all[w.Source], w.Interval)
	}
	return all, nil
}

func (d *disk) Compact(context.Context, time.Time) error { return nil }

// process is what one process sees of the disk and of the receiver: a kill at a
// step ends both for it.
type process struct {
	*disk
	world *world
	dead  bool
}

// world is a run of a scenario: processes one after another, killed at the given
// steps, and the receiver, which knows the truth of what it was told.
type world struct {
	kill  map[int]bool
	step  int
	away  func() bool     // the receiver
	said  []string        // what came, in order: alert, status and id
	count map[string]int  // of said
	fails map[string]bool // what was sent while the receiver was away
}

var errKilled = errors.New("killed")

// at is a step: a moment at which the process may be killed.
func (p *process) at() error {
	if p.dead {
		return errKilled
	}
	p.world.step++
	if p.world.kill[p.world.step] {
		p.dead = true
		return errKilled
	}
	return nil
}

func (p *process) PutState(_ context.Context, name string, v json.RawMessage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Ledgers, and alerts that begin or are over: figures change every time, and
	// that counts outlive a kill is tested elsewhere.
	alerts := func(v json.RawMessage) int { return strings.Count(string(v), `"since"`) }
	counted := strings.HasPrefix(name, "slo.told.") || name == alertsState && alerts(v) != alerts(p.states[name])
	if counted {
		if err := p.at(); err != nil {
			return err
		}
	} else if p.dead {
		return errKilled
	}
	p.states[name] = v
	if counted {
		return p.at()
	}
	return nil
}

func (p *process) State(_ context.Context, name string) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[name], nil
}

func (p *process) Write(ctx context.Context, b history.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errKilled
	}
	return p.disk.Write(ctx, b)
}

// RoundTrip is the receiver.
func (p *process) RoundTrip(q *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.at(); err != nil {
		return nil, err
	}
	var body struct {
		Alerts []struct{ ID, Objective, Alert, Status string }
	}
	if err := json.NewDecoder(q.Body).Decode(&body); err != nil {
		return nil, err
	}
	for _, a := range body.Alerts {
		key := fmt.Sprint(a.Objective, " ", a.Alert, " ", a.Status, " ", a.ID)
		if p.world.away() {
			p.world.fails[key] = true
			continue
		}
		p.world.said = append(p.world.said, key)
		p.world.count[key]++
	}
	if p.world.away() {
		return nil, errors.New("connection refused")
	}
	if err := p.at(); err != nil {
		return nil, err // it came, and nobody knows
	}
	return &http.Response{StatusCode: 200, Status: "200 OK", Body: io.NopCloser(strings.NewReader("")), Request: q}, nil
}

// play runs the scenario: an hour and a half in which half of the requests fail
// for two times of ten minutes. The receiver is away when the first begins, and
// when the second ends.
func play(t *testing.T, kill ...int) *world {
	w := &world{kill: map[int]bool{}, count: map[string]int{}, fails: map[string]bool{}}
	for _, k := range kill {
		w.kill[k] = true
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		minute := func() int { return int(time.Since(begun) / time.Minute) }
		w.away = func() bool { m := minute(); return m >= 8 && m < 16 || m >= 100 && m < 108 }
		store := &disk{seq: map[string]int64{}, totals: map[slo.Key]slo.Counts{}, states: map[string]json.RawMessage{}}
		all := compiled(t, "  - {name: up, objective: availability >= 99%, window: 7d, alerts: [{factor: 14.4, long: 30m, short: 5m, severity: page}, {factor: 2, long: 30m, short: 10m, severity: ticket}]}\n")
		for minute() < 150 {
			p := &process{disk: store, world: w}
			n, err := notify.New(slo.NotifySpec{Webhook: "http://receiver"}, notify.Options{Client: &http.Client{Transport: p}})
			if err != nil {
				t.Fatal(err)
			}
			watch, err := New(t.Context(), p, Plan{Objectives: all, Receivers: []*notify.Notifier{n}}, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); watch.Run(ctx, func(error) {}) }()
			for i := 0; !p.killed() && minute() < 150; i++ {
				time.Sleep(5 * time.Second)
				outcome, m := timeline.OK, minute()
				if i%2 == 0 && (m >= 10 && m < 20 || m >= 90 && m < 100) {
					outcome = timeline.HTTP5xx
				}
				watch.Done(request("m", outcome, 100))
			}
			stop()
			<-ended
			time.Sleep(7 * time.Second)
		}
	})
	return w
}

func (p *process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Whenever the process is killed, the receiver hears of every alert, when it
// begins and when it is over; at most what was being told comes once more, with
// the id that it had.
func TestKilledAtEveryStep(t *testing.T) {
	calm := play(t)
	truth := map[string]int{} // how often each alert begins and ends, whatever the moment
	for key, n := range calm.count {
		if n != 1 {
			t.Errorf("%s came %d times", key, n)
		}
		truth[strings.Join(strings.Fields(key)[:3], " ")]++
	}
	// Two alerts, twice each, as is written in the scenario.
	for _, alert := range []string{"burn_30m_5m", "burn_30m_10m"} {
		for _, status := range []string{"firing", "resolved"} {
			if n := truth["up "+alert+" "+status]; n != 2 {
				t.Errorf("%s of %s came %d times of 2", status, alert, n)
			}
		}
	}
	if len(calm.fails) == 0 || calm.step < 40 {
		t.Errorf("the receiver was never away, or there were only %d steps", calm.step)
	}
	for k := 1; k <= calm.step; k++ {
		w := play(t, k, k+3)
		if err := w.wrong(truth); err != nil {
			t.Errorf("killed at steps %d and %d: %v\n%s", k, k+3, err, strings.Join(w.said, "\n"))
		}
	}
}

// wrong compares with the truth. Two kills make at most two messages come twice.
func (w *world) wrong(truth map[string]int) error {
	seen, again := map[string]int{}, 0
	for key, n := range w.count {
		seen[strings.Join(strings.Fields(key)[:3], " ")]++
		again += n - 1
	}
	for _, key := range slices.Sorted(maps.Keys(truth)) {
		if seen[key] != truth[key] {
			return fmt.Errorf("%s came of %d alerts, there were %d", key, seen[key], truth[key])
		}
	}
	// A message may hold both alerts.
	if again > 4 {
		return fmt.Errorf("%d messages came twice", again)
	}
	if n := len(w.said); n == 0 || !strings.Contains(w.said[n-1], " resolved ") {
		return errors.New("the last word is not that it is over")
	}
	return nil
}

// A history that can't be written for a minute is a ticket, and is over when it
// can; nothing is lost meanwhile.
func TestHistoryIsNotWritten(t *testing.T) {
	s := staged(t, Plan{Objectives: compiled(t, up)})
	full := &full{Store: s.db}
	s.store = full
	w, err := New(t.Context(), full, Plan{Objectives: compiled(t, up)}, func() time.Time { return s.now })
	if err != nil {
		t.Fatal(err)
	}
	var failed int
	for second := range 300 {
		full.is = second >= 100 && second < 200
		w.Done(request("m", timeline.OK, 100))
		s.now = s.now.Add(time.Second)
		if err := w.Step(t.Context()); err != nil {
			failed++
			if !strings.Contains(err.Error(), "the history can't be written") {
				t.Error(err)
			}
		}
		_, since := w.Unwritten()
		if (since > 0) != (second > 100 && second < 200) {
			t.Errorf("after %d s it is not written for %s", second, since)
		}
		firing, over := w.historyAlert(s.now)
		if (len(firing) == 1) != (since >= time.Minute) || len(over) > 0 && second != 200 {
			t.Errorf("after %d s: %v, %v", second, firing, over)
		}
	}
	if n, _ := w.Unwritten(); n != 100 || failed != 100 {
		t.Errorf("%d failures were counted, %d were told, there were 100", n, failed)
	}
	totals, err := s.db.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range totals {
		if c.Valid != 300 {
			t.Errorf("%d of 300 requests are there", c.Valid)
		}
	}
}

// What the last write could not take is what Run ends with.
func TestTheLastWriteIsToldOf(t *testing.T) {
	for _, is := range []bool{false, true} {
		s := staged(t, Plan{Objectives: compiled(t, up)})
		full := &full{Store: s.db}
		w, err := New(t.Context(), full, Plan{Objectives: compiled(t, up)}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		w.Done(request("m", timeline.OK, 100))
		full.is = is
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := w.Run(ctx, func(error) {}); (err != nil) != is {
			t.Errorf("full: %t, ended with %v", is, err)
		}
	}
}

// full is a store on a disk that is full at times.
type full struct {
	history.Store
	is bool
}

func (f *full) Write(ctx context.Context, b history.Batch) error {
	if f.is {
		return errors.New("database or disk is full")
	}
	return f.Store.Write(ctx, b)
}
