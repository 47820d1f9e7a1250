package exit

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Every row is a promise to scripts: what a command that found this leaves them with.
func TestOf(t *testing.T) {
	strict := func(f Facts) Facts { f.Strict = true; return f }
	hung := Facts{Unanswered: 25, Measurement: "invalid", Gates: Gates{Open: 2}}
	for _, c := range []struct {
		name string
		f    Facts
		want Code
		last string // in the last line
	}{
		{"nothing to decide", Facts{}, OK, ""},
		{"all answered", Facts{Answered: 9, Measurement: "valid"}, OK, ""},
		{"all answered, gates held", Facts{Answered: 9, Gates: Gates{Met: 2}, Measurement: "valid"}, OK, ""},
		{"some failed", Facts{Answered: 8, Failed: 1}, OK, ""},
		{"some unanswered at the end", Facts{Answered: 8, Unanswered: 3}, OK, ""},
		{"all failed", Facts{Failed: 9}, Target, "all 9 requests failed"},
		{"the only one failed", Facts{Failed: 1}, Target, "the only request failed"},
		{"the only one was not answered", Facts{Unanswered: 1}, Target, "the only request was not answered"},
		{"all failed by our own want", Facts{Failed: 9, Own: 9, Measurement: "invalid"}, Usage, "all 9 requests failed in this client itself"},
		{"all failed by our own want, strict", strict(Facts{Failed: 9, Own: 9, Gates: Gates{Missed: 1}}), Usage, "in this client itself"},
		{"some of ours, the others of the target", Facts{Failed: 9, Own: 8}, Target, "all 9 requests failed"},
		{"ours, and never answered", Facts{Failed: 4, Own: 4, Unanswered: 1}, Target, "4 failed, 1 had no token"},
		{"ours, and one answered", Facts{Answered: 1, Failed: 8, Own: 8}, OK, ""},
		{"failed, and one was being answered", Facts{Failed: 8, Cut: 1}, OK, ""},
		{"never answered", hung, Target, "none of 25 requests was answered"},
		{"never answered, strict", strict(hung), Target, "none of 25"},
		{"failed or never answered", Facts{Failed: 4, Unanswered: 5}, Target, "4 failed, 5 had no token"},
		{"all missed because all failed", Facts{Failed: 9, Gates: Gates{Missed: 1}}, Target, ""},
		{"slow: every answer was cut by the end", Facts{Cut: 8}, OK, ""},
		{"slow, with an objective", Facts{Cut: 8, Gates: Gates{Open: 1}}, OK, "exit 0: nothing was decided; --strict makes this 4"},
		{"slow, with an objective, strict", strict(Facts{Cut: 8, Gates: Gates{Open: 1}}), Undecided, "nothing was decided"},
		{"missed", Facts{Answered: 9, Gates: Gates{Met: 1, Missed: 1}}, Missed, ""},
		{"missed beside open", strict(Facts{Answered: 9, Gates: Gates{Open: 1, Missed: 1}}), Missed, ""},
		{"missed, invalid", Facts{Answered: 9, Gates: Gates{Missed: 1}, Measurement: "invalid"}, Missed, ""},
		{"missed, invalid, strict", strict(Facts{Answered: 9, Gates: Gates{Missed: 1}, Measurement: "invalid"}), Undecided, "the measurement is invalid"},
		{"open", Facts{Answered: 9, Gates: Gates{Open: 1}}, OK, "exit 0: nothing was decided; --strict makes this 4"},
		{"open beside held", Facts{Answered: 9, Gates: Gates{Open: 1, Met: 2}}, OK, "exit 0: 1 of 3 gates were not decided; --strict makes this 4"},
		{"open, strict", strict(Facts{Answered: 9, Gates: Gates{Open: 1, Met: 2}}), Undecided, "1 of 3"},
		{"void", Facts{Answered: 9, Gates: Gates{Void: 1}, Measurement: "invalid"}, OK, "exit 0: nothing was decided"},
		{"void, strict", strict(Facts{Answered: 9, Gates: Gates{Void: 1}, Measurement: "invalid"}), Undecided, "invalid"},
		{"invalid without gates", Facts{Answered: 9, Measurement: "invalid"}, OK, ""},
		{"invalid without gates, strict", strict(Facts{Answered: 9, Measurement: "invalid"}), Undecided, "invalid"},
		{"suspect, strict", strict(Facts{Answered: 9, Gates: Gates{Met: 1}, Measurement: "suspect"}), OK, ""},
		{"no manifest", Facts{Answered: 9, Measurement: "unknown"}, OK, ""},
		{"no manifest, strict", strict(Facts{Answered: 9, Measurement: "unknown"}), Undecided, "unknown"},
		{"not written", Facts{Answered: 9, NotWritten: true, Gates: Gates{Missed: 1}}, Unwritten, ""},
		{"interrupted", Facts{Unanswered: 9, Interrupted: true, NotWritten: true}, Interrupted, ""},
	} {
		got := Of(c.f)
		if got.Code != c.want || !strings.Contains(got.Says, c.last) || c.last == "" && c.want == OK && got.Says != "" {
			t.Errorf("%s: %d %q, want %d %q", c.name, got.Code, got.Says, c.want, c.last)
		}
	}
}

