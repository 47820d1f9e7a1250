package client

import (
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// socket is a connection whose replies a reactor reads. It belongs to one
// goroutine at a time: to that of its request or of the pool, and to the
// reactor while x is set.
type socket struct {
	stamper
	reactor *reactor
	fd      int
	slot    int32
	turn    int32       // of the slot: events of a socket before are not ours
	early   atomic.Bool // something came while the reactor waited for nothing

	x *exchange // whose reply is awaited; the reactor's own
}

// adopt takes a connection over from Go's poller, which would wake for every
// packet. It returns nil when that can't be, and nc is as it was.
func (r *reactor) adopt(nc net.Conn) *socket {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{stamper: stamper{clk: r.clk}, reactor: r, fd: -1}
	if err := rc.Control(func(fd uintptr) {
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags) != nil {
			return
		}
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			s.fd = dup
		}
	}); err != nil || s.fd < 0 {
		return nil
	}
	if !r.enter(s) {
		_ = unix.Close(s.fd)
		return nil
	}
	_ = tcp.Close() // the duplicate lives on
	return s
}

// enter gives s a slot and starts the reactor with the first one.
func (r *reactor) enter(s *socket) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return false
	}
	if n := len(r.free); n > 0 {
		s.slot, r.free = r.free[n-1], r.free[:n-1]
	} else {
		s.slot = int32(len(r.sockets))
		r.sockets = append(r.sockets, nil)
	}
	r.turns++
	s.turn = r.turns
	if s.listen(unix.EPOLL_CTL_ADD) != nil {
		r.free = append(r.free, s.slot)
		return false
	}
	r.sockets[s.slot] = s
	r.live++
	if !r.started {
		r.started = true
		go r.loop()
	}
	return true
}

// listen has events of s come; what is there already is one.
func (s *socket) listen(op int) error {
	return unix.EpollCtl(s.reactor.set, op, s.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: s.slot, Pad: s.turn})
}

func (s *socket) close() {
	r := s.reactor
	r.mu.Lock()
	r.sockets[s.slot] = nil
	r.free = append(r.free, s.slot)
	r.live--
	over := r.closing && r.live == 0
	_ = unix.Close(s.fd) // here: its number may be given to another at once
	r.mu.Unlock()
	if over {
		r.wake()
	}
}

func (s *socket) peek() peeked { return peekAt(s.fd) }

// write gives the socket what it takes at once.
func (s *socket) write(p []byte) (int, error) { return transmit(s.fd, p) }
