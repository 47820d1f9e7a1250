package sim

import (
	"io"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// source reads a connection and knows when the last bytes came.
type source struct {
	nc     net.Conn
	clock  simClock
	rc     syscall.RawConn
	oob    [64]byte
	lastNS int64
	kernel bool // lastNS is the kernel's stamp
}

func newSource(nc net.Conn, clock simClock) *source {
	s := &source{nc: nc, clock: clock}
	if t, ok := nc.(*net.TCPConn); ok {
		if rc, err := t.SyscallConn(); err == nil {
			ok := false
			_ = rc.Control(func(fd uintptr) {
				ok = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
			})
			if ok {
				s.rc = rc
			}
		}
	}
	return s
}

func (s *source) Read(p []byte) (int, error) {
	if s.rc == nil {
		n, err := s.nc.Read(p)
		s.lastNS, s.kernel = s.clock.now(), false
		return n, err
	}
	var n, oobn int
	var err error
	rcErr := s.rc.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = syscall.Recvmsg(int(fd), p, s.oob[:], unix.MSG_DONTWAIT)
		return err != unix.EAGAIN && err != unix.EINTR
	})
	s.lastNS, s.kernel = s.clock.now(), false
	if rcErr != nil {
		return 0, rcErr
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	if wall, ok := kernelStamp(s.oob[:oobn]); ok {
		if at, ok := s.clock.atWall(wall, func() int64 { return time.Now().UnixNano() }); ok {
			s.lastNS, s.kernel = at, true
		}
	}
	return n, nil
}

// kernelStamp is the wall-clock time at which the kernel received what was read.
func kernelStamp(oob []byte) (ns int64, ok bool) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, false
	}
	for _, m := range msgs {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			ts := *(*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return ts.Nano(), true
		}
	}
	return 0, false
}
