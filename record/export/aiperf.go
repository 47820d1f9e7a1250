//go:build !lean

package export

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// aiperfRow is a line of AIPerf's profile_export.jsonl. Times count from when the
// request was due, as everywhere in a record. Source: AIPerf 0.13.0,
// docs/tutorials/working-with-profile-exports.md, files that it wrote and its model,
// MetricRecordInfo in aiperf/common/models/record_models.py.
type aiperfRow struct {
	Metadata aiperfMetadata         `json:"metadata"`
	Metrics  map[string]aiperfValue `json:"metrics"`
	Error    *aiperfError           `json:"error"`
}

type aiperfMetadata struct {
	Session      int64               `json:"session_num"`
	RequestID    string              `json:"x_request_id"`
	Conversation *string             `json:"conversation_id"`
	Turn         timeline.Opt[int64] `json:"turn_index"`
	IssuedNS     int64               `json:"credit_issued_ns"`
	StartNS      int64               `json:"request_start_ns"`
	EndNS        int64               `json:"request_end_ns"`
	Worker       string              `json:"worker_id"`
	Processor    string              `json:"record_processor_id"` // AIPerf refuses a record without one
	Phase        string              `json:"benchmark_phase"`
	Cancelled    bool                `json:"was_cancelled"`
}

type aiperfValue struct {
	Value any    `json:"value"` // a number, or a list of them
	Unit  string `json:"unit"`
}

type aiperfError struct {
	Code    timeline.Opt[int64] `json:"code"`
	Type    string              `json:"type"`
	Message string              `json:"message"`
}

func aiperfRowOf(rec *metric.Record, tl *timeline.Timeline, began time.Time) aiperfRow {
	due := began.Add(time.Duration(tl.DueUS) * time.Microsecond).UnixNano()
	row := aiperfRow{
		Metadata: aiperfMetadata{
			Session: tl.Request, RequestID: tl.ID, Conversation: rec.Session, Turn: tl.Turn,
			IssuedNS: due, StartNS: due, EndNS: due + tl.CloseUS.Or(tl.Events.LastUS())*1000,
			Worker: "worker_" + strconv.Itoa(tl.Worker), Processor: "tokenmeter", Phase: "profiling", Cancelled: tl.Outcome.Cancelled(),
		},
		Metrics: map[string]aiperfValue{},
	}
	if !tl.Phase.Counts() {
		row.Metadata.Phase = "warmup"
	}
	row.add("request_latency", "ms", rec.E2EMS)
	if tl.Streamed {
		row.add("time_to_first_token", "ms", rec.TTFTMS)
		row.add("time_to_first_output_token", "ms", rec.TTFOMS)
		row.add("inter_token_latency", "ms", rec.TPOTMS)
		row.add("output_token_throughput_per_user", "tokens/sec/user", rec.DecodeTPS)
		if len(rec.ICLMS) > 0 {
			row.Metrics["inter_chunk_latency"] = aiperfValue{rec.ICLMS, "ms"}
			row.Metrics["time_to_second_token"] = aiperfValue{rec.ICLMS[0], "ms"}
		}
	}
	row.add("e2e_output_token_throughput", "tokens/sec/user", rec.E2ETPS)
	row.count("input_sequence_length", rec.InputTokens)
	if rec.TokenSource != nil && *rec.TokenSource != "chunks" { // chunks are no count of AIPerf's
		row.count("output_sequence_length", rec.OutputTokens)
	}
	row.count("usage_prompt_tokens", tl.Usage.Input)
	row.count("usage_completion_tokens", tl.Usage.Output)
	row.count("usage_prompt_cache_read_tokens", tl.Usage.Cached)
	row.count("usage_reasoning_tokens", tl.Usage.Reasoning)
	if rec.Error != nil {
		row.Error = &aiperfError{Code: rec.HTTPStatus, Type: string(rec.Outcome), Message: rec.Error.Message}
	}
	return row
}

func (r *aiperfRow) add(name, unit string, v timeline.Opt[float64]) {
	if x, ok := v.Get(); ok {
		r.Metrics[name] = aiperfValue{x, unit}
	}
}

func (r *aiperfRow) count(name string, v timeline.Opt[int64]) {
	if n, ok := v.Get(); ok {
		r.Metrics[name] = aiperfValue{float64(n), "tokens"}
	}
}

func writeAIPerf(w io.Writer, f *run.Folder) error {
	return each(f, func(rec *metric.Record, tl *timeline.Timeline) error {
		return printable.EncodeJSON(w, "", aiperfRowOf(rec, tl, f.Run().Started))
	})
}

// aiperfProfile is AIPerf's profile_export_aiperf.json, as far as a record tells it.
type aiperfProfile struct {
	SchemaVersion string                   `json:"schema_version"`
	StartTime     time.Time                `json:"start_time"`
	EndTime       *time.Time               `json:"end_time"`
	WasCancelled  bool                     `json:"was_cancelled"`
	ErrorSummary  []aiperfErrors           `json:"error_summary"`
	Metrics       map[string]aiperfSummary `json:"-"` // beside the others in the file

	errors map[aiperfError]int // where in ErrorSummary each is
}

