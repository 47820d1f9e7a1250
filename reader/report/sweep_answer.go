package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/validity"
)

// answer is the first sentence.
func (v *sweepView) answer() {
	s := v.s
	v.state = "ok"
	switch {
	case s.Method != nil:
		v.followed(s.Method)
	case s.Searched():
		v.found(s.Found)
	case len(s.Points) == 0 && len(s.Begun) > 0:
		v.state, v.says = "none", "No point was finished."
	case len(s.Points) == 0:
		v.state, v.says = "none", "Nothing was measured."
	case len(s.Series) > 0:
		v.best()
	case s.Found != nil:
		v.kept(s.Found)
	case s.Knee != nil && s.Peak != nil:
		v.says = fmt.Sprintf("Throughput stops growing at %s [%s, %s]: the server then delivers %s output tok/s.",
			v.load(s.Knee.Value), v.value(s.Knee.Lo), v.value(s.Knee.Hi), v.tps(s.Peak.TPS, s.Peak.CI95))
	case s.Variable == "rate" || s.Variable == "concurrency":
		v.unbent()
	default:
		v.ends()
	}
	v.verdicts()
	v.failures()
	v.stopped()
}

// unbent is the answer of one curve without a knee.
func (v *sweepView) unbent() {
	s := v.s
	v.state = "none"
	curve := s.Groups()[0]
	switch {
	case s.Invalid() > 0:
		v.state, v.says = "bad", "No knee can be told."
	case s.Loads(&curve) < result.LeastLoads:
		v.says = fmt.Sprintf("No knee can be told: that takes %d loads.", result.LeastLoads)
	case !s.Rises(&curve):
		v.says = fmt.Sprintf("No knee was found: throughput does not follow the load even at %s.", v.load(s.Points[0].Value))
		v.more = append(v.more, "Sweep further down to find it.")
	default:
		v.says = fmt.Sprintf("No plateau was reached: throughput still follows the load at %s.", v.load(s.Points[len(s.Points)-1].Value))
		v.more = append(v.more, "Sweep further up to find the knee.")
	}
}

// ends is the answer of a sweep of anything but the load: what becomes of the first
// token between the ends.
func (v *sweepView) ends() {
	if !numbers(v.s.Points) {
		v.says = fmt.Sprintf("%s of %s.", typeset.Plural(int64(len(v.s.Points)), "measurement"), v.variable.axis)
		return
	}
	first, last := v.s.Points[0], v.s.Points[len(v.s.Points)-1]
	v.says = fmt.Sprintf("From %s to %s.", v.load(first.Value), v.load(last.Value))
	if first.Validity.Of(validity.TTFT) == validity.Invalid || last.Validity.Of(validity.TTFT) == validity.Invalid {
		return
	}
	if a, ok := first.Metrics["ttft_ms"].P50.Get(); ok {
		if b, ok := last.Metrics["ttft_ms"].P50.Get(); ok {
			v.says = fmt.Sprintf("From %s to %s the first token goes from %s to %s (median).", v.load(first.Value), v.load(last.Value), typeset.Span(a, typeset.Digits{Round: true}), typeset.Span(b, typeset.Digits{Round: true}))
		}
	}
}

// verdicts says how many points are valid, and why others are not.
func (v *sweepView) verdicts() {
	s := v.s
	valid, suspect, invalid := 0, 0, s.Invalid()
	for _, p := range s.Points {
		switch p.Validity.Verdict {
		case validity.Valid:
			valid++
		case validity.Suspect:
			suspect++
		}
	}
	points := typeset.Plural(int64(len(s.Points)), "point")
	parts := []string{fmt.Sprintf("%d of %s valid", valid, points)}
	told := v.saidInvalid == invalid // by the sentence on the objectives
	switch {
	case len(s.Points) == 0:
		return
	case told && invalid > 0 && valid+suspect == 0:
		v.state = "bad"
		return
	case told:
	case invalid == 1:
		parts[0] = fmt.Sprintf("1 of %s is invalid, by %s", points, firstOf(s, validity.Invalid))
	case invalid > 1:
		parts[0] = fmt.Sprintf("%d of %s are invalid, the first by %s", invalid, points, firstOf(s, validity.Invalid))
	}
	if suspect > 0 {
		parts = append(parts, fmt.Sprintf("%d suspect, by %s", suspect, firstOf(s, validity.Suspect)))
	}
	if invalid > 0 && !told && valid > 0 {
		parts = append(parts, fmt.Sprintf("%d valid", valid))
	}
	if invalid == len(s.Points) && !s.Searched() { // a search has judged its probes itself
		v.state = "bad"
	}
	v.more = append(v.more, strings.Join(parts, "; ")+".")
	for i := range s.Points {
		if p := &s.Points[i]; p.Validity.Verdict == validity.Suspect {
			if safe := p.Validity.Safe(); safe != "" {
				which := "At the suspect point "
				if suspect > 1 {
					which = "At the first suspect point "
				}
				v.more = append(v.more, which+safe)
			}
			break
		}
	}
}