// Several targets or runs: each stands by itself, they are parts of one target, or of
// what gates count. The zero value is one that was not asked.
func TestSeveral(t *testing.T) {
	answered, failed, hung, own, cut := Facts{Answered: 9}, Facts{Failed: 3}, Facts{Unanswered: 4}, Facts{Failed: 2, Own: 2}, Facts{Cut: 1}
	for _, c := range []struct {
		parts                []Facts
		and, beside, counted Code
		says                 string // of beside
	}{
		{[]Facts{answered, answered}, OK, OK, OK, ""},
		{[]Facts{answered, {}}, OK, OK, OK, ""},
		{[]Facts{{}, {}}, OK, OK, OK, ""},
		{[]Facts{answered, failed}, OK, Target, OK, "b: all 3 requests failed"},
		{[]Facts{answered, cut}, OK, OK, OK, ""},
		{[]Facts{hung, answered}, OK, Target, Target, "a: none of 4 requests was answered"},
		{[]Facts{answered, own}, OK, Usage, OK, "b: all 2 requests failed in this client itself"},
		{[]Facts{own, failed}, Target, Target, Target, "a: all 2 requests failed in this client itself (client_resource), so nothing is known of the target; see what this machine lacks; b: all 3"},
		{[]Facts{failed, hung}, Target, Target, Target, "a: all 3 requests failed; b: none of 4"},
		{[]Facts{failed, cut}, OK, Target, OK, "a: all 3 requests failed"},
		{[]Facts{own, {}}, Usage, Usage, Usage, "a: all 2 requests failed in this"},
	} {
		var and, beside, counted Facts
		for i, f := range c.parts {
			name := string(rune('a' + i))
			and, beside, counted = and.And(f), beside.Beside(name, f), counted.Counted(name, f)
		}
		if a, b, n := Of(and), Of(beside), Of(counted); a.Code != c.and || b.Code != c.beside || n.Code != c.counted || !strings.HasPrefix(b.Says, c.says) || c.says == "" && b.Says != "" {
			t.Errorf("%+v: %d, %d %q, %d", c.parts, a.Code, b.Code, b.Says, n.Code)
		}
		beside.Interrupted = true
		if v := Of(beside); v.Code != Interrupted {
			t.Errorf("%+v, interrupted: %d", c.parts, v.Code)
		}
	}
}

