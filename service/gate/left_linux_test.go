package gate

import (
	"net"
	"testing"
	"time"
)

// A client that has gone is seen though nobody reads what it sent before.
func TestLeft(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for name, leave := range map[string]func(*net.TCPConn){
		"closes":      func(c *net.TCPConn) { _ = c.Close() },
		"half-closes": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"resets":      func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
	} {
		client, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		g := newConn(server, 8<<10, "Refused", nil)
		_, _ = client.Write([]byte(sized))
		if g.Left() {
			t.Errorf("%s: gone before", name)
		}
		leave(client.(*net.TCPConn))
		for until := time.Now().Add(10 * time.Second); !g.Left(); {
			if time.Now().After(until) {
				t.Fatalf("%s: not seen", name)
			}
		}
		_ = client.Close()
		_ = server.Close()
		if g.Left() {
			t.Errorf("%s: a connection that we closed counts as left", name)
		}
	}
	if _, server := pair(); server.Left() {
		t.Error("a connection that is none of the kernel's counts as left")
	}
}
