package sim

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// tap is the reading end of a self-check: a bare socket, because the runtime's
// poller would wake for every token and take the processor that is checked.
type tap struct{ fd int }

func dialTap(addr *net.TCPAddr) (*tap, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	to := &unix.SockaddrInet4{Port: addr.Port}
	copy(to.Addr[:], addr.IP.To4())
	if err := unix.Connect(fd, to); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &tap{fd}, nil
}

func (t *tap) send(p []byte) error {
	_, err := unix.Write(t.fd, p)
	return err
}

// drain reads what the socket holds, without waiting.
func (t *tap) drain(buf []byte) {
	for {
		n, _, err := syscall.Recvfrom(t.fd, buf, unix.MSG_DONTWAIT)
		if err != nil || n < len(buf) {
			return
		}
	}
}

func (t *tap) close() { unix.Close(t.fd) }

// cpuTime is what the process has used so far.
