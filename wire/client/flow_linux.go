package client

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/base/clock"
)

// flows are the process's, for as many clients as there are. They share the
// load as the workers of a server do.
type flows struct {
	all   []*flow
	apart atomic.Int64 // responses that their own goroutines read

	mu      sync.Mutex
	running int         // loops
	idle    *time.Timer // of the processors; nil: they are not there
}

// theFlows begins with the first response that is followed.
var theFlows = sync.OnceValue(func() *flows {
	processors := runtime.GOMAXPROCS(0) - clock.KeptProcessors()
	fs := &flows{}
	for range min(max(processors/2, 2), processors) {
		fs.all = append(fs.all, &flow{flows: fs, clk: clock.Start()})
	}
	return fs
})

// flowIdle is how long the flows' processors stay when there is nothing to read:
// adding them for every request would cost more than they do.
const flowIdle = 10 * time.Second

// begins is told that a loop begins. While a flow is busy it keeps one of Go's
// processors; so that requests find one too, there are as many more.
func (fs *flows) begins() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running++; fs.idle == nil {
		clock.AddProcessors(len(fs.all))
		fs.idle = time.AfterFunc(flowIdle, fs.rest)
	}
	fs.idle.Stop()
}

// ends is told that a loop has ended.
func (fs *flows) ends() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running--; fs.running == 0 {
		fs.idle.Reset(flowIdle)
	}
}

// rest gives the processors back when no loop has begun meanwhile.
func (fs *flows) rest() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running == 0 && fs.idle != nil {
		clock.RemoveProcessors(len(fs.all))
		fs.idle = nil
	}
}

// alone reports whether a response is better read by its own goroutine, and
// counts it: while there are few, that takes the wake-up of one thread for a
// token, where a loop that keeps to its thread takes that of a second.
func (fs *flows) alone() bool {
	for _, f := range fs.all {
		if f.load.Load() > 0 {
			return false
		}
	}
	if fs.apart.Add(1) > fewApart {
		fs.apart.Add(-1)
		return false
	}
	return true
}

// enter gives a response to the flow that has the fewest, of as many as the
// responses need: one that has little to do sleeps and is woken for every token.
func (fs *flows) enter(s *followed) bool {
	total := 0
	for _, f := range fs.all {
		total += int(f.load.Load())
	}
	needed := fs.all[:min(total/flowShare+1, len(fs.all))]
	best := needed[0]
	for _, f := range needed[1:] {
		if f.load.Load() < best.load.Load() {
			best = f
		}
	}
	return best.enter(s)
}

// flow reads the bodies of many responses in one goroutine, each as it comes.
// Were each read by a goroutine of its own, Go's threads would wake each other
// for every token. Its goroutine lives as long as there is something to read.
type flow struct {
	flows *flows
	clk   *clock.Clock

	mu      sync.Mutex
	running bool        // the loop; set is its
	set     int         // of epoll
	file    *os.File    // set, for Go's poller
	here    []*followed // by slot; nil: free
	free    []int32
	dueNS   int64        // when limits are looked at next
	load    atomic.Int64 // how many are here

	// The loop's own:
	events [128]unix.EpollEvent
	hit    [128]*followed
	late   []*followed
	in     receiver
	buf    []byte
	park   syscall.RawConn
	try    func(uintptr) bool // attempt
	came   int                // events of it
	brisk  bool               // events come one after the other
}

const (
	// flowBuffer is what a read takes. A read that fills it is of no stream of
	// tokens, and its response goes back to its goroutine.
	flowBuffer = 16 << 10
	flowShare  = 128       // responses, for each of which a flow more is used
	flowStepNS = 1_000_000 // the shortest time between two looks at limits
	// flowLookNS is the longest: a limit may come to be earlier than it was when
	// it was looked at last.
	flowLookNS = 1_000_000_000
	fewApart   = 8 // responses that their own goroutines read while no flow reads any
	flowKeepMS = 1 // how long a wait keeps the processor
)

func (f *flow) enter(s *followed) bool {
	now := f.clk.NS()
	due := min(f.dueOf(s, now), now+flowLookNS)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.running {
		if !f.open() {
			return false
		}
		f.dueNS = due
		f.arm(now)
	}
	if n := len(f.free); n > 0 {
		s.slot, f.free = f.free[n-1], f.free[:n-1]
	} else {
		s.slot = int32(len(f.here))
		f.here = append(f.here, nil)
	}
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: s.slot}
	if unix.EpollCtl(f.set, unix.EPOLL_CTL_ADD, s.fd, &e) != nil {
		f.free = append(f.free, s.slot)
		if !f.running {
			_ = f.file.Close()
		}
		return false
	}
	f.here[s.slot] = s
	if due < f.dueNS {
		f.dueNS = due
		f.arm(now)
	}
	if f.load.Add(1); !f.running {
		f.running = true
		go f.loop()
	}
	return true
}