// What another tool's file tells of a whole run: it need not tell all three counts.
func TestOfRequestsThatAreNotAllTold(t *testing.T) {
	const no = -1 // it does not say
	for _, c := range []struct {
		total, ok, failed int64
		want              Code
		says              string
	}{
		{no, 0, no, Target, "no request was answered"}, // vLLM before it wrote failed, SGLang
		{no, 0, 100, Target, "all 100 requests failed"},
		{100, 0, no, Target, "no request was answered"},
		{100, 0, 100, Target, "all 100 requests failed"},
		{100, no, 100, Target, "all 100 requests failed"},
		{100, no, 40, OK, ""},
		{no, no, 40, OK, ""}, // whether others were answered nobody knows
		{no, no, no, OK, ""},
		{100, no, no, OK, ""},
		{no, 5, no, OK, ""},
		{100, 60, no, OK, ""},
		{0, 0, no, OK, ""}, // nothing was asked
		{0, 0, 0, OK, ""},
	} {
		r := metric.Requests{Total: max(c.total, 0), OK: max(c.ok, 0), Failed: max(c.failed, 0),
			Untold: metric.Untold{Total: c.total == no, OK: c.ok == no, Failed: c.failed == no}}
		f := OfRequests(&r)
		if v := Of(f); v.Code != c.want || v.Says != c.says {
			t.Errorf("%d, %d, %d: %d %q, want %d %q", c.total, c.ok, c.failed, v.Code, v.Says, c.want, c.says)
		}
		for _, v := range []Verdict{Of(Facts{Answered: 1}.Beside("it", f)), Of(Facts{Answered: 1}.Counted("it", f))} {
			if v.Code != OK && v.Code != c.want {
				t.Errorf("%d, %d, %d: %d beside another", c.total, c.ok, c.failed, v.Code)
			}
		}
	}
}

// A request counts alike by itself and in a run.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one Facts
		all := metric.NewCollector(metric.CollectorOpts{})
		for range rapid.IntRange(0, 20).Draw(t, "requests") {
			tl := timeline.New()
			tl.Outcome = rapid.SampledFrom(timeline.Outcomes).Draw(t, "outcome")
			if rapid.Bool().Draw(t, "sent") {
				tl.Attempts = 1
			}
			if rapid.Bool().Draw(t, "begun") {
				tl.Events.Append(timeline.Event{AtUS: 5, Kind: timeline.Text})
			}
			one.Count(tl)
			all.Add(tl)
		}
		requests := all.Summary().Requests
		if run := OfRequests(&requests); one != run {
			t.Fatalf("%+v by itself, %+v in a run", one, run)
		}
	})
}

// Whatever was found: with Strict success means that something was asked and all of it
// held, and Strict turns no failure into a success.
func TestStrictFailsClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 2)
		g := rapid.IntRange(0, 2)
		f := Facts{
			Answered: n.Draw(t, "answered"), Failed: n.Draw(t, "failed"), Unanswered: n.Draw(t, "unanswered"), Cut: n.Draw(t, "cut"),
			Own:         rapid.Int64Range(0, 2).Draw(t, "own"),
			None:        rapid.Bool().Draw(t, "none"),
			Gates:       Gates{g.Draw(t, "met"), g.Draw(t, "missed"), g.Draw(t, "open"), g.Draw(t, "void")},
			Measurement: rapid.SampledFrom([]string{"", "valid", "suspect", "invalid", "unknown"}).Draw(t, "measurement"),
			NotWritten:  rapid.Bool().Draw(t, "not written"), Interrupted: rapid.Bool().Draw(t, "interrupted"),
		}
		loose := Of(f)
		f.Strict = true
		tight := Of(f)
		if loose.Code != OK && tight.Code == OK {
			t.Fatalf("strict turned %d into a success", loose.Code)
		}
		if tight.Code == OK && (f.Gates.Missed+f.Gates.Open+f.Gates.Void > 0 || f.Measurement == "invalid" || f.Measurement == "unknown") {
			t.Fatalf("success of %+v", f)
		}
		if loose.Code == OK && f.Gates.Open+f.Gates.Void > 0 && !strings.HasPrefix(loose.Says, fmt.Sprintf("exit %d: ", OK)) {
			t.Fatalf("%+v ends without a word", f)
		}
	})
}
