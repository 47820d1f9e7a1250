package metric

import (
	"math"

	"tokenmeter/record/timeline"
)

// Limits of the definitions, in microseconds.
const (
	sameDeliveryUS = 1000    // generation events closer than this came as one delivery
	burstUS        = 5000    // all of a stream within this is a burst
	stallUS        = 200_000 // a shorter gap is no stall
)

// seen is what one pass over the generation events found.
type seen struct {
	n              int64 // generation events; 0 where there was no stream
	firstUS        int64
	lastUS         int64
	answer         bool // an event that is not reasoning came
	answerUS       int64
	thoughts       int64 // reasoning events
	spokenUS       int64 // between events of the answer with no thought between them
	spoken         int64 // runs of such events
	media          int64 // events whose bytes are not text: pictures, sound
	bytes          int64
	severalChoices bool
	called         bool  // a tool call or a refusal came
	ended          bool  // an event came that has a finish reason and no text
	tail           int64 // tokens that such events brought, as the protocol told

	allTold bool  // the protocol told the tokens of each event
	told    int64 // their sum
	toldOne int64 // those of the first event

	firstN     int64 // events of the first delivery
	firstTold  int64 // their tokens, as told
	deliveries int64 // reads (kernel stamps) that brought them
	coalesced  bool

	smallGaps int64 // shorter than sameDeliveryUS
	minBigUS  int64 // the shortest other gap
	maxGapUS  int64
	longGaps  int64 // longer than stallUS

	k perEvent // how many tokens an event holds; settled by count
}

// observe reads the generation events once. A body that is no stream has none:
// its parts arrived together, so their times say nothing of the pace.
func observe(tl *timeline.Timeline) seen {
	if r := restOf(tl); r != nil {
		return r.whole.settled(tl)
	}
	o := newObserver()
	if tl.Streamed {
		o.read(tl.Events.Packed())
	}
	return o.settled(tl)
}

// observer is a pass over the generation events, which may be read in parts.
type observer struct {
	seen
	atUS, reads int64
	lastRead    int64
	firstChoice int
	pastFirst   bool // the first delivery is over
	speaks      bool // the last event was the answer's
	// Events that one read brought with the one before, and those that one
	// stamp did: which of them tell deliveries depends on the clock.
	sameRead, sameStamp int64
}

func newObserver() observer {
	return observer{seen: seen{allTold: true, minBigUS: math.MaxInt64}, lastRead: -1}
}

func (s *observer) read(packed []timeline.Packed) {
	at, read := s.atUS, s.reads
	for i := range packed {
		ev := &packed[i]
		at += ev.DeltaUS()
		if ev.NewRead() {
			read++
		}
		kind := ev.Kind()
		tokens, told := ev.Tokens().Get()
		if !kind.Bears() {
			if kind == timeline.Finish {
				s.ended = true
				s.tail += tokens
			}
			continue
		}
		var gap int64
		if s.n == 0 {
			s.firstUS, s.firstChoice = at, ev.Choice()
			s.toldOne = tokens
		} else {
			gap = at - s.lastUS
			if read == s.lastRead {
				s.sameRead++
				s.sameStamp++
			} else if gap == 0 {
				s.sameStamp++
			}
			if gap >= sameDeliveryUS {
				s.pastFirst = true
				s.minBigUS = min(s.minBigUS, gap)
				if gap > stallUS {
					s.longGaps++
				}
			} else {
				s.smallGaps++
			}
			s.maxGapUS = max(s.maxGapUS, gap)
		}
		s.n++
		s.lastUS, s.lastRead = at, read
		s.severalChoices = s.severalChoices || ev.Choice() != s.firstChoice
		s.bytes += ev.Bytes()
		s.allTold = s.allTold && told
		s.told += tokens
		if !s.pastFirst {
			s.firstN++
			s.firstTold += tokens
		}
		switch kind {
		case timeline.Reasoning:
			s.thoughts++
			s.speaks = false
			continue
		case timeline.Tool, timeline.Refusal:
			s.called = true
		case timeline.Media:
			s.media++
		}
		if !s.answer {
			s.answer, s.answerUS = true, at
		}
		if s.speaks {
			s.spokenUS += gap
		} else {
			s.speaks = true
			s.spoken++
		}
	}
	s.atUS, s.reads = at, read
}

// settled is what was seen. Segments that waited in the kernel carry one stamp,
// however many reads then fetched them.
func (s *observer) settled(tl *timeline.Timeline) seen {
	together := s.sameRead
	if tl.Clock == timeline.Kernel {
		together = s.sameStamp
	}
	out := s.seen
	out.deliveries, out.coalesced = s.n-together, together > 0
	return out
}

func (s *seen) spanUS() int64 { return s.lastUS - s.firstUS }