// failures says which points the target failed, and at which nothing could be measured
// for another reason.
func (v *sweepView) failures() {
	for _, kind := range []struct {
		target bool
		says   string
	}{{true, "The target failed at"}, {false, "Nothing could be measured at"}} {
		n, first := 0, ""
		for i := range v.s.Points {
			p := &v.s.Points[i]
			says, target := p.Error, p.TargetFailed
			if unanswered, silent := p.Silent(); says == "" && silent {
				says, target = unanswered, true
			}
			if says == "" || target != kind.target {
				continue
			}
			if n++; n == 1 {
				first = typeset.Clean(fmt.Sprintf("%s %s: %s", v.variable.axis, v.shown(p), says))
			}
		}
		if n > 0 {
			v.more = append(v.more, fmt.Sprintf("%s %s, the first %s", kind.says, typeset.Plural(int64(n), "point"), ended(first)))
		}
	}
}

// stopped says that there was more to come.
func (v *sweepView) stopped() {
	s := v.s
	if !s.Partial {
		return
	}
	if v.state == "ok" {
		v.state = "suspect"
	}
	switch {
	case s.Planned > len(s.Points):
		v.more = append(v.more, fmt.Sprintf("Stopped after %d of %d points.", len(s.Points), s.Planned))
	case s.Searched() && s.Found.Why == "":
		v.more = append(v.more, "The search was broken off.")
	}
	if n := len(s.Begun); n > 0 { // one, but for a sweep that others wrote to
		v.more = append(v.more, fmt.Sprintf("What the last run has until then: %s.", Command(filepath.Join(s.Dir, s.Begun[n-1]))))
	}
}

// best is the answer of several curves: the one that delivers most.
func (v *sweepView) best() {
	s := v.s
	at, most := -1, 0.0
	for i := range s.Points {
		p := &s.Points[i]
		if tps, ok := p.Throughput.SystemOutputTPS.Get(); ok && tps > most && p.Validity.Of(validity.Throughput) != validity.Invalid {
			at, most = i, tps
		}
	}
	if at < 0 {
		v.state, v.says = "bad", "No point is valid."
		return
	}
	v.says = fmt.Sprintf("Most output, %s tok/s, at %s and %s.", typeset.Rate(most), v.load(s.Points[at].Value), settingWords(s.Others(&s.Points[at])))
}

func settingWords(all []result.Setting) string {
	var words []string
	for _, x := range all {
		words = append(words, typeset.Clean(x.Name)+" "+typeset.Clean(x.Value))
	}
	return strings.Join(words, ", ")
}

// numbers reports whether the variable's values are numbers, and not names in
// an order.
func numbers(points []result.Point) bool {
	for _, p := range points {
		if _, err := strconv.ParseFloat(p.Text, 64); p.Text != "" && err != nil {
			return false
		}
	}
	return true
}

// firstOf is the check by which the first point with a verdict has it.
func firstOf(s *result.Sweep, verdict string) string {
	for i := range s.Points {
		if name := firstWith(&s.Points[i], verdict); name != "" {
			return name
		}
	}
	return "its checks"
}

// firstWith is the first check of a point with a verdict; empty: none has it.
func firstWith(p *result.Point, verdict string) string {
	for _, c := range p.Validity.Checks {
		if c.Verdict == verdict {
			return c.Name
		}
	}
	return ""
}

// curve is what one of several curves shows.
func (v *sweepView) curve(one *result.Series) string {
	if one.Peak != nil && one.Knee != nil {
		return fmt.Sprintf("levels off at %s output tok/s, from %s on", v.tps(one.Peak.TPS, one.Peak.CI95), v.load(one.Knee.Value))
	}
	groups := v.s.Groups()
	at := slices.IndexFunc(groups, func(g result.Group) bool { return slices.Equal(g.Settings, one.Settings) })
	loads := 0
	if at >= 0 {
		loads = v.s.Loads(&groups[at])
	}
	switch {
	case loads == 0:
		return "not told, no valid point"
	case loads < result.LeastLoads:
		return fmt.Sprintf("not told, %d of the %d loads that it takes", loads, result.LeastLoads)
	case v.s.Rises(&groups[at]):
		return "still rises"
	}
	return "no knee, throughput does not follow the load"
}

// ended is a text with a full stop, where it has no end of its own.
func ended(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
