package clock

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever adds processors, and in whichever order they are given back, in the
// end there are as many as before.
func TestProcessorsOfSeveralOwners(t *testing.T) {
	procs, were := runtime.GOMAXPROCS(0), KeptProcessors()
	AddProcessors(2)
	AddProcessors(1)
	RemoveProcessors(2)
	AddProcessors(3)
	if got := runtime.GOMAXPROCS(0); got != procs+4 || KeptProcessors() != were+4 {
		t.Errorf("GOMAXPROCS %d with %d added, was %d", got, KeptProcessors()-were, procs)
	}
	RemoveProcessors(1)
	RemoveProcessors(3)
	if got := runtime.GOMAXPROCS(0); got != procs || KeptProcessors() != were {
		t.Errorf("GOMAXPROCS %d with %d added, was %d", got, KeptProcessors()-were, procs)
	}
}

func TestTimersWaitExactlyInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Start()
		s := c.Timers()
		defer s.Close()
		for _, us := range []int64{1, 1370, 1371, 5_000_000, 200} {
			want := max(us, c.US())
			if err := s.WaitUntil(t.Context(), us); err != nil {
				t.Fatal(err)
			}
			if got := c.US(); got != want {
				t.Errorf("waited until %d µs, want %d", got, want)
			}
		}
	})
}

func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Start()
		s := c.Timers()
		defer s.Close()
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(30*time.Millisecond, func() { cancel(stop) })
		if err := s.WaitUntil(ctx, 1_000_000); err != stop {
			t.Errorf("got %v, want the cause", err)
		}
		if got := c.US(); got != 30_000 {
			t.Errorf("returned at %d µs, want 30000", got)
		}
	})
}

func TestPreciseNeverEarly(t *testing.T) {
	c := Start()
	s := c.Precise()
	defer s.Close()
	var late []int64
	for us := c.US() + 500; len(late) < 100; us += 1370 {
		if err := s.WaitUntil(t.Context(), us); err != nil {
			t.Fatal(err)
		}
		late = append(late, c.US()-us)
	}
	slices.Sort(late)
	if late[0] < 0 {
		t.Errorf("woke %d µs early", -late[0])
	}
	t.Logf("exact %v: late by p50 %d µs, max %d µs", s.Exact(), late[50], late[99])
}

func TestPreciseIsCancelledWhileAsleep(t *testing.T) {
	c := Start()
	s := c.Precise()
	defer s.Close()
	cancelled := func(ahead int64) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return s.WaitUntil(ctx, c.US()+ahead)
	}
	for _, ahead := range []int64{120_000, 60_000_000} {
		err := cancelled(ahead)
		for tries := 1; err == nil && tries < 20; tries++ { // this process was kept from running until it was over
			err = cancelled(ahead)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d µs ahead: got %v", ahead, err)
		}
	}
}

// B87: a step of the wall clock is seen and never enters a duration.
func TestB87WallStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wall := int64(1_800_000_000_000_000_000)
		c := Start()
		c.WallNS = func() int64 { return wall }
		before := c.Now()
		wall += 5_000 // the monotonic clock stands still
		if us, stepped := c.Now().StepUS(before); stepped || us != 5 {
			t.Errorf("a step of %d µs was reported without one", us)
		}
		wall -= 3_000_000_000
		after := c.Now()
		if us, stepped := after.StepUS(before); !stepped || us != -2_999_995 {
			t.Errorf("step %d µs (%v), want -3 s but for 5 µs", us, stepped)
		}
		if after.NS < before.NS {
			t.Error("the monotonic reading ran backwards")
		}
	})
}

func TestTieIsClose(t *testing.T) {
	c := Start()
	if c.MonotonicZeroNS == 0 {
		t.Skip("no system monotonic clock")
	}
	before := c.NS()
	system := MonotonicNS() - c.MonotonicZeroNS
	after := c.NS()
	if system < before-1_000_000 || system > after+1_000_000 {
		t.Errorf("the system's clock read %d ns, between %d and %d of ours", system, before, after)
	}
}
