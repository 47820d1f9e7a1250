//go:build unix

package gate

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// When descriptors run out, clients are told, it is counted, and the reserve is
// there for others.
func TestDescriptorsRunOut(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limited); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) }()
	bound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var full atomic.Int64
	ln := Listen(bound, Config{Full: func(error) { full.Add(1) }})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })}
	go func() { _ = server.Serve(ln) }()
	defer server.Close()
	var files []*os.File // stand for whatever holds descriptors
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		if int(f.Fd()) >= reserve()-spareForUpstreams {
			break
		}
	}
	ask := func() string {
		c, err := net.Dial("tcp", bound.Addr().String())
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		answer, _ := io.ReadAll(c)
		line, _, _ := strings.Cut(string(answer), "\r\n")
		return line
	}
	for range 5 {
		if got := ask(); !strings.Contains(got, " 503 ") {
			t.Errorf("crowded: %s", got)
		}
	}
	if full.Load() < 5 {
		t.Errorf("told %d times", full.Load())
	}
	if f, err := os.Open(os.DevNull); err != nil {
		t.Errorf("no reserve: %v", err)
	} else {
		_ = f.Close()
	}
	for _, f := range files {
		_ = f.Close()
	}
	if got := ask(); !strings.Contains(got, " 204 ") {
		t.Errorf("afterwards: %s", got)
	}
}
