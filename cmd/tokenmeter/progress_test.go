package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"tokenmeter/load/bench"
	"tokenmeter/record/timeline"
)

func snapshot(done int64) bench.Snapshot {
	return bench.Snapshot{Phase: timeline.Measure, Elapsed: 94 * time.Second, Done: done, Failed: 3, Planned: 600,
		InFlight: 32, TTFT: bench.Tails{P50: timeline.Some(182.4), P95: timeline.Some(610.2), P99: timeline.Some(1920.0)},
		TPOT: bench.Tails{P50: timeline.Some(23.81), P95: timeline.Some(28.1), P99: timeline.Some(41.0)}, OutputTPS: timeline.Some(1312.0),
		RequestsPerS: timeline.Some(4.45),
		Objectives:   []bench.Standing{{Text: "p95 ttft < 1s", Target: 0.95, Good: 400, Valid: 421}, {Text: "p99 tpot < 40ms", Target: 0.99, Good: 400, Valid: 421}},
		Left:         timeline.Some(40 * time.Second), Trust: "suspect:drift"}
}

// B108: in a minute a log gets at most 13 lines, without control bytes.
// A count never goes beyond what it is of.
func TestCountedBeyondPlan(t *testing.T) {
	for want, s := range map[string]bench.Snapshot{"3/4": {Done: 3, Planned: 4}, "4/4": {Done: 4, Planned: 4}, "7": {Done: 7, Planned: 4}, "2": {Done: 2}} {
		if got := counted(s); got != want {
			t.Errorf("%d of %d: %q, want %q", s.Done, s.Planned, got, want)
		}
	}
}

func TestPlainProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &plain{out: &out, start: time.Now()}
		for range 240 {
			time.Sleep(250 * time.Millisecond)
			p.show(snapshot(421))
		}
		if n := strings.Count(out.String(), "\n"); n < 10 || n > 13 {
			t.Errorf("%d lines", n)
		}
		if strings.ContainsAny(out.String(), "\x1b\r") {
			t.Error("control bytes in a log")
		}
		want := "94s 421/600 err=3 in_flight=32 ttft_p50=182ms ttft_p95=610ms tpot_p50=23.8ms tpot_p99=41.0ms out=1312tok/s answered=4.45/s objectives=1/2 trust=suspect:drift\n"
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("got  %s\nwant %s", out.String(), want)
		}
	})
}

// The live view is redrawn at most four times a second, in few bytes, and
// leaves nothing behind.
func TestLiveView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &countingWriter{}
		l := newLive(out, screen{terminal: true, moves: true, width: 60}, "bench  m @ h   closed loop of 32 streams")
		for i := range 100 {
			time.Sleep(50 * time.Millisecond)
			l.show(snapshot(int64(i)))
		}
		if out.writes > 21 {
			t.Errorf("%d redraws in 5 s", out.writes)
		}
		if perSecond := out.Len() / 5; perSecond > 8000 {
			t.Errorf("%d bytes a second", perSecond)
		}
		for _, line := range l.lines {
			if len([]rune(line)) > 59 {
				t.Errorf("line of %d columns: %s", len([]rune(line)), line)
			}
		}
		l.say("warning: x")
		if !strings.Contains(out.String(), "\x1b[8A\r\x1b[Jwarning: x\n") {
			t.Errorf("a warning is not above the view: %q", out.String())
		}
		l.close()
		if !strings.HasSuffix(out.String(), "\x1b[8A\r\x1b[J") {
			t.Errorf("the view is left on the screen: %q", out.String())
		}
	})
}

func TestLiveViewInASCII(t *testing.T) {
	l := newLive(&bytes.Buffer{}, screen{ascii: true, width: 80}, "bench")
	for _, line := range l.view(snapshot(421)) {
		for _, r := range line {
			if r > 126 {
				t.Errorf("%q in %s", r, line)
			}
		}
	}
	if bar := l.bar(snapshot(421)); !strings.Contains(bar, "##############......") {
		t.Errorf("bar %q", bar)
	}
}

type countingWriter struct {
	bytes.Buffer
	writes int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.writes++
	return c.Buffer.Write(p)
}

func TestScreen(t *testing.T) {
	env := func(vars map[string]string) *app {
		return &app{env: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	}
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{map[string]string{"LANG": "en_GB.UTF-8"}, true},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LC_CTYPE": "C.utf8", "LANG": "C"}, true},
		{map[string]string{"LC_ALL": "", "LANG": "de_DE.ISO-8859-1"}, false},
	} {
		if got := env(c.vars).utf8(); got != c.want {
			t.Errorf("%v: UTF-8 %v", c.vars, got)
		}
	}
	s := env(map[string]string{"TERM": "xterm"}).screen(&bytes.Buffer{}, false)
	if s.terminal || s.color || s.moves || s.width != 80 {
		t.Errorf("a buffer is no terminal: %+v", s)
	}
}

// How to stop is said whole or not at all, at any width.
func TestHintFits(t *testing.T) {
	for width := 20; width <= 120; width++ {
		l := newLive(&bytes.Buffer{}, screen{width: width}, "bench")
		bar := l.view(snapshot(421))[1]
		_, hint, said := strings.Cut(bar, "Ctrl")
		if _, short, ok := strings.Cut(bar, "^C"); said && hint != "-C = stop and save" || ok && short != " stops" {
			t.Errorf("%d columns: %q", width, bar)
		}
		if got := utf8.RuneCountInString(bar); got >= width {
			t.Errorf("%d columns: %d letters", width, got)
		}
	}
}
