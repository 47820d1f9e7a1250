package slo

// Increase is by how much a counter grew over its samples, in order. A sample
// below the one before it is a restart from zero: what it shows was counted
// since.
func Increase(samples []int64) (increase int64, resets int) {
	for i := 1; i < len(samples); i++ {
		grown := samples[i] - samples[i-1]
		if grown < 0 {
			resets++
			grown = max(samples[i], 0)
		}
		increase += grown
	}
	return increase, resets
}

// Meter reads counters that only grow, such as those of a proxy, and says what
// was added since it looked last. The zero value has seen nothing: its first
// look at a series adds nothing unless the series is new since Begin.
type Meter struct {
	last map[Key]Counts
	// FromZero: a series that was never seen began at zero. Right for counters
	// of this process.
	FromZero bool
}

// Read takes the present totals of a series and returns the growth, and whether
// the counters had started anew.
func (m *Meter) Read(k Key, total Counts) (grown Counts, reset bool) {
	if m.last == nil {
		m.last = map[Key]Counts{}
	}
	before, known := m.last[k]
	m.last[k] = total
	switch {
	case !known && !m.FromZero:
		return Counts{}, false
	case total.Good < before.Good || total.Valid < before.Valid || total.Excluded < before.Excluded:
		return total, true
	}
	return Counts{total.Good - before.Good, total.Valid - before.Valid, total.Excluded - before.Excluded}, false
}
