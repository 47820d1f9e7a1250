package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Check is one check of the measurement that does not hold, or could not
// be made.
type Check struct {
	Name, Verdict string
	Says          string
}

// CheckLines lists what is wrong with the measurement, worst first.
func CheckLines(r *run.Run) []Check {
	var lines []Check
	for _, verdict := range []string{"invalid", "suspect"} {
		for _, c := range r.Validity.Checks {
			if c.Verdict == verdict {
				lines = append(lines, Check{typeset.Short(c.Name, 60), verdict, Sentence(typeset.Short(c.Says, longest))})
			}
		}
	}
	if r.Validity.Verdict == "unknown" { // the last check says what is damaged
		c := r.Validity.Checks[len(r.Validity.Checks)-1]
		lines = append([]Check{{typeset.Short(c.Name, 60), c.Verdict, Sentence(typeset.Short(c.Says, longest))}}, lines...)
	}
	return lines
}

// trust is the proof that the figures are the server's.
func trust(r *run.Run) string {
	parts := []string{}
	parts = append(parts, checksHold(r))
	if s := clockWords(r); s != "" {
		parts = append(parts, s)
	}
	if s := tokenWords(r); s != "" {
		parts = append(parts, s)
	}
	if models := r.Requests.ServedModels; len(models) == 1 && models[r.Target.Model] == 0 { // of several a warning speaks
		for name := range models {
			parts = append(parts, fmt.Sprintf("answered by %q", name))
		}
	}
	if tiers := r.Requests.ServiceTiers; len(tiers) == 1 { // of several a warning speaks
		for name := range tiers {
			parts = append(parts, fmt.Sprintf("served as %q", name))
		}
	}
	return strings.Join(parts, "; ")
}

// lag is a very short time; below a hundredth of a millisecond nobody cares.
func lag(ms float64) string {
	if ms > 0 && ms < 0.005 {
		return "< 0.01"
	}
	return typeset.Number(ms, min(2, max(0, typeset.DecimalsFor(ms, typeset.Significant))))
}

func checksHold(r *run.Run) string {
	var holds, unknown, n int
	for _, c := range r.Validity.Checks {
		n++
		switch c.Verdict {
		case "valid":
			holds++
		case "unknown":
			unknown++
		}
	}
	if n == 0 {
		return "no checks were made"
	}
	text := fmt.Sprintf("%d of %s hold", holds, typeset.Plural(int64(n), "check"))
	if unknown > 0 {
		text += fmt.Sprintf(", %d not known", unknown)
	}
	return text
}

// tokenWords says where token counts come from.
func tokenWords(r *run.Run) string {
	var n int64
	for _, k := range r.Requests.TokenSources {
		n += k
	}
	if n == 0 {
		return ""
	}
	var parts []string
	for _, source := range []string{"usage", "ids", "tokenizer", "chunks"} {
		k := r.Requests.TokenSources[source]
		if k == 0 {
			continue
		}
		word := source
		if source == "tokenizer" || source == "chunks" {
			word += " (estimated)"
		}
		if k < n {
			word += fmt.Sprintf(" for %s", typeset.Percent(float64(k)/float64(n)))
		}
		parts = append(parts, word)
	}
	return "tokens from " + strings.Join(parts, ", ")
}

// clockWords names what stamped the arrivals, and how much later they were
// read. With the kernel's stamps that delay is not part of any figure.
func clockWords(r *run.Run) string {
	var n int64
	for _, k := range r.Requests.Clocks {
		n += k
	}
	kernel := r.Requests.Clocks[timeline.Kernel]
	text := "kernel clock"
	switch {
	case n > 0 && kernel == 0:
		return "user clock (stamped when the read returned)"
	case kernel < n:
		text += " for " + typeset.Percent(float64(kernel)/float64(n))
	}
	v, ok := r.Metrics["client_lag_ms"].P99.Get()
	switch {
	case ok && lagHarmless(r):
		return text + fmt.Sprintf(" (read %s ms later p99, not in the figures)", lag(v))
	case ok:
		return text + fmt.Sprintf(" (read %s ms later p99)", lag(v))
	case n == 0:
		return ""
	}
	return text
}

// lagHarmless reports whether late reading cost no event its own stamp.
func lagHarmless(r *run.Run) bool {
	for _, c := range r.Validity.Checks {
		if c.Name == "client_lag" {
			return c.Verdict == "valid"
		}
	}
	return true
}

// Sentence makes a check's words a sentence of their own.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	if last := s[len(s)-1]; last != '.' && last != '!' && last != '?' {
		s += "."
	}
	first, size := utf8.DecodeRuneInString(s)
	if unicode.IsLower(first) && !strings.ContainsAny(strings.Fields(s)[0], "_0123456789=/") {
		return string(unicode.ToUpper(first)) + s[size:]
	}
	return s
}
