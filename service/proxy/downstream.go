package proxy

import (
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// downstream is the way to the client.
type downstream struct {
	c       *call
	left    *leaving
	whole   bool  // the answer was complete when bytes first had nobody to go to
	limitNS int64 // deadline of writes
	// wroteSlowNS is the end of the last write that the client held up.
	wroteSlowNS int64
	freeNS      int64 // the same, of writes before the one in hand
	delayUS     int64 // our own, of the last read
	drained     int64 // bytes read after the client had left
	lostNS      int64 // when the first of them came
	direct      direct
}

// wasWhole reports whether the client had got a complete answer when it left.
func (d *downstream) wasWhole(end timeline.End) bool {
	if d.drained > 0 {
		return d.whole
	}
	return end == timeline.EOF || d.c.meter.complete()
}

// leftNS is when the client left, on the clock: when that was noticed, but before
// the first read that it did not get. It may be noticed by that read only.
func (d *downstream) leftNS() int64 {
	at := d.left.atNS.Load()
	if d.drained > 0 {
		at = min(at, d.lostNS-int64(time.Microsecond)) // arrivals count in µs
	}
	return at
}

// take writes and flushes the bytes of one read, and counts whose time it took.
func (d *downstream) take(data []byte, at client.Arrived, strip *stripper) {
	c := d.c
	if d.left.gone() {
		d.waste(data, at)
		return
	}
	began := c.p.clk.NS()
	d.extend(began)
	var err error
	if strip == nil {
		err = d.write(data)
	} else {
		err = strip.feed(data, d.write)
	}
	if err == nil {
		err = c.ctl.Flush()
	}
	now := c.p.clk.NS()
	if err != nil {
		d.waste(data, at)
		d.left.now() // gone, or it does not read
		return
	}
	d.wrote(now, at, d.slow(began, now))
}

// wrote notes that the bytes of a read are written.
func (d *downstream) wrote(now int64, at client.Arrived, slow int64) {
	c := d.c
	from := max(at.AtNS, d.freeNS) // what came while a slow client was waited for waited for it, too
	if slow > 0 {
		d.freeNS = now
	}
	d.delayUS = max(now-from-slow, 0) / 1000
	delay := &c.req.Delay
	delay.SumUS += d.delayUS
	delay.MaxUS = max(delay.MaxUS, d.delayUS)
	delay.Reads++
	wrote := timeline.Some(c.meter.us(now))
	if !c.req.FirstWriteUS.OK() {
		c.req.FirstWriteUS = wrote
	}
	c.req.LastWriteUS = wrote
}

// waste counts bytes of a read that nobody got.
func (d *downstream) waste(data []byte, at client.Arrived) {
	if d.drained == 0 {
		d.whole, d.lostNS = d.c.meter.complete(), at.AtNS
	}
	d.drained += int64(len(data))
}

// rest writes what a stripper held back when its reply ended.
func (d *downstream) rest(strip *stripper, whole bool) {
	switch {
	case strip == nil:
	case d.left.gone():
		if len(strip.held) > 0 {
			d.waste(strip.held, client.Arrived{AtNS: d.left.atNS.Load()})
		}
	default:
		_ = strip.end(whole, d.write)
		_ = d.c.ctl.Flush()
	}
}

// slow counts the part of a write that the client held up.
func (d *downstream) slow(began, now int64) int64 {
	slow := max(now-began-int64(slowWrite), 0)
	if slow > 0 {
		d.wroteSlowNS = now
	}
	d.c.req.SlowReaderUS += slow / 1000
	return slow
}

func (d *downstream) write(data []byte) error {
	_, err := d.c.w.Write(data)
	return err
}

// extend moves the deadline of writes, now and then: it is a limit on one
// write, never on the stream.
func (d *downstream) extend(nowNS int64) {
	limit := int64(d.c.p.cfg.ReaderTimeout)
	if d.limitNS-nowNS > limit/2 {
		return
	}
	d.limitNS = nowNS + limit
	_ = d.c.ctl.SetWriteDeadline(time.Now().Add(time.Duration(limit)))
}
