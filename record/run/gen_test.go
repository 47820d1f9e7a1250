package run

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// anyTimeline draws a timeline of any shape that a client could record.
func anyTimeline(t *rapid.T) *timeline.Timeline {
	us := rapid.Int64Range(0, 30*365*24*3600*1e6) // decades
	count := rapid.Int64Range(0, 1<<40)
	words := rapid.OneOf(rapid.Just(""), rapid.String())
	tl := &timeline.Timeline{
		Request:  rapid.Int64Range(0, 1<<40).Draw(t, "request"),
		ID:       words.Draw(t, "id"),
		Phase:    rapid.SampledFrom([]timeline.Phase{timeline.Warmup, timeline.Measure, timeline.Cooldown}).Draw(t, "phase"),
		Worker:   rapid.IntRange(0, 1000).Draw(t, "worker"),
		Session:  words.Draw(t, "session"),
		Turn:     opt(t, count, "turn"),
		Task:     words.Draw(t, "task"),
		Step:     opt(t, count, "step"),
		Parent:   words.Draw(t, "parent"),
		Class:    words.Draw(t, "class"),
		API:      words.Draw(t, "api"),
		Model:    words.Draw(t, "model"),
		Evidence: rapid.SampledFrom([]timeline.Evidence{timeline.Arrivals, timeline.RequestOnly}).Draw(t, "evidence"),
		Clock:    rapid.SampledFrom([]timeline.Clock{timeline.Kernel, timeline.User}).Draw(t, "clock"),
		DueUS:    us.Draw(t, "due"), StartUS: us.Draw(t, "start"),
		DNSUS: opt(t, us, "dns"), ConnectUS: opt(t, us, "connect"), TLSUS: opt(t, us, "tls"),
		Reused: opt(t, rapid.Bool(), "reused"), Remote: words.Draw(t, "remote"),
		Attempts:     rapid.IntRange(0, 9).Draw(t, "attempts"),
		ConnRetries:  rapid.IntRange(0, 9).Draw(t, "conn retries"),
		RetryAfterUS: opt(t, us, "retry after"),
		Redirects:    rapid.IntRange(0, 9).Draw(t, "redirects"),
		SentUS:       opt(t, us, "sent"), HeadUS: opt(t, us, "head"), CloseUS: opt(t, us, "close"),
		HTTPStatus:   rapid.IntRange(0, 599).Draw(t, "status"),
		FinishReason: words.Draw(t, "finish"), ServiceTier: words.Draw(t, "tier"), ServedModel: words.Draw(t, "served"), AnsweredBy: words.Draw(t, "by"),
		Agent: words.Draw(t, "agent"), Reusable: opt(t, count, "reusable"), Inputs: opt(t, count, "inputs"),
		Chars: opt(t, count, "chars"), AudioUS: opt(t, us, "audio"), AudioRate: opt(t, count, "rate"),
		Images: opt(t, count, "images"), InputImages: opt(t, count, "input images"), ImageSize: words.Draw(t, "size"),
		Streamed: rapid.Bool().Draw(t, "streamed"), Asked: rapid.Bool().Draw(t, "asked"),
		Usage: timeline.Usage{
			Input: opt(t, count, "input"), Cached: opt(t, count, "cached"),
			CacheWrite: opt(t, count, "cache write"), CacheWrite1h: opt(t, count, "cache write 1h"), Output: opt(t, count, "output"),
			Reasoning: opt(t, count, "reasoning"), Rejected: opt(t, count, "rejected"), Total: opt(t, count, "total"),
		},
		Counted: opt(t, count, "counted"), Tokenized: opt(t, count, "tokenized"),
		Requested:   opt(t, count, "requested"),
		Flags:       timeline.FlagSet(rapid.Uint32Range(0, uint32(2*timeline.ArrivalsCapped-1)).Draw(t, "flags")),
		ClockStepUS: opt(t, rapid.Int64(), "clock step"),
		Outcome:     rapid.SampledFrom(timeline.Outcomes).Draw(t, "outcome"),
		Text:        words.Draw(t, "text"),
		CheckPassed: opt(t, rapid.Bool(), "check"),
		CostUSD:     opt(t, rapid.Float64Range(0, 1e6), "cost"),
	}
	if rapid.Bool().Draw(t, "counted for a norm") {
		tl.Norm, tl.NormBy = timeline.Some(count.Draw(t, "norm")), "o200k_base"
	}
	tl.StartUS = tl.DueUS + us.Draw(t, "lateness")
	if rapid.Bool().Draw(t, "failed") {
		tl.Error = &timeline.Error{Class: tl.Outcome, Message: rapid.String().Draw(t, "message")}
	}
	if server := rapid.MapOfN(rapid.String(), rapid.Float64Range(0, 1e9), 0, 3).Draw(t, "server"); len(server) > 0 {
		tl.Server = server
	}
	anyEvents(t, &tl.Events)
	tl.SortImages() // what no request is: pictures made by an API of words
	return tl
}

func anyEvents(t *rapid.T, into *timeline.Events) {
	var at, read int64
	for range rapid.IntRange(0, 20).Draw(t, "events") {
		at += rapid.OneOf(rapid.Int64Range(0, 1e5), rapid.Int64Range(0, 3<<32)).Draw(t, "gap")
		read += rapid.Int64Range(0, 1).Draw(t, "new read")
		into.Append(timeline.Event{
			AtUS: at, Read: read,
			LagUS:  rapid.Int64Range(0, 1e6).Draw(t, "lag"),
			Kind:   timeline.Kind(rapid.IntRange(int(timeline.Role), int(timeline.ErrorEvent)).Draw(t, "kind")),
			Choice: rapid.IntRange(0, 255).Draw(t, "choice"),
			Bytes:  rapid.Int64Range(0, 1<<31).Draw(t, "bytes"),
			Tokens: opt(t, rapid.Int64Range(0, 65000), "tokens"),
		})
	}
}

func opt[T any](t *rapid.T, of *rapid.Generator[T], label string) timeline.Opt[T] {
	if !rapid.Bool().Draw(t, label+" known") {
		return timeline.Opt[T]{}
	}
	return timeline.Some(of.Draw(t, label))
}

// sameTimeline compares everything that can be seen of a timeline: events by
// what they yield, since the ordinals of reads are counted anew.
var sameTimeline = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Transformer("events", func(e timeline.Events) []timeline.Event { return slices.Collect(e.All()) }),
}

func diff(want, got any) string { return cmp.Diff(want, got, sameTimeline) }

// streamed is a plain answer of n tokens, 20 ms apart.
func streamed(request int64, n int) *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.ID, tl.API, tl.Model = request, "id", "openai-chat", "m"
	tl.DueUS = request * 1000
	tl.StartUS = tl.DueUS
	tl.Attempts, tl.HTTPStatus, tl.Streamed, tl.Asked = 1, 200, true, true
	tl.Outcome, tl.FinishReason = timeline.OK, "stop"
	tl.SentUS, tl.HeadUS = timeline.Some(int64(100)), timeline.Some(int64(5000))
	tl.Usage.Output = timeline.Some(int64(n))
	for i := range n {
		tl.Events.Append(timeline.Event{AtUS: 200_000 + int64(i)*20_000, Kind: timeline.Text,
			Bytes: 4, Read: int64(i), LagUS: 30})
	}
	tl.CloseUS = timeline.Some(tl.Events.LastUS() + 1000)
	return tl
}

func collect(t testing.TB, f *Folder) []*timeline.Timeline {
	t.Helper()
	var all []*timeline.Timeline
	for tl, err := range f.Timelines() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tl)
	}
	return all
}