// open makes the set, and a file of it on which Go's poller can wait: a wait that
// blocks a thread instead would let Go's monitor look every 20 µs whether it should
// take the processor away.
func (f *flow) open() bool {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	if unix.SetNonblock(set, true) != nil {
		_ = unix.Close(set)
		return false
	}
	f.set, f.file = set, os.NewFile(uintptr(set), "epoll")
	rc, err := f.file.SyscallConn()
	if err != nil || f.file.SetReadDeadline(time.Time{}) != nil {
		_ = f.file.Close()
		return false
	}
	f.park, f.try = rc, f.attempt
	return true
}

// arm has the wait end when limits are to be looked at. f.mu is held.
func (f *flow) arm(now int64) {
	_ = f.file.SetReadDeadline(time.Now().Add(time.Duration(f.dueNS-now) + flowStepNS))
}

// dueOf is when the limit of s is reached, on the flow's own clock.
func (f *flow) dueOf(s *followed, now int64) int64 {
	until := s.untilNS()
	if until >= farFuture {
		return farFuture
	}
	return now + until - s.r.c.clk.NS()
}

// loop keeps to one thread: moved from one to another it would wait for each.
func (f *flow) loop() {
	f.flows.begins()
	defer f.flows.ends()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f.buf == nil {
		f.buf = make([]byte, flowBuffer)
	}
	for {
		n := f.wait()
		dueNS := f.find(n)
		for i, s := range f.hit[:n] {
			f.hit[i] = nil
			what := f.events[i].Events
			if s.read(&f.in, f.buf, what&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0) {
				f.leave(s)
			}
		}
		if now := f.clk.NS(); now >= dueNS {
			f.strike(now)
		}
		if f.over() {
			return
		}
	}
}

// find looks up whom the events are for, and when limits are to be looked at.
// Only the loop lets a response go, so all are there.
func (f *flow) find(n int) (dueNS int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.events[:n] {
		f.hit[i] = f.here[f.events[i].Fd]
	}
	return f.dueNS
}

// leave gives a response back to its goroutine.
func (f *flow) leave(s *followed) {
	f.mu.Lock()
	_ = unix.EpollCtl(f.set, unix.EPOLL_CTL_DEL, s.fd, nil)
	f.here[s.slot] = nil
	f.free = append(f.free, s.slot)
	f.load.Add(-1)
	f.mu.Unlock()
	s.done <- struct{}{}
}

// over ends the loop when nobody is left.
func (f *flow) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.load.Load() > 0 {
		return false
	}
	_ = f.file.Close()
	f.running = false
	return true
}

// strike ends the responses whose limit is reached.
func (f *flow) strike(now int64) {
	next := farFuture
	f.mu.Lock()
	for _, s := range f.here {
		if s == nil {
			continue
		}
		if due := f.dueOf(s, now); due <= now {
			f.late = append(f.late, s)
		} else {
			next = min(next, due)
		}
	}
	f.dueNS = max(min(next, now+flowLookNS), now+flowStepNS)
	f.arm(now)
	f.mu.Unlock()
	for i, s := range f.late {
		f.late[i] = nil
		over := s.read(&f.in, f.buf, true) // what came in time may still wait
		if until := s.untilNS(); !over && until <= s.r.c.clk.NS() {
			s.err = s.r.ended(os.ErrDeadlineExceeded, until)
			over = true
		}
		if over {
			f.leave(s)
		}
	}
	f.late = f.late[:0]
}

// wait returns how many events there are. While they come one after the other it
// is raw: Go's scheduler does not learn of it and leaves the processor where it
// is. When nothing comes for long it waits as others do.
func (f *flow) wait() int {
	if f.brisk {
		if n := f.look(flowKeepMS); n > 0 {
			return n
		}
	}
	f.came = 0
	began := f.clk.NS()
	err := f.park.Read(f.try)
	f.brisk = err == nil && f.clk.NS()-began < flowKeepMS*1_000_000
	return f.came
}

// attempt is what Go's poller calls; false makes it wait.
func (f *flow) attempt(uintptr) bool {
	f.came = f.look(0)
	return f.came > 0
}

func (f *flow) look(waitMS int) int { return poll(f.set, f.events[:], waitMS) }
