package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
)

// bare is net/http's server in front of its own client, in a process of this
// program: what a proxy in Go costs that reads each body first, and then measures
// nothing, refuses nothing and notices nobody leave.
func bare(_ settings, address, upstream, _ string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, "-bare", address, "http://"+upstream), nil
}

// serveBare is that process.
func serveBare(address, upstream string) error {
	transport := &http.Transport{MaxIdleConns: 10000, MaxIdleConnsPerHost: 10000, DisableCompression: true}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return
		}
		out, err := http.NewRequestWithContext(in.Context(), in.Method, upstream+in.URL.RequestURI(), bytes.NewReader(body))
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
