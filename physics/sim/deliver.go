package sim

// submit takes a request over from the reading goroutine.
func (r *reply) submit(at int64) {
	r.truth.reserve(r.outputTokens)
	if findFault(r.faults, FaultHang) != nil {
		return // the client's leaving ends it
	}
	if f := findFault(r.faults, FaultSlowHead); f != nil {
		r.shift = int64(f.For)
	}
	if f := findFault(r.faults, FaultPing); f != nil && r.stream {
		r.s.timers.add(at+int64(f.For), actPing, r)
	}
	if err := r.via.submit(at, r); err != nil {
		r.refuse(400, err.Error())
		return
	}
	if r.stream && r.s.cfg.Like != LikeLlama {
		r.head(at)
	}
}

// started is told by the model when the request gets its slot.
func (r *reply) started(at int64) {
	r.truth.StartNS = at
	r.truth.QueueNS = at - r.truth.ReceivedNS
	if r.stream && r.s.cfg.Like == LikeLlama { // whose head comes with the slot
		r.head(at)
	}
}

// token is told by the model: k more tokens at a moment, made in a step of
// batch sequences.
func (r *reply) token(at int64, k, batch int, last bool) {
	if r.over {
		return
	}
	due := max(at+r.shift, r.busy)
	for i := r.yielded; i < r.yielded+k; i++ {
		r.truth.DueNS[i], r.truth.Batch[i] = due, int32(batch)
	}
	if r.yielded == 0 {
		r.firstAt, r.lastAt = at, -1
		if r.truth.StartNS >= 0 {
			r.truth.PrefillNS = at - r.truth.StartNS
		}
	}
	words := k
	if r.inputs > 0 {
		words = 0
	}
	r.s.metrics.tokens(r, at, r.lastAt, words)
	r.lastAt = at
	r.yielded += k
	if last {
		r.s.metrics.done(r, r.finish, r.firstAt, at, r.yielded)
		r.counted = true
	}
	d := delivery{r.yielded, last}
	if due == at && len(r.put) == 0 {
		r.deliver(at, d)
		return
	}
	r.put = append(r.put, d)
	r.s.timers.add(due, actDeliver, r)
}

// fire does what a timer was set for.
func (r *reply) fire(at int64, do action) {
	if r.over {
		return
	}
	switch do {
	case actDeliver:
		if at < r.busy {
			r.s.timers.add(r.busy, actDeliver, r)
			return
		}
		d := r.put[0]
		r.put = r.put[1:]
		r.deliver(at, d)
	case actPiece:
		rest := r.rest
		r.rest = nil
		r.over = r.restMark.end
		r.c.out.write(rest, r.restMark, r.restThen)
	case actHead:
		r.headOut = true
		rest := r.rest
		r.rest = nil
		r.c.out.write(rest, mark{r: r, head: true}, keepOpen)
	case actPing:
		f := findFault(r.faults, FaultPing)
		if r.headOut && r.rest == nil && (r.dialect == nil || r.dialect.kind == eventStream) {
			ping := appendChunk(nil, []byte(": ping\n\n"))
			if r.c.ws != nil {
				ping = []byte{opPing, 0}
			}
			r.c.out.write(ping, mark{}, keepOpen)
		}
		r.s.timers.add(at+int64(f.For), actPing, r)
	}
}

// cancel ends a reply whose client has left.
func (r *reply) cancel(at int64) {
	if r.over {
		return
	}
	r.via.cancel(at, r)
	r.abort("abort")
	r.c.out.kill() // what waits to be written fails at once
	r.end("cancelled")
}

// abort counts a request that ends before its last token.
func (r *reply) abort(reason string) {
	if !r.counted {
		r.counted = true
		r.s.metrics.done(r, reason, -1, -1, r.yielded)
	}
}

// deliver sends what has come, or lets a fault have its way.
func (r *reply) deliver(at int64, d delivery) {
	if !r.stream {
		if d.last {
			r.whole(at)
		}
		return
	}
	if r.interrupted(at, &d) {
		return
	}
	for i := r.sent; i < d.upto; i++ {
		r.truth.DueNS[i] = at
		r.truth.Chunk[i] = int32(r.chunks)
	}
	b := r.s.scratch[:0]
	from := r.sent
	b = r.appendTokens(b, d.upto, d.last)
	r.sent = d.upto
	if d.last {
		b = r.appendEnd(b)
	}
	r.s.scratch = b
	if findFault(r.faults, FaultBurst) != nil {
		r.held = append(r.held, b...)
		if !d.last {
			return
		}
		b, from = r.held, 0
		for i := range r.yielded {
			r.truth.DueNS[i] = at
		}
	}
	r.push(at, b, mark{r: r, from: from, to: d.upto, end: d.last}, r.afterEnd(d.last))
}

// framed is an event as an HTTP chunk, with the head before it if that is not
// out yet. An empty event is the end of the body.
func (r *reply) framed(b, event []byte) []byte {
	if !r.headOut {
		r.headOut = true
		b = r.appendStreamHead(b)
	}
	if r.c.ws != nil && event == nil {
		return r.appendBodyEnd(b)
	}
	return r.appendPart(b, event)
}

// push writes, in two pieces when that is this reply's fault.
func (r *reply) push(at int64, b []byte, m mark, then after) {
	if m.end && r.truth.Outcome == "" {
		r.truth.Outcome = "done"
	}
	if f := findFault(r.faults, FaultSplit); f != nil && len(b) > 1 {
		half := len(b) / 2
		r.c.out.write(b[:half], mark{}, keepOpen)
		r.rest = append([]byte(nil), b[half:]...)
		r.restMark, r.restThen = m, then
		r.busy = at + int64(f.For)
		for i := m.from; i < m.to; i++ {
			r.truth.DueNS[i] = r.busy
		}
		r.s.timers.add(r.busy, actPiece, r)
		return
	}
	r.over = m.end
	r.c.out.write(b, m, then)
}

func (r *reply) afterEnd(end bool) after {
	// llama-server closes after every stream, although it promises not to.
	if end && (r.closing || r.c.ws != nil && r.endless() || r.s.cfg.Like == LikeLlama && r.stream || findFault(r.faults, FaultCloseSilent) != nil) {
		return closeIt
	}
	return keepOpen
}

// head sends the response's head of a stream, and the role with it if it is early.
func (r *reply) head(at int64) {
	b := r.appendStreamHead(nil)
	if f := findFault(r.faults, FaultSlowHead); f != nil {
		half := len(b) / 2
		r.c.out.write(b[:half], mark{}, keepOpen)
		r.rest = b[half:]
		r.s.timers.add(at+int64(f.For), actHead, r)
		return
	}
	r.headOut = true
	r.c.out.write(b, mark{r: r, head: true}, keepOpen)
}
