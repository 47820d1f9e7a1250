// Package traffic is what a finished live request is, who is told of it, and the
// exact counters of good and valid requests that objectives over live traffic
// are judged by. It measures nothing itself.
package traffic

import (
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// Source says whose request it was.
type Source string

// Live requests are those of users; probes are our own, and never dilute them. Those
// of a benchmark are neither, and no daemon counts them.
const (
	Live  Source = "live"
	Probe Source = "probe"
	Bench Source = "bench"
)

// Labels say where a request went. Their values come from the configuration
// (and lists in it), never from what a client sent, so that they are few: a
// model that the configuration does not name is Other.
type Labels struct {
	Source   Source
	Listener string // name of the listener in the configuration
	Route    string // name of the route
	Upstream string // name of the upstream; empty: refused before one was chosen
	Model    string // as requested, when the configuration names it, else Other; empty: none was named
	API      string // openai-chat, …; empty: the path belongs to no API that is known
}

// Other stands for every model that the configuration does not name.
const Other = "other"

// Request is one finished live request. Times of the embedded timeline count
// from the moment at which the proxy had the request whole (DueUS); where its
// body is passed on as it comes, from that at which it had the head. Its
// session and task are HMACs, fit to be stored, never to be a label.
//
// Everything in it is read-only for sinks and stays valid: nothing of it is
// used again. Of a long reply the first MostArrivals arrivals are there, and
// what figures need of the rest; see metric.KeepFirst.
type Request struct {
	*timeline.Timeline
	Labels Labels
	At     time.Time // wall clock when it was due: a label, never a term of a difference

	// Record has the figures of the request, computed once from all arrivals,
	// kept or not, without the lists of gaps: those come from metric.Scan.
	Record metric.Record

	// Unmeasured says why there are no arrivals although the request was
	// passed on; empty: it was measured. HTTP status and outcome are then those
	// that the bytes' end tells.
	Unmeasured Reason
	// Kept: the request is in the sample whose arrivals are stored. Of the
	// others the record is kept, and the counters.
	Kept bool

	// Key is the name of the client's key; empty: it needed none.
	Key string

	// Trace is the client's traceparent as it came; empty: it sent none. It is
	// an id: never a label.
	Trace string

	// Parent is the conversation that began the one of Session, hidden as that one is;
	// empty: none did. It hides the timeline's own, which live requests have not.
	Parent string
	// Body is what was asked, decoded; nil where nobody wanted it or it was not
	// read. It is the caller's content: a sink makes of it what may be kept, and
	// forgets it.
	Body []byte

	// Downstream.
	FirstWriteUS timeline.Opt[int64] // since due: the first body bytes were written to the client
	LastWriteUS  timeline.Opt[int64] // since due: the last ones were
	LeftUS       timeline.Opt[int64] // since due: the client hung up before the answer was complete; empty: it stayed
	// SlowReaderUS is how long writes waited because the client did not read:
	// the client's time, not the server's and not ours.
	SlowReaderUS int64
	// Delay is what the proxy itself added.
	Delay Delay

	// Tokens that reached the client, and that were made after it had left.
	// Both empty where tokens are not known.
	Delivered timeline.Opt[int64]
	Wasted    timeline.Opt[int64]

	RequestBytes  int64 // of the body that was sent upstream
	ResponseBytes int64 // of the body that was passed on
}

// JudgedBy reports whether promises that are judged together may be held against
// the request. One that was not measured has no figures: where a promise needs
// some, neither its success nor its failure counts, as failures alone would be a
// share of nothing. Where its outcome decides, both count.
func (r *Request) JudgedBy(promises ...objective.Objective) bool {
	return r.Unmeasured == "" || !slices.ContainsFunc(promises, func(o objective.Objective) bool {
		return o.Metric != "error_rate" && o.Metric != "goodput"
	})
}

// Delay is the proxy's own: from the arrival of bytes upstream (the kernel's
// stamp where there is one) to their being written downstream, less the time
// that a slow reader took. Microseconds, over the reads of the body.
type Delay struct {
	HeadUS  timeline.Opt[int64] // from due to the request's being sent upstream
	FirstUS timeline.Opt[int64] // of the read that brought the first token; the delay of TTFT
	MaxUS   int64
	SumUS   int64
	Reads   int64
}

// Reason is why a request was passed on without being measured.
type Reason string

// The reasons.
const (
	UnknownAPI Reason = "unknown_api" // the path belongs to no API that is known
	Upgraded   Reason = "upgraded"    // a WebSocket or another protocol
	TooSlow    Reason = "too_slow"    // the parser could not keep up
	TooLarge   Reason = "too_large"   // an event, or a body, over the cap
	Crashed    Reason = "crashed"     // the parser failed on it
)

// Reasons lists every reason, for counters that start at zero.
var Reasons = []Reason{UnknownAPI, Upgraded, TooSlow, TooLarge, Crashed}

// Sink is told of every finished request. Done is called once a request, from
// many goroutines, after the client has been served. It must not wait for long:
// a sink with slow work queues it.
type Sink interface {
	Done(*Request)
}

// Sinks passes on to several, in order.
type Sinks []Sink

// Done implements Sink.
func (s Sinks) Done(r *Request) {
	for _, sink := range s {
		sink.Done(r)
	}
}
