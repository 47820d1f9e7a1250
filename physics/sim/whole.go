package sim

import (
	"fmt"
)

// whole answers a request that asked for no stream.
func (r *reply) whole(at int64) {
	for i := range r.yielded {
		r.truth.DueNS[i] = at
	}
	kind, body := "application/json", r.appendWhole(nil)
	m := mark{r: r, head: true, end: true, to: r.yielded}
	switch {
	case findFault(r.faults, FaultHTML) != nil:
		kind, body = "text/html", []byte(htmlPage)
	case findFault(r.faults, FaultReset) != nil:
		r.breakOff(at, FaultReset)
		return
	case findFault(r.faults, FaultMalformed) != nil:
		body = body[:len(body)/2]
	}
	head := appendHead(nil, 200, kind, "X-Request-Id: "+r.truth.ID+"\r\n", r.closing)
	head = fmt.Appendf(head, "Content-Length: %d\r\n\r\n", len(body))
	if findFault(r.faults, FaultCut) != nil {
		r.truth.Outcome = "fault"
		r.push(at, append(head, body[:len(body)/2]...), m, closeIt)
		return
	}
	r.push(at, append(head, body...), m, r.afterEnd(true))
}

const htmlPage = "<!doctype html><title>Sign in</title><p>This is no inference server.</p>\n"

// appendWhole adds the answer of a request that asked for no stream.
func (r *reply) appendWhole(b []byte) []byte {
	r.truth.Finish = r.finish
	if r.dialect != nil {
		return r.dialect.whole(r, b)
	}
	n := r.toldTokens()
	b = append(b, `{"id":`...)
	b = appendJSONString(b, r.truth.ID)
	if r.chat {
		b = append(b, `,"object":"chat.completion","created":1700000000,"model":`...)
	} else {
		b = append(b, `,"object":"text_completion","created":1700000000,"model":`...)
	}
	b = appendJSONString(b, r.s.modelName())
	reasoning := min(r.s.cfg.Reasoning, n)
	if r.chat {
		b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant"`...)
		if reasoning > 0 && r.s.cfg.ReasoningAs != "hidden" {
			b = append(b, ',', '"')
			b = append(b, r.s.cfg.ReasoningAs...)
			b = append(b, `":`...)
			b = r.appendText(b, 0, reasoning)
		}
		b = append(b, `,"content":`...)
		b = r.appendText(b, reasoning, n)
		b = append(b, '}')
	} else {
		b = append(b, `,"choices":[{"index":0,"text":`...)
		b = r.appendText(b, reasoning, n)
	}
	b = r.appendFinish(b, true)
	b = r.appendUsage(b, n, r.s.cfg.Usage != UsageNone)
	b = r.appendTimings(b, n, true)
	return append(b, '}')
}
