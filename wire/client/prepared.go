package client

import (
	"cmp"
	"context"
	"net/http"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Prepared is a request that is made and only has to be sent: so that the
// making costs no latency.
type Prepared struct {
	c     *Client
	tl    *timeline.Timeline
	x     *exchange
	fault error // it can't be built
	began clock.Reading
}

// Prepare makes a request ahead of its time. The timeline's DueUS and StartUS
// are set by the caller before it is sent.
func (c *Client) Prepare(req *api.Request, tl *timeline.Timeline) *Prepared {
	p := &Prepared{c: c, tl: tl}
	tl.Asked = req.Stream
	tl.Requested = req.MaxTokens
	tl.API = cmp.Or(tl.API, c.cfg.API.Name)
	tl.Model = cmp.Or(tl.Model, req.Model)
	if tl.ID == "" {
		tl.ID = c.newID()
	}
	own := *req // builders note in it what they wrote, and others may send the same
	call, err := c.build(&own)
	if err != nil {
		p.fault = err
		return p
	}
	p.x = &exchange{c: c, tl: tl, capture: c.cfg.Capture,
		sink:  api.NewStream(tl, c.cfg.API, c.cfg.Stream),
		msg:   message{method: http.MethodPost, origin: c.origin, path: c.path(call.Path), extra: together(call.Header, req.Header), id: tl.ID, body: call.Body},
		tries: c.cfg.Retries, first: req.FirstToken, heard: req.OnHead, leaveAt: req.LeaveTokens,
	}
	if c.target.ws {
		p.x.ask = &own
	}
	if req.NoID {
		p.x.msg.id = ""
	}
	return p
}

// build writes a request as the target is spoken to.
func (c *Client) build(req *api.Request) (api.Call, error) {
	if c.target.ws {
		return c.cfg.API.Create(req, "")
	}
	if p := api.ProviderOf(c.target.host); p != nil {
		req.TellsUsage = p.TellsUsage
	}
	return c.cfg.API.Build(req)
}

// together are the headers that an API needs and those of one request.
func together(of, and http.Header) http.Header {
	if len(and) == 0 {
		return of
	}
	out := of.Clone()
	if out == nil {
		out = http.Header{}
	}
	for name, values := range and {
		if _, taken := out[name]; !taken {
			out[name] = values
		}
	}
	return out
}

// Do sends the request and waits for the outcome, as [Client.Do] does.
func (p *Prepared) Do(ctx context.Context) {
	if p.begin() {
		p.x.run(ctx)
		p.end()
	}
}

// Start sends the request without waiting for the outcome: done is called when
// that is in the timeline. It is called on a goroutine that serves many
// requests, so it must not wait for any.
func (p *Prepared) Start(ctx context.Context, done func()) {
	if !p.begin() {
		done()
		return
	}
	x := p.x
	if cn := x.idleSocket(ctx); cn != nil {
		x.tl.Attempts = 1
		x.begin()
		x.use(cn)
		x.launch(ctx, cn, func(v verdict) { p.decided(ctx, v, done) })
		return
	}
	go func() {
		if p.dialled(ctx, done) {
			return
		}
		x.run(ctx)
		p.end()
		done()
	}()
}

// dialled waits for a connection that a reactor reads, and leaves the rest to
// that: a goroutine beside each stream would cost more memory than the stream.
// It reports false where there is no reactor.
func (p *Prepared) dialled(ctx context.Context, done func()) bool {
	x := p.x
	if len(x.c.loops.all) == 0 {
		return false
	}
	x.tl.Attempts = 1
	x.begin()
	cn, f := x.connection(ctx, false)
	switch {
	case f != nil:
		x.fail(f)
		p.decided(ctx, settled, done)
	case cn.sock == nil:
		p.decided(ctx, x.once(ctx, cn), done)
	default:
		x.launch(ctx, cn, func(v verdict) { p.decided(ctx, v, done) })
	}
	return true
}

// decided completes a request whose first attempt is over, unless that asks for
// another.
func (p *Prepared) decided(ctx context.Context, v verdict, done func()) {
	if v == settled {
		p.end()
		done()
		return
	}
	go func() { // there is something to wait for
		p.x.goOn(ctx, v)
		p.end()
		done()
	}()
}

// How much room a reply gets ahead: for its tokens, and for role, finish and
// usage. A longer one grows.
const (
	mostReserved = 4096
	otherEvents  = 4
)

// begin notes the start; false when there is nothing to send.
func (p *Prepared) begin() bool {
	if p.fault != nil {
		p.tl.Attempts = 1
		p.tl.CloseUS = timeline.Some(p.c.clk.US() - p.tl.DueUS)
		p.tl.Fail(timeline.ClientResource, "the request can't be built: "+p.c.redact.Error(p.fault))
		return false
	}
	if f := p.x.sign(); f != nil {
		p.tl.Attempts = 1
		p.x.fail(f)
		return false
	}
	if n, known := p.tl.Requested.Get(); known && p.tl.Asked && n > 0 {
		p.tl.Events.Reserve(int(min(n, mostReserved)) + otherEvents)
	}
	p.began = p.c.clk.Now()
	p.c.count.begun.Add(1)
	p.x.lim = p.c.limitsFrom(p.tl.StartUS*1000, p.tl.Asked)
	return true
}

// end completes the timeline.
func (p *Prepared) end() {
	tl, x := p.tl, p.x
	if us, stepped := p.c.clk.Now().StepUS(p.began); stepped {
		tl.ClockStepUS = timeline.Some(us)
		tl.Flags |= timeline.ClockStep
	}
	p.c.hide(tl)
	if x.record() {
		x.rec.End(tl.CloseUS.Or(0), x.ended, x.rd.trailer, x.cause)
	}
}
