// Package telemetrytest makes finished requests with known figures, for tests and
// benchmarks of exporters.
package telemetrytest

import (
	"math/rand/v2"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

// At is when trial requests were due.
var At = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Streamed is a reply of OpenAI's chat API whose tokens came at these times, in
// milliseconds since due, one an event, with usage of 10 tokens in.
func Streamed(atMS ...float64) *traffic.Request {
	tl := timeline.New()
	tl.API, tl.Model, tl.Streamed, tl.Asked, tl.Evidence = "openai-chat", "m", true, true, timeline.Arrivals
	tl.HTTPStatus, tl.FinishReason, tl.Attempts, tl.Remote = 200, "stop", 1, "127.0.0.1:8000"
	for i, ms := range atMS {
		tl.Events.Append(timeline.Event{AtUS: int64(ms*1000 + 0.5), Kind: timeline.Text, Tokens: timeline.Some(int64(1)), Bytes: 4, Read: int64(i)})
	}
	tl.Usage.Input, tl.Usage.Output = timeline.Some(int64(10)), timeline.Some(int64(len(atMS)))
	if n := len(atMS); n > 0 {
		tl.CloseUS = timeline.Some(int64(atMS[n-1]*1000) + 1000)
	}
	tl.Outcome = timeline.OK
	return Finish(&traffic.Request{Timeline: tl, At: At, Labels: traffic.Labels{Source: traffic.Live, Listener: "main", Route: "chat", Upstream: "a", Model: "m", API: "openai-chat"},
		Delay: traffic.Delay{HeadUS: timeline.Some(int64(120)), FirstUS: timeline.Some(int64(40)), MaxUS: 60, SumUS: 500, Reads: int64(len(atMS))}, RequestBytes: 100, ResponseBytes: 1000})
}

// Failed is a request that ended so after a millisecond.
func Failed(outcome timeline.Outcome) *traffic.Request {
	r := Streamed()
	r.Usage, r.FinishReason, r.CloseUS = timeline.Usage{}, "", timeline.Some(int64(1000))
	if outcome.Failed() {
		r.Fail(outcome, "words of the server")
	}
	r.Outcome = outcome
	return Finish(r)
}

// Finish computes the record of a request that was changed.
func Finish(r *traffic.Request) *traffic.Request {
	r.Record = metric.ScalarsOf(r.Timeline)
	return r
}

// Many is some traffic: streams of a few tokens to hundreds, some failures,
// some cancelled, some unmeasured, on two routes.
func Many(n int, seed uint64) []*traffic.Request {
	random := rand.New(rand.NewPCG(seed, seed))
	all := make([]*traffic.Request, n)
	for i := range all {
		var r *traffic.Request
		switch draw := random.Float64(); {
		case draw < 0.03:
			r = Failed(timeline.HTTP5xx)
		case draw < 0.05:
			r = Failed(timeline.CancelledUser)
		default:
			at, tokens := 20+random.ExpFloat64()*150, 1+random.IntN(200)
			times := make([]float64, tokens)
			gap := 5 + random.ExpFloat64()*40
			for k := range times {
				times[k] = float64(int64(at*1000)) / 1000
				at += gap * (0.5 + random.Float64())
			}
			r = Streamed(times...)
			if draw > 0.98 {
				r.Unmeasured = traffic.TooSlow
			}
		}
		if random.IntN(3) == 0 {
			r.Labels.Route, r.Labels.Upstream = "batch", "b"
		}
		all[i] = r
	}
	return all
}

// Tainted has a secret wherever a request has room for what others said.
func Tainted(secret string) *traffic.Request {
	r := Streamed(100, 130, 160)
	r.ID, r.Session, r.Task, r.Parent, r.Text, r.Thought, r.Calls = secret, secret, secret, secret, secret, secret, secret
	r.FinishReason, r.ServiceTier, r.AnsweredBy, r.Model, r.ServedModel, r.Remote, r.Class, r.Trace = secret, secret, secret, secret, secret, secret, secret, secret
	r.Unread = timeline.Unread("text:" + secret)
	r.Error = &timeline.Error{Class: timeline.StreamError, Message: secret}
	r.Outcome = timeline.StreamError
	return Finish(r)
}

// Total sums the counts of one objective over all labels.
func Total(counts []traffic.Count, key string) traffic.Count {
	var sum traffic.Count
	for _, n := range counts {
		if n.Key != key {
			continue
		}
		if sum.Key == "" {
			sum = traffic.Count{Key: key, Text: n.Text, Since: n.Since}
		}
		sum.Counts = sum.Plus(n.Counts)
		if n.Since.Before(sum.Since) {
			sum.Since = n.Since
		}
	}
	return sum
}

// ByName finds a metric of the table; nil: there is none.
func ByName(name string) *telemetry.Metric {
	for _, m := range telemetry.Table {
		if m.Name == name {
			return m
		}
	}
	return nil
}
