package bench

// make makes a request that is alone, needs nothing of others and is not
// watched, ready for the wire. It reports whether start may send it.
func (p *playing) make(j *job) bool {
	r := p.r
	c, ok := r.do.(preparer)
	if !ok || p.item.Err != nil || p.item.Len() != 1 || r.prefills != nil || j.step.LeaveAfter > 0 || j.step.ReadRate > 0 {
		return false
	}
	j.made = c.Prepare(&j.req, j.tl)
	return true
}

// start sends a request that make made, for which a slot is held, without
// waiting for its end: no goroutine stands beside it while it is answered.
func (p *playing) start(j job, dueUS int64, ended func()) {
	r := p.r
	j.tl.DueUS = dueUS
	j.tl.StartUS = max(r.clk.US(), dueUS)
	r.rec.began()
	j.made.Start(p.ctx(), func() {
		p.steps[0] = r.completed(p.ph, j)
		p.free.give()
		p.ended()
		ended()
	})
}
