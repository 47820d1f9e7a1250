package daemon

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tokenmeter/service/proxy"
	"tokenmeter/service/slo"
)

// Config is the daemon's file. Its JSON Schema is docs/serve.schema.json.
type Config struct {
	Listeners  []Listener `yaml:"listeners" required:"true" doc:"where clients connect"`
	Upstreams  []Upstream `yaml:"upstreams" required:"true" doc:"the servers that requests are passed on to"`
	Routes     []Route    `yaml:"routes" required:"true" doc:"which requests go where; the first that matches path and model wins, and what matches none is refused"`
	Admin      Admin      `yaml:"admin" doc:"the listener for health checks and metrics"`
	Objectives []string   `yaml:"objectives" doc:"such as p99 tpot < 120ms; exact counters of good and valid requests are kept for each"`
	SLO        *slo.Spec  `yaml:"slo" doc:"objectives with error budgets and alerts, kept over restarts; docs/slo.md"`
	Store      string     `yaml:"store" doc:"where their history is kept: a file, default tokenmeter.db in the working directory; or postgres://USER@HOST/DATABASE, for several daemons"`
	StoreName  string     `yaml:"store_name" doc:"in PostgreSQL: the name under which this daemon counts, the same after a restart; default: the host's"`
	Prices     string     `yaml:"prices" doc:"file of prices (docs/cost.md), for objectives on dollars"`
	Scrape     []Scrape   `yaml:"scrape" doc:"exporters of GPU telemetry, such as DCGM's, for objectives on gpu_utilization"`
	Rows       *Rows      `yaml:"rows" doc:"a row a request in Parquet, for DuckDB, ClickHouse or Spark; default: none"`
	Probes     *Probes    `yaml:"probes" doc:"requests of our own at times of the day, within a budget; docs/probes.md; default: none"`
	Models     []string   `yaml:"models" doc:"names, or prefixes that end in *, that may be labels of metrics; others count as other"`
	Identity   Identity   `yaml:"identity" doc:"where the ids of sessions and tasks come from"`
	Keep       *float64   `yaml:"keep" doc:"share of requests whose arrivals are kept, 0 to 1; default 0.01; of the others the record is kept"`
	Bodies     Size       `yaml:"bodies" doc:"memory for the request bodies of all clients together, where they are read before they are passed on, and for what they send behind a request that waits; more get 503; default: a quarter of the memory that the cgroup, or the machine, has"`
	Metrics    Metrics    `yaml:"metrics" doc:"what /metrics of the admin listener shows"`
	OTel       *OTel      `yaml:"otel" doc:"OpenTelemetry by OTLP over HTTP; default: nothing is sent"`
	Datadog    *Datadog   `yaml:"datadog" doc:"a Datadog agent by DogStatsD; default: nothing is sent"`
	Stop       Stop       `yaml:"stop" doc:"how the daemon ends"`
	Log        Log        `yaml:"log" doc:"what is logged, on stderr"`
}

// Listener is an address with its limits.
type Listener struct {
	Name          string        `yaml:"name" doc:"default: its address"`
	Listen        string        `yaml:"listen" required:"true" doc:"HOST:PORT"`
	TLS           *TLS          `yaml:"tls" doc:"without it HTTP is spoken in the clear, HTTP/2 too"`
	Keys          []ClientKey   `yaml:"keys" doc:"clients must show one of them, as a Bearer token, x-api-key, api-key, x-goog-api-key, ?key= or ?api-key=; it stays here"`
	KeysFile      string        `yaml:"keys_file" doc:"YAML file with more of them, under keys; read again when it changes"`
	Open          bool          `yaml:"open" doc:"let everybody who can reach an address that is not local use the keys of the upstreams"`
	Hosts         []string      `yaml:"hosts" doc:"names in the Host header, and of web pages that requests come from (Origin), besides local ones, * for any; default: any, and only local ones where the address is a local one"`
	Streams       int           `yaml:"streams" doc:"requests at once; more get 503; default: no limit"`
	Header        Size          `yaml:"header" doc:"largest request head; default 64KiB"`
	HeaderTimeout time.Duration `yaml:"header_timeout" doc:"how long a client may take to send its head; default 10s"`
	BodyTimeout   time.Duration `yaml:"body_timeout" doc:"how long a client may take to send its body; default 60s"`
	ReaderTimeout time.Duration `yaml:"reader_timeout" doc:"how long a write may wait for a client that does not read; default 5m"`
	IdleTimeout   time.Duration `yaml:"idle_timeout" doc:"how long a connection may wait for its next request; default 2m"`
}

