package workload

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// recording is a class's recorded sessions of agents.
type recording struct {
	file   *sessions.File
	maxGap time.Duration // 0: gaps are kept as they are
	speed  float64       // at which gaps are played; 0: 1

	mu    sync.Mutex
	last  *sessions.Session // that was read: an item is asked for more than once
	which int64
}

// openRecording opens a class's file where it is one of recorded sessions.
func (c *compiler) openRecording(out *class, k *Content, at func(string) string) {
	path := c.beside(k.File)
	named := slices.Contains(sessions.Formats(), k.Format)
	switch {
	case k.File == "":
		c.onlyRecorded(k, at)
		return
	case named:
	case k.Format != "" && k.Format != "auto", !mayBeRecording(path):
		c.onlyRecorded(k, at)
		return
	}
	format := ""
	if named {
		format = k.Format
	}
	file, err := sessions.Open(path, format)
	if !named && errors.Is(err, sessions.ErrUnknown) {
		c.onlyRecorded(k, at)
		return
	}
	if err != nil {
		c.Addf(at("file"), "%v", bare(path, err))
		out.recording = &recording{file: &sessions.File{}}
		return
	}
	for field, given := range map[string]bool{"turns": k.Turns != "", "sessions": k.Sessions, "order": k.Order == "random", "block": k.Block != 0, "output": k.Output != "", "system": k.System != "",
		"columns": k.Columns != nil, "time_in": k.TimeIn != "", "images": k.Images != nil, "video": k.Video != nil} {
		c.refuse(given, at(field), "recorded sessions are sent as they were: leave out %s", field)
	}
	for field, d := range map[string]time.Duration{"max_gap": k.MaxGap, "deadline": k.Deadline} {
		c.refuse(d < 0, at(field), "%s can't be negative", field)
	}
	out.recording = &recording{file: file, maxGap: k.MaxGap, which: -1}
	out.deadline = k.Deadline
	n := min(file.Len(), checkedAhead)
	if c.opt.Strict {
		n = file.Len()
	}
	for i := range n {
		if _, err := out.recording.session(i); err != nil {
			c.Addf(at("file"), "%v", err)
			return
		}
	}
}

// onlyRecorded refuses what only recorded sessions have.
func (c *compiler) onlyRecorded(k *Content, at func(string) string) {
	for field, given := range map[string]bool{"max_gap": k.MaxGap != 0, "deadline": k.Deadline != 0} {
		c.refuse(given, at(field), "%s is for recorded sessions of agents (format: %s)", field, strings.Join(sessions.Formats(), ", "))
	}
}

// checkedAhead is how many sessions are read before a run starts: one may have
// hundreds of megabytes.
const checkedAhead = 4

// mayBeRecording says by its name whether a file is worth a look.
func mayBeRecording(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return info.IsDir() || info.Mode()&fs.ModeType == 0 && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl"))
}

// session returns a session by its number in the file.
func (r *recording) session(i int64) (*sessions.Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.which == i {
		return r.last, nil
	}
	s, err := r.file.Session(i)
	if err != nil {
		return nil, err
	}
	r.last, r.which = s, i
	return s, nil
}

// times yields when the sessions began, since the first.
func (r *recording) times() iter.Seq2[time.Duration, error] {
	return func(yield func(time.Duration, error) bool) {
		for i := range r.file.Len() {
			s, err := r.session(i)
			if err != nil {
				yield(0, err)
				return
			}
			if !yield(s.At, nil) {
				return
			}
		}
	}
}

// item makes the requests of a session.
func (r *recording) item(c *class, it *Item) {
	s, err := r.of(it.Index)
	if err != nil {
		it.Err = err
		return
	}
	it.Kind = Session
	it.fill(r.steps(c, s, it.Index))
}

// of is the session that item i plays.
func (r *recording) of(i int64) (*sessions.Session, error) {
	n := r.file.Len()
	return r.session(around(i, n))
}

