package client

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiver is what a call of recvmsg needs, kept so that a read allocates
// nothing.
type receiver struct {
	header unix.Msghdr
	vector unix.Iovec
	oob    [16]uint64 // aligned; room for three timespecs and more
}

// receive takes what waits in a socket, without waiting. The call is raw: it
// does not block, so telling Go's scheduler of it would only cost.
func (r *receiver) receive(fd int, p []byte) (int, syscall.Errno) {
	r.vector.Base = unsafe.SliceData(p)
	r.vector.SetLen(len(p))
	r.header.Iov = &r.vector
	r.header.SetIovlen(1)
	r.header.Control = (*byte)(unsafe.Pointer(&r.oob))
	for {
		r.header.SetControllen(len(r.oob) * 8)
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.header)), unix.MSG_DONTWAIT)
		if errno != unix.EINTR {
			return int(n), errno
		}
	}
}

// stamp returns the software receive stamp of the last call, 0 without one.
func (r *receiver) stamp() int64 {
	oob := unsafe.Slice((*byte)(unsafe.Pointer(&r.oob)), len(r.oob)*8)
	oob = oob[:min(int(r.header.Controllen), len(oob))]
	for len(oob) >= unix.CmsgLen(0) {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(oob)))
		size := int(h.Len)
		if size < unix.CmsgLen(0) || size > len(oob) {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPING &&
			size >= unix.CmsgLen(int(unsafe.Sizeof(unix.Timespec{}))) {
			ts := (*unix.Timespec)(unsafe.Pointer(&oob[unix.CmsgLen(0)]))
			return ts.Nano()
		}
		oob = oob[min(unix.CmsgSpace(size-unix.CmsgLen(0)), len(oob)):]
	}
	return 0
}

// peekAt looks at an idle socket without waiting: open, or not, or something
// came that nobody asked for.
func peekAt(fd int) peeked {
	var b [1]byte
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1,
		unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return quiet
	case errno != 0 || n == 0:
		return gone
	}
	return waiting
}

// transmit gives a socket as much of p as it takes at once; nothing where it is full.
func transmit(fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
			continue
		}
		return 0, os.NewSyscallError("sendto", errno)
	}
}
