package sim

import (
	"bufio"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Ten tokens, the first after 10 ms, one every 5 ms.
var ten = Config{Overhead: 10 * ms, DecodeBase: 5 * ms}

func TestEachFault(t *testing.T) {
	steps := func(n int) (at []time.Duration) {
		for i := range n {
			at = append(at, 10*ms+time.Duration(i)*5*ms)
		}
		return at
	}
	later := func(at []time.Duration, from int, by time.Duration) []time.Duration {
		for i := from; i < len(at); i++ {
			at[i] += by
		}
		return at
	}
	same := func(n int, d time.Duration) (at []time.Duration) {
		for range n {
			at = append(at, d)
		}
		return at
	}
	for _, c := range []struct {
		fault   string
		status  int
		at      []time.Duration
		end     time.Duration
		err     error
		has     string
		hasNot  string
		outcome string
	}{
		{"429", 429, nil, 0, nil, "RateLimitError", "", "refused"},
		{"503", 503, nil, 0, nil, "simulated status 503", "", "refused"},
		{"reset:after=3", 200, steps(3), 25 * ms, io.ErrUnexpectedEOF, "", "finish_reason\":\"", "fault"},
		{"cut:after=3", 200, steps(3), 25 * ms, io.ErrUnexpectedEOF, "", "[DONE]", "fault"},
		{"no_finish:after=3", 200, steps(3), 25 * ms, nil, "", "[DONE]", "fault"},
		{"stall:after=3:for=1s", 200, later(steps(10), 3, time.Second), 55*ms + time.Second, nil, "[DONE]", "", "done"},
		{"stall:after=0:for=1s", 200, later(steps(10), 0, time.Second), 55*ms + time.Second, nil, "[DONE]", "", "done"},
		{"error:after=3", 200, steps(3), 25 * ms, nil, `data: {"error":{"message":"simulated failure"`, "[DONE]", "fault"},
		{"error_done:after=3", 200, steps(3), 25 * ms, nil, "[DONE]", "", "fault"},
		{"split:for=2ms", 200, later(steps(10), 0, 2*ms), 57 * ms, nil, "[DONE]", "", "done"},
		{"slow_head:for=40ms", 200, later(steps(10), 0, 40*ms), 95 * ms, nil, "[DONE]", "", "done"},
		{"empty", 200, nil, 10 * ms, nil, `"finish_reason":"stop"`, "", "done"},
		{"no_done", 200, steps(10), 55 * ms, nil, `"finish_reason":"length"`, "[DONE]", "done"},
		{"ping:for=7ms", 200, steps(10), 55 * ms, nil, ": ping", "", "done"},
		{"close", 200, steps(10), 55 * ms, nil, "[DONE]", "", "done"},
		{"close_silent", 200, steps(10), 55 * ms, nil, "[DONE]", "", "done"},
		{"malformed:after=2", 200, steps(10), 55 * ms, nil, "\"content\":", "", "done"},
		{"burst", 200, same(10, 55*ms), 55 * ms, nil, "[DONE]", "", "done"},
		{"drop", 0, nil, 0, io.ErrUnexpectedEOF, "", "", "fault"},
		{"html", 200, nil, 55 * ms, nil, "<!doctype html>", "data:", "done"},
		{"runaway", 200, steps(100), 505 * ms, nil, "[DONE]", "", "done"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			inVirtualTime(t, ten, func(w *world) {
				r := w.ask(prompt(1, 10), "X-Sim: fault="+c.fault+"\r\n")
				at, _ := r.tokens()
				if r.status != c.status || r.end != c.end || !errors.Is(r.err, c.err) {
					t.Errorf("status %d, end %v, error %v", r.status, r.end, r.err)
				}
				if d := cmp.Diff(c.at, at); d != "" {
					t.Error("arrivals (-want +got):\n" + d)
				}
				if c.has != "" && !r.has(c.has) || c.hasNot != "" && r.has(c.hasNot) {
					t.Errorf("%q must be in, %q must not: %v", c.has, c.hasNot, r.lines)
				}
				truths := w.truths()
				if len(truths) != 1 || truths[0].Outcome != c.outcome {
					t.Fatalf("truth %+v", truths)
				}
				// What the truth calls written is what came.
				var written []time.Duration
				for _, ns := range truths[0].WriteNS {
					if ns >= 0 {
						written = append(written, time.Duration(ns))
					}
				}
				if c.fault != "html" {
					if d := cmp.Diff(c.at, written); d != "" {
						t.Error("truth (-want +got):\n" + d)
					}
				}
			})
		})
	}
}

func TestHangAndEndlessStallEndWhenTheClientLeaves(t *testing.T) {
	for _, fault := range []string{"hang", "stall:after=2:for=-1s"} {
		inVirtualTime(t, Config{Slots: 1, Overhead: 10 * ms, DecodeBase: 5 * ms}, func(w *world) {
			nc := w.dial()
			send(nc, prompt(1, 10), "X-Sim: fault="+fault+"\r\n")
			go func() {
				time.Sleep(time.Hour)
				nc.Close()
			}()
			if r := receive(bufio.NewReader(nc), time.Now()); r.end != time.Hour {
				t.Errorf("%s: ended after %v", fault, r.end)
			}
			if tr := w.truths(); len(tr) != 1 || tr[0].Outcome != "cancelled" {
				t.Errorf("%s: %+v", fault, tr)
			}
		})
	}
}

func TestFaultRates(t *testing.T) {
	cfg := Config{Seed: 3, Faults: []Fault{{Kind: "500", Rate: 0.25}}}
	inVirtualTime(t, cfg, func(w *world) {
		failed := 0
		for range 1000 {
			if w.ask(prompt(1, 1), "").status == 500 {
				failed++
			}
		}
		// 250 ± 4 standard deviations of 13.7.
		if failed < 195 || failed > 305 {
			t.Errorf("%d of 1000 failed at a rate of 0.25", failed)
		}
	})
}

func TestParseFault(t *testing.T) {
	for _, c := range []struct {
		text string
		want Fault
		bad  bool
	}{
		{"stall=0.02:after=10:for=3s", Fault{"stall", 0.02, 10, 3 * time.Second}, false},
		{"429=5%", Fault{"429", 0.05, -1, 0}, false},
		{"reset", Fault{"reset", 1, -1, 0}, false},
		{"nonsense=1", Fault{}, true},
		{"429=much", Fault{}, true},
		{"429=1.5", Fault{}, true},
		{"stall=1:for=long", Fault{}, true},
		{"stall=1:why=x", Fault{}, true},
		{"200=1", Fault{}, true},
	} {
		got, err := ParseFault(c.text)
		if (err != nil) != c.bad {
			t.Errorf("%q: %v", c.text, err)
		}
		if err == nil && got != c.want {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}

func TestPresetsAreValid(t *testing.T) {
	for _, p := range Presets() {
		if err := p.Config.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if p.About == "" {
			t.Errorf("%s says nothing about itself", p.Name)
		}
	}
}
