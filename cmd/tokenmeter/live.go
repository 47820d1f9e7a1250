package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tokenmeter/base/printable"
	"tokenmeter/load/bench"
	"tokenmeter/record/timeline"
)

// liveEvery bounds the redraws: four a second.
const liveEvery = 250 * time.Millisecond

// mostObjectives keeps the view lower than any terminal.
const mostObjectives = 8

// live redraws a few lines in place. There is no alternate screen, and at the
// end the lines give way to the result.
type live struct {
	mu     sync.Mutex
	out    io.Writer
	screen screen
	head   string
	lines  []string // as drawn
	last   time.Time
	closed bool
}

func newLive(out io.Writer, s screen, head string) *live {
	return &live{out: out, screen: s, head: head}
}

// heading says what is measured.
func heading(plan bench.Plan, demo bool) string {
	what := plan.Model
	if demo {
		what = "the simulated server"
	} else if host := hostOf(plan.Client.BaseURL); host != "" {
		if what != "" {
			what += " @ "
		}
		what += host
	}
	return printable.Text("bench  " + what + "   " + plan.LoadWords())
}

func (l *live) show(s bench.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.closed || now.Sub(l.last) < liveEvery-10*time.Millisecond {
		return
	}
	l.last = now
	if l.screen.resized() {
		l.draw(nil) // what was cut for another width is not passed over
	}
	l.draw(l.view(s))
}

// Write puts other lines above the view.
func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.draw(nil)
	_, _ = l.out.Write(p) // a closed stderr must not end the run
	l.draw(lines)
	return len(p), nil
}

func (l *live) say(text string) { fmt.Fprintln(l, printable.Lines(text)) }

func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw(nil)
	l.closed = true
}

// draw replaces the lines on the screen in one write; unchanged lines are
// passed over.
func (l *live) draw(lines []string) {
	if slices.Equal(lines, l.lines) {
		return
	}
	var b strings.Builder
	if n := len(l.lines); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", n)
	}
	for i, line := range lines {
		if i < len(l.lines) && l.lines[i] == line {
			b.WriteString("\n")
			continue
		}
		b.WriteString("\x1b[2K" + line + "\n")
	}
	if extra := len(l.lines) - len(lines); extra > 0 {
		b.WriteString("\x1b[J")
	}
	l.lines = lines
	if b.Len() > 0 {
		io.WriteString(l.out, b.String())
	}
}

func (l *live) view(s bench.Snapshot) []string {
	lines := []string{l.head, l.bar(s)}
	if s.Phase == timeline.Measure {
		lines = append(lines, tails("TTFT", s.TTFT), tails("TPOT", s.TPOT), rates(s), counts(s))
		for _, o := range s.Objectives[:min(len(s.Objectives), mostObjectives)] {
			lines = append(lines, l.standing(o))
		}
	}
	for i, line := range lines {
		lines[i] = cut(line, l.screen.width-1)
	}
	if l.screen.color {
		lines[0] = "\x1b[1m" + lines[0] + "\x1b[0m"
	}
	return lines
}

func (l *live) bar(s bench.Snapshot) string {
	word := "measuring"
	if s.Phase == timeline.Warmup {
		word = "warming up, not counted"
	}
	line := word + " "
	if share, ok := done(s); ok {
		full, empty := "█", "░"
		if l.screen.ascii {
			full, empty = "#", "."
		}
		const width = 20
		n := int(share * width)
		line += strings.Repeat(full, n) + strings.Repeat(empty, width-n) + " "
	}
	line += " " + counted(s)
	if left, ok := s.Left.Get(); ok {
		line += fmt.Sprintf("   %.0f s left", left.Seconds())
	}
	for _, hint := range []string{"   Ctrl-C = stop and save", "   ^C stops"} {
		if utf8.RuneCountInString(line+hint) < l.screen.width {
			return line + hint
		}
	}
	return line
}

// done is the share of the run that is over: the bound that is nearer.
func done(s bench.Snapshot) (float64, bool) {
	share, known := 0.0, false
	if s.Planned > 0 {
		share, known = float64(s.Done)/float64(s.Planned), true
	}
	if left, ok := s.Left.Get(); ok && s.Elapsed > 0 {
		share, known = max(share, s.Elapsed.Seconds()/(s.Elapsed+left).Seconds()), true
	}
	return min(share, 1), known
}

func tails(name string, t bench.Tails) string {
	return fmt.Sprintf("%-8s p50 %-10s p95 %-10s p99 %s", name, inMS(t.P50), inMS(t.P95), inMS(t.P99))
}

func inMS(v timeline.Opt[float64]) string {
	if ms, ok := v.Get(); ok {
		return short(ms) + " ms"
	}
	return "-"
}

func rates(s bench.Snapshot) string {
	line := "server  "
	if tps, ok := s.OutputTPS.Get(); ok {
		line += " " + short(tps) + " output tok/s  "
	}
	if rate, ok := s.RequestsPerS.Get(); ok {
		line += " " + short(rate) + " requests/s"
	}
	return line
}

func counts(s bench.Snapshot) string {
	return fmt.Sprintf("errors   %d of %d   in flight %d   trust %s", s.Failed, s.Done, s.InFlight, s.Trust)
}

// standing is a line of an objective: its share of good requests so far. The
// sign is for now; only the end of the run decides.
func (l *live) standing(o bench.Standing) string {
	yes, no := "✓", "✗"
	if l.screen.ascii {
		yes, no = "ok", "no"
	}
	kept, ok := o.Kept()
	switch {
	case !ok:
		return fmt.Sprintf("so far   -  %s", o.Text)
	case kept:
		no = yes
	}
	return fmt.Sprintf("so far   %s  %s: %d of %d good", no, o.Text, o.Good, o.Valid)
}

// cut keeps a line within the terminal: a wrapped line could not be redrawn.
func cut(line string, width int) string {
	if width < 1 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}
