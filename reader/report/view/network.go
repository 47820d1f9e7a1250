package view

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// networkWords is TTFT without the network, in a line, where that was asked for.
func networkWords(r *run.Run) string {
	n := r.Network
	if n == nil {
		return ""
	}
	rtt, ok := n.RTTMS.Get()
	if !ok {
		return "round trip unknown: every connection was opened before; give it"
	}
	source := "as given"
	if n.Source == "connect" {
		source = "the shortest of " + typeset.Plural(n.Connects, "connect")
	}
	text := fmt.Sprintf("round trip %s (%s)", typeset.Span(rtt, typeset.Digits{}), source)
	if n.TTFTMS == nil {
		return text
	}
	text += "; TTFT without it"
	sep := " "
	for _, name := range []string{"p50", "p95", "p99"} {
		if v, _ := n.TTFTMS.Stat(name); v.OK() {
			text += sep + name + " " + typeset.Span(v.Or(0), typeset.Digits{})
			sep = ", "
		}
	}
	return text
}
