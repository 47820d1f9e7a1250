package doctor

import (
	"cmp"
	"context"
	"errors"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// patient is a look at one target.
type patient struct {
	o      Options
	cl     *client.Client
	found  *Target
	checks []Check

	// Of the GETs:
	first  *client.Response // the model list, on a new connection
	status int              // of it
	clock  timeline.Clock   // kernel where any of them was stamped there
}

const (
	getTime     = 10 * time.Second
	http2Time   = 3 * time.Second
	settleTime  = 50 * time.Millisecond // for a server to close a connection after its reply
	probeLimit  = time.Minute
	connections = 3 // opened to find the shortest time
)

// LookAt looks at the target alone. It works in virtual time where the
// client's Dial does.
func LookAt(ctx context.Context, o Options) (*Target, []Check) {
	p := &patient{o: o, found: &Target{Models: []string{}}}
	cfg := &p.o.Client
	asked := cfg.API
	if cfg.Clock == nil {
		cfg.Clock = clock.Start()
	}
	cfg.API = cmp.Or(cfg.API, api.OpenAIChat)
	cfg.Timeout = cmp.Or(cfg.Timeout, probeLimit)
	cfg.Capture = nil
	var err error
	if p.cl, err = client.New(*cfg); err != nil {
		p.add(Check{Name: "reach", Verdict: Fail, Value: err.Error()})
		return p.found, p.checks
	}
	defer func() { p.cl.Close() }()
	p.found.URL, p.found.API = p.cl.URL(), cfg.API.Name
	p.examine(ctx, asked)
	p.redact()
	return p.found, p.checks
}

// examine asks what can be asked with GETs, then, when that is allowed, for
// one completion.
func (p *patient) examine(ctx context.Context, asked *api.API) {
	p.o.say("asking " + p.cl.Redactor().URL(p.o.Client.BaseURL))
	server, err := p.detect(ctx)
	if p.first == nil {
		p.unreachable(ctx, err)
		return
	}
	p.reach(ctx)
	p.certificate()
	if !p.access(server.API() != nil) {
		return
	}
	if asked == nil && server.API() != nil {
		p.use(server.API())
	}
	p.identity(server, asked)
	p.models(server)
	p.keepAlive(ctx)
	p.path()
	p.coding(p.first.Header.Get("Content-Encoding"), "a GET")
	p.http2(ctx)
	p.date()
	if p.o.Probe && ctx.Err() == nil {
		p.probe(ctx)
	}
}

// use takes the API that was found.
func (p *patient) use(a *api.API) {
	cfg := p.o.Client
	if cfg.API = a; a.Path == p.o.Client.API.Path {
		return
	}
	if cl, err := client.New(cfg); err == nil {
		p.cl.Close()
		p.cl, p.o.Client = cl, cfg
		p.found.URL, p.found.API = cl.URL(), a.Name
	}
}

// get looks something up within a limit of its own.
func (p *patient) get(ctx context.Context, cl *client.Client, path string, limit time.Duration) (*client.Response, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	r, err := cl.Get(ctx, path)
	if err == nil && p.clock != timeline.Kernel {
		p.clock = r.Timeline.Clock
	}
	return r, err
}

func (p *patient) detect(ctx context.Context) (engines.Server, error) {
	server, _, err := engines.Detect(ctx, func(ctx context.Context, path string) (engines.Answer, error) {
		r, err := p.get(ctx, p.cl, path, getTime)
		if err != nil {
			return engines.Answer{}, err
		}
		if p.first == nil {
			p.first, p.status = r, r.Status
		}
		return r.Answer, nil
	})
	return server, err
}

func (p *patient) add(c Check) {
	c.Of = OfTarget
	if c.Facts == nil {
		c.Facts = facts{}
	}
	p.checks = append(p.checks, c)
}

// unreachable is the end of the look: nobody answered.
func (p *patient) unreachable(ctx context.Context, err error) {
	c := Check{Name: "reach", Verdict: Fail, Value: "no answer", Facts: facts{"class": nil}, Fix: "check that the server runs, and the URL"}
	var known *client.Error
	if errors.As(err, &known) {
		c.Value, c.Facts["class"] = known.Message, string(known.Class)
		switch known.Class {
		case timeline.TLS, timeline.DNS, timeline.ClientResource, timeline.RedirectRefused:
			c.Fix = "" // the message says it
		case timeline.TimeoutConnect:
			c.Fix = "a firewall may drop the packets, or the address is wrong: try it with curl from this machine"
		case timeline.CancelledUser:
			c.Value, c.Fix = "interrupted", ""
		}
		switch known.Class {
		case timeline.TLS, timeline.Parse, timeline.ConnReset: // that it is reached is sure, what it speaks is not
			p.http2Alone(ctx, &c)
		}
	}
	p.add(c)
}

// redact removes the secrets that a server or an error may have repeated.
func (p *patient) redact() {
	red := p.cl.Redactor()
	for i := range p.checks {
		c := &p.checks[i]
		c.Value, c.Fix = red.String(c.Value), red.String(c.Fix)
		for name, v := range c.Facts {
			if s, ok := v.(string); ok {
				c.Facts[name] = red.String(s)
			}
		}
	}
	for _, s := range []*string{&p.found.Engine, &p.found.Version} {
		*s = red.String(*s)
	}
	for i, m := range p.found.Models {
		p.found.Models[i] = red.String(m)
	}
}
