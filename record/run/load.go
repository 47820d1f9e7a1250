package run

import (
	"cmp"
	"strconv"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Part is one of the things that make a load, in words; empty: there is none, or, of another
// tool's file, nothing of it is known.
type Part struct{ Name, Words string }

// The names of those parts that folders have not told from the beginning.
const (
	BurstinessPart = "burstiness"
	TracePart      = "part of the trace"
)

// Parts are what makes a load, always the same ones in the same order. What merged runs did
// that doesn't add up stands for the stages, alone.
func (l *Load) Parts() []Part {
	stages := ""
	switch {
	case len(l.Together) > 0:
		stages, l = strings.Join(l.Together, " + "), &Load{}
	case l.Stages != "" && l.Kind == "closed":
		stages = "stages " + l.Stages + " streams"
	case l.Stages != "":
		stages = "stages " + l.Stages + " requests/s"
	}
	number := func(v timeline.Opt[float64], before, after string) string {
		if x, ok := v.Get(); ok && x > 0 {
			return before + strconv.FormatFloat(x, 'g', 6, 64) + after
		}
		return ""
	}
	closed, arrival := l.Kind == "closed", l.Arrival
	if closed {
		arrival = ""
	}
	streams, prefills := "", ""
	if n, ok := l.Concurrency.Get(); ok && closed && stages == "" {
		streams = metric.Plural(n, "stream")
	} else if ok && !closed {
		streams = "at most " + strconv.FormatInt(n, 10) + " at once"
	}
	if n, ok := l.PrefillConcurrency.Get(); ok {
		prefills = "at most " + strconv.FormatInt(n, 10) + " before the first token"
	}
	speed := number(l.Speed, "", " times as fast")
	if l.Speed.Or(0) == 1 {
		speed = "at its own speed"
	}
	return []Part{
		{"rate", number(l.RatePerS, "", " requests/s")},
		{"stages", stages},
		{"arrival", arrival},
		{BurstinessPart, number(l.Burstiness, "burstiness ", "")},
		{"speed", speed},
		{TracePart, strings.TrimSpace(number(l.FromS, "from ", " s") + number(l.ToS, " to ", " s"))},
		{"streams", streams},
		{"pace", number(l.PaceS, "at least ", " s between a user's requests")},
		{"prefills", prefills},
	}
}

// Words are the load in one line; empty where nothing of it is known.
func (l *Load) Words() string {
	if l.Kind == "" {
		return ""
	}
	var words []string
	for _, part := range l.Parts() {
		if part.Words != "" {
			words = append(words, part.Words)
		}
	}
	return cmp.Or(strings.Join(words, ", "), l.Kind)
}

// Connections says how long a connection was kept.
func (l *Load) Connections() string {
	switch {
	case l.NoKeepAlive:
		return "a connection for each request"
	case l.PerSession:
		return "a connection for each session"
	default:
		return "connections kept open"
	}
}

// FurtherTries says how often a refused request was sent again at most; empty where it is not
// known.
func (l *Load) FurtherTries() string {
	n, ok := l.Retries.Get()
	switch {
	case !ok:
		return ""
	case n == 0:
		return NoFurtherTry
	}
	words := "at most " + metric.Plural(n, "further attempt")
	if n > 1 {
		words += " each"
	}
	if share := l.RetryBudget.Or(0); share > 0 {
		words += ", all together for " + strconv.FormatFloat(100*share, 'g', 6, 64) + " % of the requests"
	}
	return words
}

// NoFurtherTry is what FurtherTries says where there was none.
const NoFurtherTry = "no further attempt"

// Line are the same words for who reads of this load alone: "closed loop of 2 streams".
func (l *Load) Line() string {
	switch words := l.Words(); {
	case words == l.Kind:
		return words
	case l.Kind == "closed" && l.Concurrency.OK() && l.Stages == "" && len(l.Together) == 0:
		return "closed loop of " + words
	default:
		return l.Kind + " loop, " + words
	}
}
