package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
	"tokenmeter/service/gate"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// call is one request on its way through.
type call struct {
	p   *Proxy
	w   http.ResponseWriter
	in  *http.Request
	ctl *http.ResponseController

	gate *gate.Conn // nil: the client's connection has none
	left *leaving
	key  *Key  // nil: none is asked for
	held int64 // bytes of the budget

	beganNS int64 // the head was here
	api     *api.API
	route   *route
	up      *upstream
	secrets *secret.Redactor // of the request and of all upstreams; nil until it is needed
	asked   asked
	known   bool // asked was understood
	body    []byte
	plain   []byte  // of a compressed body; nil: body is plain
	more    *slowly // what of the body is not in memory; nil: nothing
	length  int64
	// unpacked: the body is sent decoded, as usage is asked for in it.
	unpacked bool
	inject   bool    // usage was asked for on the client's behalf
	own      []byte  // of a compressed body then: as the client sent it, until the upstream has taken ours
	early    []early // what was read of the reply before it is passed on
	quiet    bool    // of a stream: its client said that it wants no usage, or nothing
	manner   *manner // of the model there; nil: it does not matter
	trial    bool    // nothing was added, to see what comes then
	coded    bool    // the reply is compressed though nobody wanted that

	req   *traffic.Request
	meter *meter
	tell  bool // the sink is told

	besides    besides // what else it asks for; empty: nothing that was noticed
	refused    bool    // after it was begun: it is in no record
	socketOnly bool    // only as a WebSocket may it go through
}

// ServeHTTP passes one request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	p.requests.Add(1)
	defer p.requests.Done()
	p.busy.Add(1)
	defer p.busy.Add(-1)
	n := p.stats.inUse.Add(1)
	defer p.stats.inUse.Add(-1)
	if in.ProtoMajor == 2 {
		w = &patient{ResponseWriter: w}
	}
	ctl := http.NewResponseController(w)
	// The deadlines of the request before may be over. A refused request's body
	// is read away by net/http: that has its time too.
	now := time.Now()
	_ = ctl.SetReadDeadline(now.Add(p.cfg.BodyTimeout))
	_ = ctl.SetWriteDeadline(now.Add(p.cfg.BodyTimeout + p.cfg.ReaderTimeout))
	if p.cfg.MaxStreams > 0 && n > int64(p.cfg.MaxStreams) {
		p.refuse(w, http.StatusServiceUnavailable, "streams", "too many requests at once")
		return
	}
	c := &call{p: p, w: w, in: in, ctl: ctl, beganNS: p.clk.NS()}
	if nc, ok := in.Context().Value(connKey{}).(net.Conn); ok && in.ProtoMajor == 1 {
		c.gate = gate.Of(nc)
	}
	if fields(in.Header) > mostFields {
		c.refuseLast(http.StatusRequestHeaderFieldsTooLarge, "header", fmt.Sprintf("the request has over %d header fields", mostFields))
		return
	}
	if !p.knownHost(in.Host) {
		c.refuseLast(http.StatusMisdirectedRequest, "host", "this address is a local one, and the request names another host: list it in hosts of the listener")
		return
	}
	if !p.knownOrigin(in.Header) {
		c.refuseLast(http.StatusForbidden, "origin", "the request comes from a page of another host: list that in hosts of the listener, or give clients keys")
		return
	}
	if in.Method == http.MethodTrace {
		c.refuseLast(http.StatusMethodNotAllowed, "method", "TRACE is not answered")
		return
	}
	if why := c.gate.Refused(in.Header); why == gate.NoRoom {
		c.refuseLast(http.StatusServiceUnavailable, "memory", why)
		return
	} else if why != "" {
		c.refuseLast(http.StatusBadRequest, "framing", why)
		return
	}
	if in.ProtoMajor == 2 && len(in.Header["Content-Length"]) > 1 { // net/http believes the first
		p.refuse(w, http.StatusBadRequest, "framing", "Content-Length is there twice")
		return
	}
	takes := ofRequest + gate.HeadRoom(headSize(in), fields(in.Header))
	if !p.cfg.Clients.take(takes) {
		c.refuseLast(http.StatusServiceUnavailable, "memory", gate.NoRoom)
		return
	}
	defer p.cfg.Clients.give(takes)
	leave := c.enter()
	if leave == nil {
		return
	}
	defer leave()
	defer c.letGo()
	candidates := c.admit()
	if candidates == nil || !c.readBody(candidates) {
		return
	}
	if c.route = c.routeOf(candidates); c.route == nil {
		words := "no route takes this model"
		switch at := c.besides; {
		case at.in == "path":
			words = fmt.Sprintf("the path's %q may name a model that the route does not take; the words of a path that is written out in its paths name none", c.hide(at.name))
		case at.in != "" && at.name == "":
			words = "the body can't be read to the end, which may name a model that the route does not take"
		case at.in != "":
			words = fmt.Sprintf("the request's %s names %q, a model that the route does not take", at.in, c.hide(at.name))
		}
		if upgradeOf(in.Header) != "" {
			words = "a WebSocket names its models inside: it goes to a route without models only"
		}
		p.refuse(w, http.StatusNotFound, "model", words)
		return
	}
	if int64(len(c.body)) > c.route.MaxBody {
		c.tooLarge(c.route.MaxBody)
		return
	}
	n = c.route.inUse.Add(1)
	defer c.route.inUse.Add(-1)
	if c.route.MaxStreams > 0 && n > int64(c.route.MaxStreams) {
		p.refuse(w, http.StatusServiceUnavailable, "streams", "too many requests at once on this route")
		return
	}
	c.pass()
}

