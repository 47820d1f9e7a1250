package serve

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/live"
	"tokenmeter/metric"
	"tokenmeter/timeline"
)

// row is one finished request as a line of JSON: the record of every run, and
// what only live traffic has.
type row struct {
	metric.Record
	At           time.Time             `json:"at"`
	Source       live.Source           `json:"source"`
	Listener     string                `json:"listener"`
	Route        string                `json:"route"`
	Upstream     string                `json:"upstream"`
	Unmeasured   *live.Reason          `json:"unmeasured"`
	LeftMS       timeline.Opt[float64] `json:"left_ms"`
	FirstWriteMS timeline.Opt[float64] `json:"first_write_ms"`
	LastWriteMS  timeline.Opt[float64] `json:"last_write_ms"`
	SlowReaderMS float64               `json:"slow_reader_ms"`
	SendMS       timeline.Opt[float64] `json:"proxy_send_ms"`
	FirstDelayMS timeline.Opt[float64] `json:"proxy_ttft_delay_ms"`
	MeanDelayMS  timeline.Opt[float64] `json:"proxy_delay_mean_ms"`
	MaxDelayMS   timeline.Opt[float64] `json:"proxy_delay_max_ms"`
	Delivered    timeline.Opt[int64]   `json:"delivered_tokens"`
	Wasted       timeline.Opt[int64]   `json:"wasted_tokens"`
	SentBytes    int64                 `json:"request_bytes"`
	Bytes        int64                 `json:"response_bytes"`
	// Of kept requests: the first arrivals, and the gaps beyond, by powers of two.
	EventsUS []int64    `json:"ev_us,omitempty"`
	Kinds    []string   `json:"ev_kind,omitempty"`
	Beyond   *live.Gaps `json:"ev_gaps_beyond,omitempty"`
}

func rowOf(r *live.Request) row {
	out := row{Record: r.Record, At: r.At, Source: r.Labels.Source, Listener: r.Labels.Listener, Route: r.Labels.Route, Upstream: r.Labels.Upstream,
		LeftMS: ms(r.LeftUS), FirstWriteMS: ms(r.FirstWriteUS), LastWriteMS: ms(r.LastWriteUS), SlowReaderMS: float64(r.SlowReaderUS) / 1000,
		SendMS: ms(r.Delay.HeadUS), FirstDelayMS: ms(r.Delay.FirstUS),
		Delivered: r.Delivered, Wasted: r.Wasted, SentBytes: r.RequestBytes, Bytes: r.ResponseBytes}
	if r.Unmeasured != "" {
		out.Unmeasured = &r.Unmeasured
	}
	if n := r.Delay.Reads; n > 0 {
		out.MeanDelayMS = timeline.Some(float64(r.Delay.SumUS) / float64(n) / 1000)
		out.MaxDelayMS = timeline.Some(float64(r.Delay.MaxUS) / 1000)
	}
	if r.Kept {
		out.arrivals(r)
	}
	return out
}

// arrivals adds those that are kept.
func (out *row) arrivals(r *live.Request) {
	out.Beyond = live.GapsBeyond(r.Timeline)
	for ev := range r.Events.All() {
		out.EventsUS = append(out.EventsUS, ev.AtUS)
		out.Kinds = append(out.Kinds, ev.Kind.String())
	}
}

func ms(us timeline.Opt[int64]) timeline.Opt[float64] {
	if v, ok := us.Get(); ok {
		return timeline.Some(float64(v) / 1000)
	}
	return timeline.Opt[float64]{}
}

// Records is a sink that appends a line of JSON a request to a file. Writing is
// done by a goroutine of its own; when it can't keep up, rows are dropped and
// counted, never a stream held up. So are those that can't be written; it goes
// on with the next ones.
type Records struct {
	rows    chan row
	dropped atomic.Int64
	done    chan struct{}
	mu      sync.RWMutex // of closed, against sends
	closed  bool
	err     error
}

// OpenRecords opens the file for appending.
func OpenRecords(path string) (*Records, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return newRecords(f), nil
}

func newRecords(f io.WriteCloser) *Records {
	r := &Records{rows: make(chan row, 4096), done: make(chan struct{})}
	go r.write(f)
	return r
}

func (r *Records) write(f io.WriteCloser) {
	defer close(r.done)
	w := bufio.NewWriterSize(f, 64<<10)
	waiting := int64(0) // rows that may not be in the file yet
	lost := func(rows int64, err error) {
		r.dropped.Add(rows)
		if r.err == nil {
			r.err = err
		}
	}
	flush := func(err error) {
		if err == nil {
			err = w.Flush()
		}
		if err != nil { // a full disk may have room again
			lost(waiting, err)
			w.Reset(f)
			_ = w.WriteByte('\n') // ends what may have broken off
		}
		waiting = 0
	}
	for one := range r.rows {
		data, err := json.Marshal(one)
		if err != nil {
			lost(1, err)
			continue
		}
		waiting++
		if _, err = w.Write(append(data, '\n')); err != nil || len(r.rows) == 0 {
			flush(err)
		}
	}
	if waiting > 0 {
		flush(nil)
	}
	if err := f.Close(); err != nil && r.err == nil {
		r.err = err
	}
}

// Dropped is how many rows are not in the file.
func (r *Records) Dropped() int64 { return r.dropped.Load() }

// Done implements live.Sink.
func (r *Records) Done(one *live.Request) {
	made := rowOf(one)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.rows <- made:
	default:
		r.dropped.Add(1)
	}
}

// Close writes what is left and returns the first error, and how many rows were
// dropped.
func (r *Records) Close() (dropped int64, err error) {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.rows)
	}
	r.mu.Unlock()
	<-r.done
	return r.dropped.Load(), r.err
}
