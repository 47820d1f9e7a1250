package sweep

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/record/metric"
)

// advice says what would narrow the bracket.
func (h *hunt) advice() string {
	f := &h.found
	late := h.lates > 0
	switch {
	case f.Settled:
		return ""
	case h.untold != "":
		return fmt.Sprintf("Leave %q out, or have the server answer so that it can be judged.", h.untold)
	case f.Holds > 0 && f.Fails > 0:
		return h.narrower()
	case h.beyond != nil:
		return "Run the client on a quieter or larger machine to look further up."
	case late && f.Holds == 0:
		return "Run the client on a quieter machine, or give more --max-time."
	}
	if text := h.longer(); text != "" {
		return text
	}
	switch {
	case f.Holds > 0:
		return fmt.Sprintf("No upper end was found: start higher (--from %v) or give more --max-time.", digits(f.Holds, math.Round))
	case f.SeemsHolds > h.From:
		return fmt.Sprintf("Give more --max-time, or start near the limit (--from %v).", digits(f.SeemsHolds, math.Round))
	case f.Fails > 0:
		return "No lower end was found: start lower (--from) or give more --max-time."
	}
	return "Give more --max-time."
}

func (h *hunt) narrower() string {
	if h.closed(1+h.Width) || !strings.Contains(h.found.Why, timeUp) {
		return "" // why says what was in the way, and more time would not mend it
	}
	wide := h.found.Fails/h.found.Holds - 1
	text := fmt.Sprintf("The bracket is %s %% wide: more --max-time narrows it", metric.Significant(100*wide, 2))
	if wide < near-1 {
		text += ", to half in about four times as long"
	}
	return text + "."
}

// longer says how much time a firm decision would take where the probes that stayed
// open show it: a rare tail needs many independent requests, and requests that take
// long tell of each other for long. Empty where time was not what was missing.
func (h *hunt) longer() string {
	var best *Probe // the longest near the limit: far below it requests hardly meet
	near := 0.6 * math.Max(h.found.Holds, h.found.SeemsHolds)
	for i := range h.found.Probes {
		p := &h.found.Probes[i]
		if p.decided == unclear && p.short && !p.spoilt && p.Load >= near && p.counts > 0 && !math.IsInf(p.counts, 0) && p.spanS > 0 && p.spanS >= h.shortest()/2 && (best == nil || p.spanS > best.spanS) {
			best = p
		}
	}
	need, hardest := h.need()
	if best == nil || hardest == nil || h.MaxTime == 0 {
		return ""
	}
	takes := h.MaxTime + time.Duration(need*best.spanS/best.counts*float64(time.Second))
	if h.blind() && h.Probe.Duration > 0 {
		share := float64(h.MaxTime) / float64(h.Probe.Duration) // a probe must see a queue
		takes = max(takes, time.Duration(1.2*queueShows*best.e2e*share*float64(time.Second)))
	}
	takes = (takes + 5*time.Minute - 1).Truncate(5 * time.Minute)
	if takes < h.MaxTime*5/4 {
		return ""
	}
	return fmt.Sprintf("%q wants about %.0f independent requests at a load that holds, and those of %.0f s are worth %.0f: up to --max-time %.0fm, or ask for a lower percentile.",
		hardest.o.Text, need, best.spanS, best.counts, takes.Minutes())
}

// need is how many independent requests, all of them good, decide firmly that the
// hardest of the objectives on shares holds; nil: there is none.
func (h *hunt) need() (n float64, hardest *test) {
	for _, t := range h.tests {
		if t.target > 0 && (hardest == nil || t.target > hardest.target) {
			hardest = t
		}
	}
	if hardest == nil {
		return 0, nil
	}
	return fewestGood(hardest.target, h.firm()), hardest
}
