package traffic

// Counts is what happened in some time: requests, gaps between tokens or slices of
// time. Valid are good and bad ones; excluded were cancelled or can't be judged.
type Counts struct {
	Good     int64 `json:"good"`
	Valid    int64 `json:"valid"`
	Excluded int64 `json:"excluded"`
}

// Bad is what was spent of the error budget.
func (c Counts) Bad() int64 { return c.Valid - c.Good }

// Plus is the sum.
func (c Counts) Plus(o Counts) Counts {
	return Counts{c.Good + o.Good, c.Valid + o.Valid, c.Excluded + o.Excluded}
}

// Less is the difference; of what is moved away it is negative.
func (c Counts) Less(o Counts) Counts {
	return Counts{c.Good - o.Good, c.Valid - o.Valid, c.Excluded - o.Excluded}
}

// IsZero reports whether nothing happened.
func (c Counts) IsZero() bool { return c == Counts{} }

// Sound reports whether the counts can be: no negative ones, not more good
// events than events.
func (c Counts) Sound() bool { return c.Good >= 0 && c.Valid >= c.Good && c.Excluded >= 0 }
