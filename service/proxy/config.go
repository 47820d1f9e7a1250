// Package proxy is the measuring reverse proxy. Bytes go first and untouched; a
// parser reads a copy of them after they were written, and nothing that it does
// can fail the stream: what it cannot read is unmeasured, and counted.
package proxy

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
)

// Usage says what is done about streams whose client did not ask for usage
// (OpenAI's chat and completions APIs, which else never tell their tokens).
type Usage string

// The ways. Requests that mention include_usage themselves are left alone.
const (
	UsageOff   Usage = "off"   // nothing: tokens are estimated from chunks
	UsageStrip Usage = "strip" // asked for, and the event removed from what the client gets
	UsagePass  Usage = "pass"  // asked for, and passed on
)

// Leave says what becomes of a reply whose client has hung up.
type Leave string

// Cancel frees the server at once. Drain reads on, within bounds, so that the
// tokens are known, and for servers that do not bear being cut off.
const (
	LeaveCancel Leave = "cancel"
	LeaveDrain  Leave = "drain"
)

// Upstream is a server that requests are passed on to.
type Upstream struct {
	Name string
	URL  string
	// Key, when set, replaces whatever key the client sent.
	Key    string
	Header http.Header // set on every request
	TLS    *tls.Config
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error) // tests

	ConnectTimeout time.Duration // 0: 10 s
	HeadTimeout    time.Duration // from the request sent to its answer's head; 0: 10 min
	IdleTimeout    time.Duration // no byte, and of a stream no token; 0: 10 min
	KeepIdle       time.Duration // how long unused connections are kept; 0: 90 s

	Health Health
	// LearnModels asks for /v1/models now and then: those names may be labels.
	LearnModels bool
}

// Health is how a sick upstream is found and spared.
type Health struct {
	Failures int           // so many in a row (no connection, no answer, 502, 503, 504) and it is spared; 0: 3
	Spare    time.Duration // for how long; doubled each time, up to 16 times; 0: 5 s
	Path     string        // asked by GET; empty: never
	Every    time.Duration // 0: 10 s
	Timeout  time.Duration // 0: 5 s
}

// Share is an upstream's part of a route's requests.
type Share struct {
	Upstream string
	Weight   int // 0: it gets none
}

// Route is where requests of some paths and models go.
type Route struct {
	Name string
	// Paths that are let through, in which * stands for any text, with their
	// methods before them: "GET /x", "GET,POST /x", "* /x". Without methods: GET
	// and POST, where models, files and jobs are kept GET only.
	Paths []string
	// Models that belong to the route, in which * stands for any text; empty: all.
	Models    []string
	Upstreams []Share

	API   string // overrides what the path says
	Usage Usage  // empty: strip
	Leave Leave  // empty: cancel
	// Bounds of reading on after the client left.
	DrainTime  time.Duration // 0: 60 s
	DrainBytes int64         // 0: 16 MiB

	MaxStreams int           // requests at once, more get 503; 0: no limit
	MaxBody    int64         // bytes of a request's body; 0: 32 MiB
	Timeout    time.Duration // of a whole request; 0: none
	// KeepHost passes the client's Host on.
	KeepHost bool
	// HideClient keeps the client's address out of the headers that go upstream.
	HideClient bool
	// KeepEncoding passes the client's Accept-Encoding on. Else measured
	// requests ask for no compression, which delivers in blocks and not in tokens.
	KeepEncoding bool
}

// Identity says where a session or task id comes from: "header:NAME",
// "traceparent" (its trace id) or "user" (the field of the body). Empty: nowhere.
type Identity string

// Config is one listener's proxy.
type Config struct {
	Listener  string
	Routes    []Route
	Upstreams []Upstream
	// Models that may be a label besides those that routes name.
	Models []string

	Session, Task Identity
	// Parent is where the session stands that began a request's session.
	Parent Identity
	// Asked: the sink gets the bodies of requests too.
	Asked bool
	// Probe names the header that marks a request as a probe; empty: none does.
	// Whoever may send requests may mark them, and so leave the objectives on live
	// ones.
	Probe string
	// Secret is the key of the HMAC by which ids are stored.
	Secret []byte

	// Keep is the share of requests whose arrivals are kept, 0 to 1.
	Keep float64
	// MaxEvent is the largest event, or whole body, that is parsed; 0: 8 MiB.
	MaxEvent int
	// ReaderTimeout is how long a write may wait for a client that does not
	// read; 0: 5 min.
	ReaderTimeout time.Duration
	// BodyTimeout is how long a client may take to send its request; 0: 60 s.
	BodyTimeout time.Duration
	MaxStreams  int // requests at once over all routes; 0: no limit
	// Keys of which clients must show one; none: everybody may pass.
	Keys []Key
	// Hosts that requests may name besides local ones; nil: any.
	Hosts []string
	// Bodies bounds the memory of bodies; nil: nothing does.
	Bodies *Budget
	// Clients bounds the memory of requests that are there, and of their heads; nil: nothing does.
	Clients *Budget
	// Replies bounds the memory of what of replies is not parsed yet; nil: nothing does.
	// One for which there is no room passes unmeasured.
	Replies *api.Room

	Sink        traffic.Sink
	Log         *slog.Logger // nil: none
	LogRequests bool         // a line a request
	Clock       *clock.Clock // nil: a new one
}
