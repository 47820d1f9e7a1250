//go:build !lean

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"tokenmeter/base/pattern"
	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/load/machine"
	"tokenmeter/record/run"
	"tokenmeter/service/daemon"
	"tokenmeter/service/traffic"
)

type serveCmd struct {
	Config  string `short:"c" name:"config" required:"" placeholder:"FILE" help:"The configuration, YAML; docs/proxy.md explains it and docs/serve.schema.json is its schema."`
	Check   bool   `help:"Check the configuration, print every mistake with its line, and end."`
	Records string `placeholder:"FILE" help:"Append the record of each finished request to a file, a JSON line each."`
	Trace   string `placeholder:"FILE" help:"Append to a file what is needed to play the requests again, without contents: bench --workload plays it."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (serveCmd) Help() string {
	return `The configuration is read again on SIGHUP and when the file changes; a bad one is refused and the old one stays.
SIGTERM lets streams in flight end, within the time that the configuration gives them.`
}

// Run serves until it is stopped.
func (c *serveCmd) Run(a *app) error {
	load := func() (*daemon.Plan, error) { return daemon.Load(c.Config, a.env) }
	plan, err := load()
	if err != nil {
		return bareFile(err)
	}
	if c.Check {
		_, err := fmt.Fprintf(a.stdout, "%s: ok\n", c.Config)
		return err
	}
	files := func(p *daemon.Plan) []string { return append(p.Files(), c.Config) }
	return runDaemon(a, plan, load, files, c.Records, c.Trace)
}

// bareFile is an error of opening a file, in short.
func bareFile(err error) error {
	var path *os.PathError
	if errors.As(err, &path) && path.Op == "open" {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}

// runDaemon runs the daemon until SIGINT or SIGTERM; a second one ends it at once.
func runDaemon(a *app, plan *daemon.Plan, load func() (*daemon.Plan, error), files func(*daemon.Plan) []string, records, trace string) error {
	machine.RaiseFiles()
	if limit := machine.This().MemoryLimit(); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9) // collect before the kernel kills
	}
	opt := daemon.Options{Log: newLogger(a, plan), Files: files, Version: fullVersion()}
	var rows *daemon.Records
	if records != "" {
		if owned(records) {
			return fmt.Errorf("--records %s belongs to a run and holds what it measured; name another file", records)
		}
		var err error
		if rows, err = daemon.OpenRecords(records); err != nil {
			return &run.WriteError{Path: records, Err: err, Named: true}
		}
		opt.Sinks = append(opt.Sinks, rows)
	}
	var traced *daemon.Trace
	if trace != "" {
		if owned(trace) || trace == records {
			return fmt.Errorf("--trace %s holds something else; name another file", trace)
		}
		var err error
		if traced, err = daemon.OpenTrace(trace, plan); err != nil {
			return &run.WriteError{Path: trace, Err: err, Named: true}
		}
		opt.Sinks, opt.Asked = append(opt.Sinks, traced), true
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
			return
		}
		<-stop
		leave()
	}()
	opt.Reload = reload
	first := plan
	opt.Load = func() (*daemon.Plan, error) {
		if p := plan; p != nil { // at the start: it was read already
			plan = nil
			return p, nil
		}
		return load()
	}
	opt.Ready = func(listeners []daemon.Address, admin net.Addr) {
		a.started(first, listeners, admin)
	}
	err := daemon.Run(ctx, opt)
	var lost *daemon.LostError
	if errors.As(err, &lost) {
		err = &codedError{code: exitWrite, text: err.Error()}
	}
	if rows != nil {
		err = a.written("records", records, rows.Close, err)
	}
	if traced != nil {
		err = a.written("lines", trace, traced.Close, err)
	}
	return err
}

// written closes a file of lines, and says what is not in it.
func (a *app) written(what, path string, closes func() (dropped int64, err error), before error) error {
	dropped, err := closes()
	if dropped > 0 {
		a.say("%d %s were not written to %s: it could not keep up, or was full", dropped, what, path)
	}
	if err != nil && before == nil {
		return &run.WriteError{Path: path, Err: err, Named: true}
	}
	return before
}

// started says where the daemon listens, what for, and by which name the
// metrics call an objective.
func (a *app) started(plan *daemon.Plan, listeners []daemon.Address, admin net.Addr) {
	target := ""
	if up := plan.Config.Upstreams; len(up) == 1 {
		target = " for " + secret.RedactURL(up[0].URL)
	}
	for _, l := range listeners {
		name := l.Name
		if name != "" {
			name += " "
		}
		a.note("proxy %sat %s%s", name, l.URL(), target)
	}
	if admin != nil {
		a.note("metrics at http://%s/metrics", admin)
	}
	for i := range plan.Objectives {
		o := &plan.Objectives[i]
		a.note("objective %s: %s", traffic.Key(o), o.Text)
	}
}

// newLogger writes to stderr what the flags ask for, else the configuration.
func newLogger(a *app, plan *daemon.Plan) *slog.Logger {
	word := cmp.Or(a.flags.LogLevel, plan.Config.Log.Level)
	if a.flags.Quiet {
		word = "error"
	}
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(strings.ToUpper(word)))
	opt := &slog.HandlerOptions{Level: level}
	out := lineWriter{a}
	if plan.Config.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, opt))
	}
	return slog.New(slog.NewTextHandler(out, opt))
}

// lineWriter keeps what others said from acting on the terminal.
type lineWriter struct{ a *app }

func (w lineWriter) Write(p []byte) (int, error) {
	if _, err := fmt.Fprintln(w.a.stderr, printable.Lines(strings.TrimSuffix(string(p), "\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

type proxyCmd struct {
	Upstream      string        `required:"" placeholder:"URL" help:"The server to pass requests on to: http://HOST:PORT, https:// or unix:///PATH."`
	Listen        string        `default:"127.0.0.1:8088" placeholder:"ADDR" help:"Where clients connect. Default: ${default}."`
	MetricsListen string        `default:"127.0.0.1:9464" placeholder:"ADDR" help:"Where /metrics, /healthz and /readyz are; off: nowhere. Default: ${default}."`
	MetricsHold   time.Duration `default:"65s" placeholder:"D" help:"How long a new counter of an objective is shown as 0, so that Prometheus sees it grow; 0: not at all. Default: ${default}."`
	MetricsLinger time.Duration `default:"40s" placeholder:"D" help:"How long /metrics stays for a last scrape when the proxy is stopped; 0: not at all. Default: ${default}."`
	Objective     []string      `sep:"none" placeholder:"TEXT" help:"Like p99 tpot < 120ms: exact counters of good and valid requests. Repeatable."`
	Usage         string        `default:"strip" placeholder:"HOW" enum:"strip,pass,off" help:"Streams whose client did not ask for usage: ask for it and take it out again (strip), leave it in (pass), or do not ask (off). Default: ${default}."`
	NoInject      bool          `help:"The same as --usage off: byte-exact both ways, tokens are estimated."`
	Leave         string        `default:"cancel" placeholder:"HOW" enum:"cancel,drain" help:"When a client hangs up: cancel the upstream, or drain it so that its tokens are known. Default: ${default}."`
	Model         []string      `placeholder:"NAME" help:"A model that may be a label. Repeatable. Default: those that the server names."`
	AllowPath     []string      `placeholder:"PATH" help:"A further path that is let through; a * in it stands for any text. Repeatable."`
	Session       string        `placeholder:"WHERE" help:"Where session ids come from: header:NAME, traceparent or user. They are stored as HMACs."`
	Task          string        `placeholder:"WHERE" help:"Where task ids come from, likewise."`
	Parent        string        `placeholder:"WHERE" help:"Where the id of the session stands that began this one, for sub-agents: header:NAME."`
	APIKeyEnv     string        `name:"api-key-env" placeholder:"NAME" help:"Environment variable that holds the key for the upstream; the client's own is replaced."`
	CAFile        string        `name:"ca-file" placeholder:"FILE" help:"PEM file of the authority that signed the upstream's certificate."`
	Insecure      bool          `help:"Do not verify the upstream's certificate."`
	ServerMetrics []string      `name:"server-metrics" sep:"none" placeholder:"auto|URL" help:"Read what the server tells of itself every five seconds, and show it in /metrics: queue, running, KV cache, its own times. auto looks for its page, a URL names one. Repeatable. Default: nothing is asked."`
	MaxStreams    int           `placeholder:"N" help:"Requests at once; more get 503."`
	IdleTimeout   time.Duration `placeholder:"D" help:"A stream without a further token, or a silent server, for so long is ended. Default: 10m."`
	Keep          float64       `default:"0.01" placeholder:"SHARE" help:"Share of requests whose arrivals are kept. Default: ${default}."`
	Records       string        `placeholder:"FILE" help:"Append the record of each finished request to a file, a JSON line each."`
	Trace         string        `placeholder:"FILE" help:"Append to a file what is needed to play the requests again, without contents: bench --workload plays it."`
	LogRequests   bool          `help:"Log a line a request."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (proxyCmd) Help() string {
	return `Passes requests on to one server and measures every reply that comes back: the daemon of tokenmeter serve, without a file.
SIGTERM lets streams in flight end, and whoever reads /metrics read it once more. The metrics call an objective by a short code, which is printed at the start.`
}

// Run serves until it is stopped.
func (c *proxyCmd) Run(a *app) error {
	var check checker
	cfg := c.config()
	if objectives(c.Objective, &check); len(check.errs) > 0 {
		cfg.Objectives = nil // they are told already
	}
	load := func() (*daemon.Plan, error) { return daemon.Of(cfg, a.env, flagOf) }
	plan, err := load()
	check.add(err)
	if err := check.err(); err != nil {
		return err
	}
	err = runDaemon(a, plan, load, nil, c.Records, c.Trace)
	if listen := (*daemon.ListenError)(nil); errors.As(err, &listen) {
		flag := "--listen"
		if listen.Listener == "admin" {
			flag = "--metrics-listen"
		}
		return fmt.Errorf("%w; choose another address with %s", listen, flag)
	}
	return err
}

// flagOf names the flag that a field of the configuration comes from.
func flagOf(field string) string {
	if flag, ok := flagsOfFields[index().ReplaceAllString(field, "")]; ok {
		return flag
	}
	return field
}

var index = pattern.Lazy(`\[\d+\]`)

var flagsOfFields = map[string]string{
	"upstreams.url": "--upstream", "upstreams.key_env": "--api-key-env", "upstreams.ca_file": "--ca-file",
	"upstreams.server_metrics": "--server-metrics", "upstreams.head_timeout": "--idle-timeout", "upstreams.idle_timeout": "--idle-timeout",
	"listeners.listen": "--listen", "listeners.streams": "--max-streams", "admin.listen": "--metrics-listen", "metrics.hold": "--metrics-hold", "metrics.linger": "--metrics-linger",
	"routes.paths": "--allow-path", "objectives": "--objective", "models": "--model", "keep": "--keep",
	"identity.session": "--session", "identity.task": "--task", "identity.parent": "--parent",
}

// config is the file that the flags stand for.
func (c *proxyCmd) config() daemon.Config {
	usage := c.Usage
	if c.NoInject {
		usage = "off"
	}
	route := daemon.Route{Name: "default", Usage: usage, Leave: c.Leave, Upstreams: []daemon.Share{{Name: "upstream"}}}
	if len(c.AllowPath) > 0 {
		route.Paths = slices.Concat(daemon.DefaultPaths(), c.AllowPath)
	}
	return daemon.Config{
		Listeners:  []daemon.Listener{{Listen: c.Listen, Streams: c.MaxStreams}},
		Admin:      daemon.Admin{Listen: c.MetricsListen},
		Metrics:    daemon.Metrics{Hold: &c.MetricsHold, Linger: &c.MetricsLinger},
		Upstreams:  []daemon.Upstream{{Name: "upstream", URL: c.Upstream, KeyEnv: c.APIKeyEnv, CAFile: c.CAFile, Insecure: c.Insecure, HeadTimeout: c.IdleTimeout, IdleTimeout: c.IdleTimeout, ServerMetrics: c.ServerMetrics}},
		Routes:     []daemon.Route{route},
		Objectives: c.Objective, Models: c.Model, Keep: &c.Keep,
		Identity: daemon.Identity{Session: c.Session, Task: c.Task, Parent: c.Parent},
		Log:      daemon.Log{Requests: c.LogRequests},
	}
}
