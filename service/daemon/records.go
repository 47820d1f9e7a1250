package daemon

import (
	"io"
	"time"

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
	return timeline.Map(us, func(us int64) float64 { return float64(us) / 1000 })
}

// Records is a sink that appends a line of JSON a request to a file.
type Records struct{ lineFile[row] }

// OpenRecords opens the file for appending.
func OpenRecords(path string) (*Records, error) {
	f, broke, err := openLines(path)
	if err != nil {
		return nil, err
	}
	return newRecords(f, broke), nil
}

func newRecords(f io.WriteCloser, broke bool) *Records {
	r := &Records{}
	r.begin(f, broke, 4096, func(one row) (any, bool) { return one, true })
	return r
}

// Done implements traffic.Sink.
func (r *Records) Done(one *traffic.Request) { r.queue.Put(rowOf(one)) }
