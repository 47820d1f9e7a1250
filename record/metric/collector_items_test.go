package metric

import (
	"fmt"
	"math"
	"testing"

	"tokenmeter/record/timeline"
)

// paced is a successful stream of n tokens, one every gap ms from first on.
func paced(n int, firstMS, gapMS int64) *timeline.Timeline {
	tl := timeline.New()
	tl.Outcome, tl.Streamed, tl.Asked = timeline.OK, true, true
	for i := range int64(n) {
		tl.Events.Append(timeline.Event{AtUS: (firstMS + i*gapMS) * 1000, Kind: timeline.Text, Bytes: 4, Read: i})
	}
	tl.Usage.Output = timeline.Some(int64(n))
	tl.CloseUS = timeline.Some((firstMS + int64(n-1)*gapMS) * 1000)
	return tl
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// A stream of 20 tokens/s: who reads 10/s never waits; who reads 40/s needs
// 25 ms a token and gets one in 50 ms, so waits 25 ms before each but the first:
// (N − 1)/(2N − 1) of the time.
func TestReaders(t *testing.T) {
	const n = 100
	c := NewCollector(CollectorOpts{Readers: []float64{10, 20, 40}})
	for range 5 {
		c.Add(paced(n, 300, 50))
	}
	r := c.Summary().Readers
	if len(r) != 3 || r[0].Waiting.N != 5 {
		t.Fatalf("%+v", r)
	}
	same(t, "at 10/s", r[0].Waiting.Mean.Or(-1), 0)
	same(t, "at 20/s", r[1].Waiting.Mean.Or(-1), 0)
	same(t, "at 40/s", r[2].Waiting.Mean.Or(-1), float64(n-1)/float64(2*n-1))
	same(t, "smooth at 10/s", r[0].Smooth.Or(-1), 1)
	same(t, "smooth at 40/s", r[2].Smooth.Or(-1), 0)

	// A pause of 5 s after 20 tokens that came at once: at 10/s they last 2 s.
	tl := paced(20, 0, 1)
	for i := range int64(20) {
		tl.Events.Append(timeline.Event{AtUS: 5_000_000 + i*1000, Kind: timeline.Text, Bytes: 4, Read: 20 + i})
	}
	tl.Usage.Output = timeline.Some[int64](40)
	c = NewCollector(CollectorOpts{Readers: []float64{10}})
	c.Add(tl)
	same(t, "waiting", c.Summary().Readers[0].Waiting.Mean.Or(-1), 3.0/7)

	// What was asked for is told also where nothing was measured: as null.
	none := NewCollector(CollectorOpts{Readers: []float64{10, 1000}}).Summary().Readers
	if len(none) != 2 || none[1].TPS != 1000 || none[1].Smooth.OK() || none[1].Waiting.N != 0 || none[1].Waiting.Mean.OK() {
		t.Errorf("readers of an empty run: %+v", none)
	}
}

// The critical path goes from the step that ended last over the steps that each
// waited for last: a (100) → c (300) → d (50), not b.
func TestCriticalPath(t *testing.T) {
	step := func(id, parent string, due, end int64) stepRow {
		return stepRow{id: id, parent: parent, due: due, end: end, ok: true}
	}
	whole, waited, path := critical([]stepRow{step("d", "c", 620, 670), step("b", "a", 200, 260), step("a", "", 0, 100), step("c", "a", 200, 500)})
	if whole != 670 || waited != 100+300+50 {
		t.Errorf("%d of which %d", whole, waited)
	}
	// Where the time went: with 20 to the first token and 10 of reasoning in each
	// step, 60 + 30 of 670, 360 of decoding, and 220 of tools.
	for _, s := range path {
		s.ttft, s.ttfo = 20, 30
	}
	var spent TaskShares
	if !spent.add(path, whole, waited) {
		t.Fatal("nothing is known")
	}
	same(t, "ttft", spent.shares().TTFT, 60.0/670)
	same(t, "reasoning", spent.shares().Reasoning, 30.0/670)
	same(t, "decode", spent.shares().Decode, 360.0/670)
	same(t, "tool", spent.shares().Tool, 220.0/670)
	path[0].ttft = -1
	if spent.add(path, whole, waited) {
		t.Error("a step without a first token was counted")
	}
	// A parent that is not there, or a circle, ends the walk.
	if whole, waited, _ = critical([]stepRow{step("x", "y", 0, 10), step("y", "x", 5, 20)}); whole != 20 || waited > 35 {
		t.Errorf("%d of which %d", whole, waited)
	}
}

func TestTaskAndCheckCounts(t *testing.T) {
	c := NewCollector(CollectorOpts{TaskDeadlineS: timeline.Some(1.0)})
	add := func(task, id string, outcome timeline.Outcome, check timeline.Opt[bool], ms int64) {
		tl := paced(2, ms-10, 10)
		tl.Task, tl.ID, tl.Outcome, tl.CheckPassed = task, id, outcome, check
		c.Add(tl)
	}
	yes, no, none := timeline.Some(true), timeline.Some(false), timeline.Opt[bool]{}
	add("fast", "1", timeline.OK, yes, 500)
	add("slow", "2", timeline.OK, none, 1500)
	add("wrong", "3", timeline.OK, no, 500)
	add("broken", "4", timeline.HTTP5xx, none, 500)
	add("cut", "5", timeline.CancelledRunEnd, none, 500)
	s := c.Summary()
	if k := s.Tasks; k.Total != 5 || k.OK != 2 || k.Failed != 2 || k.Cancelled != 1 || k.InTime != 1 || k.Success.Or(0) != 0.25 || k.CI95 == nil {
		t.Errorf("%+v", k)
	}
	if k := s.Checks; k.N != 2 || k.Passed != 1 || k.Rate.Or(0) != 0.5 {
		t.Errorf("%+v", k)
	}
	if empty := NewCollector(CollectorOpts{}).Summary(); empty.Tasks != nil || empty.Checks != nil || empty.Media != nil || empty.Classes != nil || empty.Readers != nil {
		t.Errorf("%+v", empty)
	}
}

// The backlog of a medium is how many of its earlier segments are unanswered.
func TestMedia(t *testing.T) {
	c := NewCollector(CollectorOpts{SegmentS: 1})
	for k, ends := range []int64{2500, 2600, 2700, 3200} { // due at 0, 1, 2, 3 s
		tl := paced(2, ends-int64(k)*1000-10, 10)
		tl.DueUS, tl.Session, tl.ID = int64(k)*1_000_000, "m", fmt.Sprint(k)
		c.Add(tl)
	}
	m := c.Summary().Media
	if m.N != 4 || m.MaxBacklog != 2 || m.InTime.Or(0) != 0.5 {
		t.Errorf("%+v", m)
	}
}
