package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// guideLLMReport is benchmarks.json. It has the first and the last token of a
// request and not those between. Source: guidellm/schemas of 0.8.1, whose files
// and those of 0.5 on have these names.
type guideLLMReport struct {
	Benchmarks []guideLLMBenchmark `json:"benchmarks"`
}

type guideLLMBenchmark struct {
	Config struct {
		Strategy map[string]any `json:"strategy"`
	} `json:"config"`
	StartTime float64 `json:"start_time"`
	Scheduler struct {
		From *float64 `json:"measure_start_time"`
		To   *float64 `json:"measure_end_time"`
	} `json:"scheduler_metrics"`
	Metrics struct {
		Totals struct {
			Successful int `json:"successful"`
		} `json:"request_totals"`
	} `json:"metrics"`
	Requests struct {
		Successful []guideLLMRequest `json:"successful"`
		Errored    []guideLLMRequest `json:"errored"`
		Incomplete []guideLLMRequest `json:"incomplete"`
	} `json:"requests"`
}

type guideLLMRequest struct {
	ID   string `json:"request_id"`
	Args string `json:"request_args"`
	Info struct {
		Conversation string          `json:"conversation_id"`
		Turn         *float64        `json:"turn_index"`
		Worker       int             `json:"scheduler_process_id"`
		Error        *string         `json:"error"`
		Timings      guideLLMTimings `json:"timings"`
	} `json:"info"`
	Input    *float64 `json:"prompt_tokens"`
	Cached   *float64 `json:"cached_tokens"`
	Output   *float64 `json:"output_tokens"`
	Start    *float64 `json:"request_start_time"`
	End      *float64 `json:"request_end_time"`
	Streamed *float64 `json:"time_to_first_token_ms"`
	Text     string   `json:"output"`
	Thought  string   `json:"reasoning_output"`
	Calls    []any    `json:"tool_calls"`
}

// guideLLMTimings are moments of the wall clock, in seconds.
type guideLLMTimings struct {
	Due       *float64 `json:"targeted_start"`
	Start     *float64 `json:"request_start"`
	First     *float64 `json:"first_token_iteration"`
	FirstOld  *float64 `json:"first_iteration"`
	Answer    *float64 `json:"first_output_token_iteration"` // the first that is no reasoning
	Last      *float64 `json:"last_token_iteration"`
	LastOld   *float64 `json:"last_iteration"`
	End       *float64 `json:"request_end"`
	LastLine  *float64 `json:"last_request_iteration"` // of the stream, whatever it held
	Iteration float64  `json:"token_iterations"`
}

func isGuideLLM(head []byte) bool {
	return bytes.Contains(head, []byte(`"benchmarks"`)) && (bytes.Contains(head, []byte("guidellm")) ||
		bytes.Contains(head, []byte(`"generative_benchmark`)) || bytes.Contains(head, []byte(`"scheduler_state"`)))
}

func readGuideLLM(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	var report guideLLMReport
	if err := in.whole(&report); err != nil {
		return m, err
	}
	var names []string
	for _, b := range report.Benchmarks {
		names = append(names, b.name())
	}
	part, err := in.part(names)
	if err != nil {
		return m, err
	}
	b := &report.Benchmarks[part]
	m.Load = b.load()
	if b.StartTime > 0 {
		m.Started = time.UnixMicro(us(b.StartTime)).UTC()
	}
	var all []*request
	measured := 0
	for i := range b.Requests.Successful {
		r := b.Requests.Successful[i].request(m.Load.Kind == "open")
		if b.phase(r); r.phase == "" {
			measured++
		}
		all = append(all, r)
	}
	if total := b.Metrics.Totals.Successful; measured < total {
		return m, in.at(0, fmt.Errorf("the file holds a sample of %d of the %d requests that were measured, without which rates and errors can't be told: have GuideLLM write all of them (sample_size, sample_requests)", measured, total))
	}
	for i := range b.Requests.Errored {
		r := b.Requests.Errored[i].request(m.Load.Kind == "open")
		r.failure = words(r.failure)
		b.phase(r)
		all = append(all, r)
	}
	for i := range b.Requests.Incomplete {
		r := b.Requests.Incomplete[i].request(m.Load.Kind == "open")
		r.cancelled = true
		if b.phase(r); sensible(r.start) { // those that never began are none
			all = append(all, r)
		}
	}
	strays := 0
	for _, r := range all {
		if !math.IsNaN(r.due) && math.Abs(r.start-r.due) > longest {
			r.due, strays = math.NaN(), strays+1
		}
	}
	if strays > 0 {
		in.note(fmt.Sprintf("targeted_start of %s is of another clock than their other times, and not known: they count from when they were sent", metric.Plural(int64(strays), "request")))
	}
	err = emit(in, &m.Load, all, add)
	return m, err
}

