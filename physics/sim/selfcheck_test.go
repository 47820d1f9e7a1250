package sim

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestSelfCheck(t *testing.T) {
	r, err := SelfCheck(context.Background(), Check{Streams: 20, Rate: 50, Duration: 500 * ms})
	if err != nil {
		t.Fatal(err)
	}
	// How many depends on the machine: it may be busy.
	if r.Writes == 0 || r.P50 < 0 || r.P99 < r.P50 || r.Max < r.P99 {
		t.Errorf("%v", r)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*ms)
	defer cancel()
	if _, err := SelfCheck(ctx, Check{Streams: 2}); err == nil {
		t.Error("a cancelled check gave a result")
	}
	if _, err := SelfCheck(context.Background(), Check{Streams: -1}); err == nil {
		t.Error("−1 streams were accepted")
	}
}

// TestSelfCheckAtFullSize says what this machine can do. It asserts only when
// it is asked to, because a busy machine is no fault of the code:
// SIM_SELF_CHECK=2000 go test -run FullSize -v ./physics/sim
func TestSelfCheckAtFullSize(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("SIM_SELF_CHECK"))
	if err != nil {
		t.Skip("set SIM_SELF_CHECK to a number of streams")
	}
	r, err := SelfCheck(context.Background(), Check{Streams: n, Duration: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if r.P99 > 500*time.Microsecond {
		t.Errorf("p99 is %v, the aim is 0.5 ms", r.P99)
	}
}

func TestLatenessBuckets(t *testing.T) {
	for _, ns := range []int64{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 1000, 123456, 1e9, 1e15} {
		i := bucketOf(ns)
		if e := edge(i); ns > e || float64(e) > 1.07*float64(ns)+1 {
			t.Errorf("%d is in bucket %d, whose end is %d", ns, i, e)
		}
		if i > 0 && edge(i-1) >= ns {
			t.Errorf("%d is not the first bucket for %d", i, ns)
		}
	}
}
