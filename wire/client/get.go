package client

import (
	"context"
	"net/http"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
)

// Error says why there is no response, in the classes of the record.
type Error struct {
	Class   timeline.Outcome
	Message string // secrets removed
}

func (e *Error) Error() string { return e.Message }

// Response is a small whole answer.
type Response struct {
	URL            string // secrets removed
	engines.Answer        // its body of at most 4 MiB
	// Timeline has the moments of the look-up: name, connection, TLS, head.
	Timeline *timeline.Timeline
}

const (
	maxLookup  = 4 << 20
	lookupTime = 30 * time.Second
)

// Get looks something up on the target: its models, its health. The path is
// found from the URL as the API's own is. Any status is a response; the
// error is an [*Error].
func (c *Client) Get(ctx context.Context, path string) (*Response, error) {
	at := c.target.lookup(c.cfg.API.Path, path)
	tl := timeline.New()
	tl.DueUS = c.clk.US()
	tl.StartUS = tl.DueUS
	body := &lookup{tl: tl}
	x := &exchange{c: c, tl: tl, sink: body,
		msg: message{method: http.MethodGet, origin: c.origin, path: at, extra: c.cfg.Lookup, id: c.newID()}}
	x.lim = limits{totalNS: tl.StartUS*1000 + int64(lookupTime), ttftNS: farFuture}
	x.run(ctx)
	if tl.Outcome != timeline.OK {
		return nil, &Error{Class: tl.Outcome, Message: c.redact.String(tl.Error.Message)}
	}
	asked := c.target
	asked.ws = false
	return &Response{URL: c.redact.URL(asked.url(at)), Timeline: tl,
		Answer: engines.Answer{Status: body.head.Status, Header: body.head.Header, Body: body.data}}, nil
}

// lookup is a sink that keeps the body.
type lookup struct {
	tl   *timeline.Timeline
	head api.Head
	data []byte
}

func (l *lookup) Head(atUS int64, head api.Head) {
	l.head = head
	l.tl.HeadUS = timeline.Some(atUS)
}

func (l *lookup) Read(_, _ int64, data []byte) {
	l.data = append(l.data, data[:min(len(data), maxLookup-len(l.data))]...)
}

func (l *lookup) Tokens() int64      { return 0 }
func (l *lookup) HasToken() bool     { return false }
func (l *lookup) LastTokenUS() int64 { return 0 }
func (l *lookup) Complete() bool     { return len(l.data) >= maxLookup }

func (l *lookup) End(_ int64, end timeline.End, _ http.Header, cause error) {
	l.tl.Outcome = timeline.OK
	if end == timeline.EOF || l.Complete() {
		return
	}
	words := string(end)
	if cause != nil {
		words = cause.Error()
	}
	switch end {
	case timeline.Cut, timeline.Reset:
		l.tl.Fail(timeline.ConnReset, words)
	default:
		l.tl.Fail(timeline.Outcome(end), words)
	}
}
