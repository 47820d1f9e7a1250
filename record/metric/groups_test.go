package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// call is a request of a session: due, first token and end in ms.
func call(session, agent, id, parent string, turn, due, first, end, input, cached, reusable int64) *timeline.Timeline {
	tl := timeline.New()
	tl.Phase, tl.Outcome, tl.Evidence = timeline.Measure, timeline.OK, timeline.Arrivals
	tl.Session, tl.Task, tl.Agent, tl.ID, tl.Parent = session, session, agent, id, parent
	tl.Turn = timeline.Some(turn)
	tl.DueUS, tl.StartUS, tl.Streamed, tl.Asked = due*1000, due*1000, true, true
	tl.Usage.Input, tl.Usage.Cached, tl.Usage.Output = timeline.Some(input), timeline.Some(cached), timeline.Some(int64(2))
	tl.Reusable = timeline.Some(reusable)
	for _, at := range []int64{first, end} {
		tl.Events.Append(timeline.Event{AtUS: (at - due) * 1000, Kind: timeline.Text, Tokens: timeline.Some(int64(1))})
	}
	tl.CloseUS = timeline.Some((end - due) * 1000)
	return tl
}

// The figures of two sessions, worked out by hand: the first has a sub-agent that
// its last turn waits for, so its critical path is a, b, c, d of 100, 200, 100 and
// 300 ms with tools of 50, 50 and 100 ms between.
func TestGroups(t *testing.T) {
	calls := []*timeline.Timeline{
		call("1", "", "a", "", 0, 0, 40, 100, 1000, 0, 0),
		call("1", "look", "b", "a", 0, 150, 200, 350, 500, 0, 0),
		call("1", "look", "c", "b", 1, 400, 420, 500, 600, 400, 500),
		call("1", "", "d", "c", 1, 600, 660, 900, 1500, 800, 1000),
		call("2", "", "e", "", 0, 0, 80, 100, 1000, 0, 0),
	}
	warm := call("3", "", "w", "", 0, 0, 1, 2, 9, 9, 9)
	warm.Phase = timeline.Warmup
	alone := call("", "", "x", "", 0, 0, 1, 2, 9, 9, 9)
	rows := func(by string) []GroupRow {
		g, err := NewGrouped(by)
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range append(calls, warm, alone) {
			g.Add(tl)
		}
		return g.Rows()
	}
	s := rows("session")
	if len(s) != 2 {
		t.Fatalf("%+v", s)
	}
	one := s[0]
	if one.Group != "1" || one.Requests != 4 || one.Input.Or(0) != 3600 || one.Cached.Or(0) != 1200 || one.CacheHit.Or(0) != 1200.0/3600 || one.IdealHit.Or(0) != 1500.0/3600 {
		t.Errorf("%+v", one)
	}
	if one.Duration.Or(0) != 900 || one.Model.Or(0) != 700 || one.Tools.Or(0) != 200 {
		t.Errorf("%+v", one)
	}
	if one.TTFT50.Or(0) != 45 || one.CostUSD.OK() {
		t.Errorf("TTFT of 40, 50, 20 and 60 ms has the median %v", one.TTFT50)
	}
	if turns := rows("turn"); len(turns) != 2 || turns[0].Requests != 3 || turns[1].TTFT50.Or(0) != 40 || turns[1].Duration.OK() {
		t.Errorf("%+v", turns)
	}
	if agents := rows("agent"); len(agents) != 2 || agents[0].Group != "look" || agents[1].Group != "main" || agents[1].Requests != 3 {
		t.Errorf("%+v", agents)
	}
	depth := rows("depth")
	if len(depth) != 3 || depth[0].Group != "256-511" || depth[1].Group != "512-1023" || depth[1].Requests != 3 || depth[2].Group != "1024-2047" {
		t.Errorf("%+v", depth)
	}
	// A session that failed has no duration; one without usage no rates.
	calls[4].Outcome = timeline.HTTP5xx
	calls[4].Usage = timeline.Usage{}
	if two := rows("session")[1]; two.Duration.OK() || two.CacheHit.OK() || two.Input.OK() || two.Failed != 1 {
		t.Errorf("%+v", two)
	}
	if _, err := NewGrouped("day"); err == nil {
		t.Error("there is no group of days")
	}
}

// Costs by model are of all measured requests, by task of those of tasks; where one
// has no price, the group's is not known.
func TestCostOfGroups(t *testing.T) {
	of := func(task, model string, usd float64) *timeline.Timeline {
		tl := call(task, "", "", "", 0, 0, 10, 20, 5, 0, 0)
		tl.Session, tl.Model = "", model
		if usd >= 0 {
			tl.CostUSD = timeline.Some(usd)
		}
		return tl
	}
	all := []*timeline.Timeline{of("t1", "a", 0.25), of("t1", "b", 0.5), of("", "a", 1), of("t2", "b", -1), of("", "", 2)}
	for by, want := range map[string]map[string]float64{
		"model": {"a": 1.25, "b": -1, "not told": 2},
		"task":  {"t1": 0.75, "t2": -1},
	} {
		g, err := NewGrouped(by)
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range all {
			g.Add(tl)
		}
		rows := g.Rows()
		if len(rows) != len(want) {
			t.Errorf("by %s: %+v", by, rows)
		}
		for _, r := range rows {
			if usd, known := r.CostUSD.Get(); known != (want[r.Group] >= 0) || known && usd != want[r.Group] {
				t.Errorf("by %s, %s: %v, want %v", by, r.Group, r.CostUSD, want[r.Group])
			}
		}
	}
}
