package imports

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// request is what a file tells of one request. Times are seconds; NaN is unknown.
type request struct {
	at int64 // place in the file

	start float64 // on any clock
	due   float64 // on the same; unknown: it was due when it began
	end   float64 // of the reply, on the same clock
	e2e   float64 // from the start to the last token; else from start and end
	first float64 // first token, since the start
	sent  float64 // its last byte was written, since the start
	// firstOutput is the first token that is no reasoning, since the start; unknown:
	// the file tells none of the two apart.
	firstOutput float64
	gaps        []float64
	// events are moments of the events that carry tokens, since the start; they
	// stand for first and gaps where the file has them.
	events []float64

	input, output, reasoning, cached, asked timeline.Opt[int64]
	// tokenized is the output as the tool counted it with a tokenizer of its own, and
	// tokenizedInput the prompt.
	tokenized, tokenizedInput timeline.Opt[int64]
	// unsplit: reasoning is in the output, and how many tokens the moments hold can't be told.
	unsplit bool
	doubted bool // the file's own text speaks against its count

	id, session, model, finish string
	turn                       timeline.Opt[int64]
	worker                     int
	status                     int
	failure                    string // words; empty: it went well
	kind                       string // what the tool's client calls the failure; empty: not told
	fine                       bool   // the file says in our own words that it went well
	cancelled                  bool
	left                       bool             // cancelled on purpose, as a reader who leaves does
	phase                      timeline.Phase   // empty: it is measured
	class                      timeline.Outcome // of the failure, in our own words; empty: by the status
	streamed                   bool
}

// unknown is a request of which nothing is known yet.
func unknown(at int64) *request {
	return &request{at: at, start: math.NaN(), due: math.NaN(), end: math.NaN(), e2e: math.NaN(), first: math.NaN(), sent: math.NaN(), firstOutput: math.NaN(), streamed: true}
}

// known is a number of the file as so many of our units; NaN where it has none.
func known(v *float64, unit float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v / unit
}

// collect takes a file whose every JSON text or element, as each hands them out, is one
// request.
func collect[T any](in *Input, each func(*Input, func(int64, *T) error) error, add func(*timeline.Timeline) error, fill func(r *request, v *T)) error {
	var all []*request
	err := each(in, func(at int64, v *T) error {
		r := unknown(at)
		fill(r, v)
		all = append(all, r)
		return nil
	})
	if err != nil {
		return err
	}
	return emit(in, new(run.Load), all, add)
}

// largest is the longest time that is believed: some 30 years of a clock that
// counts from 1970 fit.
const largest = 1e11

// longest is how long a request may last, some four months: a longer one was measured by
// two clocks, or in another unit.
const longest = 1e7

// rounded is what a file's two times of one moment may differ by: some are rounded to
// a millisecond, each for itself.
const rounded = 1.5e-3

// halfUS is what two moments may differ by that are the same microsecond.
const halfUS = 0.5e-6

func sensible(seconds float64) bool { return seconds >= 0 && seconds < largest }

