package client

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/base/clock"
)

// stampedPair is a connection whose side of ours stamps, and the other side.
func stampedPair(t *testing.T, clk *clock.Clock) (src *source, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	stampsOn()
	ours, err := defaultDial(true)(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	if src = newSource(ours, clk, true); !src.raw.on {
		t.Skip("no kernel stamps here")
	}
	src.begin(clk.Now())
	return src, theirs
}

// here waits until so many bytes are in our kernel, unread, and says when that
// was so: the moments of writes tell only when they were handed over.
func here(t *testing.T, src *source, size int) (ns int64) {
	t.Helper()
	rc, err := src.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	waiting := 0
	for range 10_000 {
		err := rc.Control(func(fd uintptr) { waiting, _ = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
		if err != nil {
			t.Fatal(err)
		}
		if waiting == size {
			return src.clk.NS()
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("of %d bytes %d came; the connection does not take the data unread", size, waiting)
	return 0
}

// A busy reader does not move an arrival: the stamp is the kernel's.
func TestStampSurvivesALateRead(t *testing.T) {
	clk := clock.Start()
	src, theirs := stampedPair(t, clk)
	cn := &conn{src: src}
	for range 3 {
		before := clk.NS()
		if _, err := io.WriteString(theirs, "token"); err != nil {
			t.Fatal(err)
		}
		after := here(t, src, len("token"))
		time.Sleep(30 * time.Millisecond)
		buf, n, err := cn.readOne()
		if err != nil || string(buf[:n]) != "token" {
			t.Fatal(n, err)
		}
		putBuffer(buf)
		if !src.kernel {
			t.Skip("this kernel gives no stamps")
		}
		if src.arrivedNS < before-100_000 || src.arrivedNS > after+100_000 {
			t.Errorf("stamped %d µs after the write", (src.arrivedNS-before)/1000)
		}
		if lag := src.readNS - src.arrivedNS; lag < 20_000_000 {
			t.Errorf("lag %d µs, want about 30 ms", lag/1000)
		}
	}
}

// What arrives while the client is busy waits in its own kernel with its
// stamp, far beyond the 64 KiB that a window begins with.
func TestBusyClientHoldsUpNoArrival(t *testing.T) {
	clk := clock.Start()
	src, theirs := stampedPair(t, clk)
	const slices, size = 24, 10 << 10
	_ = theirs.SetWriteDeadline(time.Now().Add(20 * time.Second))
	for range slices {
		if _, err := theirs.Write(make([]byte, size)); err != nil {
			t.Fatal("the connection does not take the data unread:", err)
		}
		time.Sleep(time.Millisecond)
	}
	came := here(t, src, slices*size)
	time.Sleep(100 * time.Millisecond)
	cn := &conn{src: src}
	for got := 0; got < slices*size; {
		buf, n, err := cn.readOne()
		if err != nil {
			t.Fatal(err)
		}
		putBuffer(buf)
		got += n
		if !src.kernel {
			t.Skip("this kernel gives no stamps")
		}
	}
	if late := src.arrivedNS - came; late > 100_000 {
		t.Errorf("the last byte is stamped %d µs after it was there", late/1000)
	}
}
