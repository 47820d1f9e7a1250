package clock

import "time"

// StepLimitUS is how far the wall clock may move against the monotonic one
// before it counts as a step. Slewing moves both alike, so only the distance
// between the two readings of a Reading is noise.
const StepLimitUS = 1000

// Reading is one look at the monotonic and the wall clock together.
type Reading struct {
	NS     int64 // since the run's start
	WallNS int64 // since 1970
}

// Now reads both clocks.
func (c *Clock) Now() Reading {
	now := time.Now()
	r := Reading{NS: int64(now.Sub(c.base))}
	if c.WallNS != nil {
		r.WallNS = c.WallNS()
	} else {
		r.WallNS = now.UnixNano()
	}
	return r
}

// OffsetNS is the wall clock less the monotonic one: constant until the wall
// clock is set.
func (r Reading) OffsetNS() int64 { return r.WallNS - r.NS }

// StepUS returns how far the wall clock was moved between an earlier reading
// and this one, and whether that is more than noise.
func (r Reading) StepUS(earlier Reading) (us int64, stepped bool) {
	us = (r.OffsetNS() - earlier.OffsetNS()) / 1000
	return us, us > StepLimitUS || us < -StepLimitUS
}
