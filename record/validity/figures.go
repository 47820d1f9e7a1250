package validity

import (
	"slices"
	"strings"
)

// The families of figures that a run's checks bear on. A family has a verdict of its
// own: what makes lateness doubtful may leave latencies right.
const (
	TTFT       = "ttft"       // until the first token, of any definition
	TPOT       = "tpot"       // the pace of a request: TPOT, decode TPS
	ITL        = "itl"        // gaps between tokens or chunks, stalls
	E2E        = "e2e"        // whole requests and tasks
	Throughput = "throughput" // what all requests give together: tokens/s, requests/s, cost
	Errors     = "errors"     // shares of requests: failed, right answers
	Delay      = "delay"      // the client's own lateness
)

// Figures are all families, in the order in which people read them.
var Figures = []string{TTFT, TPOT, ITL, E2E, Throughput, Errors, Delay}

// load is what a check bears on that finds another load than the one asked for.
var load = []string{TTFT, TPOT, ITL, E2E, Throughput, Errors}

// Latencies are the families of single requests' times.
var Latencies = []string{TTFT, TPOT, ITL, E2E}

// families says by the start of a metric's name which family it is of; the first that
// fits counts.
var families = []struct{ prefix, figure string }{
	{"ttf", TTFT}, {"turn_ttft", TTFT}, {"first_", TTFT}, {"service_ttft", TTFT}, {"delivered_ttf", TTFT}, {"cold", TTFT}, {"network", TTFT},
	{"tpot", TPOT}, {"decode_tps", TPOT}, {"norm_decode_tps", TPOT},
	{"itl", ITL}, {"icl", ITL}, {"starv", ITL}, {"max_gap", ITL}, {"stall", ITL}, {"pace", ITL},
	{"e2e", E2E}, {"norm_e2e", E2E}, {"service_e2e", E2E}, {"close", E2E}, {"task", E2E}, {"session_e2e", E2E}, {"rtf", E2E},
	{"delay", Delay}, {"client_lag", Delay}, {"send_late", Delay},
	{"error", Errors}, {"check", Errors},
	{"system_", Throughput}, {"delivered_tps", Throughput}, {"success_", Throughput}, {"sustained", Throughput}, {"requests_per_s", Throughput},
	{"inputs_per_s", Throughput}, {"chars_per_s", Throughput}, {"audio_s_per_s", Throughput}, {"images_per_s", Throughput},
	{"tasks_per_s", Throughput}, {"usd", Throughput}, {"cost", Throughput}, {"peak", Throughput}, {"throughput", Throughput},
}

// FigureOf is the family of a metric, with or without its unit; empty: of none of them,
// so that the verdict on the whole run counts for it.
func FigureOf(metric string) string {
	name := strings.ReplaceAll(strings.ToLower(metric), " ", "_")
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			return f.figure
		}
	}
	return ""
}

// Of is the verdict on a metric: its family's, or the whole run's where it is of none
// or the run was judged before families were.
func (v *Validity) Of(metric string) string {
	if verdict, ok := v.Figures[FigureOf(metric)]; ok {
		return verdict
	}
	return v.Verdict
}

// Why is the check that gave a metric its verdict; false where none did.
func (v *Validity) Why(metric string) (Check, bool) {
	verdict := v.Of(metric)
	for _, c := range slices.Backward(v.Checks) { // the damage of an unknown run stands last
		if verdict == Unknown && c.Verdict == Unknown {
			return c, true
		}
	}
	for _, c := range v.Checks {
		if c.Verdict == verdict && verdict != Valid && c.bears(FigureOf(metric)) {
			return c, true
		}
	}
	return Check{}, false
}

// Voids reports whether the measurement says nothing about an objective on any of the
// metrics: a check of theirs is invalid, and not only the one of failed requests,
// which are the server's and bad in every objective.
func (v *Validity) Voids(metrics ...string) bool {
	return slices.ContainsFunc(metrics, func(metric string) bool {
		if v.Of(metric) != Invalid {
			return false
		}
		only := false
		for _, c := range v.Checks {
			if c.Verdict != Invalid || !c.bears(FigureOf(metric)) {
				continue
			}
			if c.Name != errorsCheck {
				return true
			}
			only = true
		}
		return !only
	})
}

// bears reports whether the check says something about a family; empty: about any.
func (c *Check) bears(figure string) bool {
	return figure == "" || c.Figures == nil || slices.Contains(c.Figures, figure)
}

// judgeFigures gives each family the worst verdict of the checks that bear on it.
func (v *Validity) judgeFigures() {
	v.Figures = make(map[string]string, len(Figures))
	for _, figure := range Figures {
		verdict := Valid
		for i := range v.Checks {
			if v.Checks[i].bears(figure) {
				verdict = worse(verdict, v.Checks[i].Verdict)
			}
		}
		v.Figures[figure] = verdict
	}
}

// titles are the families as people read them.
var titles = map[string]string{
	TTFT: "TTFT", TPOT: "TPOT", ITL: "gaps (ITL)", E2E: "E2E", Throughput: "throughput", Errors: "the share of failures", Delay: "the client's lateness",
}

// Safe says which figures hold although the run is suspect or invalid, and which do
// not; empty where all do, or none.
func (v *Validity) Safe() string {
	by := map[string][]string{}
	for _, figure := range Figures {
		by[v.Figures[figure]] = append(by[v.Figures[figure]], titles[figure])
	}
	if !slices.ContainsFunc(Latencies, func(figure string) bool { return v.Figures[figure] == Valid }) || len(by[Valid]) == len(Figures) {
		return "" // lateness alone is no use to anybody
	}
	text := and(by[Valid]) + " " + be(by[Valid]) + " safe"
	if list := by[Suspect]; len(list) > 0 {
		text += "; " + and(list) + " " + be(list) + " suspect"
	}
	if list := by[Invalid]; len(list) > 0 {
		text += "; do not use " + and(list)
	}
	return text + "."
}

func be(list []string) string {
	if len(list) == 1 {
		return "is"
	}
	return "are"
}

func and(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
