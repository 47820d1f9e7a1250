package client

import "tokenmeter/base/clock"

// stamper turns stamps of the wall clock into moments of the run's clock, for
// one connection.
type stamper struct {
	clk *clock.Clock

	// Of the last read:
	arrivedNS int64 // on the run's clock
	readNS    int64 // when we picked it up
	kernel    bool  // arrivedNS is the kernel's

	// emptyNS is the last moment at which nothing was waiting: what is read
	// later arrived after it.
	emptyNS int64
	offset  int64 // wall less monotonic clock at the last read
	allSeen bool  // every read since begin had a kernel stamp
}

// begin marks the moment from which an answer can arrive: the request is
// written and nothing was waiting.
func (s *stamper) begin(at clock.Reading) {
	s.emptyNS, s.offset, s.allSeen = at.NS, at.OffsetNS(), true
}

// arrived turns a stamp of the wall clock into a moment of the run's clock, by
// the stamp's age: the distance of two readings of one clock. The age is never
// more than the time since nothing was waiting, so that a step of the wall
// clock between arrival and read can't move an arrival far; where the step was
// seen, the other reading of the age is tried first.
func (s *stamper) arrived(stampNS int64, now clock.Reading, emptyNS int64) {
	s.readNS, s.arrivedNS = now.NS, now.NS
	s.kernel = stampNS != 0
	if !s.kernel {
		s.allSeen = false
		return
	}
	bound := max(now.NS-emptyNS, 0)
	age := now.WallNS - stampNS
	if age < 0 || age > bound {
		if before := age - (now.OffsetNS() - s.offset); before >= 0 && before <= bound {
			age = before
		}
	}
	s.offset = now.OffsetNS()
	s.arrivedNS = now.NS - min(max(age, 0), bound)
}
