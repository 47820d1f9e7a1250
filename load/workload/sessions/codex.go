package sessions

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// codex reads rollout files of Codex: lengths and times, no contents. A thread that
// names its parent is a sub-agent of that one's session. What a thread has copied of the
// one that it was forked from is no request of its own.
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

	began, before time.Time // of the first line, and of the one before
	copying       bool      // lines are of the thread that this one was forked from
}

// copied is how near to each other the lines of a copied history are: they are written
// in one go, and stamped then (ccusage, issue 897; t3code, pull request 5887). Some
// copies have their old times, from before the thread began.
const copied = time.Second

func (t *codexThread) line(s *scanner) {
	var kind, stamp string
	var id, parent, spawner, fork, model, what, role loose
	var last codexUsage
	total, info := int64(-1), false
	s.fill(fields{"timestamp": &stamp, "type": &kind, "payload": fields{
		"type": &what, "role": &role, "id": &id, "model": &model, "parent_thread_id": &parent, "forked_from_id": &fork,
		"source": fields{"subagent": fields{"thread_spawn": fields{"parent_thread_id": &spawner}}},
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
	if !at.Before(t.began) && at.Sub(t.before) >= copied {
		t.copying = false
	}
	t.before = at
	switch {
	case kind == "session_meta" && !t.began.IsZero(): // again, or of the thread that is copied
		t.copying = t.copying || string(id) != t.id
	case kind == "session_meta":
		t.id, t.parent = cmp.Or(string(id), t.id), string(cmp.Or(parent, spawner))
		t.began, t.copying = at, fork != ""
	case kind == "turn_context":
		t.model, t.asked = string(model), at
	case kind == "response_item" && (strings.HasSuffix(string(what), "_output") || what == "message" && role != "assistant"):
		t.asked = at
	case kind == "event_msg" && (what == "user_message" || what == "task_started"):
		t.asked = at
	case kind == "event_msg" && what == "token_count" && info && total != t.counted:
		t.counted = total
		if t.copying {
			return
		}
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
