package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
	"tokenmeter/wire/framing"
)

// leaving knows whether the client is still there.
type leaving struct {
	c      *call
	cancel context.CancelCauseFunc // of the upstream's side
	atNS   atomic.Int64            // when it hung up, on the clock; 0: it is there
	timer  atomic.Pointer[time.Timer]
	stop   func() // of the gate's lookout; nil: it looks not
}

// watch begins when the request is here whole. What net/http notices by itself
// ends with the first byte that follows.
func (l *leaving) watch() {
	if l.stop == nil && l.c.gate != nil {
		l.stop = l.c.gate.Watch(l.now)
	}
}

func (l *leaving) unwatch() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// patrol asks the kernel now and then while the body is passed on: where the
// upstream takes nothing of it, nobody reads the client's connection.
func (l *leaving) patrol() (stop func()) {
	if l.c.gate == nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(patrolEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if l.c.gate.Left() {
					l.now()
				}
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}

const patrolEvery = 500 * time.Millisecond

// ended is told that the client's context ended.
func (l *leaving) ended() {
	if l.c.stopped() {
		l.cancel(client.ErrRunEnd)
		return
	}
	l.now()
}

// stopped reports whether we are being stopped.
func (c *call) stopped() bool {
	return errors.Is(context.Cause(c.in.Context()), client.ErrRunEnd)
}

// now is told that the client has gone, or does not read.
func (l *leaving) now() {
	if !l.atNS.CompareAndSwap(0, l.c.p.clk.NS()) {
		return
	}
	if l.c.route.Leave == LeaveCancel {
		l.cancel(client.ErrUser)
		return
	}
	l.timer.Store(time.AfterFunc(l.c.route.DrainTime, func() { l.cancel(errDrained) }))
}

// gone reports whether the client has left. The end of its context says so
// before the goroutine that waits for it runs.
func (l *leaving) gone() bool {
	if l.atNS.Load() == 0 && l.c.in.Context().Err() != nil {
		l.ended()
	}
	return l.atNS.Load() > 0
}

var errDrained = errors.New("the client has left, and the bound of reading on was reached")

// slowWrite is how long a write may take before the client counts as slow.
const slowWrite = time.Millisecond

// pass sends the request on, the reply back, and settles the record.
func (c *call) pass() {
	c.begin()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.in.Context()))
	left := &leaving{c: c, cancel: cancel}
	c.left = left
	unhook := context.AfterFunc(c.in.Context(), left.ended)
	if c.more == nil {
		left.watch()
	} else {
		defer left.patrol()()
	}
	var abort bool
	defer func() {
		left.unwatch()
		unhook()
		if t := left.timer.Load(); t != nil {
			t.Stop()
		}
		cancel(nil)
		c.finish()
		if abort {
			c.abort()
		}
	}()
	reply, err := c.ask(ctx)
	if err != nil {
		abort = !c.failed(err, left)
		return
	}
	if reply.Status == http.StatusSwitchingProtocols {
		c.upgrade(reply)
		return
	}
	defer reply.Close()
	if c.socketOnly && reply.Status < 400 { // a plain GET does not get through by the headers of an upgrade
		c.noUpgrade(reply, "the upstream opened no WebSocket")
		return
	}
	abort = c.relay(reply, left)
}

