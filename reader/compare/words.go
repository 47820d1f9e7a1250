package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/stat"
)

// sentence says the outcome in words: "pr-812 streams slower; the rest is the
// same".
func (r *Result) sentence() string {
	if r.Verdict == NotComparable {
		return "Not comparable: " + firstRefusal(r.Comparable.Why) + "."
	}
	var parts []string
	for _, c := range r.Candidates {
		groups := r.groups(c.Name)
		if len(groups) == 0 {
			parts = append(parts, c.Name+" has no figure that the baseline has too.")
		}
		for _, p := range groups {
			parts = append(parts, r.about(c.Name, p))
		}
	}
	return strings.Join(parts, " ")
}

func firstRefusal(why []Reason) string {
	for _, r := range why {
		if r.Level == Refuse {
			return r.Says
		}
	}
	return "see the reasons"
}

// groups are the workloads of a candidate; one empty name for a single one.
func (r *Result) groups(candidate string) []string {
	var list []string
	for i := range r.Rows {
		row := &r.Rows[i]
		label := row.Label()
		if row.Candidate == candidate && !slices.Contains(list, label) {
			list = append(list, label)
		}
	}
	return list
}

// Label is the workload that the row is of; empty where there is one only.
func (row *Row) Label() string {
	if row.Group == nil {
		return ""
	}
	return *row.Group
}

// phrases say what a change of a metric means to a user, worst first.
var phrases = []struct{ metric, worse, better string }{
	{"error_rate", "fails more often", "fails less often"},
	{"check_pass", "answers wrong more often", "answers right more often"},
	{"ttft_ms", "starts later", "starts sooner"},
	{"ttfo_ms", "answers later", "answers sooner"},
	{"ttfa_ms", "speaks later", "speaks sooner"},
	{"ttfi_ms", "shows later", "shows sooner"},
	{"starved_ms", "starves players more", "starves players less"},
	{"tpot_ms", "streams slower", "streams faster"},
	{"tpot_adj_ms", "streams slower", "streams faster"},
	{"itl_ms", "stutters more", "stutters less"},
	{"icl_ms", "stutters more", "stutters less"},
	{"e2e_ms", "takes longer", "ends sooner"},
	{"system_output_tps", "delivers less", "delivers more"},
	{"success_output_tps", "delivers less", "delivers more"},
	{"goodput", "keeps fewer promises", "keeps more promises"},
}

// about says what became of one candidate with one workload.
func (r *Result) about(candidate, group string) string {
	verdicts := map[string]map[Verdict]bool{}
	count, untested := map[Verdict]int{}, 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Candidate != candidate || row.Label() != group {
			continue
		}
		if row.Why != "" {
			if row.A.OK() && row.B.OK() && row.measure.better != "" { // seen on both sides
				untested++
			}
			continue
		}
		if verdicts[row.Metric] == nil {
			verdicts[row.Metric] = map[Verdict]bool{}
		}
		verdicts[row.Metric][row.Verdict] = true
		count[row.Verdict]++
	}
	var worse, better []string
	for _, p := range phrases {
		if verdicts[p.metric][Worse] && !slices.Contains(worse, p.worse) {
			worse = append(worse, p.worse)
		}
		if verdicts[p.metric][Better] && !slices.Contains(better, p.better) {
			better = append(better, p.better)
		}
	}
	head := candidate
	if group != "" {
		head = fmt.Sprintf("With %s, %s", group, candidate)
	}
	changed := typeset.List(worse)
	if len(worse) > 0 && len(better) > 0 {
		changed += ", but " + typeset.List(better)
	} else if len(better) > 0 {
		changed = typeset.List(better)
	}
	if len(verdicts) > 0 { // else not one figure could be tested, which has words of its own
		count[Unclear] += untested
	}
	says := head + " " + ending(changed, count)
	if changed == "" {
		says += r.seen(candidate, group)
	}
	return says
}

