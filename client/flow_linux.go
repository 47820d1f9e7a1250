package client

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tokenmeter/clock"
)

// flows are the process's, for as many clients as there are. They share the
// load as the workers of a server do.
type flows struct {
	all []*flow

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
	here    []*followed // by slot; nil: free
	free    []int32
	live    int
	dueNS   int64        // when limits are looked at next
	load    atomic.Int64 // live, for who chooses

	// The loop's own:
	events [128]unix.EpollEvent
	hit    [128]*followed
	late   []*followed
	in     receiver
	buf    []byte
}

const (
	// flowBuffer is what a read takes. A read that fills it is of no stream of
	// tokens, and its response goes back to its goroutine.
	flowBuffer = 16 << 10
	flowShare  = 128       // responses, for each of which a flow more is used
	flowWaitMS = 50        // the longest wait without a look at limits
	flowStepNS = 1_000_000 // the shortest
	// flowLookNS is the longest for certain: a limit may come to be earlier than
	// it was when it was looked at last.
	flowLookNS = 1_000_000_000
	flowKeepMS = 1 // how much of it the processor is kept
)

func (f *flow) enter(s *followed) bool {
	now := f.clk.NS()
	due := min(f.dueOf(s, now), now+flowLookNS)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.running {
		set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return false
		}
		f.set, f.dueNS = set, due
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
			_ = unix.Close(f.set)
		}
		return false
	}
	f.here[s.slot] = s
	f.dueNS = min(f.dueNS, due)
	f.load.Add(1)
	if f.live++; !f.running {
		f.running = true
		go f.loop()
	}
	return true
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
	f.live--
	f.load.Add(-1)
	f.mu.Unlock()
	s.done <- struct{}{}
}

// over ends the loop when nobody is left.
func (f *flow) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live > 0 {
		return false
	}
	_ = unix.Close(f.set)
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

// wait returns how many events there are. At first it is raw: Go's scheduler
// does not learn of it, and neither takes the processor away nor looks every few
// microseconds whether it should. Only when nothing comes for long does it wait
// as others do.
func (f *flow) wait() int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(f.set), uintptr(unsafe.Pointer(&f.events)), uintptr(len(f.events)), flowKeepMS, 0, 0)
	if errno == 0 && n > 0 {
		return int(n)
	}
	got, err := unix.EpollWait(f.set, f.events[:], flowWaitMS)
	if err != nil {
		return 0
	}
	return got
}
