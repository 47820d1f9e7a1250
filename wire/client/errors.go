package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"tokenmeter/record/timeline"
)

// Causes for cancelling the context of a request: they settle its outcome. A
// context that is cancelled without one counts as the user's.
var (
	ErrRunEnd = errors.New("the run ended")
	ErrUser   = errors.New("the user stopped it")
)

// failure is why no response came, in the classes of the record.
type failure struct {
	class timeline.Outcome
	msg   string
	atNS  int64 // when it happened on the run's clock; 0: when it is noticed
}

func (f *failure) Error() string { return f.msg }

// cancelled is what a cancelled context stands for, while something went on.
func cancelled(ctx context.Context, while string) *failure {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrRunEnd):
		return &failure{class: timeline.CancelledRunEnd, msg: cause.Error() + while}
	case errors.Is(cause, context.DeadlineExceeded):
		return &failure{class: timeline.TimeoutTotal, msg: "the caller's deadline passed" + while}
	}
	return &failure{class: timeline.CancelledUser, msg: ErrUser.Error() + while}
}

// dialFailure classes what went wrong while connecting to address.
func dialFailure(err error, address string) *failure {
	if f := resourceFailure(err); f != nil {
		return f
	}
	var dns *net.DNSError
	var proxy *proxyError
	switch {
	case errors.As(err, &proxy):
		return proxy.failure()
	case errors.As(err, &dns):
		return &failure{class: timeline.DNS, msg: fmt.Sprintf("the name %q can't be resolved: %s; check the host in the URL", dns.Name, dnsWords(dns))}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &failure{class: timeline.ConnectRefused, msg: fmt.Sprintf("connection refused by %s: is the server running, and on this port?", address)}
	case errors.Is(err, os.ErrNotExist):
		return &failure{class: timeline.ConnectRefused, msg: fmt.Sprintf("no socket at %s: is the server running?", address)}
	case errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{class: timeline.TimeoutConnect, msg: fmt.Sprintf("no answer from %s while connecting", address)}
	case lost(err):
		return &failure{class: timeline.ConnReset, msg: fmt.Sprintf("%s closed the connection while it was being opened", address)}
	}
	return &failure{class: timeline.ConnectRefused, msg: fmt.Sprintf("can't connect to %s: %v", address, bare(err))}
}

// resourceFailure tells limits of this machine from faults of the server.
func resourceFailure(err error) *failure {
	var hint string
	switch {
	case errors.Is(err, syscall.ENFILE):
		hint = "too many open files in the system (fs.file-max)"
	case errors.Is(err, syscall.EMFILE), strings.Contains(err.Error(), "too many open files"):
		hint = "too many open files; raise the limit (ulimit -n) or lower the concurrency"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "no free local port; keep connections alive, widen net.ipv4.ip_local_port_range or lower the rate"
	case errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
		hint = "no memory for sockets on this machine"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		hint = "this machine does not permit the connection (firewall, sandbox or the socket's rights)"
	default:
		return nil
	}
	return &failure{class: timeline.ClientResource, msg: hint + ": " + bare(err).Error()}
}

// tlsFailure words what went wrong in the handshake with a target.
func tlsFailure(err error, to target) *failure {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		hint     string
		plain    = to.scheme(false)
	)
	if f := resourceFailure(err); f != nil {
		return f
	}
	switch {
	case errors.As(err, &unknown):
		hint = "; give the certificate of its authority, or do not verify it"
	case errors.As(err, &hostname):
		hint = "; the certificate is for another name: check the host in the URL, or do not verify it"
	case errors.As(err, &invalid):
		hint = "; the certificate is not valid: renew it, give its authority, or do not verify it"
	case errors.As(err, &record):
		hint = "; the server does not speak TLS on this port: use " + plain
	case strings.HasSuffix(err.Error(), "tls: no application protocol"): // the alert's type is crypto/tls's own
		hint = "; the server may speak HTTP/2 alone"
	case errors.Is(err, io.EOF) || lost(err):
		err = errors.New("the server closed the connection")
		hint = "; if it does not speak TLS on this port, use " + plain
	}
	return &failure{class: timeline.TLS, msg: fmt.Sprintf("TLS handshake with %s failed: %v%s", to.address, bare(err), hint)}
}

func dnsWords(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "no such host"
	case err.IsTimeout:
		return "the name server did not answer"
	}
	return err.Err
}

// lost reports whether the peer's end of the connection is gone.
func lost(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed)
}

// bare removes the addresses and system calls that are put around an error:
// the message says already what was done to whom.
func bare(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	var path *os.PathError // of a socket as a file
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