// ask sends the request to an upstream, and to another where nothing of it
// reached the first.
func (c *call) ask(ctx context.Context) (*client.Passed, error) {
	var tried []*upstream
	var refused *upstream // what was added to the request
	c.up = c.route.pick(c.p.clk.NS(), nil)
	for {
		c.req.Labels.Upstream = c.up.Name
		if c.inject && c.up.noUsage.Load() {
			c.asSent()
		}
		c.mind()
		reply, err := c.up.client.Pass(ctx, c.passing(c.up))
		tl := c.req.Timeline
		tl.ConnRetries += reply.ConnRetries
		tl.DNSUS, tl.ConnectUS, tl.TLSUS = reply.DNSUS, reply.ConnectUS, reply.TLSUS
		if err == nil && c.refusesUsage(reply) {
			reply.Close()
			c.asSent()
			refused = c.up
			tl.Attempts++
			continue
		}
		if err == nil {
			if c.up == refused && reply.Status == http.StatusOK {
				c.up.tookWithout(c.p.log)
			}
			tl.Reused, tl.Remote = timeline.Some(reply.Reused), reply.Remote
			tl.SentUS = timeline.Some(c.meter.us(reply.SentNS))
			c.req.Delay.HeadUS = timeline.Some(max(c.meter.us(reply.SentNS), 0))
			c.body, c.own, c.more = nil, nil, nil
			if c.req.Body == nil { // else it stays until a sink has had it
				c.letGo()
			}
			return reply, nil
		}
		var why *client.Error
		if errors.As(err, &why) {
			if !c.clientsTime(why.Class) {
				c.up.saw(why.Class, 0, c.p.clk.NS())
			}
			tried = append(tried, c.up)
			if next := c.another(why.Class, tried); next != nil {
				c.up = next
				c.p.stats.retries.Add(1)
				tl.Attempts++
				continue
			}
		}
		return nil, err
	}
}

// mostTried is how many upstreams a request is tried at.
const mostTried = 3

// another is the upstream that a request goes to when it failed at those that
// were tried; nil: none.
func (c *call) another(class timeline.Outcome, tried []*upstream) *upstream {
	if !unsent(class) || c.more != nil && c.more.begun || len(tried) >= mostTried {
		return nil
	}
	return c.route.pick(c.p.clk.NS(), tried)
}

// unsent reports whether a failure came before anything was sent.
func unsent(class timeline.Outcome) bool {
	return slices.Contains([]timeline.Outcome{timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect}, class)
}

// clientsTime reports whether the time of a whole request ran out over its body, whose
// client took most of it: then no server is to blame.
func (c *call) clientsTime(class timeline.Outcome) bool {
	return c.more != nil && class == timeline.TimeoutTotal && c.more.waited > c.route.Timeout/2
}

// failed settles a request that got no reply. answered is false where nobody
// is there to be told: then the connection must not look as if all were well.
func (c *call) failed(err error, left *leaving) (answered bool) {
	class, words := timeline.ConnReset, err.Error()
	var why *client.Error
	if errors.As(err, &why) {
		class = why.Class
	}
	if c.clientsTime(class) {
		c.refused = true
		c.badBody(os.ErrDeadlineExceeded)
		return true
	}
	if c.more != nil && c.more.err != nil {
		switch {
		case c.stopped():
			class, words = timeline.CancelledRunEnd, client.ErrRunEnd.Error()
		case c.more.refusable():
			c.refused = true
			c.badBody(c.more.err)
			return true
		default:
			left.now()
		}
	}
	now := c.p.clk.NS()
	c.req.CloseUS = timeline.Some(c.meter.us(now))
	if at := left.atNS.Load(); at > 0 {
		c.req.LeftUS = timeline.Some(c.meter.us(at))
	}
	c.req.Fail(class, c.hide(words))
	if class == timeline.CancelledUser {
		return false
	}
	answer(c.w, statusOf(class), string(class), "the upstream gave no response: "+c.req.Error.Message)
	return true
}

// relay passes a reply on; abort tells that the client must see it break off. So
// must one that has gone: it may have closed its own direction only, and read on.
func (c *call) relay(reply *client.Passed, left *leaving) (abort bool) {
	c.meter.head(reply.HeadNS, reply.Status, reply.Header)
	strip := c.stripper(reply)
	out := &downstream{c: c, left: left}
	c.sendHead(reply, strip != nil && !strip.trial, out)
	end, cause := c.copyBody(reply, strip, out)
	if end == timeline.EOF {
		for name, values := range reply.Trailer() {
			if mayTrail(name) {
				c.w.Header()[http.TrailerPrefix+name] = values
			}
		}
	}
	c.settle(reply, out, end, cause)
	c.learn(strip)
	return end != timeline.EOF || out.drained > 0
}

