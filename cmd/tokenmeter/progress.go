package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/load/bench"
	"tokenmeter/record/timeline"
)

// plainEvery is the least time between two plain lines.
const plainEvery = 5 * time.Second

// progress tells a person who waits how the run goes. It is also where
// warnings of the run are written, so that the two do not mix.
type progress interface {
	io.Writer
	show(bench.Snapshot)
	say(text string)
	close()
}

// progress chooses the way: nothing, plain lines, or a live view.
func (a *app) progress(quiet, noColor, demo bool, plan bench.Plan) progress {
	s := a.screen(a.stderr, noColor)
	switch {
	case quiet:
		return silent{a.stderr}
	case s.moves:
		return newLive(a.stderr, s, heading(plan, demo))
	}
	return &plain{out: a.stderr, start: time.Now()}
}

// silent shows nothing but what the user must know.
type silent struct{ out io.Writer }

func (silent) Write(p []byte) (int, error) { return len(p), nil }
func (silent) show(bench.Snapshot)         {}
func (s silent) say(text string)           { fmt.Fprintln(s.out, printable.Lines(text)) }
func (silent) close()                      {}

// plain writes lines without any control bytes, for logs and pipes.
type plain struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
	last  time.Time
}

func (p *plain) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(b) // a closed stderr must not end the run
	return len(b), nil
}

func (p *plain) say(text string) { fmt.Fprintln(p, printable.Lines(text)) }
func (p *plain) close()          {}

func (p *plain) show(s bench.Snapshot) {
	now := time.Now()
	p.mu.Lock()
	from := p.last
	if from.IsZero() {
		from = p.start
	}
	due := now.Sub(from) >= plainEvery
	if due {
		p.last = now
	}
	p.mu.Unlock()
	if due {
		fmt.Fprintln(p, plainLine(s))
	}
}

// plainLine has the fields of the live view, as name=value.
func plainLine(s bench.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0fs %s", s.Elapsed.Seconds(), counted(s))
	if s.Phase == timeline.Warmup {
		b.WriteString(" warming up, not counted")
		return b.String()
	}
	fmt.Fprintf(&b, " err=%d in_flight=%d", s.Failed, s.InFlight)
	for _, v := range []struct {
		name string
		ms   timeline.Opt[float64]
	}{{"ttft_p50", s.TTFT.P50}, {"ttft_p95", s.TTFT.P95}, {"tpot_p50", s.TPOT.P50}, {"tpot_p99", s.TPOT.P99}} {
		if ms, ok := v.ms.Get(); ok {
			fmt.Fprintf(&b, " %s=%sms", v.name, short(ms))
		}
	}
	if tps, ok := s.OutputTPS.Get(); ok {
		fmt.Fprintf(&b, " out=%stok/s", short(tps))
	}
	if rate, ok := s.RequestsPerS.Get(); ok {
		fmt.Fprintf(&b, " answered=%s/s", short(rate))
	}
	if kept, judged := keptObjectives(s); judged > 0 {
		fmt.Fprintf(&b, " objectives=%d/%d", kept, judged)
	}
	fmt.Fprintf(&b, " trust=%s", s.Trust)
	return b.String()
}

// keptObjectives are those that stand as promised so far, of those that can be told.
func keptObjectives(s bench.Snapshot) (kept, judged int) {
	for _, o := range s.Objectives {
		holds, ok := o.Kept()
		if ok {
			judged++
		}
		if ok && holds {
			kept++
		}
	}
	return kept, judged
}

// counted is how many requests are done, of how many where that is known: a warm-up that
// learns how the server counts sends more than were planned.
func counted(s bench.Snapshot) string {
	if s.Planned > 0 && s.Done <= s.Planned {
		return fmt.Sprintf("%d/%d", s.Done, s.Planned)
	}
	return fmt.Sprint(s.Done)
}

// short has three significant digits.
func short(x float64) string {
	switch {
	case x < 1:
		return fmt.Sprintf("%.3f", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
