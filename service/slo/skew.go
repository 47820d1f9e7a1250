package slo

import "time"

// Exchange is one question to a host for its clock: sent and back by the
// coordinator's clock, asked and answered by the host's.
type Exchange struct{ Sent, Asked, Answered, Back time.Time }

// Offset is how far the host's clock is ahead, and by how much that can be
// wrong: half the way there and back.
func (e Exchange) Offset() (ahead, bound time.Duration) {
	ahead = (e.Asked.Sub(e.Sent) + e.Answered.Sub(e.Back)) / 2
	return ahead, max(e.Back.Sub(e.Sent)-e.Answered.Sub(e.Asked), 0) / 2
}

// HostClock is the clock of a load host, measured at the start and at the end.
type HostClock struct{ Start, End Exchange }

// Skew is how far the clock was ahead at a moment of the host's own time: in
// between the two measurements it is taken to drift evenly.
func (c HostClock) Skew(host time.Time) time.Duration {
	start, _ := c.Start.Offset()
	if c.End == (Exchange{}) {
		return start
	}
	end, _ := c.End.Offset()
	length := c.End.Asked.Sub(c.Start.Asked)
	if length <= 0 {
		return start
	}
	along := min(max(float64(host.Sub(c.Start.Asked))/float64(length), 0), 1)
	return start + time.Duration(along*float64(end-start))
}

// Bound is by how much the skew can be wrong.
func (c HostClock) Bound() time.Duration {
	_, bound := c.Start.Offset()
	if c.End != (Exchange{}) {
		_, end := c.End.Offset()
		bound = max(bound, end)
	}
	return bound
}

// Corrected turns a time of the host into one of the coordinator.
func (c HostClock) Corrected(host time.Time) time.Time { return host.Add(-c.Skew(host)) }
