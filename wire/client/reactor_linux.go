package client

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tokenmeter/base/clock"
)

// reactor reads the replies of many streams in one goroutine. It does not wait
// for each token: the kernel keeps the time at which one came, so it looks
// every now and then, takes what is there, and naps.
//
// Its system calls are raw: Go's scheduler does not learn of them and leaves
// the goroutine the processor that was claimed for it. Only when there is
// nothing to do for long does it wait as others do.
type reactor struct {
	clk *clock.Clock
	set int // of epoll
	cue int // eventfd that ends a long wait

	// asleep is set while only an event or the cue ends the wait, untilNS then
	// when it ends by itself.
	asleep  atomic.Bool
	untilNS atomic.Int64

	mu      sync.Mutex
	inbox   []note
	sockets []*socket // by slot; nil: free
	free    []int32
	live    int
	turns   int32
	started bool
	closing bool

	// The loop's own:
	keeper   *clock.Keeper
	now      clock.Reading
	events   [512]unix.EpollEvent
	hit      [512]*socket
	notes    []note
	in       receiver
	buf      []byte
	open     int // exchanges
	limits   deadlines
	rhythm   rhythm
	finished []*exchange
	calls    calls
	left     bool // a socket has more: no time to nap
}

// note is what a request's goroutine tells the reactor.
type note struct {
	x      *exchange
	cancel bool
	byNS   int64 // when the reactor must know at the latest
}

const (
	reactorBuffer = 256 << 10
	longestWait   = int64(1_000_000_000)
)

// newReactor returns nil where the system can't have one.
func newReactor(clk *clock.Clock) *reactor {
	if clk.MonotonicZeroNS == 0 {
		return nil
	}
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	cue, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(set)
		return nil
	}
	r := &reactor{clk: clk, set: set, cue: cue, rhythm: newRhythm()}
	if err := unix.EpollCtl(set, unix.EPOLL_CTL_ADD, cue, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}); err != nil {
		r.closeFiles()
		return nil
	}
	return r
}

func (r *reactor) closeFiles() {
	_ = unix.Close(r.set)
	_ = unix.Close(r.cue)
}

// post tells the reactor something. It is woken only when it would come too
// late by itself.
func (r *reactor) post(n note) {
	s := n.x.sock
	r.mu.Lock()
	r.inbox = append(r.inbox, n) // and the exchange is the reactor's
	r.mu.Unlock()
	if r.asleep.Load() && (s.early.Load() || n.byNS < r.untilNS.Load()) {
		r.wake()
	}
}

func (r *reactor) wake() {
	if r.asleep.Swap(false) {
		one := [8]byte{0: 1}
		_, _ = unix.Write(r.cue, one[:])
	}
}

// close ends the loop once the last socket is closed.
func (r *reactor) close() {
	r.mu.Lock()
	r.closing = true
	started := r.started
	r.mu.Unlock()
	if started {
		r.wake()
	} else {
		r.closeFiles()
	}
}

func (r *reactor) loop() {
	r.keeper = clock.Keep()
	defer r.keeper.Close()
	go r.calls.serve()
	defer r.calls.close()
	defer r.closeFiles()
	r.buf = make([]byte, reactorBuffer)
	for {
		n := r.wait()
		r.now = r.clk.Now()
		r.find(n)
		if !r.take() {
			return
		}
		for i, s := range r.hit[:n] {
			if s != nil {
				r.event(s, r.events[i].Events)
			}
			r.hit[i] = nil
		}
		r.strike()
		r.rhythm.settle(r.now.NS)
		r.tell()
	}
}

// find looks up the sockets of events. One that was closed meanwhile is not there.
func (r *reactor) find(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events[:n] {
		e := &r.events[i]
		if e.Fd < 0 {
			var b [8]byte
			_, _ = unix.Read(r.cue, b[:])
			continue
		}
		if s := r.sockets[e.Fd]; s != nil && s.turn == e.Pad {
			r.hit[i] = s
		}
	}
}

// take does what the notes say; false when the reactor's time is over.
func (r *reactor) take() bool {
	r.mu.Lock()
	r.notes, r.inbox = r.inbox, r.notes[:0]
	over := r.closing && r.live == 0
	r.mu.Unlock()
	for i, n := range r.notes {
		r.notes[i] = note{}
		x, s := n.x, n.x.sock
		switch {
		case !n.cancel:
			s.x = x
			r.open++
			r.limits.set(x, x.dueNS)
			r.rhythm.sent(r.now.NS)
			early := s.early.Swap(false)
			if x.ctx.Err() != nil {
				r.decide(x, x.lose(x.ctx, net.ErrClosed), false)
				continue
			}
			if len(x.unsent) > 0 {
				x.writeOn()
			}
			if early || x.writeErr != nil {
				r.read(s, true)
			}
		case s.x == x:
			r.decide(x, x.lose(x.ctx, net.ErrClosed), false)
		}
	}
	return !over
}

// event takes what an event brought. When nobody waits for it yet, its reader
// is told as he comes.
func (r *reactor) event(s *socket, what uint32) {
	x := s.x
	if x == nil {
		if what&^unix.EPOLLOUT != 0 {
			s.early.Store(true)
		}
		return
	}
	if len(x.unsent) > 0 && what&unix.EPOLLOUT != 0 {
		x.writeOn()
	}
	ended := what&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 || x.writeErr != nil
	if what&unix.EPOLLIN != 0 || ended {
		r.read(s, ended)
	}
}