// seen names the largest differences for the worse that no test has proved, so that
// nobody takes them for none: one of each metric, at most three, of those beyond what
// counts as none (Options.Within, RunNoise).
func (r *Result) seen(candidate, group string) string {
	var rows []*Row
	for i := range r.Rows {
		row := &r.Rows[i]
		by, ok := row.DiffPct.Get()
		if !ok || row.Candidate != candidate || row.Label() != group || row.Real() || row.Verdict == Same || math.Abs(by) <= max(r.Method.WithinPct, r.Method.RunNoisePct) {
			continue
		}
		if row.Bad() {
			rows = append(rows, row)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return math.Abs(rows[i].DiffPct.Or(0)) > math.Abs(rows[j].DiffPct.Or(0)) })
	var words, named []string
	for _, row := range rows {
		if len(words) < 3 && !slices.Contains(named, row.Metric) {
			named = append(named, row.Metric)
			by := typeset.Number(row.DiffPct.Or(0), 0)
			if row.DiffPct.Or(0) > 0 {
				by = "+" + by
			}
			words = append(words, strings.TrimSuffix(row.Title()+" "+row.Stat, " rate")+" "+by+" %")
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " Seen, but not proven: " + strings.Join(words, ", ") + "."
}

// ending closes the sentence with what did not change.
func ending(changed string, count map[Verdict]int) string {
	same, unclear := count[Same], count[Unclear]
	switch {
	case count[Worse]+count[Better]+same+unclear == 0:
		return "has nothing that could be tested."
	case changed == "" && count[Worse]+count[Better] > 0:
		return "differs in what was asked for."
	case changed == "" && unclear == 0:
		return "is the same."
	case changed == "" && same == 0:
		return "is not shown to differ, nor to be the same: no figure is settled."
	case changed == "":
		return fmt.Sprintf("is not shown to differ; %s could still.", typeset.Plural(int64(unclear), "figure"))
	case unclear == 0 && same > 0:
		return changed + ", otherwise it is the same."
	case unclear == 1:
		return changed + "; 1 figure is not settled."
	case unclear > 0:
		return changed + fmt.Sprintf("; %s are not settled.", typeset.Plural(int64(unclear), "figure"))
	}
	return changed + "."
}

// Word is a row's verdict for people.
func (row *Row) Word() string {
	switch row.Verdict {
	case Worse, Better:
		return direction(row)
	case Same:
		return "same"
	}
	switch {
	case row.Needed() > 0:
		return "too few"
	case row.Why != "":
		return "not tested"
	}
	return "not settled"
}

// direction names a real change by what the metric measures.
func direction(row *Row) string {
	worse := row.Verdict == Worse
	pick := func(bad, good string) string {
		if worse {
			return bad
		}
		return good
	}
	switch {
	case row.Metric == "error_rate":
		return pick("more", "fewer")
	case row.Share():
		return pick("fewer", "more")
	case row.Metric == "cost_usd":
		return pick("dearer", "cheaper")
	case row.Unit == "requests/s" || row.Metric == "system_output_tps" || row.Metric == "success_output_tps":
		return pick("less", "more")
	}
	return pick("slower", "faster")
}

// Words says what became of a gate: its state, the value and the reason.
func (out *GateResult) Words() string {
	text := map[GateState]string{Held: "held", Broken: "BROKEN", GateRefused: "not judged", GateIncomparable: "not judged"}[out.State]
	if out.Shown != "" {
		text += ": " + out.Shown
	}
	if out.Says != "" {
		text += ", " + out.Says
	}
	return text
}

// tooDependent says why single runs settle nothing of a figure, and how many
// requests (or sessions) a side would do; 0: nobody knows.
func (m *measure) tooDependent(iv stat.Interval, w stat.Worth) (why string, needed int64) {
	why = fmt.Sprintf("%s %s count as only %s independent ones, for those close in time are alike", typeset.Exact(int64(w.N)), m.ones(), typeset.Number(math.Max(1, w.Moments()), 0))
	if iv.NeedFactor > 1 && !math.IsInf(iv.NeedFactor, 0) {
		needed = int64(math.Ceil(float64(w.N)*iv.NeedFactor/10) * 10)
		why += fmt.Sprintf("; about %s %s a side would do", typeset.Exact(needed), m.ones())
	}
	return why, needed
}
