//go:build !lean

package main

import (
	"bytes"
	"net"
	"testing"

	"tokenmeter/service/daemon"
)

// What the daemon says at its start: where it listens, for whom, and what the
// metrics call an objective.
func TestStarted(t *testing.T) {
	c := proxyCmd{Upstream: "http://user:secretpassword@host:8000", Listen: "127.0.0.1:8088", MetricsListen: "127.0.0.1:9464",
		Usage: "strip", Leave: "cancel", Objective: []string{"p99 tpot < 120ms"}}
	plan, err := daemon.Of(c.config(), nil, flagOf)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &app{stderr: &out}
	at := func(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }
	a.started(plan, []daemon.Address{{Addr: at(8088)}}, at(9464))
	want := `proxy at http://127.0.0.1:8088 for http://user:***@host:8000
metrics at http://127.0.0.1:9464/metrics
objective 2d9e50e066af5f21: p99 tpot < 120ms
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	a.started(&daemon.Plan{}, []daemon.Address{{Name: "chat", Addr: at(8088), TLS: true}}, nil)
	if want := "proxy chat at https://127.0.0.1:8088\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
