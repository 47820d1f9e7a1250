package metric

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// A player that begins so many µs after the first sound, moved on sample by sample:
// what it waits in all, which is what the definition says of every delay.
func waits(at, bytes []int64, rate, delayUS float64) (waited float64, times int64) {
	clock := float64(at[0]) + delayUS
	for i := range at {
		if came := float64(at[i]); came > clock {
			waited, clock, times = waited+came-clock, came, times+1
		}
		clock += float64(bytes[i]) / rate * 1e6
	}
	return waited, times
}

func TestStarvation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]int64{8000, 16_000, 48_000}).Draw(t, "rate")
		tl := timeline.New()
		tl.API, tl.Streamed, tl.Outcome, tl.AudioRate = "speech", true, timeline.OK, timeline.Some(rate)
		var at, bytes []int64
		var now, all int64
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			now += rapid.Int64Range(0, 300_000).Draw(t, "gap")
			n := rapid.Int64Range(1, 20_000).Draw(t, "bytes")
			at, bytes, all = append(at, now), append(bytes, n), all+n
			tl.Events.Append(timeline.Event{AtUS: now, Kind: timeline.Media, Bytes: n})
		}
		tl.AudioUS = timeline.Some(all * 1e6 / rate)
		v := ValuesOf(tl)
		waited, times := waits(at, bytes, float64(rate), 0)
		if math.Abs(v.StarvedMS.Or(-1)-waited/1000) > 1e-6 || v.Starvations.Or(-1) != times {
			t.Fatalf("%v ms in %v, want %v in %d", v.StarvedMS, v.Starvations, waited/1000, times)
		}
		for _, delay := range []float64{1e3, 1e5, 1e6, waited} {
			if got, _ := waits(at, bytes, float64(rate), delay); math.Abs(got-max(waited-delay, 0)) > 1e-3 {
				t.Fatalf("begun %v µs later it waits %v µs, of %v", delay, got, waited)
			}
		}
		if v.TTFAMS.Or(-1) != ms(at[0]) || v.E2EMS.Or(-1) != ms(now) || v.TTFTMS.OK() || v.TPOTMS.OK() {
			t.Fatalf("%+v", v)
		}
	})
}

// What is not known is null: a rate that varies, arrivals that were not kept, a
// request that failed.
func TestSoundThatIsNotKnown(t *testing.T) {
	of := func(change func(*timeline.Timeline)) Values {
		tl := timeline.New()
		tl.API, tl.Streamed, tl.Outcome = "speech", true, timeline.OK
		tl.AudioRate, tl.AudioUS = timeline.Some[int64](48_000), timeline.Some[int64](1e6)
		KeepFirst(tl, 300)
		change(tl)
		for i := range int64(500) {
			tl.Events.Append(timeline.Event{AtUS: 1000 + i, Kind: timeline.Media, Bytes: 96})
		}
		tl.Events.Seal()
		return ValuesOf(tl)
	}
	if v := of(func(*timeline.Timeline) {}); v.StarvedMS.OK() || v.TTFAMS.Or(0) != 1 || v.E2EMS.Or(0) != 1.499 || v.Chunks.Or(0) != 500 || math.Abs(v.RTF.Or(0)-0.001499) > 1e-9 {
		t.Errorf("capped: %+v", v)
	}
	if v := of(func(tl *timeline.Timeline) { tl.AudioUS = timeline.Opt[int64]{} }); v.RTF.OK() {
		t.Errorf("no length: %+v", v)
	}
	if v := of(func(tl *timeline.Timeline) { tl.Outcome = timeline.ConnReset }); v.RTF.OK() {
		t.Errorf("failed: %+v", v)
	}
	words := func(tl *timeline.Timeline) { // before any sound more than is kept
		for i := range int64(400) {
			tl.Events.Append(timeline.Event{AtUS: 1 + i, Kind: timeline.Text, Bytes: 4})
		}
	}
	if v := of(words); v.TTFAMS.OK() || v.StarvedMS.OK() {
		t.Errorf("the first sound is not kept: %+v", v)
	}
	tl := timeline.New()
	tl.API, tl.Streamed, tl.AudioUS = "speech", true, timeline.Some[int64](1e6)
	tl.Events.Append(timeline.Event{AtUS: 5, Kind: timeline.Media, Bytes: 96})
	if v := ValuesOf(tl); v.StarvedMS.OK() || v.Starvations.OK() {
		t.Errorf("a rate that varies: %+v", v)
	}
}

// Answers without tokens have no rate of tokens, however long the run is: null, not 0.
func TestSoundHasNoRateOfTokens(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true})
	for i := range 700 {
		c.Add(made{request: int64(i), due: float64(i) * 200, set: func(tl *timeline.Timeline) {
			tl.API, tl.AudioUS = "speech", timeline.Some[int64](3e6)
			tl.Events.Append(timeline.Event{AtUS: us(100), Kind: timeline.Media, Bytes: 96})
			tl.CloseUS = timeline.Some(us(1000))
		}}.timeline())
	}
	through := c.Summary().Throughput
	if through.Steady == nil || through.Steady.ToS-through.Steady.FromS < 60 {
		t.Fatalf("steady %+v", through.Steady)
	}
	for name, rate := range map[string]timeline.Opt[float64]{
		"sustained": through.SustainedTPS, "worst 30 s": through.Worst30sTPS, "best second": through.Best1sTPS,
		"steady": through.Steady.SystemOutputTPS, "tokens": through.Steady.OutputTokens, "system": through.SystemOutputTPS,
	} {
		null(t, name, rate)
	}
}

// Sound that came whole, as a text of JSON, has an end and no beginning.
func TestSoundInOnePiece(t *testing.T) {
	tl := timeline.New()
	tl.API, tl.Outcome = "speech", timeline.OK
	tl.SentUS, tl.CloseUS, tl.AudioUS, tl.AudioRate = timeline.Some[int64](1000), timeline.Some[int64](501_000), timeline.Some[int64](2_000_000), timeline.Some[int64](48_000)
	tl.Events.Append(timeline.Event{AtUS: 501_000, Kind: timeline.Media, Bytes: 96_000})
	v := ValuesOf(tl)
	if v.E2EMS.Or(-1) != 501 || v.ServiceE2EMS.Or(-1) != 500 || v.RTF.Or(-1) != 0.2505 || v.TTFAMS.OK() || v.StarvedMS.OK() {
		t.Errorf("%+v", v)
	}
}
