package sim

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
	head := wholeHead(200, kind, "X-Request-Id: "+r.truth.ID+"\r\n", r.closing, len(body))
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
	b = append(r.appendObject(b, "chat.completion"), `,"choices":[{"index":0,`...)
	if r.chat {
		b = append(b, `"message":{"role":"assistant"`...)
		if min(r.s.cfg.Reasoning, n) > 0 {
			b = r.appendReasoning(append(b, `,"reasoning_content":`...), n)
		}
		b = append(r.appendAnswer(append(b, `,"content":`...), n), '}')
	} else {
		b = r.appendAnswer(append(b, `"text":`...), n)
	}
	b = r.appendFinish(b, true)
	b = r.appendUsage(b, n, r.s.cfg.Usage != UsageNone)
	b = r.appendTimings(b, n, true)
	return append(b, '}')
}
