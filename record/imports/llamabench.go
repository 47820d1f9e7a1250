package imports

import (
	"bytes"
	"errors"
	"fmt"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// llamaBenchRow is one test of llama-bench -o json or -o jsonl, with the time of each
// repetition in nanoseconds. Source: llama.cpp, tools/llama-bench/llama-bench.cpp and
// README.md (MIT).
type llamaBenchRow struct {
	Model   string    `json:"model_type"`
	Prompt  *float64  `json:"n_prompt"`
	Gen     *float64  `json:"n_gen"`
	Depth   *float64  `json:"n_depth"` // tokens in the cache before, since 2025-04
	Time    string    `json:"test_time"`
	Samples []float64 `json:"samples_ns"`
}

func isLLAMABench(head []byte) bool {
	return isLLAMABenchTable(head) || bytes.Contains(head, []byte(`"samples_ns"`)) && bytes.Contains(head, []byte(`"n_gen"`)) && bytes.Contains(head, []byte(`"n_prompt"`))
}

func readLLAMABench(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	m.Load.Kind, m.Load.Concurrency = "closed", timeline.Some(int64(1))
	if isLLAMABenchTable(in.Head()) {
		err := llamaBenchTable(in, &m)
		return m, err
	}
	v, at, name, err := pick(in, runs, (*llamaBenchRow).name)
	if err != nil {
		return m, err
	}
	m.Target.Model, m.Name = v.Model, name
	if began, err := parseTime(v.Time); err == nil {
		m.Started = began
	}
	if len(v.Samples) == 0 {
		return m, in.at(at, errors.New("the test has no samples_ns: it was broken off, or written by another tool"))
	}
	in.note("llama-bench tells when the test began and how long each repetition took: they are laid end to end")
	if count(v.Gen).Or(0) == 0 {
		in.note("a test of the prompt alone: its time is TTFT here, without sampling, tokenising and a server's queue")
	}
	var all []*request
	began := 0.0
	for _, ns := range v.Samples {
		if !sensible(ns / 1e9) {
			return m, in.at(at, fmt.Errorf("a repetition that took %v ns is none", ns))
		}
		r := v.request(at, began, ns/1e9)
		began += ns / 1e9
		all = append(all, r)
	}
	err = emit(in, &m.Load, all, add)
	return m, err
}

// name is the test as llama-bench's tables call it.
func (v *llamaBenchRow) name() string {
	var name string
	prompt, gen := count(v.Prompt).Or(0), count(v.Gen).Or(0)
	switch {
	case prompt > 0 && gen > 0:
		name = fmt.Sprintf("pp%d+tg%d", prompt, gen)
	case prompt > 0:
		name = fmt.Sprintf("pp%d", prompt)
	default:
		name = fmt.Sprintf("tg%d", gen)
	}
	if depth := count(v.Depth).Or(0); depth > 0 {
		name += fmt.Sprintf(" @ d%d", depth)
	}
	return name
}

// request is one repetition. What is generated comes as a whole: when its first token
// was there is not told.
func (v *llamaBenchRow) request(at int64, began, took float64) *request {
	r := unknown(at)
	r.start = began
	if prompt, depth := count(v.Prompt), count(v.Depth); prompt.OK() {
		r.input = timeline.Some(prompt.Or(0) + depth.Or(0))
		r.cached = depth
	}
	if gen := count(v.Gen); gen.Or(0) > 0 {
		r.output, r.asked, r.e2e, r.streamed = gen, gen, took, false
	} else {
		r.first, r.e2e = took, took
	}
	return r
}
