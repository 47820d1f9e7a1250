package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// midway is a search of ten minutes in which each of the probes was made, firmly.
func midway(t *testing.T, subject *gateway, probes ...Probe) *hunt {
	t.Helper()
	s := Search{Objectives: parsed(t, "p90 ttft < 500ms"), MaxTime: 10 * time.Minute, Now: func() time.Duration { return subject.clock }}
	if err := s.settle(); err != nil {
		t.Fatal(err)
	}
	tests, err := newTests(s.Objectives)
	if err != nil {
		t.Fatal(err)
	}
	h := &hunt{Search: s, subject: subject, tests: tests, budget: 1}
	for _, p := range probes {
		p.Firm, p.Requests = true, 200
		h.found.Probes = append(h.found.Probes, p)
		h.learn(&p)
	}
	return h
}

// A load that failed and then held did not fail. Too many of those, and the
// search says so instead of taking one as confirmed.
func TestRefuted(t *testing.T) {
	h := midway(t, &gateway{}, Probe{Load: 10, decided: holds}, Probe{Load: 32, decided: fails}, Probe{Load: 28, decided: fails},
		Probe{Load: 24, decided: fails}, Probe{Load: 20, decided: fails}, Probe{Load: 50, decided: fails})
	for i, next := range []float64{24, 28, 32, 50} {
		load := h.found.Fails
		again, err := h.confirm(context.Background())
		if err != nil || h.confirmed != 0 || h.found.Fails != next || again != (i < mostRefuted) {
			t.Fatalf("%g: %v, again %v, confirmed %g, fails %g, want %g", load, err, again, h.confirmed, h.found.Fails, next)
		}
	}
	if !strings.Contains(h.found.Why, "4 loads failed and then held") {
		t.Errorf("why: %q", h.found.Why)
	}
	h.found.Fails = 0
	h.lean()
	if h.found.SeemsFails != 50 {
		t.Errorf("%g seems to fail", h.found.SeemsFails)
	}
	for _, p := range h.found.Probes {
		if p.Firm && p.Note != "" {
			t.Errorf("%g: firm, and %s", p.Load, p.Note)
		}
	}
}

// A second look at which the client was late is none, and one that fails is.
func TestSecondLook(t *testing.T) {
	subject := &gateway{late: true}
	h := midway(t, subject, Probe{Load: 10, decided: holds}, Probe{Load: 20, decided: fails})
	if again, err := h.confirm(context.Background()); again || err != nil || h.confirmed != 0 || h.lates != 1 || !strings.Contains(h.unseen, "could not be tried again") {
		t.Errorf("late: again %v, %v, confirmed %g, %d lates, %q", again, err, h.confirmed, h.lates, h.unseen)
	}
	subject.late, subject.most = false, 15
	if again, err := h.confirm(context.Background()); again || err != nil || h.confirmed != 20 || h.unseen != "" || h.found.Why != "" {
		t.Errorf("it failed again: again %v, %v, confirmed %g, %q %q", again, err, h.confirmed, h.unseen, h.found.Why)
	}
}

// Doubt goes back to the next load that failed and was not refuted.
func TestDoubtSkipsRefuted(t *testing.T) {
	h := midway(t, &gateway{}, Probe{Load: 30, decided: fails}, Probe{Load: 25, decided: fails, spoilt: true}, Probe{Load: 20, decided: fails})
	h.doubt(&Probe{Load: 21, score: 1, counted: 100})
	if h.high != 30 {
		t.Errorf("fails from %g", h.high)
	}
}

// A search whose time ended before the second look is not settled.
func TestNoTimeForASecondLook(t *testing.T) {
	subject := &gateway{}
	h := midway(t, subject, Probe{Load: 10, decided: holds}, Probe{Load: 10.4, decided: fails})
	subject.clock = 10 * time.Minute
	if err := h.repeat(context.Background()); err != nil || !strings.Contains(h.found.Why, "not tried again: the time was up") {
		t.Errorf("%v, %q", err, h.found.Why)
	}
}

// What held and then did not leaves the next load, with what was missed there.
func TestFailedRepeat(t *testing.T) {
	h := midway(t, &gateway{most: 4}, Probe{Load: 2, decided: holds, Probed: Probed{Missed: []string{"a"}}},
		Probe{Load: 5, decided: holds, Probed: Probed{Missed: []string{"a", "b"}}})
	if err := h.repeat(context.Background()); err != nil || h.found.Holds != 2 || h.found.Fails != 5 || !slices.Equal(h.found.Missed, []string{"a"}) {
		t.Errorf("%v: [%g, %g], missed %q", err, h.found.Holds, h.found.Fails, h.found.Missed)
	}
}

// A firm decision rests on a fortieth of the time: probes are no shorter, and
// none begins with less than that left.
func TestNoShortFirmProbe(t *testing.T) {
	for _, c := range []struct {
		probe time.Duration
		fine  bool
	}{{10 * time.Second, false}, {15 * time.Second, true}, {0, true}} {
		s := Search{Objectives: parsed(t, "p90 ttft < 500ms"), MaxTime: 10 * time.Minute, Probe: Limit{Duration: c.probe}}
		if err := s.Check(); (err == nil) != c.fine {
			t.Errorf("probes of %v: %v", c.probe, err)
		}
	}
	subject := &gateway{}
	h := midway(t, subject, Probe{Load: 10, decided: holds}, Probe{Load: 20, decided: fails})
	subject.clock = 10*time.Minute - 10*time.Second
	if err := h.close(context.Background(), 1.05); err != nil || subject.probes > 0 || !strings.Contains(h.found.Why, "the time was up") {
		t.Errorf("%v, %d probes, %q", err, subject.probes, h.found.Why)
	}
}
