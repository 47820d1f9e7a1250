package client

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"tokenmeter/record/timeline"
)

// followed is a response whose body a flow reads. Between enter and the word
// on done, it and its Passed are the flow's alone.
type followed struct {
	r     *Passed
	limit func() int64
	take  func(data []byte, at Arrived) bool
	err   error // how the response ended; nil: it goes on
	broke any   // what take panicked with
	slot  int32
	done  chan struct{}

	mu sync.Mutex // of the hang-up, which comes from outside
	fd int        // −1: closed
}

// Follow reads the body as Read does, and calls take with what each read brought:
// in a goroutine that reads many, or in the caller's while there are few. Neither
// limit nor take may wait. It returns when take has said no, when reads bring much
// at once, or where such reading is not possible, all of them nil: Read then reads
// on. Other errors are those of Read. limit says, whenever it is looked at, how
// long the server may be silent.
func (r *Passed) Follow(limit func() int64, take func(data []byte, at Arrived) bool) error {
	cn := r.cn
	if cn == nil || cn.src == nil || cn.tls != nil || !cn.src.raw.on || r.over || r.rd.done() || len(r.body) > 0 {
		return nil
	}
	if fs := theFlows(); fs.alone() {
		defer fs.apart.Add(-1)
		return r.here(limit, take)
	}
	putBuffer(r.buf)
	r.buf = nil
	s := &followed{r: r, limit: limit, take: take, done: make(chan struct{}, 1), fd: -1}
	if !r.unhook() {
		return nil // it is being closed, as Read will see
	}
	if !s.leaveGo() {
		r.unhook = context.AfterFunc(r.ctx, cn.close)
		return nil
	}
	unhook := context.AfterFunc(r.ctx, s.hangUp)
	if theFlows().enter(s) {
		<-s.done
	}
	unhook()
	s.backToGo()
	r.unhook = context.AfterFunc(r.ctx, cn.close)
	if s.broke != nil {
		panic(s.broke) // where the request's own recovery is
	}
	return s.err
}

// here reads in the goroutine that asks.
func (r *Passed) here(limit func() int64, take func(data []byte, at Arrived) bool) error {
	for {
		data, at, err := r.Read(limit())
		goOn := len(data) == 0 || take(data, at)
		if err != nil || !goOn {
			return err
		}
	}
}

// leaveGo takes the socket from Go's poller, which would wake for every packet.
func (s *followed) leaveGo() bool {
	src := s.r.cn.src
	_ = src.raw.rc.Control(func(fd uintptr) {
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			s.fd = dup
		}
	})
	if s.fd < 0 {
		return false
	}
	_ = src.Conn.Close() // the duplicate lives on
	return true
}

// backToGo makes something of the socket again that Go waits for, when it is of use.
// A file is enough: a connection of package net would take fourteen system calls more,
// to ask for what is known and to set what is set.
func (s *followed) backToGo() {
	s.mu.Lock()
	fd := s.fd
	s.fd = -1
	s.mu.Unlock()
	if s.err != nil && s.err != io.EOF {
		_ = unix.Close(fd)
		return
	}
	src := s.r.cn.src
	file := fileConn{os.NewFile(uintptr(fd), "tcp")}
	src.Conn = file
	src.raw.rc, _ = file.SyscallConn() // fails of no file that is open
	s.r.cn.armed = 0
}

// fileConn is a socket as a file. It waits as other connections do.
type fileConn struct{ *os.File }

func (fileConn) LocalAddr() net.Addr  { return nil }
func (fileConn) RemoteAddr() net.Addr { return nil }

// hangUp ends the response: its next read finds the end.
func (s *followed) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd >= 0 {
		_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
}

// untilNS is when the server's silence has been too long.
func (s *followed) untilNS() int64 { return min(s.limit(), s.r.until) }

// read takes what waits in the socket; more tells that something may stand
// behind the bytes: without it a read that does not fill the buffer was the
// last. over: the flow has done with it.
func (s *followed) read(in *receiver, buf []byte, more bool) (over bool) {
	r := s.r
	src := &r.cn.src.stamper
	for {
		before := r.c.clk.NS()
		n, errno := in.receive(s.fd, buf)
		if errno == 0 {
			syncRead(uintptr(s.fd))
		}
		switch {
		case errno == syscall.EAGAIN:
			src.emptyNS = before
			return false
		case errno != 0:
			s.err = r.ended(os.NewSyscallError("recvmsg", errno), 0)
			return true
		case n == 0:
			s.err = r.ended(io.EOF, 0)
			return true
		}
		src.arrived(in.stamp(), r.c.clk.Now(), src.emptyNS)
		full := n == len(buf)
		if !full {
			src.emptyNS = before
		}
		if s.got(buf[:n]) || full {
			return true
		}
		if !more {
			return false
		}
	}
}

// got hands on the bytes of a read; true when they were the last that the flow
// is to read.
func (s *followed) got(raw []byte) (over bool) {
	defer func() {
		if s.broke = recover(); s.broke != nil {
			s.err, over = &EndError{End: timeline.Reset}, true
		}
	}()
	r := s.r
	src := &r.cn.src.stamper
	r.at = Arrived{AtNS: max(src.arrivedNS, r.lastNS), ReadNS: src.readNS, Kernel: src.kernel}
	r.lastNS = r.at.AtNS
	data, rest, err := r.rd.feed(raw)
	r.rest = r.rest || len(rest) > 0
	goOn := len(data) == 0 || s.take(data, r.at)
	switch {
	case err != nil:
		r.over = true
		s.err = &EndError{End: timeline.Cut, Invalid: true, Err: err}
	case r.rd.done():
		r.over = true
		s.err = io.EOF
	case goOn:
		return false
	}
	return true
}