// read takes what waits in a socket, but no more than the buffer holds: a server that
// sends as fast as we read would keep the others waiting, and the run from ending. What
// it left is an event again.
func (r *reactor) read(s *socket, more bool) {
	r.again(s, r.some(s, more))
}

// again has a socket that has more left be an event at the next look.
func (r *reactor) again(s *socket, left bool) {
	if left && s.listen(unix.EPOLL_CTL_MOD) == nil {
		r.left = true
	}
}

// some is a read, and tells whether it left something; more tells that something may
// stand behind the bytes: without it a read that does not fill the buffer was the last.
func (r *reactor) some(s *socket, more bool) (left bool) {
	x := s.x
	for room := len(r.buf); room > 0; {
		n, errno := r.in.receive(s.fd, r.buf)
		if errno == 0 {
			syncRead(uintptr(s.fd))
		}
		switch {
		case errno == unix.EAGAIN:
			s.emptyNS = r.now.NS
			return false
		case errno != 0:
			r.decide(x, x.lose(x.ctx, os.NewSyscallError("recvmsg", errno)), false)
			return false
		case n == 0:
			r.decide(x, x.lose(x.ctx, io.EOF), false)
			return false
		}
		room -= n
		stamp := r.in.stamp()
		if stamp == 0 || stamp > r.now.WallNS {
			r.now = r.clk.Now() // it came after the round began
		}
		s.arrived(stamp, r.now, s.emptyNS)
		if n < len(r.buf) {
			s.emptyNS = r.now.NS
		}
		if r.got(x, r.buf[:n]) || n < len(r.buf) && !more {
			return false
		}
	}
	return true
}

// got hands on the bytes of a read; true when they decide the exchange.
func (r *reactor) got(x *exchange, data []byte) bool {
	s, before := x.sock, x.sink.Tokens()
	v, keep, over := x.got(&s.stamper, data)
	if came := x.sink.Tokens() - before; came > 0 {
		gap := int64(0)
		if x.last > 0 {
			gap = max(s.arrivedNS-x.last, 1)
		}
		x.last = s.arrivedNS
		r.rhythm.read(came, gap)
	}
	if over {
		r.decide(x, v, keep)
		return true
	}
	if limit, _ := x.limit(); limit < x.dueNS {
		r.limits.set(x, limit)
	}
	return false
}

// strike ends the exchanges whose limits are reached.
func (r *reactor) strike() {
	for r.limits.next() <= r.now.NS {
		x := r.limits[0]
		limit, end := x.limit()
		left := limit <= r.now.NS
		for left && limit <= r.now.NS && x.sock.x == x {
			left = r.some(x.sock, true) // what came in time may still wait, and move the limit on
			limit, end = x.limit()
		}
		switch {
		case x.sock.x != x:
		case limit <= r.now.NS:
			r.decide(x, x.strike(limit, end), false)
		default:
			r.limits.set(x, limit)
			r.again(x.sock, left)
		}
	}
}

// decide ends the reading of an exchange.
func (r *reactor) decide(x *exchange, v verdict, keep bool) {
	x.sock.x = nil
	x.decided, x.keep = v, keep
	r.limits.drop(x)
	r.open--
	r.rhythm.ended(r.now.NS - x.sentNS)
	r.finished = append(r.finished, x)
}

// tell wakes those who wait for an outcome. What is to be called is called on
// another goroutine.
func (r *reactor) tell() {
	for i, x := range r.finished {
		r.finished[i] = nil
		if x.then != nil {
			r.calls.add(x.then)
		} else {
			x.awaited.done <- struct{}{}
		}
	}
	r.finished = r.finished[:0]
	r.calls.wake()
}

// wait naps, or waits for an event; it returns how many there are.
func (r *reactor) wait() int {
	if r.left {
		r.left = false
		return r.poll(0)
	}
	if nap := r.rhythm.napNS; nap > 0 && r.open > 0 {
		r.keeper.SleepUntil(r.clk.MonotonicZeroNS + r.now.NS + nap)
		return r.poll(0)
	}
	if n := r.poll(0); n > 0 {
		return n
	}
	until := min(r.limits.next(), r.clk.NS()+longestWait)
	r.untilNS.Store(until)
	r.asleep.Store(true)
	if r.pending() {
		r.asleep.Store(false)
		return 0
	}
	n := r.block(until)
	r.asleep.Store(false)
	return n
}

// pending reports whether notes came that may not wait. The reader of an early
// answer either saw that it is early, or its note is seen here.
func (r *reactor) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inbox) > 0 || r.closing && r.live == 0
}

func (r *reactor) poll(waitMS int) int { return poll(r.set, r.events[:], waitMS) }

// poll asks an epoll set what came, and waits for it up to so long, with the
// processor kept: Go's scheduler is told nothing of the call.
func poll(set int, events []unix.EpollEvent, waitMS int) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(set), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(waitMS), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// block waits for an event: as other goroutines do when no reply is awaited,
// and else with the processor kept, for it will soon be needed again.
func (r *reactor) block(untilNS int64) int {
	ms := max((untilNS-r.clk.NS()+999_999)/1_000_000, 0)
	if r.open > 0 {
		return r.poll(int(ms))
	}
	n, err := unix.EpollWait(r.set, r.events[:], int(ms))
	if err != nil {
		return 0
	}
	return n
}
