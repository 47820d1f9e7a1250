package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tokenmeter/load/workload/records"
)

// unsentParts are columns under which public data sets and other tools have parts of a
// request that are not read: a text beside the instruction, what the answer is one of
// (MMLU, ARC, CommonsenseQA; MMLU-Pro, MedMCQA; LongBench v2; HellaSwag), what a question
// is about (SQuAD, RACE, BoolQ), pictures, tools.
var unsentParts = []string{
	"context", "input", "documents", "history", "tools", "functions", "response_format",
	"choices", "options", "choice_A", "endings", "passage", "article",
	"NumImages", "image", "images", "image_files", "image_url", "video", "videos", "video_files", "audio", "audios", "audio_files",
}

// unsentSettings say how a request is answered. They are not sent either.
var unsentSettings = []string{
	"temperature", "top_p", "top_k", "min_p", "n", "best_of", "stop", "seed", "min_tokens", "ignore_eos",
	"presence_penalty", "frequency_penalty", "repetition_penalty", "sampling_params", "extra_body", "extra",
}

// unsentMembers are members of a message, or of a part of one, that agents and gateways
// write for servers to read and that are not sent: an assistant's reasoning (which
// DeepSeek, Kimi and others want back), what a cache shall keep (Anthropic), how closely
// a picture is looked at (OpenAI), an answer that is to be gone on with (DeepSeek, Moonshot).
var unsentMembers = []string{
	"reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks",
	"cache_control", "detail", "citations", "audio", "function_call", "prefix", "partial",
}

// unsentIn lists which of them the messages of a record hold, each once.
func unsentIn(messages []any) (names []string) {
	var look func(place string, v any)
	look = func(place string, v any) {
		object, _ := v.(map[string]any)
		for _, name := range unsentMembers {
			if full := place + name; holdsSomething(object[name]) && !slices.Contains(names, full) {
				names = append(names, full)
			}
		}
		parts, _ := object["content"].([]any)
		for _, part := range parts {
			look(place+"content.", part)
		}
		if object["image_url"] != nil {
			look(place+"image_url.", object["image_url"])
		}
	}
	for _, m := range messages {
		look("messages.", m)
	}
	return names
}

// unsent are those of a file's columns that hold something and are not sent.
type unsent struct {
	parts  []string         // that mean something in the file's format
	held   map[string]int64 // how many records had something in a part or a setting
	read   map[string]bool  // columns of the first records that were read
	unread map[string]bool  // and those that some record had and nothing read
}

func unsentOf(format string) unsent {
	u := unsent{parts: unsentParts, held: map[string]int64{}, read: map[string]bool{}, unread: map[string]bool{}}
	if format == "sharegpt" { // whose system turns are not sent either
		u.parts = append([]string{"system", "system_prompt"}, u.parts...)
	}
	return u
}

// watched is a record that notes which of its columns are read.
type watched struct {
	records.Row
	read map[string]bool
}

// Get implements Row.
func (w *watched) Get(name string) (any, bool) {
	v, ok := w.Row.Get(name)
	if ok && v != nil {
		outer, _, _ := strings.Cut(name, ".")
		w.read[name], w.read[outer] = true, true
	}
	return v, ok
}

// look notes what a record has and nothing reads. Only the first records are watched;
// of those behind them known columns are counted.
func (u *unsent) look(row records.Row) {
	if w, first := row.(*watched); first {
		row = w.Row
		for _, name := range row.Names() {
			if v, ok := row.Get(name); ok && v != nil && !u.read[name] {
				u.unread[name] = true
			}
		}
	}
	for name := range u.unread {
		if v, ok := row.Get(name); ok && v != nil && u.holds(name, v) {
			u.held[name]++
		}
	}
}

// holds reports whether a column's value should have been sent.
func (u *unsent) holds(name string, v any) bool {
	switch {
	case slices.Contains(unsentSettings, name):
		return v != ""
	case !slices.Contains(u.parts, name):
		return false
	case name == "NumImages": // a count, in Azure's traces of pictures
		n, err := length(v)
		return err == nil && n.Or(0) > 0
	}
	return holdsSomething(v) // a number under the name of a text is a length
}

func holdsSomething(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// lacks reports whether a record has a part of its request that is not sent, so that its
// answer is of more than what is.
func (r *reading) lacks(row records.Row) bool {
	if w, first := row.(*watched); first {
		row = w.Row // it is only looked at
	}
	for _, name := range unsentParts {
		if v, ok := row.Get(name); ok && holdsSomething(v) && !slices.Contains(slices.Collect(maps.Values(r.columns)), name) {
			return true
		}
	}
	return false
}

// columns lists the columns of the first records that nothing reads, but those whose
// contents LeftOut tells and names of records.
func (u *unsent) columns() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(u.unread)) {
		if !u.read[name] && u.held[name] == 0 && name != "id" && name != "request_id" {
			names = append(names, name)
		}
	}
	return names
}

// mostColumns bounds how many columns are named.
const mostColumns = 20

// Remarks are what should be known of how the files are read, beside what LeftOut says.
func (l *Loaded) Remarks() (out []string) {
	if t := l.Spec.When.Trace; t != nil && *t == (TraceSpec{}) && !l.Timed {
		out = append(out, "when.trace changes nothing: the file has no times that are played")
	}
	for i, c := range l.classes {
		s := c.source
		if s == nil {
			continue
		}
		s.mu.Lock()
		if text := l.idleFields(i); text != "" {
			out = append(out, text)
		}
		names := s.unsent.columns()
		if len(s.unsent.read) > 0 && s.block <= 0 && s.unsent.read["hash_ids"] {
			names = append(names, "hash_ids (which need block)")
		}
		if n := len(names); n > 0 {
			names = names[:min(n, mostColumns)]
			if n > mostColumns {
				names = append(names, fmt.Sprintf("and %d more", n-mostColumns))
			}
			out = append(out, "columns of the file that are not used: "+strings.Join(names, ", "))
		}
		if s.guessed && (s.timed || s.delayed && s.sessions != nil && s.format.name == "aiperf") {
			out = append(out, "the file's times are taken for milliseconds, as in Mooncake's traces and AIPerf's files; GuideLLM's and other JSONL's are seconds, which time_in: s says in a workload file")
		}
		if s.named > 0 && s.sessions == nil {
			out = append(out, "records name sessions, and each is sent on its own: with sessions: true in a workload file the turns of one wait for each other")
		}
		if s.elsewhere > 0 {
			out = append(out, fmt.Sprintf("records that name a model of their own, which is not asked, as far as the file was read: %d (columns: {model: NAME} in a workload file asks it)", s.elsewhere))
		}
		if s.answered > 0 && c.turns.IsZero() && c.batch == nil {
			out = append(out, fmt.Sprintf("records that end with an answer, as far as the file was read: %d; it is sent too, so that the model goes on with it (with turns: they are sent turn by turn)", s.answered))
		}
		s.mu.Unlock()
	}
	return out
}
