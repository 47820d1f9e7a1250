package sim

// appendEnd adds what follows the last token.
func (r *reply) appendEnd(b []byte) []byte {
	r.truth.Finish = r.finish
	if findFault(r.faults, FaultHTML) != nil {
		return r.appendBodyEnd(b)
	}
	if d := r.dialect; d != nil {
		if !d.oneEnd || findFault(r.faults, FaultNoDone) == nil {
			b = d.end(r, b)
		}
		return r.appendBodyEnd(b)
	}
	cfg := &r.s.cfg
	b, at := beginChunk(b)
	b = r.appendOpen(b)
	if r.chat {
		b = append(b, `{"index":0,"delta":{}`...)
	} else {
		b = append(b, `{"index":0,"text":""`...)
	}
	b = r.appendFinish(b, true)
	b = r.appendUsage(b, r.yielded, r.continuous() || cfg.Usage == UsageFinish)
	b = r.appendTimings(b, r.yielded, !r.usageChunk())
	b = endChunk(append(b, "}\n\n"...), at)
	if r.usageChunk() {
		b, at = beginChunk(b)
		b = r.appendOpen(b)
		if cfg.Usage == UsageNull {
			b = append(b[:len(b)-1], "null"...)
		} else {
			b = append(b, ']')
		}
		b = r.appendUsage(b, r.yielded, true)
		b = r.appendTimings(b, r.yielded, true)
		b = endChunk(append(b, "}\n\n"...), at)
	}
	if findFault(r.faults, FaultNoDone) == nil {
		b = appendChunk(b, []byte("data: [DONE]\n\n"))
	}
	return append(b, "0\r\n\r\n"...)
}
