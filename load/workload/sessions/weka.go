package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"tokenmeter/record/timeline"
)

// weka reads one trace of the Weka format: the lengths and block ids of a session's
// requests, with those of its sub-agents.
// Source: callanjfox/agentic-coding-analysis, docs/TRACE_FORMAT.md, and what AIPerf
// 0.13.0 (weka_trace_models.py) makes of it. Fields that mean nothing here are
// passed over, whatever they are.
func weka(s *scanner) (*Session, error) {
	r := newRecorded("", 0)
	var scope string
	found := false
	s.fill(fields{"id": &r.id, "block_size": &r.block, "hash_id_scope": &scope, "requests": func() {
		found = true
		s.array(func() {
			row := readWeka(s, false)
			if s.err == nil {
				r.weka(s, &row)
			}
		})
	}})
	switch {
	case s.err != nil:
		return nil, s.err
	case !found:
		return nil, errors.New(`the trace has no "requests"`)
	case r.block < 0 || r.block > 1<<20:
		return nil, fmt.Errorf("block_size %d: want 1 to %d tokens", r.block, 1<<20)
	case scope != "" && scope != "local":
		return nil, fmt.Errorf("hash_id_scope %q: ids that mean something beyond their trace are not known here; want local", scope)
	}
	for i := range r.calls {
		c := &r.calls[i]
		n := int64(c.Keep + len(c.Own))
		if n > 0 && r.block == 0 {
			return nil, errors.New(`there are "hash_ids" but no "block_size"`)
		}
		if n > 0 && n > (c.Input+r.block-1)/r.block {
			return nil, fmt.Errorf("request at %v: %d hash_ids of %d tokens each for a prompt of %d tokens", c.Start, n, r.block, c.Input)
		}
	}
	return r.session()
}

// wekaRow is a request, or a sub-agent with its requests.
type wekaRow struct {
	kind, model, agent, sort string
	at, took                 time.Duration
	timed                    bool
	in, out                  int64
	ttft                     timeline.Opt[float64]
	ids                      []uint64
	nested                   []wekaRow
}

func readWeka(s *scanner, nested bool) (row wekaRow) {
	s.fill(fields{
		"type": &row.kind, "model": &row.model, "in": &row.in, "out": &row.out, "agent_id": &row.agent, "subagent_type": &row.sort,
		"t":        func() { row.at, row.timed = s.seconds() },
		"api_time": func() { row.took, _ = s.seconds() },
		"hash_ids": func() { row.ids = s.ids(nil) },
		"ttft": func() {
			if x, ok := s.number(); ok {
				row.ttft = timeline.Some(x)
			}
		},
		"requests": func() {
			if nested {
				s.fail("a sub-agent in a sub-agent, which the format has not")
			}
			s.array(func() { row.nested = append(row.nested, readWeka(s, true)) })
		},
	})
	if s.err == nil && !row.timed {
		s.fail(`a request without its time, "t"`)
	}
	return row
}

// weka notes a row. The times of nested requests are since the session began or,
// where one is less than the sub-agent's, since that began: both are in use.
func (r *recorded) weka(s *scanner, row *wekaRow) {
	if row.kind != "subagent" {
		r.wekaCall(s, row, 0, 0)
		return
	}
	if len(row.nested) == 0 {
		return // it asked no model
	}
	agent := r.begin(cmp.Or(row.agent, row.sort), 0, row.at)
	since := time.Duration(0)
	for i := range row.nested {
		if row.nested[i].at < row.at {
			since = row.at
		}
	}
	for i := range row.nested {
		r.wekaCall(s, &row.nested[i], agent, since)
	}
}

func (r *recorded) wekaCall(s *scanner, row *wekaRow, agent int, since time.Duration) {
	if row.in < 1 || row.in > MaxTokens || row.out < 0 || row.out > MaxTokens {
		s.fail("a request of %d tokens with an answer of %d: want 1 to %d", row.in, row.out, MaxTokens)
		return
	}
	at := since + row.at
	r.add(s, Call{Agent: agent, Model: row.model, Start: at, End: at + row.took, Input: row.in, Output: max(row.out, 1), TTFT: row.ttft}, row.ids)
}