// stripper is made when the usage event that we asked for may come, or is looked for.
func (c *call) stripper(reply *client.Passed) *stripper {
	if !c.inject && !c.trial || c.route.Usage != UsageStrip || reply.Status != http.StatusOK {
		return nil
	}
	if c.coded = framing.Coded(reply.Header["Content-Encoding"]); c.coded {
		return nil
	}
	kind, _, _ := strings.Cut(reply.Header.Get("Content-Type"), ";")
	s := newStripper()
	c.manner.watch(s, c.trial, reply.Header)
	if !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		if reply.Header.Get("Content-Length") != "" {
			return nil // no stream
		}
		s.unsure = true
	}
	return s
}

func (c *call) sendHead(reply *client.Passed, shorter bool, out *downstream) {
	h := c.w.Header()
	copyHeader(h, reply.Header)
	dropHopByHop(h)
	if shorter {
		h.Del("Content-Length")
	}
	if _, has := h["Date"]; !has {
		h["Date"] = nil // none is made up
	}
	if _, has := h["Content-Type"]; !has {
		h["Content-Type"] = nil // nor guessed
	}
	out.shortWay(reply, c.in)
	began := c.p.clk.NS()
	out.extend(began)
	c.w.WriteHeader(reply.Status)
	if !reply.Waits() { // else it goes out with the first bytes of the body
		if c.ctl.Flush() != nil {
			out.left.now()
		}
		out.slow(began, c.p.clk.NS())
	}
}

// copyBody is the loop: read, write, flush, and only then look.
func (c *call) copyBody(reply *client.Passed, strip *stripper, out *downstream) (timeline.End, error) {
	for {
		err := c.follow(reply, strip, out)
		if err == nil {
			var data []byte
			var at client.Arrived
			if data, at, err = c.read(reply, c.limit(reply, out)); len(data) > 0 {
				c.req.ResponseBytes += int64(len(data))
				out.take(data, at, strip)
				c.look(data, at, out)
			}
		}
		if out.drained > c.route.DrainBytes {
			return timeline.EndUser, errDrained
		}
		if err == nil {
			continue
		}
		out.extend(c.p.clk.NS()) // the end is written, too
		out.rest(strip, errors.Is(err, io.EOF))
		var ended *client.EndError
		switch {
		case errors.Is(err, io.EOF):
			return timeline.EOF, nil
		case errors.As(err, &ended) && ended.Invalid:
			return ended.End, ended
		case errors.As(err, &ended):
			return ended.End, ended.Err
		}
		return timeline.Cut, err
	}
}

// look measures the bytes of a read, after they were written.
func (c *call) look(data []byte, at client.Arrived, out *downstream) {
	if c.meter.read(at, data) {
		c.req.Delay.FirstUS = timeline.Some(out.delayUS)
	}
}

// follow goes the short way for as long as it can. The error is how the reply
// ended; nil: the long way goes on.
func (c *call) follow(reply *client.Passed, strip *stripper, out *downstream) error {
	if out.direct.out == nil || reply.Waits() || len(c.early) > 0 {
		return nil
	}
	err := reply.Follow(func() int64 { return c.limit(reply, out) }, func(data []byte, at client.Arrived) bool {
		c.req.ResponseBytes += int64(len(data))
		ok := out.offer(data, at, strip)
		if out.direct.read != nil {
			return false // written first
		}
		c.look(data, at, out)
		return !out.heavy(len(data)) && ok
	})
	out.direct.out = nil // once off it, a reply stays off it
	out.extend(c.p.clk.NS())
	if data, at := out.settle(); data != nil {
		c.look(data, at, out)
	}
	return err
}

// limit is when the upstream has been silent for too long: of a stream without
// a token, whatever heartbeats come, else without a byte. Time that a slow
// client took does not count.
func (c *call) limit(reply *client.Passed, out *downstream) int64 {
	last := reply.LastNS()
	if c.meter.streams() && !c.meter.complete() {
		last = max(c.meter.lastToken(), reply.SentNS)
	}
	return max(last, out.wroteSlowNS) + int64(c.up.IdleTimeout)
}

