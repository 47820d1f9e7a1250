package imports

import (
	"bytes"
	"encoding/json"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// aiperfRecord is a line of profile_export.jsonl. Source: AIPerf's
// docs/tutorials/working-with-profile-exports.md.
type aiperfRecord struct {
	Metadata struct {
		RequestID    string   `json:"x_request_id"`
		Conversation *string  `json:"conversation_id"`
		Turn         *float64 `json:"turn_index"`
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
}

type aiperfValue struct {
	Value json.RawMessage `json:"value"`
	Unit  string          `json:"unit"`
}

func isAIPerf(head []byte) bool {
	return bytes.Contains(head, []byte(`"benchmark_phase"`)) && bytes.Contains(head, []byte(`"request_start_ns"`))
}

func readAIPerf(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	var all []*request
	err := eachLine(in, func(at int64, v *aiperfRecord) error {
		r := unknown(at)
		md := &v.Metadata
		if md.StartNS != nil {
			r.start = *md.StartNS / 1e9
		}
		// The whole request as AIPerf measures it ends with the last content;
		// request_end_ns may be later.
		if ms, ok := v.number("request_latency"); ok {
			r.e2e = ms / 1000
		} else if md.EndNS != nil {
			r.end = *md.EndNS / 1e9
		}
		if ms, ok := v.number("time_to_first_token"); ok {
			r.first = ms / 1000
		}
		if ms, ok := v.number("time_to_first_output_token"); ok {
			r.firstOutput = ms / 1000
		}
		for _, ms := range v.list("inter_chunk_latency") {
			r.gaps = append(r.gaps, ms/1000)
		}
		tokens := func(name string) timeline.Opt[int64] {
			if n, ok := v.number(name); ok {
				return count(&n)
			}
			return timeline.Opt[int64]{}
		}
		r.tokenized = tokens("output_sequence_length")
		r.input, r.output = tokens("usage_prompt_tokens"), tokens("usage_completion_tokens")
		r.cached, r.reasoning = tokens("usage_prompt_cache_read_tokens"), tokens("usage_reasoning_tokens")
		if !r.input.OK() {
			r.input = tokens("input_sequence_length")
		}
		r.id, r.turn, r.warmup, r.cancelled = md.RequestID, count(md.Turn), md.Phase == "warmup", md.Cancelled
		if md.Conversation != nil && r.turn.Or(0) > 0 {
			r.session = *md.Conversation
		}
		if e := v.Error; e != nil {
			r.failure = words(e.Message, e.Type)
			if e.Code != nil {
				r.status = int(*e.Code)
			}
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		return m, err
	}
	m.Load.Kind = "closed"
	return m, emit(in, all, add)
}

// number is a metric in its unit, milliseconds where it is a time.
func (v *aiperfRecord) number(name string) (float64, bool) {
	value, ok := v.Metrics[name]
	var n *float64
	if !ok || json.Unmarshal(value.Value, &n) != nil || n == nil {
		return 0, false
	}
	return *n * inMS(value.Unit), true
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
