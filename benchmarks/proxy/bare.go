package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
)

// roles are proxies in Go that measure nothing, refuse nothing and notice nobody
// leave, each in a process of this program: what of a proxy's cost is whose.
var roles = map[string]func(address, upstream string) error{
	"bare": serveBare,
	"half": serveHalf,
	"own":  serveOwn,
}

// self starts this program in a role.
func self(role string) func(s settings, address, upstream, dir string) (*exec.Cmd, error) {
	return func(_ settings, address, upstream, _ string) (*exec.Cmd, error) {
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return exec.Command(program, "-be", role, address, upstream), nil
	}
}

// serveBare is net/http's server in front of its own client.
func serveBare(address, upstream string) error {
	transport := &http.Transport{MaxIdleConns: 10000, MaxIdleConnsPerHost: 10000, DisableCompression: true}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return
		}
		out, err := http.NewRequestWithContext(in.Context(), in.Method, "http://"+upstream+in.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			return
		}
		out.Header = in.Header
		reply, err := transport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer reply.Body.Close()
		maps.Copy(w.Header(), reply.Header)
		w.WriteHeader(reply.StatusCode)
		flush := http.NewResponseController(w)
		_ = flush.Flush()
		var buf [4 << 10]byte
		for err == nil {
			var n int
			if n, err = reply.Body.Read(buf[:]); n > 0 {
				if _, lost := w.Write(buf[:n]); lost != nil || flush.Flush() != nil {
					return
				}
			}
		}
	}))
}
