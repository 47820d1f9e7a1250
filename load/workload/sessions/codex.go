package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// codex reads rollout files of Codex: lengths and times, no contents. A thread that
// names its parent is a sub-agent of that one's session.
// Shape: openai/codex, as txcript (docs/formats/codex.md) tells it. A request begins
// with the last line that the model did not write, and ends with its token_count.
func codex(files []*os.File) ([]*Session, error) {
	threads := map[string]*codexThread{}
	var order []*codexThread
	for _, in := range files {
		t := &codexThread{id: strings.TrimSuffix(filepath.Base(in.Name()), ".jsonl"), counted: -1}
		if err := lines(in, t.line); err != nil {
			return nil, err
		}
		threads[t.id] = t
		order = append(order, t)
	}
	var calls []said
	for _, t := range order {
		root := t
		for n := 0; threads[root.parent] != nil && n < len(order); n++ {
			root = threads[root.parent]
		}
		for _, c := range t.calls {
			if c.session = root.id; t != root {
				c.agent = t.id
				if t.parent != root.id {
					c.parent = t.parent
				}
			}
			calls = append(calls, c)
		}
	}
	return logged(calls)
}

type codexThread struct {
	id, parent, model string
	asked             time.Time
	counted           int64 // all tokens so far, by the last event
	calls             []said
}

func (t *codexThread) line(s *scanner) {
	var kind, stamp string
	var id, parent, model, what, role loose
	var last codexUsage
	total, info := int64(-1), false
	s.fill(fields{"timestamp": &stamp, "type": &kind, "payload": fields{
		"type": &what, "role": &role, "id": &id, "model": &model, "parent_thread_id": &parent,
		"info": func() {
			s.fill(fields{
				"last_token_usage":  func() { last, info = s.codexUsage(), true },
				"total_token_usage": func() { total, info = s.codexUsage().total, true },
			})
		}}})
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if s.err != nil || err != nil {
		return
	}
	switch {
	case kind == "session_meta":
		if id != "" {
			t.id = string(id)
		}
		t.parent = string(parent)
	case kind == "turn_context":
		t.model, t.asked = string(model), at
	case kind == "response_item" && (strings.HasSuffix(string(what), "_output") || what == "message" && role != "assistant"):
		t.asked = at
	case kind == "event_msg" && (what == "user_message" || what == "task_started"):
		t.asked = at
	case kind == "event_msg" && what == "token_count" && info && total != t.counted:
		t.counted = total
		c := Call{Model: t.model, Input: last.input, Output: last.output, Cached: timeline.Some(last.cached)}
		if !c.fits() {
			return
		}
		c.Output = max(c.Output, 1)
		if t.asked.IsZero() {
			t.asked = at
		}
		t.calls = append(t.calls, said{begin: t.asked, end: at, call: c})
		t.asked = at
	}
}

type codexUsage struct{ input, cached, output, total int64 }

func (s *scanner) codexUsage() (u codexUsage) {
	s.fill(fields{"input_tokens": &u.input, "cached_input_tokens": &u.cached, "output_tokens": &u.output, "total_tokens": &u.total})
	return u
}
