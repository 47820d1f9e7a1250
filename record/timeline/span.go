package timeline

// Span is the time from the first of some moments to the last, in µs of the run.
// The zero value has none yet.
type Span struct {
	FromUS, ToUS int64
	any          bool
}

// Add widens the span by what lasted from one moment to another.
func (s *Span) Add(fromUS, toUS int64) {
	if !s.any {
		*s = Span{fromUS, toUS, true}
		return
	}
	s.FromUS, s.ToUS = min(s.FromUS, fromUS), max(s.ToUS, toUS)
}

// Seconds is how long the span is; 0 without moments.
func (s *Span) Seconds() float64 { return float64(s.ToUS-s.FromUS) / 1e6 }

// Length is Seconds, absent where that is 0.
func (s *Span) Length() Opt[float64] {
	if !s.any || s.ToUS <= s.FromUS {
		return Opt[float64]{}
	}
	return Some(s.Seconds())
}
