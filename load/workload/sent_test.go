package workload

import (
	"testing"
	"time"
)

// How many requests are told, and priced, is what is sent: items to their end, by the bound
// that comes first.
func TestSent(t *testing.T) {
	for _, c := range []struct {
		items, held int64 // the workload's, as far as it was looked at
		requests    int64
		rate        float64
		duration    time.Duration
		played      int64
		want        int64
	}{
		{10, 10, 7, 0, 0, 0, 7},
		{1, 3, 1, 0, 0, 0, 3}, {1, 3, 4, 0, 0, 0, 6},
		{11, 15, 15, 0, 0, 0, 15}, {7, 17, 17, 0, 0, 0, 17},
		{12, 36, 0, 2, 6 * time.Second, 0, 36}, {12, 36, 4, 2, 6 * time.Second, 0, 6}, {12, 12, 100, 2, 6 * time.Second, 0, 12},
		{6, 6, 40, 0, 0, 6, 6}, {6, 6, 0, 0, 0, 6, 6}, {6, 12, 3, 0, 0, 6, 4},
		{5, 5, 0, 2, 0, 0, 0}, {0, 0, 5, 0, 0, 0, 0},
	} {
		d := &Description{Items: c.items, Requests: c.held}
		if got := d.Sent(c.requests, c.rate, c.duration, c.played); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
