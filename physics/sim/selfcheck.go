package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"tokenmeter/base/clock"
)

// Check is what a self-check asks of this machine.
type Check struct {
	Streams  int           // open at once; 0: 2,000
	Rate     float64       // tokens/s of each; 0: 25
	Duration time.Duration // after all streams have begun; 0: 5 s
}

// CheckResult is what came of it.
type CheckResult struct {
	Check
	Lateness
	Seconds    float64 // measured
	WritesPerS float64
	// CPU is the share of one core that the whole process took while it served;
	// −1: the system does not tell. The readers are part of it.
	CPU float64
	// Stolen is the share of the server's core that the host gave to others
	// meanwhile; −1: the system does not tell. Writes that are due then are late
	// whatever the server does, and so are those that queue behind them.
	Stolen float64
	// Cores says where it ran: 2 or more: the server had one core and the readers
	// the others; 1: both shared the only one; 0: the system does not tell.
	Cores int
}

func (r CheckResult) String() string {
	cpu := ""
	if r.CPU >= 0 {
		cpu = fmt.Sprintf(", %.0f %% of a core with the readers", 100*r.CPU)
	}
	where := ""
	switch {
	case r.Cores == 1:
		where = ", one core for the server and its readers"
	case r.Cores > 1:
		where = ", one core for the server and another for the readers"
	}
	if r.Stolen > 0 {
		cpu += fmt.Sprintf(", the host took %.1f %% of the server's core", 100*r.Stolen)
	}
	return fmt.Sprintf("%d streams × %g tokens/s, %.0f writes/s%s%s: %v", r.Streams, r.Rate, r.WritesPerS, where, cpu, r.Lateness)
}

// pinned is how a self-check is spread over the machine.
type pinned struct {
	cores int // 0: nothing is held to a core
	core  int // the server's; −1: none
	apart func()
	unpin func()
}

var unpinned = pinned{core: -1, apart: func() {}, unpin: func() {}}

// SelfCheck serves streams on the loopback interface to readers that do no
// more than empty their sockets now and then, and tells how late the writes
// were. Where the system allows it, the whole process is held to one core
// meanwhile and only the readers get another.
func SelfCheck(ctx context.Context, c Check) (CheckResult, error) {
	c.Streams = cmp.Or(c.Streams, 2000)
	c.Rate = cmp.Or(c.Rate, 25)
	c.Duration = cmp.Or(c.Duration, 5*time.Second)
	if c.Streams < 1 || !(c.Rate > 0) || c.Duration < 0 {
		return CheckResult{Check: c}, errors.New("sim: a self-check needs streams, a rate and a duration above 0")
	}
	gap := time.Duration(float64(time.Second) / c.Rate)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return CheckResult{Check: c}, fmt.Errorf("sim: self-check: %w", err)
	}
	held := pin()
	defer held.unpin()
	// Every stream keeps its own time, so that the writes are spread over each second.
	s := New(Config{Overhead: gap, DecodeBase: gap})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	r, err := c.run(ctx, s, ln.Addr().(*net.TCPAddr), gap, held)
	r.Cores = held.cores
	closeErr := s.Close()
	return r, errors.Join(err, closeErr, <-served)
}

func (c Check) run(ctx context.Context, s *Server, addr *net.TCPAddr, gap time.Duration, held pinned) (CheckResult, error) {
	result := CheckResult{Check: c, CPU: -1, Stolen: -1}
	ramp := time.Duration(c.Streams) * time.Millisecond
	// Each stream lasts until the end, so that no request is sent while measuring.
	tokens := int((ramp+c.Duration+2*time.Second).Seconds()*c.Rate) + 1
	body := fmt.Sprintf(`{"stream":true,"ignore_eos":true,"max_tokens":%d,"messages":[{"content":"self-check"}]}`, tokens)
	request := fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	taps := make([]*tap, 0, c.Streams)
	defer func() {
		for _, t := range taps {
			t.close()
		}
	}()
	for range c.Streams {
		t, err := dialTap(addr)
		if err != nil {
			return result, fmt.Errorf("sim: self-check: connection %d of %d: %w", len(taps)+1, c.Streams, err)
		}
		taps = append(taps, t)
	}
	stop := drainAll(taps, held.apart)
	defer stop()
	// Spread over the ramp, with some chance, so that no two streams keep step.
	rng := rand.New(rand.NewPCG(1, 1))
	begin := time.Now()
	for i, t := range taps {
		at := time.Duration((float64(i) + rng.Float64()) / float64(len(taps)) * float64(ramp))
		if d := time.Until(begin.Add(at)); d > 2*time.Millisecond {
			time.Sleep(d)
		}
		if err := t.send(request); err != nil {
			return result, fmt.Errorf("sim: self-check: %w", err)
		}
	}
	if err := clock.Sleep(ctx, gap+200*time.Millisecond); err != nil {
		return result, err
	}
	s.resetLateness()
	from, cpu := time.Now(), clock.ProcessTime()
	before, told := stolen(held.core)
	if err := clock.Sleep(ctx, c.Duration); err != nil {
		return result, err
	}
	result.Lateness = s.Lateness()
	result.Seconds = time.Since(from).Seconds()
	if used := clock.ProcessTime(); used > 0 {
		result.CPU = (used - cpu).Seconds() / result.Seconds
	}
	if after, ok := stolen(held.core); ok && told {
		result.Stolen = (after - before).Seconds() / result.Seconds
	}
	result.WritesPerS = float64(result.Writes) / result.Seconds
	return result, nil
}

// drainAll empties the taps until stop, ten times a second each and a few at a
// time, so that on a single core it is never long in the way.
func drainAll(taps []*tap, apart func()) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		apart()
		buf := make([]byte, 1<<16)
		const parts = 50
		tick := time.NewTicker(100 * time.Millisecond / parts)
		defer tick.Stop()
		for i := 0; ; i = (i + 1) % parts {
			for _, t := range taps[i*len(taps)/parts : (i+1)*len(taps)/parts] {
				t.drain(buf)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