// load says when requests were sent: at a rate, when a trace says, or as others ended.
// Source: defines_arrival_schedule in guidellm/scheduler/strategies.py.
func (b *guideLLMBenchmark) load() run.Load {
	l := run.Load{Kind: "closed"}
	if rate, ok := b.Config.Strategy["rate"].(float64); ok {
		l.Kind, l.RatePerS = "open", timeline.Some(rate)
		if kind, _ := b.Config.Strategy["type_"].(string); kind == "constant" || kind == "poisson" {
			l.Arrival = kind
		}
	} else if b.Config.Strategy["type_"] == "trace" {
		l.Kind, l.Arrival = "open", "trace"
		if scale, ok := b.Config.Strategy["time_scale"].(float64); ok && scale > 0 { // of times
			l.Speed = timeline.Some(1 / scale)
		}
	} else if n, ok := b.Config.Strategy["streams"].(float64); ok {
		l.Concurrency = count(&n)
	}
	return l
}

// phase says which requests are in GuideLLM's own figures: those that ended since its
// measuring began and began before it ended. Source: get_within_range in
// guidellm/benchmark/schemas/generative/accumulator.py.
func (b *guideLLMBenchmark) phase(r *request) {
	from, to := b.Scheduler.From, b.Scheduler.To
	switch {
	case from != nil && r.end < *from:
		r.phase = timeline.Warmup
	case to != nil && r.start > *to:
		r.phase = timeline.Cooldown
	}
}

func (b *guideLLMBenchmark) name() string {
	kind, _ := b.Config.Strategy["type_"].(string)
	for _, key := range []string{"streams", "rate"} {
		if v, ok := b.Config.Strategy[key].(float64); ok {
			kind += fmt.Sprintf(" %g", v)
		}
	}
	return fmt.Sprintf("%s, %s", kind, metric.Plural(int64(len(b.Requests.Successful)+len(b.Requests.Errored)+len(b.Requests.Incomplete)), "request"))
}

func (q *guideLLMRequest) request(open bool) *request {
	r := unknown(0)
	t := &q.Info.Timings
	first := func(candidates ...*float64) float64 {
		for _, c := range candidates {
			if c != nil && *c > 0 {
				return *c
			}
		}
		return math.NaN()
	}
	r.start = first(t.Start, q.Start)
	r.end = first(t.End, q.End)
	if open && t.Due != nil {
		r.due = *t.Due
	}
	if q.Streamed != nil {
		r.first = first(t.First, t.FirstOld) - r.start
		r.firstOutput = first(t.Answer) - r.start
		if t.Answer == nil && q.Thought != "" && q.Text == "" && len(q.Calls) == 0 {
			r.firstOutput = math.Inf(1) // the answer never began
		}
		r.e2e = first(t.Last, t.LastOld, t.End, q.End) - r.start
	}
	r.streamed = q.Streamed != nil
	r.input, r.cached, r.output = count(q.Input), count(q.Cached), count(q.Output)
	r.id, r.worker = q.ID, q.Info.Worker
	if r.turn = count(q.Info.Turn); r.turn.OK() {
		r.session = q.Info.Conversation
	}
	if q.Info.Error != nil {
		r.failure = failure(*q.Info.Error)
	}
	var body struct {
		Body struct {
			Model     string   `json:"model"`
			MaxTokens *float64 `json:"max_tokens"`
			MaxNew    *float64 `json:"max_completion_tokens"`
			MaxOutput *float64 `json:"max_output_tokens"`
		} `json:"body"`
	}
	if json.Unmarshal([]byte(q.Args), &body) == nil {
		r.model = body.Body.Model
		for _, n := range []*float64{body.Body.MaxTokens, body.Body.MaxOutput, body.Body.MaxNew} {
			if n != nil {
				r.asked = count(n)
			}
		}
	}
	q.doubt(r)
	return r
}

// doubt takes the count of output tokens from a reply that told none: GuideLLM then has
// the number that was asked for in its place, else that of the events. Such a reply lacks
// the prompt's tokens too, unless the data told them; or nothing follows its last token,
// as usage and [DONE] would. Elsewhere more tokens than events may well be right, and no
// more than bytes only where the text shows none of them.
// Source: compile_stats in guidellm/schemas/base/response.py, output_tokens in
// request_stats.py and _resolve_streaming in backends/openai/http.py.
func (q *guideLLMRequest) doubt(r *request) {
	n, t := r.output.Or(0), &q.Info.Timings
	asked := r.asked.OK() && r.asked == r.output && float64(n) > t.Iteration // of a reply that was not streamed 0
	ended := t.Iteration == 0 || t.Last == nil || t.LastLine == nil || *t.LastLine > *t.Last
	if !r.input.OK() || asked && !ended {
		r.output = timeline.Opt[int64]{}
	} else if text := len(q.Text) + len(q.Thought); asked && text > 0 && len(q.Calls) == 0 && int64(text) < n {
		r.doubted = true
	}
}
