package proxy

import (
	"net/http"
	"runtime/debug"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// meter reads a copy of a reply, after its bytes were written. Whatever goes
// wrong in it ends the measurement and never the stream.
type meter struct {
	clk    *clock.Clock
	tl     *timeline.Timeline
	stream *api.Stream // nil: nothing is measured
	reason traffic.Reason
	// crashed is told of a panic; nil: nobody is.
	crashed func(what any, stack []byte)
	room    *api.Room
	overNS  int64 // time beyond what reads may cost, less what later ones did not need
}

// What the parser may cost: so much a read, as a mean, and so much beyond that
// at once. A machine that is busy now and then ends no measurement, however long
// the stream is.
const (
	parserRead = 20 * time.Millisecond
	parserOver = time.Second
)

func newMeter(clk *clock.Clock, tl *timeline.Timeline, a *api.API, opts api.StreamOptions) *meter {
	m := &meter{clk: clk, tl: tl, reason: traffic.UnknownAPI, room: opts.Room}
	if a != nil {
		m.reason = ""
		metric.KeepFirst(tl, traffic.MostArrivals)
		m.stream = api.NewStream(tl, a, opts)
	}
	return m
}

func (m *meter) us(ns int64) int64 { return ns/1000 - m.tl.DueUS }

// guard runs the parser; a panic in it is a request that is not measured.
func (m *meter) guard(f func()) {
	if m.stream == nil {
		return
	}
	defer func() {
		if what := recover(); what != nil {
			m.giveUp(traffic.Crashed)
			if m.crashed != nil {
				m.crashed(what, debug.Stack())
			}
		}
	}()
	f()
}

func (m *meter) giveUp(why traffic.Reason) {
	given := m.stream
	if m.stream, m.reason = nil, why; given != nil {
		_ = given.Close()
	}
}

func (m *meter) head(atNS int64, status int, h http.Header) {
	m.tl.HeadUS = timeline.Some(m.us(atNS))
	m.tl.HTTPStatus = status
	m.guard(func() { m.stream.Head(m.us(atNS), api.Head{Status: status, Header: h}) })
}

// read takes the bytes of one read. first tells that they brought the first token.
func (m *meter) read(at client.Arrived, data []byte) (first bool) {
	if m.stream == nil {
		return false
	}
	had := m.stream.HasToken()
	before := m.clk.NS()
	m.guard(func() { m.stream.Read(m.us(at.AtNS), (at.ReadNS-at.AtNS)/1000, data) })
	if m.stream == nil {
		return false
	}
	if m.stream.NoRoom() {
		m.giveUp(traffic.TooLarge)
		m.tl.Events = timeline.Events{}
		m.room.Free(m.tl) // so that others are measured
		return false
	}
	m.spent(m.clk.NS() - before)
	return !had && m.stream != nil && m.stream.HasToken()
}

// spent counts what a read of the parser cost.
func (m *meter) spent(ns int64) {
	if m.overNS = max(m.overNS+ns-int64(parserRead), 0); m.overNS > int64(parserOver) {
		m.giveUp(traffic.TooSlow)
	}
}

// complete reports whether the answer needs no more bytes.
func (m *meter) complete() bool { return m.stream != nil && m.stream.Complete() }

// lastToken is when the last token came, ns on the clock; 0: none has come.
func (m *meter) lastToken() int64 {
	if m.stream == nil || !m.stream.HasToken() {
		return 0
	}
	return (m.stream.LastTokenUS() + m.tl.DueUS) * 1000
}

// streams reports whether tokens are expected, one after the other.
func (m *meter) streams() bool { return m.stream != nil && m.tl.Streamed }

// end settles the outcome. left: the client hung up before the answer was whole.
func (m *meter) end(atNS int64, end timeline.End, trailer http.Header, cause error, left bool) {
	at := m.us(atNS)
	m.tl.CloseUS = timeline.Some(at)
	m.guard(func() { m.stream.End(at, end, trailer, cause) })
	m.tl.Events.Seal()
	if m.tl.Events.Rest() != nil {
		m.tl.Flags |= timeline.ArrivalsCapped
	}
	if m.stream == nil {
		m.plain(end, cause)
	} else if m.tl.Outcome == timeline.Parse && m.stream.TooLarge() {
		m.reason = traffic.TooLarge
		m.plain(end, cause)
	}
	if left && !m.tl.Outcome.Cancelled() {
		m.tl.Fail(timeline.CancelledUser, "the client hung up")
	}
}

// plain settles the outcome of a reply that was not read: by its status and by
// how its bytes ended.
func (m *meter) plain(end timeline.End, cause error) {
	tl := m.tl
	words := ""
	if cause != nil {
		words = cause.Error()
	}
	switch status := tl.HTTPStatus; {
	case status == http.StatusTooManyRequests:
		tl.Fail(timeline.HTTP429, http.StatusText(status))
	case status >= 500:
		tl.Fail(timeline.HTTP5xx, http.StatusText(status))
	case status >= 400:
		tl.Fail(timeline.HTTP4xx, http.StatusText(status))
	default:
		switch end {
		case timeline.EOF:
			tl.Outcome, tl.Error = timeline.OK, nil
		case timeline.Cut:
			tl.Fail(timeline.StreamTruncated, words)
		case timeline.Reset:
			tl.Fail(timeline.ConnReset, words)
		default:
			tl.Fail(timeline.Outcome(end), words)
		}
	}
}