// TLS is our side's certificate, and who may connect.
type TLS struct {
	Cert     string `yaml:"cert" required:"true" doc:"PEM file; read again when the file changes"`
	Key      string `yaml:"key" required:"true" doc:"PEM file"`
	ClientCA string `yaml:"client_ca" doc:"PEM file: clients must show a certificate that it signed (mTLS)"`
}

// Upstream is a server behind the proxy.
type Upstream struct {
	Name           string            `yaml:"name" required:"true"`
	URL            string            `yaml:"url" required:"true" doc:"http://HOST:PORT, https:// or unix:///PATH"`
	KeyEnv         string            `yaml:"key_env" doc:"environment variable that holds the key for it; the client's own is replaced"`
	KeyFile        string            `yaml:"key_file" doc:"file that holds it"`
	Headers        map[string]string `yaml:"headers" doc:"set on every request; keys belong into key_env or key_file"`
	CAFile         string            `yaml:"ca_file" doc:"PEM file of the authority of its certificate"`
	Cert           string            `yaml:"cert" doc:"PEM file of our own certificate, for servers that ask for one"`
	Key            string            `yaml:"key" doc:"PEM file of its key"`
	Insecure       bool              `yaml:"insecure" doc:"do not verify its certificate"`
	ConnectTimeout time.Duration     `yaml:"connect_timeout" doc:"default 10s"`
	HeadTimeout    time.Duration     `yaml:"head_timeout" doc:"from the request sent to the answer's head, which some servers send with the first token only; default 10m"`
	IdleTimeout    time.Duration     `yaml:"idle_timeout" doc:"no further token of a stream, or byte; default 10m"`
	KeepIdle       time.Duration     `yaml:"keep_idle" doc:"how long unused connections are kept; default 90s"`
	Health         Health            `yaml:"health" doc:"how it is found sick and spared"`
	ServerMetrics  []string          `yaml:"server_metrics" doc:"what it tells of itself, for the metrics: auto looks for /metrics at its url, a URL names a page (one a replica, or of its GPUs); default: nothing is asked"`
}

// Health is passive, and active where a path is given.
type Health struct {
	Failures int           `yaml:"failures" doc:"so many failures in a row and it is spared; default 3"`
	Spare    time.Duration `yaml:"spare" doc:"for how long; doubled each time; default 5s"`
	Path     string        `yaml:"path" doc:"asked by GET, 2xx is well; default: never asked"`
	Every    time.Duration `yaml:"every" doc:"default 10s"`
	Timeout  time.Duration `yaml:"timeout" doc:"default 5s"`
}

// Route is where requests of some paths and models go.
type Route struct {
	Name       string   `yaml:"name" required:"true"`
	Listeners  []string `yaml:"listeners" doc:"names of listeners; default: all"`
	Paths      []string `yaml:"paths" doc:"exact, a prefix that ends in *, or an end after a *, with methods before it (GET,POST /x; * /x; WEBSOCKET /x for WebSockets, which also go where GET does); without methods: GET and POST, and GET only of models, files and jobs; default: completions of every API, lists of models, embeddings, health"`
	Models     []string `yaml:"models" doc:"names, or prefixes that end in *; default: all"`
	Upstreams  []Share  `yaml:"upstreams" required:"true" doc:"who serves it, by weight"`
	API        string   `yaml:"api" doc:"default: the path tells"`
	Usage      string   `yaml:"usage" enum:"strip|pass|off" doc:"streams whose client did not ask for usage: ask for it and take it out again (strip, the default), leave it in (pass), do not ask (off: byte-exact both ways, tokens estimated)"`
	Leave      string   `yaml:"leave" enum:"cancel|drain" doc:"when the client hangs up: cancel the upstream (the default), or read on within the bounds of drain"`
	Drain      Drain    `yaml:"drain" doc:"bounds of reading on"`
	Limits     Limits   `yaml:"limits"`
	KeepHost   bool     `yaml:"keep_host" doc:"pass the client's Host on"`
	HideClient bool     `yaml:"hide_client" doc:"send no X-Forwarded headers"`
	KeepCoding bool     `yaml:"keep_encoding" doc:"pass the client's Accept-Encoding on; default: completions are asked for uncompressed, as compression delivers in blocks"`
}

