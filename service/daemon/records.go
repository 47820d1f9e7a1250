package daemon

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// row is one finished request as a line of JSON: the record of every run, and
// what only live traffic has.
type row struct {
	metric.Record
	At           time.Time             `json:"at"`
	Source       traffic.Source        `json:"source"`
	Listener     string                `json:"listener"`
	Route        string                `json:"route"`
	Upstream     string                `json:"upstream"`
	Key          *string               `json:"client"` // the name of the client's key; null: it needed none
	Unmeasured   *traffic.Reason       `json:"unmeasured"`
	LeftMS       timeline.Opt[float64] `json:"left_ms"`
	FirstWriteMS timeline.Opt[float64] `json:"first_write_ms"`
	LastWriteMS  timeline.Opt[float64] `json:"last_write_ms"`
	SlowReaderMS float64               `json:"slow_reader_ms"`
	SendMS       timeline.Opt[float64] `json:"proxy_send_ms"`
	FirstDelayMS timeline.Opt[float64] `json:"proxy_ttft_delay_ms"`
	DeliveredMS  timeline.Opt[float64] `json:"delivered_ttft_ms"`
	MeanDelayMS  timeline.Opt[float64] `json:"proxy_delay_mean_ms"`
	MaxDelayMS   timeline.Opt[float64] `json:"proxy_delay_max_ms"`
	Delivered    timeline.Opt[int64]   `json:"delivered_tokens"`
	Wasted       timeline.Opt[int64]   `json:"wasted_tokens"`
	SentBytes    int64                 `json:"request_bytes"`
	Bytes        int64                 `json:"response_bytes"`
	// Of kept requests: the first arrivals, and the gaps beyond, by powers of two.
	EventsUS []int64       `json:"ev_us,omitempty"`
	Kinds    []string      `json:"ev_kind,omitempty"`
	Beyond   *traffic.Gaps `json:"ev_gaps_beyond,omitempty"`
}

func rowOf(r *traffic.Request) row {
	out := row{Record: r.Record, At: r.At, Source: r.Labels.Source, Listener: r.Labels.Listener, Route: r.Labels.Route, Upstream: r.Labels.Upstream,
		LeftMS: ms(r.LeftUS), FirstWriteMS: ms(r.FirstWriteUS), LastWriteMS: ms(r.LastWriteUS), SlowReaderMS: float64(r.SlowReaderUS) / 1000,
		SendMS: ms(r.Delay.HeadUS), FirstDelayMS: ms(r.Delay.FirstUS), DeliveredMS: r.Record.DeliveredTTFTMS,
		Delivered: r.Delivered, Wasted: r.Wasted, SentBytes: r.RequestBytes, Bytes: r.ResponseBytes}
	if r.Key != "" {
		out.Key = &r.Key
	}
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
func (out *row) arrivals(r *traffic.Request) {
	out.Beyond = traffic.GapsBeyond(r.Timeline)
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
	queue *traffic.Queue[row]
	done  chan struct{}
	err   error
}

// OpenRecords opens the file for appending.
func OpenRecords(path string) (*Records, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return newRecords(f, endsWithin(path)), nil
}

// endsWithin reports whether a file may end within a line, as one does whose
// writer was killed. A pipe or a device has no end.
func endsWithin(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	f, err := limitio.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err != nil || last[0] != '\n'
}

// newRecords writes to f; broke: it may end within a line.
func newRecords(f io.WriteCloser, broke bool) *Records {
	r := &Records{queue: traffic.NewQueue[row](4096), done: make(chan struct{})}
	go r.write(f, broke)
	return r
}

// mostPacked is how much is written at once, but for longer rows.
const mostPacked = 64 << 10

func (r *Records) write(f io.WriteCloser, broke bool) {
	defer close(r.done)
	p := packed{to: f, broke: broke}
	lost := func(rows int64, err error) {
		r.queue.Drop(rows)
		if r.err == nil {
			r.err = err
		}
	}
	flush := func() {
		if n, err := p.flush(); err != nil { // a full disk may have room again
			lost(n, err)
		}
	}
	rows := r.queue.Waiting()
	for one := range rows {
		data, err := json.Marshal(one)
		data = printable.JSON(data)
		if err != nil {
			lost(1, err)
			if len(rows) == 0 {
				flush()
			}
			continue
		}
		if len(p.data)+len(data) >= mostPacked {
			flush()
		}
		if p.add(data); len(rows) == 0 {
			flush()
		}
	}
	flush()
	if err := f.Close(); err != nil && r.err == nil {
		r.err = err
	}
}

// packed are lines that wait to be written in one piece.
type packed struct {
	to    io.Writer
	data  []byte
	ends  []int // of each line
	broke bool  // the file may end within a line
}

func (p *packed) add(line []byte) {
	if p.broke && len(p.data) == 0 {
		p.data = append(p.data, '\n')
	}
	p.data = append(append(p.data, line...), '\n')
	p.ends = append(p.ends, len(p.data))
}

// flush writes what waits. When that fails, lost lines are not in the file.
func (p *packed) flush() (lost int64, err error) {
	if len(p.data) == 0 {
		return 0, nil
	}
	n, err := p.to.Write(p.data)
	if err == nil || n > 0 {
		p.broke = err != nil
	}
	if err != nil {
		whole, _ := slices.BinarySearch(p.ends, n+1)
		lost = int64(len(p.ends) - whole)
	}
	if p.data, p.ends = p.data[:0], p.ends[:0]; cap(p.data) > 2*mostPacked {
		p.data = nil
	}
	return lost, err
}

// Dropped is how many rows are not in the file.
func (r *Records) Dropped() int64 { return r.queue.Dropped() }

// Done implements traffic.Sink.
func (r *Records) Done(one *traffic.Request) { r.queue.Put(rowOf(one)) }

// Close writes what is left and returns the first error, and how many rows were
// dropped.
func (r *Records) Close() (dropped int64, err error) {
	r.queue.Close()
	<-r.done
	return r.queue.Dropped(), r.err
}
