package client

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const stampFlags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE

// rawRead reads a socket with recvmsg, which returns the kernel's receive
// stamp beside the bytes. What a call needs is kept here, so that a read
// allocates nothing.
type rawRead struct {
	on  bool
	src *source
	rc  syscall.RawConn
	try func(fd uintptr) bool
	in  receiver

	// One read:
	p      []byte
	pooled bool // p is taken from the pool when bytes are there
	buf    *buffer
	n      int
	err    error
	noWait bool // report errNothing instead of waiting
}

// receiveBuffer is asked for, so that what arrives while we are busy waits in
// our kernel, stamped, and not unsent in the server's. The kernel cuts it to
// net.core.rmem_max, and uses memory only for what waits.
const receiveBuffer = 2 << 20

// stampControl asks for stamps before the socket connects, so that the first
// bytes have one.
func stampControl(_, _ string, rc syscall.RawConn) error {
	// Without stamps the moment of the read counts; that is no failure.
	_ = rc.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags)
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	})
	return nil
}

// enable switches to recvmsg where the connection is a socket that can stamp.
func (r *rawRead) enable(s *source) {
	tcp, ok := s.Conn.(*net.TCPConn)
	if !ok {
		return // other sockets have no stamps
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	var failed error
	if err := rc.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags)
	}); err != nil || failed != nil {
		return
	}
	r.on, r.src, r.rc = true, s, rc
	r.try = r.attempt
}

// read waits for bytes and takes them.
func (r *rawRead) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.p, r.pooled = p, false
	return r.run()
}

// readPooled is read into a buffer that is taken from the pool only when bytes
// are there: a stream that waits holds none. The caller puts it back.
func (r *rawRead) readPooled() (*buffer, int, error) {
	r.p, r.pooled, r.buf = nil, true, nil
	n, err := r.run()
	return r.buf, n, err
}

func (r *rawRead) run() (int, error) {
	r.n, r.err = 0, nil
	err := r.rc.Read(r.try)
	r.p = nil
	if err != nil {
		return 0, err // closed, or past its deadline
	}
	if r.err != nil {
		return 0, r.err
	}
	if r.n == 0 {
		return 0, io.EOF
	}
	return r.n, nil
}

// attempt takes what is waiting; false makes the runtime wait for more.
func (r *rawRead) attempt(fd uintptr) bool {
	if r.pooled && r.buf == nil {
		r.buf = getBuffer()
		r.p = r.buf[:]
	}
	before := r.src.clk.NS()
	n, errno := r.in.receive(int(fd), r.p)
	if errno == 0 {
		syncRead(fd)
	}
	if errno == 0 && n > 0 {
		r.n = n
		r.src.arrived(r.in.stamp(), r.src.clk.Now(), r.src.emptyNS)
		if n < len(r.p) {
			r.src.emptyNS = before
		}
		return true
	}
	if r.pooled {
		putBuffer(r.buf)
		r.buf, r.p = nil, nil
	}
	switch errno {
	case 0:
		return true // end of stream
	case unix.EAGAIN:
		r.src.emptyNS = before
		if r.noWait {
			r.err = errNothing
		}
		return r.noWait
	}
	r.err = os.NewSyscallError("recvmsg", errno)
	return true
}

// peek looks at an idle socket without waiting: open, or not, or something
// came that nobody asked for.
func (s *source) peek() peeked {
	if !s.raw.on {
		return quiet
	}
	found := quiet
	if s.raw.rc.Control(func(fd uintptr) { found = peekAt(int(fd)) }) != nil {
		return gone
	}
	return found
}
