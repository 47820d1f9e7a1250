package lens

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

func anyReply(t *rapid.T) *timeline.Timeline {
	tl := timeline.New()
	tl.Streamed = rapid.Bool().Draw(t, "streamed")
	tl.HTTPStatus = rapid.SampledFrom([]int{0, 200, 503}).Draw(t, "status")
	tl.Outcome = rapid.SampledFrom(timeline.Outcomes).Draw(t, "outcome")
	tl.DueUS = rapid.Int64Range(0, 1e7).Draw(t, "due")
	tl.StartUS = rapid.Int64Range(0, 2e7).Draw(t, "start")
	count := func(name string) timeline.Opt[int64] {
		if rapid.Bool().Draw(t, name+" known") {
			return timeline.Some(rapid.Int64Range(0, 9).Draw(t, name))
		}
		return timeline.Opt[int64]{}
	}
	tl.Usage = timeline.Usage{Input: count("in"), Output: count("out"), Cached: count("cached")}
	tl.Requested, tl.Tokenized, tl.SentUS, tl.CloseUS = count("asked"), count("tokenized"), count("sent"), count("close")
	var us int64
	for range rapid.IntRange(0, 9).Draw(t, "events") {
		us += rapid.SampledFrom([]int64{0, 1, 1000, 20_000, 1e6}).Draw(t, "gap")
		tl.Events.Append(timeline.Event{AtUS: us, Tokens: count("tokens"),
			Kind: timeline.Kind(rapid.IntRange(int(timeline.Role), int(timeline.ErrorEvent)).Draw(t, "kind"))})
	}
	return tl
}

// Whatever was recorded, no lens shows a negative, infinite or nameless
// figure, and the order of the timelines does not matter.
func TestEveryLensOnAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tls := rapid.SliceOfN(rapid.Custom(anyReply), 0, 5).Draw(t, "timelines")
		facts := Facts{Limits: Limits{TTFTMS: timeline.Some(5.0), TPOTMS: timeline.Some(5.0)}}
		tables, err := Apply([]string{"all"}, slices.Values(tls), facts)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(tls)
		again, _ := Apply([]string{"all"}, slices.Values(tls), facts)
		for i, table := range tables {
			for j, row := range table.Rows {
				v, ok := row.Value.Get()
				if ok && !(v >= 0) || math.IsInf(v, 0) || row.Name == "" || row.Unit == "" || row.Why == "" {
					t.Errorf("%s: %+v", table.Lens, row)
				}
				w, ok2 := again[i].Rows[j].Value.Get()
				if ok != ok2 || math.Abs(v-w) > 1e-9*math.Max(1, math.Abs(v)) {
					t.Errorf("%s %s is %v in one order, %v in another", table.Lens, row.Name, v, w)
				}
			}
		}
	})
}
