package imports

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// inferencePerfRecord is an element of per_request_lifecycle_metrics.json. Its
// times are seconds of one clock. Source: inference_perf/reportgen and
// apis of inference-perf 0.1 to 0.7.
type inferencePerfRecord struct {
	Start *float64 `json:"start_time"`
	End   *float64 `json:"end_time"`
	Due   *float64 `json:"scheduled_time"`
	// Stream is the answer as it came, in events.
	Stream any `json:"response"`
	Info   *struct {
		inferencePerfOutput           // up to 0.4
		Extra               *struct{} `json:"extra_info"` // from 0.3 on
		Input               *float64  `json:"input_tokens"`
		Request             *struct {
			Text struct {
				Input *float64 `json:"input_tokens"`
			} `json:"text"`
		} `json:"request_metrics"`
		Between  *inferencePerfOutput `json:"response_info"` // 0.5
		Response *inferencePerfOutput `json:"response_metrics"`
	} `json:"info"`
	Error *struct {
		Type    string `json:"error_type"`
		Message string `json:"error_msg"`
	} `json:"error"`
}

type inferencePerfOutput struct {
	Output *float64 `json:"output_tokens"`
	// ChunkTimes are the moments of the events with text; none up to 0.4.
	ChunkTimes []float64 `json:"chunk_times"`
	// TokenTimes are those of all events up to 0.4. Since, each moment stands there as often as its text
	// has tokens of the client's tokenizer, which need not be the server's.
	TokenTimes []float64 `json:"output_token_times"`
	// Reasoned are the moments of reasoning alone, which newer versions have.
	Reasoned []float64 `json:"reasoning_chunk_times"`
	Usage    *struct {
		Prompt     *float64 `json:"prompt_tokens"`
		Completion *float64 `json:"completion_tokens"`
		Details    struct {
			Reasoning *float64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"server_usage"`
}

// moments are those of the events that carried tokens, reasoning too.
func (o *inferencePerfOutput) moments() []float64 {
	all := o.ChunkTimes
	if len(all) == 0 {
		all = o.TokenTimes
	}
	if len(o.Reasoned) == 0 {
		return all
	}
	both := slices.Concat(o.Reasoned, all)
	slices.Sort(both)
	return slices.Compact(both)
}

func isInferencePerf(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")) &&
		bytes.Contains(head, []byte(`"start_time"`)) && bytes.Contains(head, []byte(`"end_time"`)) && bytes.Contains(head, []byte(`"info"`))
}

func readInferencePerf(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	silent := int64(0)      // requests that tell nothing of their answers
	ofAllEvents := int64(0) // those that have the moments of all events
	err := collect(in, elements[inferencePerfRecord], add, func(r *request, v *inferencePerfRecord) {
		r.start, r.end, r.due = known(v.Start, 1), known(v.End, 1), known(v.Due, 1)
		body, _ := v.Stream.(string)
		reply := in.reply(body)
		if i := v.Info; i != nil {
			out, input := &i.inferencePerfOutput, i.Input
			for _, block := range []*inferencePerfOutput{i.Between, i.Response} {
				if block != nil {
					out = block
				}
			}
			if v.Error == nil && out.Output == nil && out.Usage == nil && len(out.moments()) == 0 {
				silent++
			}
			if i.Request != nil {
				input = i.Request.Text.Input
			}
			r.input, r.tokenized = count(input), count(out.Output)
			if u := out.Usage; u != nil && u.Completion != nil {
				r.input, r.output, r.reasoning = count(u.Prompt), count(u.Completion), count(u.Details.Reasoning)
			}
			for _, t := range out.moments() {
				r.events = append(r.events, t-r.start)
			}
			if out == &i.inferencePerfOutput && len(r.events) > 0 { // up to 0.4
				ofAllEvents++
				if i.Extra == nil {
					r.events = everySecond(r.events)
				}
			}
			r.streamed = len(r.events) > 0
			// Up to 0.7 its client keeps the moments of the answer alone; since, of both.
			if len(out.Reasoned) > 0 {
				r.reasoning = timeline.Opt[int64]{} // all of it was streamed
			}
			r.unsplit = len(out.Reasoned) == 0 && r.reasoning.Or(0) == 0 && r.output.Or(0) > int64(max(len(out.TokenTimes), len(r.events))) && thinks(reply)
		}
		if e := v.Error; e != nil {
			r.failure, r.kind = words(e.Message, e.Type), e.Type
			// "HTTP Error 503"; before, "503 Service Unavailable"
			code, _, _ := strings.Cut(strings.TrimPrefix(e.Type, "HTTP Error "), " ")
			if n, err := strconv.Atoi(code); err == nil && n >= 100 && n < 600 {
				r.status = n
			}
		}
		r.judge(reply)
	})
	if ofAllEvents > 0 {
		in.note("inference-perf up to 0.4 keeps the moment of every event: a first one with the role alone and [DONE] count as tokens, so that TTFT may be earlier and E2E later than the text's")
	}
	if silent > 0 {
		in.note(metric.Plural(silent, "request") + " that went well tell neither tokens nor moments where inference-perf 0.1 to 0.7 has them: of other versions they are not read")
	}
	return m, err
}

// everySecond leaves out the blank line behind each event: up to 0.2 its client takes the
// moment of every line.
func everySecond(lines []float64) (events []float64) {
	for i := 0; i < len(lines); i += 2 {
		events = append(events, lines[i])
	}
	return events
}
