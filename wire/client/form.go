package client

import (
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
)

// Form is how replies are read.
type Form string

const (
	// AutoForm is the reactor where it can be, else the plain form.
	AutoForm Form = ""
	// ReactorForm reads all streams in one goroutine that looks every now and
	// then: many streams for little processor time. It needs Linux, TCP without
	// TLS and HTTP/1.1, and claims a processor of Go's scheduler more
	// (GOMAXPROCS) while connections are open.
	ReactorForm Form = "reactor"
	// PlainForm has a goroutine a stream.
	PlainForm Form = "plain"
)

// ParseForm reads "auto", "reactor" or "plain".
func ParseForm(s string) (Form, error) {
	switch s {
	case "", "auto":
		return AutoForm, nil
	case "reactor", "plain":
		return Form(s), nil
	}
	return "", fmt.Errorf("%q is none of auto, reactor and plain", s)
}

// coresAReactor is how many cores a machine has for each reactor.
const coresAReactor = 8

// reactors share the connections of a client in turn.
type reactors struct {
	all  []*reactor
	next atomic.Uint32
}

// newReactors makes those that the configuration wants; none for the plain form.
func newReactors(cfg *Config, t *target) (*reactors, error) {
	form := cfg.Form
	if form == AutoForm && cfg.Capture != nil {
		form = PlainForm // writing files would hold up every stream
	}
	if form == PlainForm {
		return &reactors{}, nil
	}
	var why string
	switch {
	case runtime.GOOS != "linux":
		why = "Linux"
	case t.network != "tcp" || t.tls || t.ws || cfg.HTTP2:
		why = "TCP without TLS, and HTTP/1.1"
	case cfg.NoKernelStamps:
		why = "the kernel's stamps"
	}
	rs := &reactors{}
	if why == "" {
		for range max(1, runtime.NumCPU()/coresAReactor) {
			if r := newReactor(cfg.Clock); r != nil {
				rs.all = append(rs.all, r)
			}
		}
		if len(rs.all) == 0 {
			why = "the system's epoll"
		}
	}
	if why != "" && form == ReactorForm {
		return nil, fmt.Errorf("the reactor needs %s; use the client plain or auto", why)
	}
	return rs, nil
}

// adopt gives a new connection to a reactor; nil: it is read by goroutines.
func (rs *reactors) adopt(nc net.Conn) *socket {
	if len(rs.all) == 0 {
		return nil
	}
	return rs.all[int(rs.next.Add(1))%len(rs.all)].adopt(nc)
}

func (rs *reactors) close() {
	for _, r := range rs.all {
		r.close()
	}
}
