package prometheus

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"tokenmeter/service/telemetry/telemetrytest"
)

// receiver decodes writes as the specification of remote write 1.0 has them.
type receiver struct {
	mu      sync.Mutex
	refuse  int // writes to refuse first
	head    http.Header
	writes  int
	samples map[string][]float64 // by the labels, sorted by their names
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse > 0 {
		r.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	packed, _ := io.ReadAll(q.Body)
	data, err := s2.Decode(nil, packed)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.head = q.Header.Clone()
	r.writes++
	fields(data, func(n protowire.Number, series []byte, _ uint64) {
		var labels []string
		var values []float64
		var times []uint64
		fields(series, func(n protowire.Number, part []byte, _ uint64) {
			text := map[protowire.Number]string{}
			var value float64
			fields(part, func(k protowire.Number, b []byte, v uint64) {
				text[k] = string(b)
				if n == 2 && k == 1 {
					value = math.Float64frombits(v)
				} else if n == 2 {
					times = append(times, v)
				}
			})
			if n == 1 {
				labels = append(labels, text[1]+"="+text[2])
			} else {
				values = append(values, value)
			}
		})
		if !slices.IsSorted(labels) || !slices.IsSorted(times) || len(labels) == 0 {
			w.WriteHeader(http.StatusBadRequest)
		}
		id := strings.Join(labels, ",")
		r.samples[id] = append(r.samples[id], values...)
	})
}

// fields walks over a message.
func fields(data []byte, each func(n protowire.Number, b []byte, v uint64)) {
	for len(data) > 0 {
		n, kind, size := protowire.ConsumeTag(data)
		data = data[size:]
		switch kind {
		case protowire.BytesType:
			b, size := protowire.ConsumeBytes(data)
			each(n, b, 0)
			data = data[size:]
		case protowire.Fixed64Type:
			v, size := protowire.ConsumeFixed64(data)
			each(n, nil, v)
			data = data[size:]
		default:
			v, size := protowire.ConsumeVarint(data)
			each(n, nil, v)
			data = data[size:]
		}
	}
}

// A receiver gets all that was counted, from 0 on, once where it refused before, and
// the key; its next write has no zero again.
func TestRemoteWrite(t *testing.T) {
	r := &receiver{refuse: 1, samples: map[string][]float64{}}
	server := httptest.NewServer(r)
	defer server.Close()
	e := New(Options{}, nil)
	w := e.Write(Remote{URL: server.URL, Key: "k", Every: time.Hour})
	for range 3 {
		e.Done(telemetrytest.Finish(telemetrytest.Streamed(100, 110, 120)))
	}
	e.Close()
	w.before = w.before.Add(-time.Minute)
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.Failed() != 1 || r.writes != 1 {
		t.Errorf("%d failed, %d written", w.Failed(), r.writes)
	}
	for name, want := range map[string]string{"Authorization": "Bearer k", "Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
		"X-Prometheus-Remote-Write-Version": "0.1.0"} {
		if got := r.head.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	seen := map[string]int{}
	for id, values := range r.samples {
		for _, name := range []string{"tokenmeter_requests_total", "tokenmeter_ttft_seconds_count", "tokenmeter_ttft_seconds_bucket"} {
			if !strings.Contains(id, "__name__="+name+",") || strings.HasSuffix(name, "bucket") && !strings.Contains(id, "le=+Inf") {
				continue
			}
			seen[name]++
			if !slices.Equal(values, []float64{0, 3}) {
				t.Errorf("%s: %v", id, values)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("only %v came", seen)
	}
	for id := range r.samples {
		if !strings.Contains(id, ",job=tokenmeter") {
			t.Errorf("%s names no job", id)
		}
	}
}
