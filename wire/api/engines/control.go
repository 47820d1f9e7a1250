package engines

// Control is what an engine can be told to do by a POST below its root, with an empty
// body. Any 2xx is done.
type Control struct {
	// Resets empty its caches: the first one that of prefixes, which it must have,
	// then those that not every version has. ResetGuard says what makes it serve
	// them; empty: it always does.
	Resets     []string
	ResetGuard string
	// Start and Stop are those of its profiler; empty: it has none. ProfileGuard says
	// what makes it serve them.
	Start, Stop  string
	ProfileGuard string
}

// Control is what a server that Sniff has named can be told to do.
func (s Server) Control() Control { return engineNamed(s.Engine).control }
