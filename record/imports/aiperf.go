package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// aiperfRecord is a line of profile_export.jsonl. Source: AIPerf's
// docs/tutorials/working-with-profile-exports.md.
type aiperfRecord struct {
	Metadata struct {
		RequestID    string   `json:"x_request_id"`
		Conversation *string  `json:"conversation_id"`  // that was played, by several sessions
		Session      *string  `json:"x_correlation_id"` // since 0.3: of each session its own
		Turn         *float64 `json:"turn_index"`
		CreditNS     *float64 `json:"credit_issued_ns"` // when the request was handed out, since 0.2
		StartNS      *float64 `json:"request_start_ns"`
		EndNS        *float64 `json:"request_end_ns"`
		Phase        string   `json:"benchmark_phase"`
		Cancelled    bool     `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]aiperfValue `json:"metrics"`
	Error   *struct {
		Code    *float64 `json:"code"`
		Type    string   `json:"type"`
		Message string   `json:"message"`
	} `json:"error"`
	Responses json.RawMessage `json:"responses"` // of profile_export_raw.jsonl
}

type aiperfValue struct {
	Value json.RawMessage `json:"value"`
	Unit  string          `json:"unit"`
}

func isAIPerf(head []byte) bool {
	return bytes.Contains(head, []byte(`"benchmark_phase"`)) && bytes.Contains(head, []byte(`"request_start_ns"`)) || isAIPerfSummary(head)
}

// aiperfRecords hands out the records. Those of profile_export_raw.jsonl have the same
// metadata, and the answers as they came in place of what AIPerf measured of them. Source:
// RawRecordInfo in aiperf/common/models/record_models.py.
func aiperfRecords(in *Input, read func(at int64, v *aiperfRecord) error) error {
	return eachLine(in, func(at int64, v *aiperfRecord) error {
		if v.Responses != nil {
			return in.at(at, errors.New("this is a record of AIPerf's profile_export_raw.jsonl, which has answers as they came and no figures: "+
				"import profile_export.jsonl, which stands beside it"))
		}
		return read(at, v)
	})
}

// isAIPerfSummary: those of 0.2 and 0.3 have no schema_version, and was_cancelled, which genai-perf's
// files of the same form lack.
func isAIPerfSummary(head []byte) bool {
	return contains(`"request_latency"`, `"schema_version"`)(head) || contains(`"request_latency"`, `"input_config"`, `"was_cancelled"`)(head)
}

func readAIPerf(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	if isAIPerfSummary(in.Head()) {
		err := aiperfSummary(in, &m)
		return m, err
	}
	credits, waited := 0, 0.0
	err := collect(in, aiperfRecords, add, func(r *request, v *aiperfRecord) {
		md := &v.Metadata
		r.start = known(md.StartNS, 1e9)
		if credit := known(md.CreditNS, 1e9); credit < r.start && md.Phase != "warmup" {
			credits++
			waited += r.start - credit
		}
		// The whole request as AIPerf measures it ends with the last content;
		// request_end_ns may be later.
		if r.e2e = known(v.number("request_latency"), 1000); math.IsNaN(r.e2e) {
			r.end = known(md.EndNS, 1e9)
		}
		r.first, r.firstOutput = known(v.number("time_to_first_token"), 1000), known(v.number("time_to_first_output_token"), 1000)
		for _, ms := range v.list("inter_chunk_latency") {
			r.gaps = append(r.gaps, ms/1000)
		}
		if r.gaps == nil && math.Abs(r.e2e-r.first) < halfUS { // an answer of one chunk has no such gaps
			r.events = []float64{r.first}
		}
		tokens := func(name string) timeline.Opt[int64] { return count(v.number(name)) }
		if r.tokenized = tokens("output_sequence_length"); r.tokenized == timeline.Some[int64](0) && v.number("output_token_count") == nil {
			// Vectors and rankings have none: this is the sum of no counts. Of an answer
			// without content AIPerf says that it failed.
			r.tokenized = timeline.Opt[int64]{}
		}
		r.input, r.output = tokens("usage_prompt_tokens"), tokens("usage_completion_tokens")
		r.cached, r.reasoning = tokens("usage_prompt_cache_read_tokens"), tokens("usage_reasoning_tokens")
		if r.tokenizedInput = tokens("input_sequence_length"); !r.input.OK() {
			r.input = r.tokenizedInput
		}
		r.id, r.turn, r.cancelled = md.RequestID, count(md.Turn), md.Cancelled
		if md.Phase == "warmup" {
			r.phase = timeline.Warmup
		}
		switch {
		case !r.turn.OK():
		case md.Session != nil:
			r.session = *md.Session
		case md.Conversation != nil:
			r.session = *md.Conversation
		}
		r.left = md.Cancelled && v.Error != nil && strings.HasSuffix(v.Error.Message, "after being sent")
		if e := v.Error; e != nil {
			r.failure, r.kind = words(e.Message, e.Type), e.Type
			if e.Code != nil {
				r.status = int(*e.Code)
			}
		}
	})
	if credits > 0 {
		// The file doesn't tell an open loop, where a request is due then, from a closed one,
		// where the client is the one that takes the time.
		in.note(fmt.Sprintf("requests count from their send, as AIPerf's own figures do: they were handed out %.3g ms before, on average (credit_issued_ns), which its effective_latency has inside",
			1000*waited/float64(credits)))
	}
	return m, err
}

// number is a metric in its unit, milliseconds where it is a time; nil: there is none.
func (v *aiperfRecord) number(name string) (n *float64) {
	value := v.Metrics[name]
	if json.Unmarshal(value.Value, &n) != nil || n == nil {
		return nil
	}
	*n *= inMS(value.Unit)
	return n
}

func (v *aiperfRecord) list(name string) []float64 {
	value := v.Metrics[name]
	var list []float64
	if json.Unmarshal(value.Value, &list) != nil {
		return nil
	}
	for i := range list {
		list[i] *= inMS(value.Unit)
	}
	return list
}

func inMS(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-6
	case "us", "µs":
		return 1e-3
	case "s", "sec", "seconds":
		return 1e3
	}
	return 1 // ms, tokens
}

// words are the first that say something.
func words(candidates ...string) string {
	for _, c := range candidates {
		if c != "" {
			return c
		}
	}
	return "failed, without words"
}

// aiperfSummary reads profile_export_aiperf.json. Source: AIPerf's
// docs/reference/json-export-schema.md.
func aiperfSummary(in *Input, m *run.Run) error {
	var o object
	if err := in.whole(&o); err != nil {
		return err
	}
	t := newTold(in, 0)
	for name, our := range map[string]string{"time_to_first_token": "ttft_ms", "time_to_first_output_token": "ttfo_ms", "request_latency": "e2e_ms",
		"inter_token_latency": "tpot_ms", "inter_chunk_latency": "icl_ms", "output_sequence_length": "output_tokens", "input_sequence_length": "input_tokens"} {
		d, ok := o[name].(object)
		if !ok {
			continue
		}
		scale, ok := map[string]float64{"s": 1000, "sec": 1000, "ms": 1, "us": 1e-3, "ns": 1e-6, "tokens": 1}[text(d, "unit")]
		if !ok {
			t.fail(name, "has the unit "+text(d, "unit")+", which is not known")
			continue
		}
		for key, stat := range map[string]string{"avg": "mean", "std": "sd", "min": "min", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max"} {
			t.stat(our, stat, t.number(d, key), scale)
		}
		if n := t.whole(t.number(d, "count")); n.OK() {
			dist := t.Metrics[our]
			dist.N = n.Or(0)
			t.Metrics[our] = dist
		}
	}
	one := func(name string) timeline.Opt[float64] {
		d, _ := o[name].(object)
		return t.number(d, "avg")
	}
	if o["was_cancelled"] == true {
		m.Partial = true
		in.note("AIPerf's own summary: the run was cancelled before its end")
	}
	t.OK, t.Failed = t.whole(one("request_count")), t.whole(one("error_request_count"))
	if t.OK.OK() && !t.Failed.OK() {
		t.Failed = timeline.Some(int64(0)) // AIPerf leaves error_request_count out where it is zero
	}
	t.summed(0)
	t.Throughput.WindowS, t.Throughput.RequestsPerS = one("benchmark_duration"), one("request_throughput")
	t.Throughput.SuccessOutputTPS, t.Throughput.SystemInOutTPS = one("output_token_throughput"), one("total_token_throughput")
	t.counted(timeline.Opt[int64]{})
	// Of the clock of its machine, in a zone that it does not tell. Source:
	// exporters/metrics_json_exporter.py of 0.13.0.
	if began, err := parseTime(text(o, "start_time")); err == nil {
		m.Started = began.UTC()
	}
	aiperfLoad(t, o, &m.Load)
	in.note("profile_export.jsonl, which stands beside the file, has every request")
	return t.into(m)
}

// aiperfLoad is the load of the one measured phase; the load of several is not one.
// Source: aiperf/config/phases.py since 0.9, and common/config/user_config.py before.
func aiperfLoad(t *told, o object, l *run.Load) {
	config, _ := o["input_config"].(object)
	if _, old := config["loadgen"].(object); old {
		aiperfLoadGen(t, config, l)
		return
	}
	phases, _ := config["phases"].([]any)
	var phase object
	for _, p := range phases {
		p, _ := p.(object)
		if text(p, "kind") == "warmup" {
			continue
		}
		if phase != nil {
			return
		}
		phase = p
	}
	switch kind := text(phase, "type"); kind {
	case "concurrency":
		l.Kind, l.Concurrency = "closed", t.whole(t.number(phase, "concurrency"))
	case "poisson", "gamma", "constant": // which a concurrency may cap
		l.Kind, l.Arrival, l.RatePerS, l.Concurrency = "open", kind, t.number(phase, "rate"), t.whole(t.number(phase, "concurrency"))
		if kind == "gamma" {
			l.Burstiness = t.number(phase, "smoothness") // the shape
		}
	case "fixed_schedule":
		l.Kind = "open"
	}
}

// aiperfLoadGen is the load as AIPerf's flags said it, of which the file has those that were
// given: a rate goes before streams, and a schedule before both. A Mooncake trace is played by
// its times where it has some, which the file doesn't tell.
func aiperfLoadGen(t *told, config object, l *run.Load) {
	loadgen, _ := config["loadgen"].(object)
	of, _ := config["input"].(object)
	if _, swept := loadgen["concurrency"].([]any); swept {
		return
	}
	rate, streams := t.number(loadgen, "request_rate"), t.whole(t.number(loadgen, "concurrency"))
	switch {
	case of["fixed_schedule"] == true:
		l.Kind = "open"
	case text(of, "custom_dataset_type") == "mooncake_trace", loadgen["user_centric_rate"] != nil:
	case rate.OK():
		l.Kind, l.RatePerS, l.Concurrency = "open", rate, streams
		l.Arrival = cmp.Or(text(loadgen, "arrival_pattern"), text(loadgen, "request_rate_mode"), "poisson")
		if l.Arrival == "gamma" {
			l.Burstiness = t.number(loadgen, "arrival_smoothness")
		}
	case streams.OK():
		l.Kind, l.Concurrency = "closed", streams
	}
}
