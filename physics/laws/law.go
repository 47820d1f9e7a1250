package laws

import (
	"cmp"
	"iter"

	"tokenmeter/base/heap"
	"tokenmeter/base/random"
)

// Law says how a server treats requests. Requests are taken in the order in
// which they come, each by the slot that is free first.
type Law struct {
	Name string
	Says string // in one line
	// Slots serve one request each at a time; 0: as many as there are requests.
	Slots int
	// Refuses: a request that finds every slot taken fails at once (a 429), where
	// else it waits.
	Refuses bool
	// Work returns the work of a new server: the seconds at full speed until a
	// request's first token, and from then on to its last one.
	Work func() func(*random.Source) (first, rest float64)
	// Speed is how fast the server works; nil: always at full speed.
	Speed func(*random.Source) *pace
	// Broken are the spells in which requests fail at once; nil: there are none.
	Broken func(*random.Source) *pace

	// CycleS is the length of the slowest pattern that the server itself brings, in
	// seconds; 0: what is slow is the queue only. The drift has no cycle: +Inf.
	CycleS float64
	// Rate is the load, in requests a second, for which figures are kept.
	Rate float64
	// Objective is what a search looks for on this server, Limit its limit in
	// seconds, Allowed the share of requests that may be beyond it (failures are).
	Objective string
	LimitS    float64
	Allowed   float64

	theory func(rate float64) Figures
}

// Request is what became of one request. Times are in seconds.
type Request struct {
	DueS     float64
	TTFTS    float64 // from due; nothing is known of it where Failed
	LatencyS float64 // from due to the end
	InFlight int     // others in the server when this one was due
	Failed   bool
}

// errorS is what a failure takes.
const errorS = 0.001

// Server is a law at work. Not safe for concurrent use.
type Server struct {
	law    *Law
	rng    random.Source
	work   func(*random.Source) (first, rest float64)
	speed  *pace
	broken *pace
	free   []float64 // a heap: when each slot is free
	ends   []float64 // a heap: of those in flight
}

// Server starts a server that is empty at time 0. Its disturbances are at any
// place of their cycle then.
func (l *Law) Server(seed uint64) *Server {
	s := &Server{law: l, rng: random.New(seed, 1), work: l.Work(), free: make([]float64, l.Slots)}
	if l.Speed != nil {
		src := random.New(seed, 2)
		s.speed = l.Speed(&src)
	}
	if l.Broken != nil {
		src := random.New(seed, 3)
		s.broken = l.Broken(&src)
	}
	return s
}

// Serve takes the next request. Due times must not fall.
func (s *Server) Serve(dueS float64) Request {
	for len(s.ends) > 0 && s.ends[0] <= dueS {
		_, s.ends = heap.Pop(s.ends, cmp.Less)
	}
	r := Request{DueS: dueS, InFlight: len(s.ends)}
	first, rest := s.work(&s.rng)
	if s.broken != nil && s.broken.at(dueS) > 0 || s.law.Refuses && len(s.free) > 0 && s.free[0] > dueS {
		r.Failed, r.LatencyS = true, errorS
		return r
	}
	start := dueS
	if len(s.free) > 0 {
		start = max(start, s.free[0])
	}
	began := s.speed.finish(start, first)
	end := s.speed.finish(began, rest)
	r.TTFTS, r.LatencyS = began-dueS, end-dueS
	if len(s.free) > 0 {
		s.free[0] = end
		heap.Sink(s.free, cmp.Less)
	}
	s.ends = heap.Push(s.ends, end, cmp.Less)
	return r
}

// Poisson is an endless run: requests that come at random at a rate, from an empty
// server on. It is a function of the seed and the rate only.
func (l *Law) Poisson(seed uint64, rate float64) iter.Seq[Request] {
	return func(yield func(Request) bool) {
		s, arrivals, at := l.Server(seed), random.New(seed, 4), 0.0
		for {
			at += arrivals.Exp() / rate
			if !yield(s.Serve(at)) {
				return
			}
		}
	}
}
