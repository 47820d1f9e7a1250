package imports

import (
	"encoding/json"
	"fmt"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// genAIPerfProfile is what perf_analyzer writes for genai-perf. Times are
// nanoseconds of one clock. Source: perf_analyzer's
// docs/benchmarking.md and its profile export schema.
type genAIPerfProfile struct {
	Experiments []struct {
		Experiment struct {
			Mode  string  `json:"mode"`
			Value float64 `json:"value"`
		} `json:"experiment"`
		Requests []struct {
			Timestamp float64           `json:"timestamp"`
			Responses []float64         `json:"response_timestamps"`
			Outputs   []json.RawMessage `json:"response_outputs"`
			Success   *bool             `json:"success"`
		} `json:"requests"`
	} `json:"experiments"`
	Endpoint string `json:"endpoint"`
}

func readGenAIPerf(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	var profile genAIPerfProfile
	if err := in.whole(&profile); err != nil {
		return m, err
	}
	var names []string
	for _, e := range profile.Experiments {
		names = append(names, fmt.Sprintf("%s %g, %s", e.Experiment.Mode, e.Experiment.Value, metric.Plural(int64(len(e.Requests)), "request")))
	}
	part, err := in.part(names)
	if err != nil {
		return m, err
	}
	var all []*request
	for _, e := range profile.Experiments[part : part+1] {
		switch e.Experiment.Mode {
		case "concurrency":
			m.Load.Kind, m.Load.Concurrency = "closed", count(&e.Experiment.Value)
		case "request_rate":
			m.Load.Kind, m.Load.RatePerS = "open", timeline.Some(e.Experiment.Value)
		}
		for _, q := range e.Requests {
			r := unknown(0)
			r.start = q.Timestamp / 1e9
			for i, t := range q.Responses {
				if i < len(q.Outputs) && !bears(q.Outputs[i]) {
					continue
				}
				r.events = append(r.events, (t-q.Timestamp)/1e9)
			}
			if n := len(q.Responses); n > 0 {
				r.end = q.Responses[n-1] / 1e9
			}
			r.streamed = len(q.Responses) > 1
			if q.Success != nil && !*q.Success {
				r.failure = "failed, by the other tool"
			}
			r.judge(in.reply(answer(q.Outputs)))
			all = append(all, r)
		}
	}
	err = emit(in, &m.Load, all, add)
	return m, err
}

// answer is what the server wrote, of responses that have it; an event may lie in several,
// and several in one.
func answer(outputs []json.RawMessage) string {
	var all strings.Builder
	for _, raw := range outputs {
		var output struct {
			Response string `json:"response"`
		}
		if json.Unmarshal(raw, &output) != nil {
			return ""
		}
		if strings.HasPrefix(output.Response, "data:") {
			all.WriteByte('\n')
		}
		all.WriteString(output.Response)
	}
	return all.String()
}

// bears reports whether a response of perf_analyzer carries generated text: the
// chunk of an OpenAI stream, or the text of a model of Triton's.
func bears(raw json.RawMessage) bool {
	var output struct {
		Response   string `json:"response"`
		TextOutput string `json:"text_output"`
	}
	if json.Unmarshal(raw, &output) != nil {
		return true
	}
	if output.Response == "" {
		return output.TextOutput != ""
	}
	text := strings.TrimSpace(strings.TrimPrefix(output.Response, "data:"))
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content   string `json:"content"`
				Reasoning string `json:"reasoning_content"`
			} `json:"delta"`
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
			Text string `json:"text"`
		} `json:"choices"`
	}
	if json.Unmarshal([]byte(text), &chunk) != nil {
		return text != "" && text != "[DONE]"
	}
	for _, c := range chunk.Choices {
		if c.Delta.Content+c.Delta.Reasoning+c.Message.Content+c.Text != "" {
			return true
		}
	}
	return false
}
