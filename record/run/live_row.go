package run

import (
	"io"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// LiveRow is a finished request of live traffic as a row of a table: the columns
// of requests.parquet, as far as they apply, and those that only live traffic
// has. Its JSON form is for journals of our own.
type LiveRow struct {
	row
	At         time.Time `parquet:"at,timestamp(microsecond)"`
	Source     string    `parquet:"source,dict"`
	Listener   string    `parquet:"listener,dict"`
	Route      string    `parquet:"route,dict"`
	Upstream   string    `parquet:"upstream,dict"`
	ModelLabel string    `parquet:"model_label,dict"` // as metrics call it
	Key        *string   `parquet:"client,dict"`      // the name of the client's key; nil: it needed none
	Unmeasured *string   `parquet:"unmeasured,dict"`
	Kept       bool      `parquet:"kept"` // its arrivals are in the ev_ columns

	LeftMS       *float64 `parquet:"left_ms"`
	FirstWriteMS *float64 `parquet:"first_write_ms"`
	LastWriteMS  *float64 `parquet:"last_write_ms"`
	SlowReaderMS float64  `parquet:"slow_reader_ms"`
	SendMS       *float64 `parquet:"proxy_send_ms"`
	FirstDelayMS *float64 `parquet:"proxy_ttft_delay_ms"`
	DeliveredMS  *float64 `parquet:"delivered_ttft_ms"`
	MeanDelayMS  *float64 `parquet:"proxy_delay_mean_ms"`
	MaxDelayMS   *float64 `parquet:"proxy_delay_max_ms"`
	Delivered    *int64   `parquet:"delivered_tokens"`
	Wasted       *int64   `parquet:"wasted_tokens"`
	SentBytes    int64    `parquet:"request_bytes"`
	Bytes        int64    `parquet:"response_bytes"`
	// Beyond counts the gaps that ended beyond the kept arrivals, by powers of two
	// of microseconds; nil: every arrival is in the ev_ columns.
	Beyond []int64 `parquet:"ev_gaps_beyond,optional,list"`
}

// LiveFigures are the columns of a live row that say when and how a request went.
type LiveFigures struct {
	At         time.Time `parquet:"at,timestamp(microsecond)"`
	Source     string    `parquet:"source,dict"`
	Upstream   string    `parquet:"upstream,dict"`
	ModelLabel string    `parquet:"model_label,dict"`
	Unmeasured *string   `parquet:"unmeasured,dict"`
	Outcome    string    `parquet:"outcome,dict"`
	AnsweredBy *string   `parquet:"answered_by,dict"`
	TTFTMS     *float64  `parquet:"ttft_ms"`
	TPOTMS     *float64  `parquet:"tpot_ms"`
	CostUSD    *float64  `parquet:"cost_usd"`
}

// NewLiveRow fills the columns of requests.parquet. Texts are left out; the
// arrivals come along only when they are kept.
func NewLiveRow(rec *metric.Record, tl *timeline.Timeline, kept bool) *LiveRow {
	r := &LiveRow{Kept: kept}
	if kept {
		r.fill(rec, tl)
	} else {
		r.row = recordRow(rec)
		r.facts = factsOf(tl)
	}
	r.OutputText = nil
	return r
}

// HasTables says whether this build can write Parquet; with the tag lean it can't.
const HasTables = tables

// LockFolder keeps other processes out of a folder that this one writes, until
// the file is closed. busy: another one has it.
func LockFolder(dir string) (held io.Closer, busy bool, err error) {
	f, busy, err := lockFolder(dir)
	if f == nil {
		return nopCloser{}, busy, err
	}
	return f, busy, err
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }
