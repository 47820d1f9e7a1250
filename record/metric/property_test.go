package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// anyTimeline draws whatever a client, a capture or an importer may hand in.
func anyTimeline(t *rapid.T) *timeline.Timeline {
	tl := timeline.New()
	tl.Streamed = rapid.Float64Range(0, 1).Draw(t, "streamed") < 0.9
	tl.Asked = rapid.Bool().Draw(t, "asked")
	tl.Clock = rapid.SampledFrom([]timeline.Clock{timeline.Kernel, timeline.User}).Draw(t, "clock")
	tl.DueUS = rapid.Int64Range(0, 1e9).Draw(t, "due")
	tl.StartUS = tl.DueUS + rapid.Int64Range(-1000, 1e6).Draw(t, "late")
	tl.Outcome = rapid.SampledFrom(timeline.Outcomes).Draw(t, "outcome")
	tl.Flags = timeline.FlagSet(rapid.Uint32Range(0, 1<<18-1).Draw(t, "flags")) &
		(timeline.ArrivalsCapped | timeline.MalformedEvent | timeline.Compressed)
	tl.Text = rapid.SampledFrom([]string{"", "text"}).Draw(t, "text")
	count := func(name string) timeline.Opt[int64] {
		if rapid.Bool().Draw(t, name+" known") {
			return timeline.Some(rapid.Int64Range(0, 40).Draw(t, name))
		}
		return timeline.Opt[int64]{}
	}
	at := func(name string) timeline.Opt[int64] {
		if rapid.Bool().Draw(t, name+" known") {
			return timeline.Some(rapid.Int64Range(0, 1e7).Draw(t, name))
		}
		return timeline.Opt[int64]{}
	}
	tl.SentUS, tl.HeadUS, tl.CloseUS = at("sent"), at("head"), at("close")
	tl.Usage = timeline.Usage{Input: count("input"), Output: count("output"),
		Reasoning: count("reasoning"), Total: count("total"), Cached: count("cached")}
	tl.Counted, tl.Tokenized = count("counted"), count("tokenized")
	if rapid.Bool().Draw(t, "server") {
		tl.Server = map[string]float64{"prefill_ms": rapid.Float64Range(0, 100).Draw(t, "prefill")}
	}
	anyEvents(t, tl)
	return tl
}

func anyEvents(t *rapid.T, tl *timeline.Timeline) {
	var us, read int64
	choices := rapid.IntRange(1, 3).Draw(t, "choices")
	told := rapid.Bool().Draw(t, "told")
	for range rapid.IntRange(0, 30).Draw(t, "events") {
		us += rapid.SampledFrom([]int64{0, 1, 999, 1000, 20_000, 20_000, 250_000}).Draw(t, "gap")
		read += rapid.Int64Range(0, 1).Draw(t, "new read")
		ev := timeline.Event{AtUS: us, Read: read,
			Kind:   rapid.SampledFrom([]timeline.Kind{timeline.Role, timeline.Text, timeline.Text, timeline.Reasoning, timeline.Tool, timeline.Ping}).Draw(t, "kind"),
			Choice: rapid.IntRange(0, choices-1).Draw(t, "choice"),
			Bytes:  rapid.Int64Range(0, 9).Draw(t, "bytes")}
		if told {
			ev.Tokens = timeline.Some(rapid.Int64Range(0, 3).Draw(t, "tokens"))
		}
		tl.Events.Append(ev)
	}
}

// No figure is negative, NaN or infinite, whatever came in.
func TestEveryFigureIsFiniteAndNotNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Of(anyTimeline(t))
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("the record is no JSON: %v", err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		notNegative(t, "record", m)
	})
}

func notNegative(t *rapid.T, where string, v any) {
	switch v := v.(type) {
	case float64:
		if v < 0 || math.IsInf(v, 0) {
			t.Errorf("%s is %v", where, v)
		}
	case []any:
		for i := range v {
			notNegative(t, fmt.Sprint(where, "[", i, "]"), v[i])
		}
	case map[string]any:
		for k := range v {
			notNegative(t, where+"."+k, v[k])
		}
	}
}

// What is null and what is not follows from a few rules.
func TestNullRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := anyTimeline(t)
		r, v := Of(tl), ValuesOf(tl)
		check := func(ok bool, rule string) {
			if !ok {
				t.Errorf("broken: %s\n%+v", rule, r)
			}
		}
		check(r.TTFTMS.OK() || !r.TPOTMS.OK(), "no TPOT without TTFT")
		check(r.TPOTMS.OK() == r.DecodeTPS.OK(), "decode TPS goes with TPOT")
		check(r.TPOTMS.OK() || !r.TPOTAdjMS.OK(), "no adjusted TPOT without TPOT")
		check(!r.TPOTMS.OK() || max(v.StreamedTokens.Or(0), v.events) >= 2, "TPOT needs two streamed tokens")
		check(!r.TPOTMS.OK() || !r.Flags.Has(timeline.Burst), "a burst has no TPOT")
		check(r.TPOTMS.Or(1) > 0, "TPOT is above zero")
		check((r.OutputTokens.Or(0) > 0) == (r.TokenSource != nil) || r.TokenSource != nil && r.OutputTokens.OK(), "a count has a source")
		check(tl.Streamed || r.TTFTMS == timeline.Opt[float64]{} && r.ICLMS == nil, "no stream, no arrivals")
		check(r.ITLMS == nil || !r.Flags.Has(timeline.Burst) && !r.Flags.Has(timeline.Coalesced), "ITL needs single arrivals")
		check((r.ICLMS == nil) == !v.Gaps.OK(), "the gaps have a number")
		check(r.MaxGapMS.OK() == (len(r.ICLMS) > 0) && r.Stalls.OK() == r.MaxGapMS.OK(), "max gap and stalls go with the gaps")
		check(r.TTFOMS.Or(math.Inf(1)) >= r.TTFTMS.Or(0), "TTFO is not before TTFT")
		check(v.StreamedTokens.Or(0) <= r.OutputTokens.Or(0), "S is not above N")
	})
}

// Lists, counts and sums of one record agree, and so do Of and Scan.
func TestListsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := anyTimeline(t)
		r := Of(tl)
		var icl, itl []float64
		var times int64
		v := Scan(tl, func(g float64) { icl = append(icl, g) },
			func(g float64, n int64) { itl = append(itl, slices.Repeat([]float64{g}, int(n))...); times += n })
		if !slices.Equal(icl, r.ICLMS) || !slices.Equal(itl, r.ITLMS) {
			t.Fatalf("Scan gave %v %v, Of %v %v", icl, itl, r.ICLMS, r.ITLMS)
		}
		if n, ok := v.Gaps.Get(); ok && n != int64(len(icl)) {
			t.Errorf("%d gaps, list of %d", n, len(icl))
		}
		if n, ok := v.TokenGaps.Get(); ok && n != times {
			t.Errorf("%d token gaps, list of %d", n, times)
		}
		var sum, longest float64
		for _, g := range icl {
			sum, longest = sum+g, max(longest, g)
		}
		if len(icl) > 0 && (!near(sum, r.E2EMS.Or(0)-r.TTFTMS.Or(0)) || longest != r.MaxGapMS.Or(-1)) {
			t.Errorf("gaps %v do not fill %v to %v", icl, r.TTFTMS, r.E2EMS)
		}
		if n, ok := r.Chunks.Get(); ok && n > 0 && n != int64(len(icl))+1 {
			t.Errorf("%d chunks, %d gaps", n, len(icl))
		}
	})
}

// Times k times as long give figures k times as large and speeds k times as
// small, as long as no threshold is crossed.
func TestFiguresScaleWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := anyTimeline(t)
		k := rapid.Int64Range(2, 9).Draw(t, "k")
		slow := *tl
		slow.Events = timeline.Events{}
		for ev := range tl.Events.All() {
			ev.AtUS *= k
			slow.Events.Append(ev)
		}
		for _, us := range []*timeline.Opt[int64]{&slow.SentUS, &slow.HeadUS, &slow.CloseUS} {
			if v, ok := us.Get(); ok {
				*us = timeline.Some(v * k)
			}
		}
		a, b := Of(tl), Of(&slow)
		same := func(name string, x, y timeline.Opt[float64], factor float64) {
			vx, okx := x.Get()
			vy, oky := y.Get()
			if okx && oky && math.Abs(vx*factor-vy) > 1e-6*math.Abs(vy) {
				t.Errorf("%s: %v became %v at %d times the time", name, vx, vy, k)
			}
		}
		same("ttft", a.TTFTMS, b.TTFTMS, float64(k))
		same("ttfo", a.TTFOMS, b.TTFOMS, float64(k))
		same("e2e", a.E2EMS, b.E2EMS, float64(k))
		same("service e2e", a.ServiceE2EMS, b.ServiceE2EMS, float64(k))
		same("tpot", a.TPOTMS, b.TPOTMS, float64(k))
		same("max gap", a.MaxGapMS, b.MaxGapMS, float64(k))
		same("decode tps", a.DecodeTPS, b.DecodeTPS, 1/float64(k))
		same("e2e tps", a.E2ETPS, b.E2ETPS, 1/float64(k))
		if a.OutputTokens != b.OutputTokens || a.Chunks != b.Chunks {
			t.Error("counts changed with time")
		}
	})
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Of(anyTimeline(t))
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Record
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(back)
		if diff := cmp.Diff(string(data), string(again)); diff != "" {
			t.Error(diff)
		}
	})
}
