package result

// Words is what a step showed. A step on the way that is not firm only leans to a side:
// it shows neither that a load holds nor that it fails.
func (s *Step) Words() string {
	switch {
	case s.Says != "holds" && s.Says != "fails":
		return s.Says
	case s.Repeat && s.Says == "fails":
		return "fails this time"
	case s.Repeat:
		return "holds again"
	case s.Firm:
		return s.Says
	case s.Says == "holds":
		return "leans to hold (weak)"
	}
	return "leans to fail (weak)"
}

// Step is the step of a search that made a point; nil: none did.
func (s *Sweep) Step(p *Point) *Step {
	if s.Found == nil || p.Run == "" {
		return nil
	}
	for i := range s.Found.Steps {
		if s.Found.Steps[i].Run == p.Run {
			return &s.Found.Steps[i]
		}
	}
	return nil
}

// times is how many median end-to-end times a probe lasts at least whose throughput
// tells of the server: its window has the time in which the last requests end, when
// fewer and fewer are in flight.
const times = 10

// Short reports whether a point is a probe too short for its throughput to tell
// what the server does. A search ends a probe when it is decided, which may be before
// any request has ended.
func (s *Sweep) Short(p *Point) bool {
	if s.Step(p) == nil {
		return false
	}
	ms, ended := p.Metrics["e2e_ms"].P50.Get()
	if !ended {
		return p.Requests.Failed == 0
	}
	window, timed := p.Throughput.WindowS.Get()
	return timed && window < times*ms/1e3
}
