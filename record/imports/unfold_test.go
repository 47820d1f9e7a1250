package imports

import (
	"fmt"
	"strings"
	"testing"
)

// manyBuckets are a histogram's n buckets in JSON.
func manyBuckets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":1,`, i)
	}
	return "{" + b.String() + `"+Inf":1}`
}

// A label is in a file once and on every line of a page: a file of 2 MB, which gzip makes
// kilobytes, must not become gigabytes.
func TestLabelsThatUnfold(t *testing.T) {
	label, buckets := strings.Repeat("x", 1<<20), manyBuckets(100)
	lines := fmt.Sprintf(`{"endpoint_url":"u","timestamp_ns":5,"endpoint_latency_ns":1,"metrics":{"a":[{"labels":{"b":%q},"buckets":%s,"sum":1,"count":1}]}}`, label, buckets)
	sums := fmt.Sprintf(`{"summary":{"endpoints_configured":["u"],"endpoint_info":{"u":{"total_fetches":3}}},"metrics":{"a":{"series":[{"endpoint_url":"u","labels":{"b":%q},"stats":{"sum":1,"count":1},"buckets":%s}]}}}`, label, buckets)
	for _, file := range []string{lines, sums} {
		in, err := NewInput("f", strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		err = RecogniseReadings(in.Head()).Read(in, func(r *Reading) error { size += len(r.Page); return nil })
		if err == nil || !strings.Contains(err.Error(), "f:1:1: the reading is larger than 16 MiB") || size > 0 {
			t.Errorf("%.30s…: pages of %d bytes, %v", file, size, err)
		}
	}
}

// However many readings a file of lines has, one page at a time is held: each that is
// handed on has the memory of the one before.
func TestLinesAreOnePageAtATime(t *testing.T) {
	buckets := manyBuckets(1000)
	var file strings.Builder
	for i := range 300 { // 20 MB as pages
		fmt.Fprintf(&file, `{"endpoint_url":"u","timestamp_ns":%d,"endpoint_latency_ns":1,"metrics":{"a":[{"labels":{"b":"long enough to be longer than its bucket"},"buckets":%s}]}}`+"\n", 300-i, buckets)
	}
	in, err := NewInput("f", strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	var first *byte
	last, moved := int64(0), 0
	err = readServerLines(in, func(r *Reading) error {
		if first != &r.Page[0] {
			first = &r.Page[0]
			moved++
		}
		if r.AtNS != last+1 {
			t.Errorf("a reading at %d after one at %d", r.AtNS, last)
		}
		last = r.AtNS
		return nil
	})
	if err != nil || last != 300 || moved > 1 {
		t.Errorf("%d readings in %d places, %v", last, moved, err)
	}
}
