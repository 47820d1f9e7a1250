package sim

// interrupted lets a fault act whose token has come; true when nothing of the
// delivery remains to be done now.
func (r *reply) interrupted(at int64, d *delivery) bool {
	for i := range r.faults {
		f := &r.faults[i]
		if f.After < 0 || r.sent < f.After && !d.last {
			continue
		}
		switch f.Kind {
		case FaultStall:
			f.After = -1
			if f.For < 0 {
				r.via.cancel(at, r)
				r.put = nil
				r.truth.Outcome = "fault"
				return true // silent until the client leaves
			}
			r.shift += int64(f.For)
			r.busy = at + int64(f.For)
			r.put = append([]delivery{*d}, r.put...)
			r.s.timers.add(r.busy, actDeliver, r)
			return true
		case FaultReset, FaultCut, FaultNoFinish, FaultError, FaultErrorDone:
			r.breakOff(at, f.Kind)
			return true
		case FaultEmpty:
			r.via.cancel(at, r)
			r.yielded, r.sent = 0, 0
			r.push(at, r.appendEnd(r.appendTokens(nil, 0, true)), mark{r: r, end: true}, r.afterEnd(true))
			return true
		case FaultMalformed:
			f.After = -1
			if r.dialect != nil && r.dialect.bare {
				continue // there is nothing that could be malformed
			}
			r.c.out.write(r.framed(nil, r.frame(`{"choices":[{"index":0,"delta":{"content":`)), mark{}, keepOpen)
		}
	}
	return false
}

// breakOff ends a stream in the middle.
func (r *reply) breakOff(at int64, kind string) {
	r.via.cancel(at, r)
	r.abort("error")
	r.truth.Outcome = "fault"
	m := mark{r: r, end: true}
	if (kind == FaultError || kind == FaultErrorDone) && r.dialect != nil && r.dialect.bare {
		kind = FaultCut
	}
	switch kind {
	case FaultReset:
		r.push(at, nil, m, resetIt)
	case FaultCut:
		r.push(at, nil, m, closeIt)
	case FaultNoFinish:
		r.push(at, r.framed(nil, nil), m, r.afterEnd(true))
	default:
		b := r.framed(nil, r.frame(`{"error":{"message":"simulated failure","type":"InternalServerError","param":null,"code":500}}`))
		if kind == FaultErrorDone && r.dialect == nil {
			b = appendChunk(b, []byte("data: [DONE]\n\n"))
		}
		r.push(at, r.appendBodyEnd(b), m, r.afterEnd(true))
	}
}

// frame makes an event of JSON as the reply's API has it.
func (r *reply) frame(data string) []byte {
	switch {
	case r.c.ws != nil:
		return []byte(data)
	case r.dialect != nil:
		return r.dialect.frame(nil, []byte(data))
	}
	return dataFrame(nil, []byte(data))
}
