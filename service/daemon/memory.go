package daemon

import "cmp"

// shares are parts of the memory there is, in bytes: what is beside them is for copies of
// bodies and all else.
type shares struct {
	bodies  int64 // of requests
	replies int64 // what is kept of replies beyond the first bytes of each, so that they can be measured
	clients int64 // connections and requests, besides both
}

// sharesOf parts a limit on memory; 0: it is unknown. Bodies have a quarter, or what the
// configuration says; 0: it says nothing. Replies have half of what bodies have, but never
// less than half of a quarter. Clients have three eighths.
func sharesOf(limit, bodies int64) shares {
	quarter := int64(256 << 20)
	if limit > 0 {
		quarter = max(limit/4, 32<<20)
	}
	bodies = cmp.Or(bodies, quarter)
	return shares{bodies: bodies, replies: max(bodies, quarter) / 2, clients: quarter / 2 * 3}
}