// Share is an upstream's part of a route.
type Share struct {
	Name   string `yaml:"name" required:"true" doc:"of an upstream"`
	Weight *int   `yaml:"weight" doc:"default 1; 0 takes it out"`
}

// Drain bounds reading on after the client left.
type Drain struct {
	Time time.Duration `yaml:"time" doc:"default 60s"`
	Size Size          `yaml:"size" doc:"default 16MiB"`
}

// Limits of a route.
type Limits struct {
	Streams int           `yaml:"streams" doc:"requests at once; more get 503; default: no limit"`
	Body    Size          `yaml:"body" doc:"largest request body; default 32MiB"`
	Time    time.Duration `yaml:"time" doc:"of a whole request; default: no limit"`
}

// Admin is the listener for those who run the daemon.
type Admin struct {
	Listen    string `yaml:"listen" doc:"HOST:PORT; default 127.0.0.1:9464; off: none"`
	TLS       *TLS   `yaml:"tls" doc:"with client_ca only clients with a certificate get in"`
	TokenEnv  string `yaml:"token_env" doc:"environment variable that holds the token (Authorization: Bearer …)"`
	TokenFile string `yaml:"token_file" doc:"file that holds it"`
	Open      bool   `yaml:"open" doc:"let everybody in who can reach an address that is not local"`
}

// Identity says where ids come from. They are stored as HMACs and are never a
// label.
type Identity struct {
	Session    string `yaml:"session" doc:"header:NAME, traceparent or user"`
	Task       string `yaml:"task" doc:"header:NAME, traceparent or user"`
	Parent     string `yaml:"parent" doc:"where the session stands that began this one, for sub-agents: header:NAME"`
	Probe      string `yaml:"probe" doc:"header that marks a request as a probe, which counts apart; default X-Tokenmeter-Probe; none: no request is one"`
	SecretFile string `yaml:"secret_file" doc:"key of the HMAC; default: a new one at each start"`
}

// probe is the header of probes; empty: none.
func (i Identity) probe() string {
	switch i.Probe {
	case "":
		return proxy.DefaultProbe
	case "none":
		return ""
	}
	return i.Probe
}

// Stop says how the daemon ends.
type Stop struct {
	Delay time.Duration `yaml:"delay" doc:"not ready, but still serving, so that load balancers notice; default 0s"`
	Drain time.Duration `yaml:"drain" doc:"how long streams in flight may go on; default 60s"`
}

// Log says what is logged.
type Log struct {
	Level    string `yaml:"level" enum:"debug|info|warn|error" doc:"default info"`
	Format   string `yaml:"format" enum:"text|json" doc:"default text"`
	Requests bool   `yaml:"requests" doc:"a line a request, without paths' queries, ids, prompts or keys"`
}

// Size is a number of bytes: 4096, 64KiB, 32MiB.
type Size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	word := strings.TrimSpace(string(text))
	number, factor := word, int64(1)
	for unit, k := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(word, unit); ok {
			number, factor = strings.TrimSpace(rest), k
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > 1<<40/factor {
		return fmt.Errorf("%q is no size; write bytes, or 64KiB, 32MiB, 1GiB", word)
	}
	*s = Size(n * factor)
	return nil
}
