package sessions

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// claude reads session logs of Claude Code, also those of sub-agents in files of
// their own: lengths and times, no contents. The vendor calls the records internal;
// this is their shape as txcript (docs/formats/claude-code.md) found it.
//
// A log has no starts of requests: a request begins with the line in front of its
// answer, which is what the user said or a tool found.
//
// A session that was forked, or by older versions resumed, begins with the lines of the
// one before, copied with the ids of their messages: these were asked once.
func claude(files []*os.File) ([]*Session, error) {
	var calls []said
	known := map[string]bool{}
	for _, in := range files {
		from := claudeFile{in: in.Name(), known: known, asked: map[string]time.Time{}, at: map[string]int{}}
		if err := lines(in, from.line); err != nil {
			return nil, err
		}
		calls = append(calls, from.calls...)
		for _, line := range from.own {
			known[line] = true
		}
	}
	return logged(calls)
}

type claudeFile struct {
	in    string
	known map[string]bool      // lines of other files by id and time, and ids of what is marked as copied
	own   []string             // lines of this file
	asked map[string]time.Time // when the model was asked last, by agent
	at    map[string]int       // calls by the ids of their messages: an answer may be several lines
	calls []said
}

func (f *claudeFile) line(s *scanner) {
	var kind, session, agent, stamp, id, model string
	var sidechain, copied bool
	var in, read, written, out int64
	s.fill(fields{"type": &kind, "sessionId": &session, "agentId": &agent, "timestamp": &stamp, "isSidechain": &sidechain,
		"forkedFrom": func() { copied = s.peek() == '{' },
		"message": fields{"id": &id, "model": &model, "usage": func() {
			s.fill(fields{"input_tokens": &in, "cache_read_input_tokens": &read, "cache_creation_input_tokens": &written, "output_tokens": &out})
		}}})
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if s.err != nil || err != nil || kind != "user" && kind != "assistant" {
		return
	}
	session = cmp.Or(session, strings.TrimSuffix(filepath.Base(f.in), ".jsonl"))
	if sidechain {
		agent = cmp.Or(agent, "sidechain")
	} else {
		agent = ""
	}
	if kind == "user" {
		f.asked[agent] = at
		return
	}
	// Servers of one's own may give the same id again: a copy has the time, too.
	line := id + " " + stamp
	if copied {
		f.known[id] = true
	}
	if copied || id != "" && (f.known[id] || f.known[line]) {
		f.asked[agent] = at
		return
	}
	f.own = append(f.own, line)
	c := Call{Model: model, Input: in + read + written, Output: out, Cached: timeline.Some(read)}
	if !c.fits() || model == "<synthetic>" {
		return
	}
	c.Output = max(c.Output, 1)
	if k, again := f.at[id]; again && id != "" { // a further line of the same answer
		f.calls[k].end = at
		f.calls[k].call.Output = max(f.calls[k].call.Output, c.Output)
		return
	}
	begin, asked := f.asked[agent]
	if !asked {
		begin = at
	}
	f.at[id] = len(f.calls)
	f.calls = append(f.calls, said{session: session, agent: agent, begin: begin, end: at, call: c})
	f.asked[agent] = at
}
