package run

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Parts are what makes a load, each as a text and always in the same places: rate, stages,
// arrival, the shape of gamma's, speed and part of a trace, streams, pace, cap of prefills.
// Empty: there is none, or, of another tool's file, nothing of it is known. What merged runs
// did that doesn't add up is in the place of the stages, alone.
func (l *Load) Parts() []string {
	if len(l.Together) > 0 {
		return []string{"", strings.Join(l.Together, " + "), "", "", "", "", "", "", ""}
	}
	number := func(v timeline.Opt[float64], before, after string) string {
		if x, ok := v.Get(); ok && x > 0 {
			return before + strconv.FormatFloat(x, 'g', 6, 64) + after
		}
		return ""
	}
	closed := l.Kind == "closed"
	streams, prefills, stages, arrival := "", "", l.Stages, l.Arrival
	if n, ok := l.Concurrency.Get(); ok && closed && stages == "" {
		streams = metric.Plural(n, "stream")
	} else if ok && !closed {
		streams = "at most " + strconv.FormatInt(n, 10) + " at once"
	}
	if n, ok := l.PrefillConcurrency.Get(); ok {
		prefills = "at most " + strconv.FormatInt(n, 10) + " before the first token"
	}
	unit := " requests/s"
	if closed {
		arrival, unit = "", " streams"
	}
	speed := number(l.Speed, "", " times as fast")
	if l.Speed.Or(0) == 1 {
		speed = "at its own speed"
	}
	if stages != "" {
		stages = "stages " + stages + unit
	}
	return []string{number(l.RatePerS, "", " requests/s"), stages, arrival, number(l.Burstiness, "burstiness ", ""), speed,
		strings.TrimSpace(number(l.FromS, "from ", " s") + number(l.ToS, " to ", " s")), streams,
		number(l.PaceS, "at least ", " s between a user's requests"), prefills}
}

// Words are the load in one line; empty where nothing of it is known.
func (l *Load) Words() string {
	if l.Kind == "" {
		return ""
	}
	parts := slices.DeleteFunc(l.Parts(), func(part string) bool { return part == "" })
	return cmp.Or(strings.Join(parts, ", "), l.Kind)
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
