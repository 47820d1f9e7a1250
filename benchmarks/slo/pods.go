//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// serveUpstream answers a token, or an error where the request wants one.
func serveUpstream() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "fail") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
}

// pod is one place for a daemon: its addresses, its store, its configuration.
type pod struct {
	listen, admin string
	store         string // empty: the objective has no history
	config        string // file
	recordsFile   string
	steps         bool // its clock can be set wrong
	cmd           *exec.Cmd
	ended         chan struct{}
	serving       bool
}

var given = map[string]bool{}

// address is one of this machine that nobody listens at, and that was not given
// before.
func address() string {
	for {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		at := ln.Addr().String()
		ln.Close()
		if !given[at] {
			given[at] = true
			return at
		}
	}
}

// write writes the configuration of a pod for an objective.
func (p *pod) write(upstream, objective string) error {
	text := fmt.Sprintf("listeners: [{listen: %q}]\nadmin: {listen: %q}\nmetrics: {hold: %s, linger: %s}\nupstreams: [{name: u, url: %q}]\nroutes: [{name: r, upstreams: [{name: u}]}]\n",
		p.listen, p.admin, hold, linger, upstream)
	if p.store != "" {
		text += fmt.Sprintf("store: %q\nslo:\n  objectives:\n    - {name: live, objective: %q}\n  notify:\n    - {webhook: \"http://127.0.0.1:1/gone\"}\n", p.store, objective)
	} else {
		text += fmt.Sprintf("objectives: [%q]\n", objective)
	}
	return os.WriteFile(p.config, []byte(text), 0o644)
}

// start starts a daemon and waits until it serves.
func (p *pod) start() error {
	log, err := os.OpenFile(p.config+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	p.cmd = exec.Command(*binary, "serve", "-c", p.config, "--records", p.recordsFile)
	if p.steps {
		p.cmd = exec.Command("/proc/self/exe", "-serve", p.config, "-records", p.recordsFile)
	}
	p.cmd.Stderr, p.cmd.Dir = log, filepath.Dir(p.config)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) { _ = cmd.Wait(); log.Close(); close(ended) }(p.cmd, p.ended)
	for range 400 {
		if conn, err := net.Dial("tcp", p.listen); err == nil {
			conn.Close()
			p.serving = true
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return fmt.Errorf("a daemon does not come up; see %s.log", p.config)
}

// kill ends a daemon as the kernel does when memory is out.
func (p *pod) kill() {
	p.serving = false
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// term asks a daemon to end. It lingers meanwhile, on a port of its own.
func (p *pod) term() {
	p.serving = false
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
}

// set makes a daemon's clock wrong, or right.
func (p *pod) set(clock os.Signal) func() error {
	return func() error { return p.cmd.Process.Signal(clock) }
}

func (p *pod) stop() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// ask sends one request and reports whether it was answered to its end.
func (p *pod) ask(fail bool) error {
	text := "x"
	if fail {
		text = "fail"
	}
	response, err := http.Post("http://"+p.listen+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"`+text+`"}]}`))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// budget is what the history of a pod's store has counted.
func (p *pod) budget() (c counts, err error) {
	out, err := exec.Command(*binary, "slo", "report", "-c", p.config, "--store", p.store, "--format", "json").Output()
	if err != nil {
		return c, err
	}
	var doc struct {
		Objectives []struct{ Good, Valid int64 }
	}
	if err := json.Unmarshal(out, &doc); err != nil || len(doc.Objectives) == 0 {
		return c, err
	}
	o := doc.Objectives[0]
	return counts{o.Valid - o.Good, o.Valid}, nil
}