// steps are the requests of a session that item i plays. One that is played again has
// other texts, so that no cache knows it from before. What sessions share they share
// among those of the same time through the recording.
func (r *recording) steps(c *class, s *sessions.Session, i int64) []Step {
	steps := make([]Step, len(s.Calls))
	turns := make([]int, len(s.Agents))
	own := random.Mix(c.salt ^ random.Mix(uint64(i)))
	salt := own
	if s.Shared {
		salt = random.Mix(c.salt ^ random.Mix(uint64(i/r.file.Len())))
	}
	models, hits := r.models(c, s), s.Ideal()
	for k := range s.Calls {
		call := &s.Calls[k]
		steps[k] = Step{
			MaxTokens: timeline.Some(call.Output),
			After:     call.After,
			Wait:      r.gap(call.Gap),
			Agent:     s.Agents[call.Agent].Name,
			Turn:      turns[call.Agent],
			AgentNo:   call.Agent,
			ParentNo:  max(s.Agents[call.Agent].Parent, 0),
			Model:     models[call.Model],
		}
		turns[call.Agent]++
		if !c.live {
			steps[k].Reusable = timeline.Some(min(int64(hits[k])*s.Block, call.Input))
		}
		if k == 0 {
			steps[k].Wait = 0
		}
		step := &steps[k]
		if call.Messages != nil {
			step.texts(s, call)
			continue
		}
		if call.Continues >= 0 {
			step.Continue, step.Replays = timeline.Some(call.Continues), true
		}
		if !c.live || call.Continues < 0 {
			step.InputTokens = timeline.Some(call.Input)
		}
		step.Make = func(last bool) []api.Message { return c.blocks(s, salt, own, k, last) }
	}
	return steps
}

// texts gives a step its recorded texts: all of them, or what follows those of the
// call that it goes on with.
func (st *Step) texts(s *sessions.Session, call *sessions.Call) {
	st.Messages = call.Messages
	if call.Continues < 0 {
		return
	}
	before := s.Calls[call.Continues].Messages
	same := func(a, b api.Message) bool {
		return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && slices.Equal(a.ToolCalls, b.ToolCalls)
	}
	n := len(before)
	if n < len(call.Messages) && slices.EqualFunc(before, call.Messages[:n], same) && call.Messages[n].Role == "assistant" {
		st.Messages, st.Continue, st.Replays = call.Messages[n:], timeline.Some(call.Continues), true
	}
}

// gap is how long a recorded pause is played.
func (r *recording) gap(d time.Duration) time.Duration {
	if r.maxGap > 0 {
		d = min(d, r.maxGap)
	}
	if r.speed > 0 {
		d = time.Duration(float64(d) / r.speed)
	}
	return d
}

// models says which model stands for a recorded one: the first that the session
// names is the first of the workload's, and so on in turn. Without models all are
// the run's.
func (r *recording) models(c *class, s *sessions.Session) map[string]string {
	out := map[string]string{}
	if len(c.models) == 0 {
		return out
	}
	for _, call := range s.Calls {
		if _, known := out[call.Model]; !known {
			out[call.Model] = c.models[len(out)%len(c.models)]
		}
	}
	return out
}

// blocks makes what call k adds to the conversation that it goes on with: the
// recorded answer, as far as whole blocks tell it, and what follows. Equal ids are
// equal texts, so prompts share what the recorded ones shared. What is beyond the
// last whole block belongs to this request only, by the session's own salt.
func (c *class) blocks(s *sessions.Session, salt, own uint64, k int, last bool) []api.Message {
	call := &s.Calls[k]
	ids := s.IDs(k)
	from, answer := 0, 0
	if call.Continues >= 0 {
		from = s.Blocks(call.Continues)
		said := s.Calls[call.Continues].Output
		answer = min(int((said+s.Block-1)/s.Block), len(ids)-from-1)
	}
	var messages []api.Message
	if answer > 0 {
		messages = append(messages, api.Message{Role: "assistant", Content: c.blockTexts(salt, ids[from:from+answer], s.Block, int64(answer)*s.Block)})
	}
	ids = ids[from+max(answer, 0):]
	left := call.Input - int64(s.Blocks(k)-len(ids))*s.Block
	if !last {
		left = min(left, int64(len(ids))*s.Block)
	}
	said := c.blockTexts(salt, ids, s.Block, left)
	if rest := left - int64(len(ids))*s.Block; rest > 0 {
		if said != "" {
			said += " "
		}
		said += c.maker.make(own^partKey(k+1), int64(k), c.maker.span(rest))
	}
	return append(messages, api.Message{Role: "user", Content: said})
}

// blockTexts are the texts of ids, at most so many tokens of them.
func (c *class) blockTexts(salt uint64, ids []uint64, block, tokens int64) string {
	var b strings.Builder
	whole := c.maker.span(block)
	for _, id := range ids {
		if tokens <= 0 {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		part := whole
		if tokens < block {
			part = min(c.maker.span(tokens), whole)
		}
		b.WriteString(c.stretch(salt, int64(id), whole, part))
		tokens -= block
	}
	return b.String()
}
