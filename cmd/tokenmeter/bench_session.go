package main

import (
	"slices"
	"strings"

	"tokenmeter/load/bench"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// perSession reports whether sessions have connections of their own.
func (c *benchCmd) perSession(a *api.API, check *checker) bool {
	per := c.Connection == "per-session" || c.Connection == "auto" && !c.NoKeepalive && client.OverWebSocket(c.URL)
	if c.Connection == "per-session" && c.HTTP2 {
		check.addf("--connection per-session is of HTTP/1.1: with --http2 one connection carries everything")
	}
	if c.Connection == "pooled" && a.Remembers {
		check.addf("--connection pooled: %s keeps a conversation on its connection, leave it out", a.Name)
	}
	if per && c.NoKeepalive {
		check.addf("--no-keepalive opens a connection for every request: leave out --connection per-session")
	}
	return per
}

// session is how the server learns which requests are of one session.
func (c *benchCmd) session(check *checker) (s bench.Session) {
	s.Fields, s.Echo = c.SessionField, c.SessionEcho
	switch {
	case slices.Equal(c.SessionHeader, []string{"none"}):
		s.Headers = []string{}
	case slices.Contains(c.SessionHeader, "none"):
		check.addf("--session-header none sends no header: leave out the others")
	case len(c.SessionHeader) > 0:
		s.Headers = c.SessionHeader
	case slices.ContainsFunc(c.SessionEcho, func(name string) bool { return strings.EqualFold(name, "X-Session-ID") }):
		s.Headers = []string{} // the server's own name of the session stands there
	}
	return s
}
