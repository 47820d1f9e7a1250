package client

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tokenmeter/clock"
)

// flows are a client's. They start with the first response that is followed.
type flows struct{ all []*flow }

func newFlows(clk *clock.Clock) flows {
	var fs flows
	for range max(runtime.GOMAXPROCS(0)/2, 1) {
		fs.all = append(fs.all, &flow{clk: clk})
	}
	return fs
}

// enter gives a response to the flow that has the fewest.
func (fs flows) enter(s *followed) bool {
	best, least := fs.all[0], -1
	for _, f := range fs.all {
		f.mu.Lock()
		live := f.live
		f.mu.Unlock()
		if least < 0 || live < least {
			best, least = f, live
		}
	}
	return best.enter(s)
}

// flow reads the bodies of many responses in one goroutine, each as it comes.
// Were each read by a goroutine of its own, Go's threads would wake each other
// for every token. Its goroutine lives as long as there is something to read.
type flow struct {
	clk *clock.Clock

	mu    sync.Mutex
	set   int         // of epoll, while somebody is here
	here  []*followed // by slot; nil: free
	free  []int32
	live  int
	dueNS int64 // when limits are looked at next

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
	flowWaitMS = 50        // the longest wait without a look at limits
	flowStepNS = 1_000_000 // the shortest
)

func (f *flow) enter(s *followed) bool {
	due := s.untilNS()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live == 0 {
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
		if f.live == 0 {
			_ = unix.Close(f.set)
		}
		return false
	}
	f.here[s.slot] = s
	f.dueNS = min(f.dueNS, due)
	if f.live++; f.live == 1 {
		go f.loop()
	}
	return true
}

func (f *flow) loop() {
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
		if until := s.untilNS(); until <= now {
			f.late = append(f.late, s)
		} else {
			next = min(next, until)
		}
	}
	f.dueNS = max(next, now+flowStepNS)
	f.mu.Unlock()
	for i, s := range f.late {
		f.late[i] = nil
		over := s.read(&f.in, f.buf, true) // what came in time may still wait
		if until := s.untilNS(); !over && until <= now {
			s.err = s.r.ended(os.ErrDeadlineExceeded, until)
			over = true
		}
		if over {
			f.leave(s)
		}
	}
	f.late = f.late[:0]
}

// wait returns how many events there are. The look that does not wait is raw:
// while there is much to do Go's scheduler does not learn of it.
func (f *flow) wait() int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(f.set), uintptr(unsafe.Pointer(&f.events)), uintptr(len(f.events)), 0, 0, 0)
	if errno == 0 && n > 0 {
		return int(n)
	}
	got, err := unix.EpollWait(f.set, f.events[:], flowWaitMS)
	if err != nil {
		return 0
	}
	return got
}