// settle fills the record in when the reply has ended.
func (c *call) settle(reply *client.Passed, out *downstream, end timeline.End, cause error) {
	now := c.p.clk.NS()
	if end == timeline.EOF {
		now = reply.LastNS()
	}
	c.req.Clock = timeline.User
	if reply.Kernel() {
		c.req.Clock = timeline.Kernel
	}
	left := out.left.gone() && !out.wasWhole(end)
	if left {
		c.req.LeftUS = timeline.Some(c.meter.us(out.leftNS()))
	}
	complete := c.meter.complete()
	if waited := now - max(reply.LastNS(), out.wroteSlowNS); end == timeline.EndUser && complete && out.drained == 0 && waited >= int64(client.OpenTime) {
		end = timeline.EndLeftOpen // its client waited for the body's end, too
	}
	c.meter.end(now, end, reply.Trailer(), cause, left)
	var ended *client.EndError
	if errors.As(cause, &ended) && !complete && !left {
		c.req.Fail(timeline.Parse, ended.Error())
	}
	c.up.saw(c.req.Outcome, c.req.HTTPStatus, c.p.clk.NS())
}

// finish computes the figures and tells the sink, once, whatever happened.
func (c *call) finish() {
	r := c.req
	defer c.p.cfg.Replies.Free(r.Timeline)
	c.forgo()
	if c.refused {
		return
	}
	if !c.tell {
		c.p.stats.passed.Add(1)
		return
	}
	r.Unmeasured = c.meter.reason
	if r.Error != nil {
		r.Error.Message = c.hide(r.Error.Message)
	}
	r.FinishReason, r.ServiceTier, r.AnsweredBy = c.hide(r.FinishReason), c.hide(r.ServiceTier), c.hide(r.AnsweredBy)
	r.ID, r.Model, r.ServedModel = c.hide(r.ID), c.hide(r.Model), c.hide(r.ServedModel)
	r.Record = metric.ScalarsOf(r.Timeline)
	if ttft, ok := r.Record.TTFTMS.Get(); ok && r.Delay.FirstUS.OK() {
		r.Record.DeliveredTTFTMS = timeline.Some(ttft + float64(r.Delay.FirstUS.Or(0))/1000)
	}
	c.p.stats.finished(r)
	if c.p.cfg.Sink != nil {
		c.p.cfg.Sink.Done(r)
	}
	if c.p.cfg.LogRequests {
		c.logLine()
	}
}

func (c *call) logLine() {
	r := c.req
	c.p.log.Info("request", "key", c.keyName(), "listener", r.Labels.Listener, "route", r.Labels.Route, "upstream", r.Labels.Upstream,
		"api", r.Labels.API, "model", r.Labels.Model, "status", r.HTTPStatus, "outcome", string(r.Outcome))
}

// mostSecrets is how many secrets of a request are looked for: with thousands, as there is
// room for in a head, that would take a tenth of a second of each.
const mostSecrets = 64

// hide removes what a server may have repeated: the request's own secrets, and
// those of every upstream that it may have been sent to.
func (c *call) hide(text string) string {
	if text == "" || text == "stop" || text == "length" || text == "tool_calls" || text == "end_turn" {
		return text
	}
	if c.secrets == nil {
		own := append(secret.HeaderSecrets(c.in.Header), secret.URLSecrets(c.in.URL.String())...)
		if len(own) > mostSecrets {
			return secret.Mask
		}
		c.secrets = secret.New(own...).And(c.p.secrets)
	}
	return c.secrets.String(text)
}

// abort makes the client see that the reply broke off. HTTP/1.0 has no other
// sign of it than a reset.
func (c *call) abort() {
	if nc, ok := c.in.Context().Value(connKey{}).(net.Conn); ok && !c.in.ProtoAtLeast(1, 1) {
		reset(nc)
	}
	panic(http.ErrAbortHandler)
}

// reset closes a connection without a farewell, that of TLS neither.
func reset(nc net.Conn) {
	for {
		over, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		nc = over.NetConn()
	}
	if tcp, ok := nc.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = nc.Close()
}

// ConnContext is for http.Server.ConnContext: it lets the proxy reset the
// connection of an HTTP/1.0 client.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}
