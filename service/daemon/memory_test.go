package daemon

import "testing"

// The parts of memory, by the limit there is and what the configuration gives to bodies.
func TestShares(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ limit, bodies, wantBodies, replies, clients int64 }{
		{1024, 0, 256, 128, 384},
		{1024, 512, 512, 256, 384}, // more for bodies is more for their replies
		{1024, 16, 16, 128, 384},   // less is no less
		{128, 0, 32, 16, 48},
		{64, 0, 32, 16, 48}, // the least that is of use
		{0, 0, 256, 128, 384},
		{0, 8, 8, 128, 384},
		{8192, 0, 2048, 1024, 3072},
	} {
		got := sharesOf(c.limit*mib, c.bodies*mib)
		if want := (shares{c.wantBodies * mib, c.replies * mib, c.clients * mib}); got != want {
			t.Errorf("limit %d MiB, bodies %d MiB: %+v, want %+v", c.limit, c.bodies, got, want)
		}
	}
}
