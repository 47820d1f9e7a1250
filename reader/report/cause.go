package report

import (
	"fmt"
	"math"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// causeOf says what broke an objective and so what would help, as far as the records
// tell; else empty.
func causeOf(r *run.Run, c *gather.Gathered, of string, limitMS float64) string {
	switch of {
	case "ttft":
		return causeOfTTFT(r.Decomposition, limitMS)
	case "tpot":
		return causeOfTPOT(c, limitMS)
	}
	return ""
}

// causeOfTPOT tells answers that stood still from those that were slow throughout.
func causeOfTPOT(c *gather.Gathered, limitMS float64) string {
	var slow, others, slowStood, othersStood int
	for i := range c.Requests {
		switch q := &c.Requests[i]; {
		case !q.OK || math.IsNaN(q.TPOT):
		case q.TPOT > limitMS:
			slow++
			if q.Stalled {
				slowStood++
			}
		default:
			others++
			if q.Stalled {
				othersStood++
			}
		}
	}
	switch {
	case slow == 0:
		return ""
	case 2*slowStood < slow:
		return fmt.Sprintf("%d of these %d stood still in the middle, so it is the pace as a whole; less load, a smaller batch or a faster server quickens it.", slowStood, slow)
	}
	return fmt.Sprintf("%d of these %d answers stood still for over 200 ms in the middle, of the others %d of %d: look at what the server did then, such as prefill of other prompts, preemption, or another program on its cores.",
		slowStood, slow, othersStood, others)
}

// causeOfTTFT says which part of the time before the first token breaks an objective on it,
// where the server told its queue and its prefill; else empty.
// The parts are means of all requests, the objective mostly is on a tail: so it names
// what is largest, or prefill where that alone, without any queue, is beyond the limit.
func causeOfTTFT(d *metric.Decomposition, limitMS float64) string {
	if d == nil || d.Source == "" {
		return ""
	}
	queue, hasQueue := d.QueueMS.Get()
	prefill, hasPrefill := d.PrefillMS.Get()
	if !hasQueue || !hasPrefill {
		return ""
	}
	span := func(ms float64) string { return typeset.Span(ms, typeset.Digits{}) }
	text := fmt.Sprintf("On average the server had a request in its queue for %s and in prefill for %s: ", span(queue), span(prefill))
	switch network, rest := d.NetworkMS.Or(0), d.ServerRestMS.Or(0); {
	case prefill > limitMS:
		return text + "prefill alone is beyond the limit; shorter prompts, a prefix cache, a faster server or fewer requests beside it shorten it."
	case network > queue && network > prefill:
		return text + fmt.Sprintf("%s went on the way between, in a proxy or the network.", span(network))
	case rest > queue && rest > prefill:
		return text + fmt.Sprintf("%s more went in the server, which it books to neither; less load shortens it where that is waiting for its engine.", span(rest))
	case queue > prefill:
		return text + "most is the queue; less load, or more slots or replicas, shortens it."
	}
	return text + "most is prefill; shorter prompts or a prefix cache shorten it."
}
