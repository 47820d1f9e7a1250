package report

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// causeOf says which part of the time before the first token breaks an objective on it,
// and so what would help, where the server told its queue and its prefill; else empty.
// The parts are means of all requests, the objective mostly is on a tail: so it names
// what is largest, or prefill where that alone, without any queue, is beyond the limit.
func causeOf(r *run.Run, metric string, limitMS float64) string {
	d := r.Decomposition
	if metric != "ttft" || d == nil || d.Source == "" {
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