// us turns seconds to whole microseconds.
func us(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

// emit turns the requests of a file into timelines, on a clock that begins with
// the earliest, and hands them on in the order in which they began. load is what the
// file tells of when they were to be sent.
func emit(in *Input, load *run.Load, requests []*request, add func(*timeline.Timeline) error) error {
	zero := math.Inf(1)
	for _, r := range requests {
		if !sensible(r.start) {
			return in.at(r.at, fmt.Errorf("the request has no moment at which it began, without which rates and concurrency can't be told"))
		}
		if !(r.due <= r.start) {
			r.due = r.start
		}
		zero = min(zero, r.due)
	}
	in.ZeroS = zero
	first, last := span(requests)
	exceeded(in, load, float64(len(requests)-1), last-first)
	requestsAlone(requests)
	slices.SortStableFunc(requests, func(a, b *request) int { return cmp.Compare(a.due, b.due) })
	for i, r := range requests {
		tl, err := r.timeline(zero)
		if err != nil {
			return in.at(r.at, err)
		}
		tl.Request, requests[i] = int64(i), nil
		if err := add(tl); err != nil {
			return err
		}
	}
	return nil
}

// span is from when to when the requests were sent.
func span(requests []*request) (first, last float64) {
	first = math.Inf(1)
	for _, r := range requests {
		first, last = min(first, r.start), max(last, r.start)
	}
	return first, last
}

// exceeded leaves a rate that was asked for out of a load that sent far more, so many requests
// in a time, as GuideLLM 0.6.0 does by Poisson: half more at least, and three standard deviations
// of what chance makes of it, whose variance a gamma process divides by its shape.
func exceeded(in *Input, l *run.Load, sent, seconds float64) {
	asked, ok := l.RatePerS.Get()
	expected := asked * seconds
	if ok && seconds > 0 && sent > 1.5*expected && sent > expected+3*math.Sqrt(expected/max(l.Burstiness.Or(1), 1e-9)) {
		in.note(fmt.Sprintf("%.3g requests/s were sent where %.3g were asked for: that rate was not the load, and is left out", sent/seconds, asked))
		l.RatePerS = timeline.Opt[float64]{}
	}
}

// requestsAlone takes the session from requests that are the first and only turn of one:
// tools give each request a conversation, where there are none to be seen.
func requestsAlone(requests []*request) {
	turns := map[string]int{}
	for _, r := range requests {
		turns[r.session]++
	}
	for _, r := range requests {
		if turns[r.session] == 1 && r.turn == timeline.Some(int64(0)) {
			r.session = ""
		}
	}
}

// timeline writes the request down. Where single arrivals are not known it has the
// first and the last token, and says that it knows no more.
func (r *request) timeline(zero float64) (*timeline.Timeline, error) {
	tl := timeline.New()
	r.failure = cut(r.failure)
	tl.ID, tl.Session, tl.Turn, tl.Worker, tl.Model = cut(r.id), cut(r.session), r.turn, r.worker, cut(r.model)
	tl.DueUS, tl.StartUS, tl.Attempts = us(r.due-zero), us(r.start-zero), 1
	tl.Streamed, tl.Asked = r.streamed, r.streamed
	tl.HTTPStatus, tl.FinishReason, tl.Requested = r.status, cut(r.finish), r.asked
	tl.Usage.Input, tl.Usage.Cached, tl.Usage.Output, tl.Usage.Reasoning = r.input, r.cached, r.output, r.reasoning
	tl.Tokenized, tl.TokenizedInput = r.tokenized, r.tokenizedInput
	if r.unsplit && r.streamed {
		tl.Flags |= timeline.HiddenReasoning
	}
	if r.doubted {
		tl.Flags |= timeline.TokenCountMismatch
	}
	if sensible(r.sent) {
		tl.SentUS = timeline.Some(us(r.start - r.due + r.sent))
	}
	if r.phase != "" {
		tl.Phase = r.phase
	}
	e2e := r.e2e
	if math.IsNaN(e2e) {
		e2e = r.end - r.start
	}
	endless := false // more than its first token came, and nobody knows until when
	moments := r.events
	if moments == nil && len(r.gaps) > 0 && sensible(r.first) {
		moments = []float64{r.first}
		for _, gap := range r.gaps {
			moments = append(moments, moments[len(moments)-1]+gap)
		}
	}
	switch {
	case moments != nil:
		if !(e2e >= 0) {
			e2e = moments[len(moments)-1]
		}
	case sensible(r.first):
		tl.Evidence = timeline.RequestOnly
		moments = []float64{r.first}
		more := r.output.Or(r.tokenized.Or(2)) > 1
		if r.firstOutput > r.first+halfUS && r.firstOutput < e2e-halfUS {
			moments = append(moments, r.firstOutput)
		}
		if endless = more && !sensible(e2e); more && !endless && e2e > r.first {
			moments = append(moments, e2e)
		}
	case sensible(e2e) && r.failure == "":
		tl.Evidence, tl.Streamed = timeline.RequestOnly, false
		moments = []float64{e2e}
	default:
		tl.Evidence = timeline.RequestOnly
	}
	if sensible(e2e) && e2e > longest || r.end-r.start > longest || len(moments) > 0 && moments[len(moments)-1] > longest || r.start-r.due > longest {
		return nil, errors.New("the request lasts longer than four months: its times are not of one clock, or not in the unit that they should be in")
	}
	first := r.first
	if len(r.events) > 0 {
		first = r.events[0]
	}
	if len(moments) == 1 && sensible(first) && !r.fine && r.countedNone() { // of a chunk without a token, as one with the role
		moments = nil
	}
	if sensible(e2e) && sensible(first) && e2e < first-rounded && r.failure == "" {
		return nil, errors.New("the request ends before its first token came")
	}
	last := 0.0
	for i, m := range moments {
		if !(m >= last) || m > largest {
			return nil, fmt.Errorf("token %d of the request comes before the one before it, or never", i+1)
		}
		last = m
		kind := timeline.Text
		if m < r.firstOutput-halfUS {
			kind = timeline.Reasoning
		}
		m += r.start - r.due // a record counts from when it was due
		tl.Events.Append(timeline.Event{AtUS: us(m), Kind: kind, Read: int64(i)})
	}
	if sensible(e2e) {
		end := max(e2e, last)
		if whole := r.end - r.start; whole > end {
			end = whole
		}
		tl.CloseUS = timeline.Some(us(r.start - r.due + end))
	} else if len(moments) > 0 {
		tl.CloseUS = timeline.Some(us(r.start - r.due + last))
	}
	switch {
	case r.left:
		tl.Fail(timeline.CancelledUser, cmp.Or(r.failure, "cancelled on purpose, by the other tool"))
	case r.cancelled:
		tl.Fail(timeline.CancelledRunEnd, "cancelled, by the other tool")
	case r.failure != "":
		tl.Fail(cmp.Or(r.class, outcomeOf(r.status, r.kind, r.failure)), r.failure)
	case r.status >= 300:
		tl.Fail(outcomeOf(r.status, "", ""), fmt.Sprintf("HTTP %d", r.status))
	case r.finish == "error":
		tl.Fail(timeline.StreamError, "the answer ended with the reason error")
	case len(moments) == 0:
		tl.Fail(timeline.EmptyOutput, "the other tool's file has no token of this request")
	case !sensible(r.first) && moments != nil && r.events == nil && !r.fine && r.countedNone():
		tl.Fail(timeline.EmptyOutput, "the other tool counted no token of this request")
	case endless:
		tl.Fail(timeline.StreamTruncated, "the other tool's file has no end of this request")
	default:
		tl.Outcome = timeline.OK
	}
	return tl, nil
}

// countedNone reports whether the tool, or the server, counted the answer's tokens, and
// there were none.
func (r *request) countedNone() bool {
	return (r.output.OK() || r.tokenized.OK()) && r.output.Or(0)+r.tokenized.Or(0) == 0
}

// mostWords is how much is kept of a text: an answer may stand where an error should.
const mostWords = 1000

// cut keeps the start of a text, without the rest of the file behind it.
func cut(text string) string { return printable.Short(text, mostWords) }

// failure is what a file says of a failure; empty: what stands there says that there is
// none, as programs write nothing into a table or a text.
func failure(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "none", "null", "nan", "false":
		return ""
	}
	return text
}

// count takes a number of tokens; what is none stays unknown.
func count(v *float64) timeline.Opt[int64] {
	if v == nil || !(*v >= 0) || *v >= 1<<53 {
		return timeline.Opt[int64]{}
	}
	return timeline.Some(int64(*v))
}