type aiperfErrors struct {
	Details aiperfError `json:"error_details"`
	Count   int64       `json:"count"`
}

// aiperfSummary is one metric over the requests that went well. Its deviation divides
// by n.
type aiperfSummary struct {
	Unit  string                `json:"unit"`
	Avg   float64               `json:"avg"`
	Min   timeline.Opt[float64] `json:"min,omitzero"`
	P1    timeline.Opt[float64] `json:"p1,omitzero"`
	P5    timeline.Opt[float64] `json:"p5,omitzero"`
	P10   timeline.Opt[float64] `json:"p10,omitzero"`
	P25   timeline.Opt[float64] `json:"p25,omitzero"`
	P50   timeline.Opt[float64] `json:"p50,omitzero"`
	P75   timeline.Opt[float64] `json:"p75,omitzero"`
	P90   timeline.Opt[float64] `json:"p90,omitzero"`
	P95   timeline.Opt[float64] `json:"p95,omitzero"`
	P99   timeline.Opt[float64] `json:"p99,omitzero"`
	Max   timeline.Opt[float64] `json:"max,omitzero"`
	Std   timeline.Opt[float64] `json:"std,omitzero"`
	Count timeline.Opt[int64]   `json:"count,omitzero"`
}

// MarshalJSON writes the metrics beside the other fields.
func (p aiperfProfile) MarshalJSON() ([]byte, error) {
	type plain aiperfProfile
	head, err := json.Marshal(plain(p))
	if err != nil || len(p.Metrics) == 0 {
		return head, err
	}
	metrics, err := json.Marshal(p.Metrics)
	if err != nil {
		return nil, err
	}
	return append(append(head[:len(head)-1], ','), metrics[1:]...), nil
}

func writeAIPerfProfile(w io.Writer, f *run.Folder) error {
	m := f.Run()
	p := aiperfProfile{SchemaVersion: "1.5", StartTime: m.Started, EndTime: m.Finished, WasCancelled: m.Partial, ErrorSummary: []aiperfErrors{}, Metrics: map[string]aiperfSummary{}, errors: map[aiperfError]int{}}
	samples, units := map[string]*stat.Sample{}, map[string]string{}
	var span timeline.Span
	var ok, failed int64
	err := each(f, func(rec *metric.Record, tl *timeline.Timeline) error {
		if !tl.Phase.Counts() || tl.Outcome.Cancelled() {
			return nil
		}
		row := aiperfRowOf(rec, tl, m.Started)
		if row.Error != nil {
			failed++
			p.count(*row.Error)
			return nil
		}
		ok++
		span.Add(tl.DueUS, tl.DueUS+int64(rec.E2EMS.Or(0)*1000))
		for name, v := range row.Metrics {
			s := samples[name]
			if s == nil {
				s = new(stat.Sample)
				samples[name], units[name] = s, v.Unit
			}
			switch v := v.Value.(type) {
			case float64:
				s.Add(v)
			case []float64:
				for _, x := range v {
					s.Add(x)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, s := range samples {
		p.Metrics[name] = aiperfSummaryOf(s, units[name])
	}
	p.Metrics["request_count"] = aiperfSummary{Unit: "requests", Avg: float64(ok)}
	if failed > 0 {
		p.Metrics["error_request_count"] = aiperfSummary{Unit: "requests", Avg: float64(failed)}
	}
	if seconds := span.Seconds(); seconds > 0 {
		p.Metrics["benchmark_duration"] = aiperfSummary{Unit: "sec", Avg: seconds}
		p.Metrics["request_throughput"] = aiperfSummary{Unit: "requests/sec", Avg: float64(ok) / seconds}
		if s := samples["output_sequence_length"]; s != nil && s.Len() == ok {
			moments, _ := s.Moments()
			p.Metrics["output_token_throughput"] = aiperfSummary{Unit: "tokens/sec", Avg: moments.Mean * float64(ok) / seconds}
		}
	}
	return printable.EncodeJSON(w, "  ", p)
}

func (p *aiperfProfile) count(e aiperfError) {
	i, known := p.errors[e]
	if !known {
		i = len(p.ErrorSummary)
		p.errors[e] = i
		p.ErrorSummary = append(p.ErrorSummary, aiperfErrors{Details: e})
	}
	p.ErrorSummary[i].Count++
}

func aiperfSummaryOf(s *stat.Sample, unit string) aiperfSummary {
	m, _ := s.Moments()
	q := func(p float64) timeline.Opt[float64] {
		v, _ := stat.Quantile(s, p)
		return timeline.Some(v)
	}
	return aiperfSummary{
		Unit: unit, Avg: m.Mean, Std: timeline.Some(populationSD(m)), Count: timeline.Some(m.N),
		Min: q(0), P1: q(0.01), P5: q(0.05), P10: q(0.1), P25: q(0.25), P50: q(0.5),
		P75: q(0.75), P90: q(0.9), P95: q(0.95), P99: q(0.99), Max: q(1),
	}
}