// refuse answers without asking any upstream.
func (p *Proxy) refuse(w http.ResponseWriter, status int, why, words string) {
	p.stats.refuse(why)
	if status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "1")
	}
	answer(w, status, "refused_"+why, words)
}

// answerTime is how long an answer of our own may take to be written.
const answerTime = 30 * time.Second

// answer writes an error of our own, in the forms that clients of these APIs read: Amazon's
// and Cohere's look for the words at the top.
// Source: botocore/parsers.py, BaseJSONParser; cohere-python, ApiError.body
func answer(w http.ResponseWriter, status int, code, words string) {
	words = "tokenmeter: " + words
	body, _ := json.Marshal(map[string]any{"message": words, "error": map[string]any{"message": words, "type": "proxy_error", "code": code}})
	body = append(body, '\n')
	ctl := http.NewResponseController(w)
	_ = ctl.SetWriteDeadline(time.Now().Add(answerTime))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("X-Tokenmeter-Error", code)
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_ = ctl.Flush()
}

// admit holds a request against the allow-list. What it finds are the routes
// that the path belongs to; none: it was refused.
func (c *call) admit() []*route {
	p, in := c.p, c.in
	method := in.Method
	switch {
	case method == socketMethod: // it is none of HTTP's
		method = ""
	case method == http.MethodGet && upgradeOf(in.Header) != "":
		method = socketMethod
	}
	candidates, allowed := p.byPath(method, in.URL.Path)
	if method == socketMethod {
		plain, _ := p.byPath(in.Method, in.URL.Path)
		c.socketOnly = len(plain) < len(candidates)
	}
	switch {
	case !token(in.Method): // HTTP/2 lets others in, and upstream it begins a line
		p.refuse(c.w, http.StatusBadRequest, "method", "the method is not one word")
	case in.Method == http.MethodConnect, in.URL.IsAbs(), in.URL.Host != "":
		p.refuse(c.w, http.StatusForbidden, "proxy", "this is a reverse proxy; it goes to no other host")
	case badPath(in.URL.Path):
		p.refuse(c.w, http.StatusBadRequest, "path", "the path is not plain")
	case p.looped(in.Header):
		p.refuse(c.w, http.StatusLoopDetected, "loop", "the request has been here before: an upstream's URL leads back to this proxy")
	case upgradeOf(in.Header) != "" && in.ContentLength != 0: // it may be read as a request
		c.refuseLast(http.StatusBadRequest, "body", "a request to change the protocol has no body")
	case len(candidates) > 0:
		if c.api = candidates[0].api; c.api == nil {
			c.api = candidates[0].ofPath(in.URL.Path)
		}
		if in.Method != http.MethodPost {
			c.api = nil
		}
		return candidates
	case len(allowed) > 0:
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		p.refuse(c.w, http.StatusMethodNotAllowed, "method", "no route lets this method through to this path")
	default:
		p.refuse(c.w, http.StatusNotFound, "path", "no route lets this path through")
	}
	return nil
}

