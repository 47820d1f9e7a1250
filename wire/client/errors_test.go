package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"tokenmeter/record/timeline"
)

// B65: what this machine lacks is never charged to the server.
func TestDialFailureClasses(t *testing.T) {
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	for _, tc := range []struct {
		err   error
		class timeline.Outcome
		hint  string
	}{
		{dial(syscall.EMFILE), timeline.ClientResource, "ulimit -n"},
		{&net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: "h"}, timeline.ClientResource, "ulimit -n"},
		{dial(syscall.ENFILE), timeline.ClientResource, "file-max"},
		{dial(syscall.EADDRNOTAVAIL), timeline.ClientResource, "ip_local_port_range"},
		{dial(syscall.ENOBUFS), timeline.ClientResource, "memory"},
		{dial(syscall.EACCES), timeline.ClientResource, "permit"},
		{dial(syscall.ECONNREFUSED), timeline.ConnectRefused, "is the server running"},
		{dial(syscall.EHOSTUNREACH), timeline.ConnectRefused, "no route"},
		{dial(syscall.ENOENT), timeline.ConnectRefused, "no socket"},
		{dial(syscall.ETIMEDOUT), timeline.TimeoutConnect, "no answer"},
		{dial(syscall.ECONNRESET), timeline.ConnReset, "closed"},
		{&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}, timeline.DNS, `"nowhere"`},
		{fmt.Errorf("wrapped: %w", &net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true}), timeline.DNS, "did not answer"},
		{errors.New("odd"), timeline.ConnectRefused, "odd"},
	} {
		f := dialFailure(tc.err, "h:80")
		if f.class != tc.class || !strings.Contains(f.msg, tc.hint) {
			t.Errorf("%v: got %s %q, want %s with %q", tc.err, f.class, f.msg, tc.class, tc.hint)
		}
	}
}

func TestTLSFailureHints(t *testing.T) {
	for _, tc := range []struct {
		err  error
		hint string
	}{
		{x509.UnknownAuthorityError{}, "certificate of its authority"},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, "another name"},
		{x509.CertificateInvalidError{Reason: x509.Expired}, "renew"},
		{io.EOF, "http://"},
		{syscall.ECONNRESET, "http://"},
		{errors.New("tls: handshake failure"), "handshake failure"},
	} {
		f := tlsFailure(tc.err, target{address: "h:443"})
		if f.class != timeline.TLS || !strings.Contains(f.msg, tc.hint) {
			t.Errorf("%v: got %s %q, want %q", tc.err, f.class, f.msg, tc.hint)
		}
	}
	f := tlsFailure(tls.RecordHeaderError{}, target{address: "h:443", ws: true})
	if !strings.HasSuffix(f.msg, "use ws://") {
		t.Errorf("of a WebSocket: %q", f.msg)
	}
}

// Servers of TLS hang up on those that ask without it (OpenSSL's s_server ends the
// connection, Python's ssl resets it), as a server does that crashed. One that answered
// before does not want TLS.
func TestAServerThatHangsUpMayWantTLS(t *testing.T) {
	for name, tc := range map[string]struct {
		to         target
		any, heard bool
		end        string
	}{
		"plain":                  {target{network: "tcp"}, false, false, "use https://"},
		"a WebSocket":            {target{network: "tcp", ws: true}, false, false, "use wss://"},
		"in the head":            {target{network: "tcp"}, true, false, "head"},
		"after an answer":        {target{network: "tcp"}, false, true, "response"},
		"with TLS":               {target{network: "tcp", tls: true}, false, false, "response"},
		"a socket of the system": {target{network: "unix"}, false, false, "response"},
	} {
		c := &Client{target: tc.to}
		if tc.heard {
			c.hear()
		}
		if words := c.lossWords(io.EOF, nil, tc.any); !strings.HasSuffix(words, tc.end) {
			t.Errorf("%s: %q", name, words)
		}
	}
	alert := []byte{0x15, 3, 1, 0, 2, 2, 0x46} // protocol_version
	var r response
	if _, _, err := r.feed(alert); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("an alert: %v", err)
	}
}
