//go:build !race

package run

import "testing"

// Not under the race detector, which makes pools forget.
// Recording happens beside the measurement, so it must not feed the garbage
// collector.
func TestAppendAllocatesHardlyAnything(t *testing.T) {
	w := create(t, t.TempDir(), Options{})
	tl := streamed(0, 100)
	w.pending = make([]byte, 0, 1<<20)
	w.spare = make([]byte, 0, 1<<20)
	if n := testing.AllocsPerRun(100, func() { w.Append(tl) }); n > 4 { // a few a request, none a token
		t.Errorf("%v allocations a request", n)
	}
}