// token reports whether a method is one word of HTTP/1.1.
func token(method string) bool {
	return method != "" && !strings.ContainsFunc(method, func(r rune) bool {
		return !(r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// readBody takes a completion's body into memory, where its model is read and
// its usage option set. Other bodies are passed on as they come. Until the model
// is known, a body may be as large as on any of the routes.
func (c *call) readBody(candidates []*route) bool {
	in, most, byModelOnly := c.in, int64(0), true
	for _, r := range candidates {
		most = max(most, r.MaxBody)
		byModelOnly = byModelOnly && len(r.Models) > 0
	}
	c.asked.vague = upgradeOf(in.Header) != "" // its models are named inside
	unread := c.api == nil && !byModelOnly || c.asked.vague
	if r := c.routeOf(candidates); unread && r != nil {
		most = r.MaxBody // its model is never known
	}
	if in.ContentLength > most {
		c.tooLarge(most)
		return false
	}
	body := http.MaxBytesReader(c.w, in.Body, most)
	if unread {
		c.length = in.ContentLength
		if in.ContentLength != 0 {
			c.more = &slowly{c: c, from: body}
		}
		c.unlimited(c.more == nil)
		return true
	}
	data, err := c.readAll(body, in.ContentLength)
	if err == nil && c.p.cfg.Asked && !c.hold(int64(len(data))) { // the sink's copy is without the usage option
		err = errNoRoom
	}
	if err == errNoRoom {
		c.refuseLast(http.StatusServiceUnavailable, "memory", "the bodies of other requests take all the memory that there is for them")
		return false
	}
	if err != nil {
		c.badBody(err)
		return false
	}
	c.unlimited(true)
	c.body, c.length = data, int64(len(data))
	plain, ok := c.decoded(data, most)
	if !ok {
		c.asked.vague = true
		return true // passed on as it is
	}
	c.asked, err = readAsked(plain)
	c.asked.vague = c.asked.vague || err != nil && len(plain) > 0
	c.asked.readPath(c.api, in.URL.Path)
	if in.URL.Path == "/" && !c.asked.says { // vectors and scores of TEI, which has no streams
		c.api = nil
	}
	if c.api == api.Anthropic && !c.asked.messages && strings.Contains(in.URL.Path, "/model/arn") {
		c.api = nil // Bedrock's profiles, whose names do not tell whose model answers: others have other forms
	}
	if c.known = err == nil; len(in.Header["Content-Encoding"]) > 0 {
		c.plain = plain
	}
	return true
}

// unlimited takes the deadline of reads off, when the body is here whole. Of
// HTTP/1 it must stay until then: net/http may read away what an upstream did
// not want. Of HTTP/2 it would end the body though nobody reads.
func (c *call) unlimited(whole bool) {
	if whole || c.in.ProtoMajor == 2 {
		_ = c.ctl.SetReadDeadline(time.Time{})
	}
}

// readAll reads a body whose length may be known. Room is made as it comes: a
// length that is only said costs nothing.
func (c *call) readAll(r io.Reader, length int64) ([]byte, error) {
	var data []byte
	for int64(len(data)) < length || length < 0 {
		if len(data) == cap(data) {
			size := max(2*int64(cap(data)), firstRoom)
			if length >= 0 {
				size = min(size, length)
			}
			if !c.hold(size - int64(cap(data))) {
				return nil, errNoRoom
			}
			data = append(make([]byte, 0, size), data...)
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF && length < 0:
			return data, nil
		case err == io.EOF && int64(len(data)) < length:
			return data, io.ErrUnexpectedEOF
		case err != nil && err != io.EOF:
			return data, err
		}
	}
	return data, nil
}

// firstRoom is how much is made for a body at first.
const firstRoom = 64 << 10

var errNoRoom = errors.New("no memory for the body")

// hold takes n bytes of the budget until letGo.
func (c *call) hold(n int64) bool {
	if !c.p.cfg.Bodies.take(n) {
		return false
	}
	c.held += n
	return true
}

// letGo gives back what the request held of the budget.
func (c *call) letGo() {
	c.p.cfg.Bodies.give(c.held)
	c.held = 0
}

// keyName is the name of the client's key; empty: it needed none.
func (c *call) keyName() string {
	if c.key == nil {
		return ""
	}
	return c.key.Name
}

func (c *call) tooLarge(most int64) {
	c.refuseLast(http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the request's body is over %d bytes", most))
}

// badBody refuses a request whose body could not be read.
func (c *call) badBody(err error) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.refuseLast(http.StatusRequestTimeout, "body", "the request's body did not come in time")
	default:
		c.p.refuse(c.w, http.StatusBadRequest, "body", "the request's body did not come whole")
	}
}

// refuseLast refuses a request on a connection that takes no further one: what is left
// of this one's body stands in its way. One of HTTP/2 has streams for that.
func (c *call) refuseLast(status int, why, words string) {
	if c.in.ProtoMajor == 1 {
		c.w.Header().Set("Connection", "close")
	}
	c.p.refuse(c.w, status, why, words)
}

// begin makes the request's record. It is due when it is here whole, so that a
// client that sends slowly spends its own time.
func (c *call) begin() {
	p, tl := c.p, timeline.New()
	due := p.clk.NS()
	if c.more != nil {
		due = c.beganNS
	}
	tl.Request = p.stats.ordinal.Add(1) - 1
	tl.DueUS, tl.StartUS = due/1000, due/1000
	tl.ID = plainID(c.in.Header.Get("X-Request-Id"))
	tl.Model = c.asked.model
	tl.Requested = c.asked.maxTokens
	tl.Session = p.cfg.Session.of(c.in.Header, c.asked.user, p.cfg.Secret)
	tl.Task = p.cfg.Task.of(c.in.Header, c.asked.user, p.cfg.Secret)
	tl.Attempts = 1
	c.req = &traffic.Request{Timeline: tl, At: time.Now(), Kept: p.keep(), Key: c.keyName(), Trace: plainID(c.in.Header.Get("Traceparent")),
		Labels: traffic.Labels{Source: p.source(c.in.Header), Listener: p.cfg.Listener, Route: c.route.Name, Model: p.label(c.asked.model)}}
	c.req.Parent = p.cfg.Parent.of(c.in.Header, c.asked.user, p.cfg.Secret)
	if p.cfg.Asked && c.known && c.api != nil {
		if c.req.Body = c.plain; c.plain == nil {
			c.req.Body = c.body
		}
	}
	if c.api != nil {
		tl.API, c.req.Labels.API = c.api.Name, c.api.Name
		tl.Asked = c.asked.stream || c.api.StreamsByDefault && !c.asked.says
	}
	c.meter = newMeter(p.clk, tl, c.api, api.StreamOptions{MaxEvent: p.cfg.MaxEvent, Room: p.cfg.Replies, AllowEmpty: c.asked.noAnswer(c.api), Hide: c.hide})
	c.meter.crashed = func(what any, stack []byte) {
		p.log.Error("measuring failed; the reply goes on unmeasured", "panic", c.hide(fmt.Sprint(what)), "stack", string(stack))
	}
	c.tell = c.in.Method == http.MethodPost || upgradeOf(c.in.Header) != ""
	openAI := c.known && (c.api == api.OpenAIChat || c.api == api.OpenAICompletions)
	if openAI && c.route.Usage != UsageOff && !c.mayBeCoded() {
		from := c.body
		if c.plain != nil {
			from = c.plain
		}
		var body []byte
		if body, c.inject = c.asked.withUsage(from); c.inject {
			if c.unpacked = c.plain != nil; c.unpacked {
				c.own = c.body
			}
			c.body = body
		}
		c.length, c.plain = int64(len(c.body)), nil
	}
	c.quiet = c.inject || openAI && c.asked.stream && c.asked.usage == usageRefused
	c.req.RequestBytes = max(c.length, 0)
}

// mayBeCoded reports whether the reply may be compressed as the client wants it: then usage
// that we asked for could not be taken out.
func (c *call) mayBeCoded() bool {
	coding := strings.TrimSpace(c.in.Header.Get("Accept-Encoding"))
	return c.route.KeepEncoding && c.route.Usage == UsageStrip && coding != "" && !strings.EqualFold(coding, "identity")
}

// plainID is a request id that may be stored: a short plain word.
func plainID(id string) string {
	if len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return id
}

// passing is the request as it goes to an upstream.
func (c *call) passing(up *upstream) *client.Passing {
	identity := c.meter.stream != nil && !c.route.KeepEncoding
	pass := &client.Passing{Method: c.in.Method, Path: c.target(up), Body: c.body, Length: c.length,
		Header: c.p.upstreamHeader(c.in, identity, c.route.HideClient), HeadLimit: up.HeadTimeout,
		Upgrade: upgradeOf(c.in.Header) != "",
		// RFC 9110 section 9.2.2: what may have been done is not asked for twice.
		Again: safe(c.in.Method),
		Informational: func(status int, h http.Header) {
			if status != http.StatusContinue && c.in.ProtoAtLeast(1, 1) {
				copyHeader(c.w.Header(), h)
				dropHopByHop(c.w.Header())
				c.w.WriteHeader(status)
				clear(c.w.Header())
			}
		},
	}
	c.withoutKey(pass.Header, up)
	if c.unpacked {
		pass.Header.Del("Content-Encoding")
	}
	if c.more != nil {
		pass.More = c.more
	}
	if c.route.KeepHost {
		pass.Host = c.in.Host
	}
	if c.route.Timeout > 0 {
		pass.UntilNS = c.req.DueUS*1000 + int64(c.route.Timeout)
	}
	return pass
}

func safe(method string) bool {
	return slices.Contains(reading, method) || method == http.MethodPut || method == http.MethodDelete
}
