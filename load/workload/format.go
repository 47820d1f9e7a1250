package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tokenmeter/load/workload/records"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// format is what the columns of a file mean.
type format struct {
	name  string
	form  records.Form // empty: any
	unit  string       // of its times
	block int64        // tokens of a hash id
	fits  func(names []string) bool
	read  func(r *reading, row records.Row) (entry, error)
}

// formats is the table of formats, those that are told by their columns first.
var formats = []format{
	{name: "sharegpt", fits: hasAny("conversations", "conversation"), read: readShareGPT},
	{name: "bailian", unit: "s", block: 16, fits: sessions.Has("chat_id", "parent_chat_id", "input_length"), read: readGeneric},
	{name: "aiperf", form: records.JSONL, unit: "ms", fits: fitsAIPerf, read: readAIPerf},
	{name: "mooncake", unit: "ms", block: 512, fits: fitsMooncake, read: readMooncake},
	{name: "burstgpt", unit: "s", fits: sessions.Has("Timestamp", "Request tokens", "Response tokens"), read: readBurstGPT},
	{name: "azure", unit: "iso", fits: sessions.Has("TIMESTAMP", "ContextTokens", "GeneratedTokens"), read: readAzure},
	{name: "text", form: records.Text, fits: sessions.Has("text"), read: readGeneric},
	{name: "jsonl", fits: func([]string) bool { return true }, read: readJSONL},
	{name: "csv", form: records.CSV, read: readGeneric},
	{name: "parquet", form: records.Parquet, read: readGeneric},
}

// fitsMooncake: AIPerf's records may have texts or messages in place of lengths, need
// no length of the answer, and have no time where a session's turns have delays. Lengths
// with the ids of their blocks are Mooncake's with and without times, as for AIPerf and in
// NVIDIA Dynamo's recipes.
func fitsMooncake(names []string) bool {
	return sessions.Has("input_length", "hash_ids")(names) || dated(names) && hasAny("input_length", "output_length", "text_input", "hash_ids")(names)
}

// dated reports whether a time or a session is among the columns.
func dated(names []string) bool {
	return hasAny("timestamp", "session_id")(names) || timeColumn(names) != ""
}

// fitsAIPerf: AIPerf's own records of one turn. A column that we read and AIPerf does not,
// as max_tokens or time, makes them ours. Source: SingleTurn and MooncakeTrace in
// aiperf/dataset/loader/models.py of 0.13.0.
func fitsAIPerf(names []string) bool {
	if !hasAny("timestamp", "delay", "session_id")(names) {
		return false
	}
	own := hasAny("text", "messages")(names) && !hasAny("input_length", "text_input", "hash_ids")(names) && !foreign(names)
	return own || slices.Contains(names, records.Payload)
}

// foreign reports whether a column is one of those that we read and AIPerf does not.
func foreign(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		switch name {
		case "timestamp", "session_id", "text", "text_input", "messages", "input_length", "output_length", "hash_ids":
			return false
		}
		for _, of := range fields {
			if slices.Contains(of, name) {
				return true
			}
		}
		return false
	})
}

func hasAny(want ...string) func([]string) bool {
	return func(names []string) bool {
		return slices.ContainsFunc(want, func(w string) bool { return slices.Contains(names, w) })
	}
}

// formatOf finds a format by name, or by the columns of the first record.
func formatOf(name string, form records.Form, first records.Row) (*format, error) {
	if name != "" && name != "auto" {
		i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown format %q", name)
		}
		return &formats[i], nil
	}
	for i := range formats {
		f := &formats[i]
		if f.fits != nil && (f.form == "" || f.form == form) && f.fits(first.Names()) {
			return f, nil
		}
	}
	return nil, errors.New("the format can't be told")
}

// fields are our names for columns, with the names that files use for them.
var fields = map[string][]string{
	"prompt":   {"prompt", "text", "text_input", "question", "instruction"},
	"messages": {"messages"},
	"system":   {"system", "system_prompt"},
	"input":    {"input_tokens", "input_length", "prompt_tokens", "ContextTokens", "isl", "prompt_tokens_count", "num_prefill_tokens"},
	"output":   {"output_tokens", "max_tokens", "output_length", "max_completion_tokens", "completion_tokens", "GeneratedTokens", "osl", "output_tokens_count", "num_decode_tokens", "max_output_tokens", "max_new_tokens", "n_predict"},
	"time":     {"timestamp", "TIMESTAMP", "Timestamp", "time", "arrival_time", "arrived_at"},
	"session":  {"session", "session_id", "conversation_id", "Session ID"},
	"model":    {"model"},
	"priority": {"priority"},
	"answer":   {"answer", "expected", "check"},
	"hash_ids": {"hash_ids"},
}

// fieldNames lists our names for columns.
func fieldNames() []string {
	return slices.Sorted(maps.Keys(fields))
}

// reading is how the columns of one file are read.
type reading struct {
	columns map[string]string // what the user said
	unit    string
	besides
	dates timeline.Opt[bool] // the first record's time is a date, not a number; empty: it has none, or was not read yet
}

// get returns the value of one of our columns.
func (r *reading) get(row records.Row, field string) (any, bool) {
	if name, given := r.columns[field]; given {
		v, ok := row.Get(name)
		return v, ok && v != nil
	}
	for _, name := range fields[field] {
		if v, ok := row.Get(name); ok && v != nil {
			return v, true
		}
	}
	return nil, false
}

// readGeneric reads whatever of our columns a record has.
func readGeneric(r *reading, row records.Row) (e entry, err error) {
	for _, read := range []func(*reading, records.Row, *entry) error{readWhen, readLengths, readText, readRest} {
		if err := read(r, row, &e); err != nil {
			return e, err
		}
	}
	if e.messages == nil && e.turns == nil && !e.input.OK() {
		return e, fmt.Errorf(`want a "prompt", "text" or "messages" that is not empty, or a length to make one of; its columns are %s`, strings.Join(row.Names(), ", "))
	}
	return e, nil
}

func user(text string) []api.Message { return []api.Message{{Role: "user", Content: text}} }

func readWhen(r *reading, row records.Row, e *entry) error {
	into := &e.at
	v, ok := r.get(row, "time")
	if !ok {
		// Later turns in AIPerf's form of Mooncake's.
		into = &e.delay
		_, session := r.get(row, "session")
		if v, ok = row.Get("delay"); !ok || v == nil || !session || r.unit == "iso" {
			return nil
		}
	}
	at, err := moment(v, r.unit)
	if err != nil {
		return err
	}
	if into == &e.at {
		text, _ := v.(string)
		e.dated = strings.ContainsAny(text, ":T")
		if first, ok := r.dates.Get(); ok && first != e.dated {
			return fmt.Errorf("the time %v is written in another form than the first record's: either is a date, or both are numbers", v)
		}
	}
	*into = timeline.Some(at)
	return nil
}

func readLengths(r *reading, row records.Row, e *entry) (err error) {
	if v, ok := r.get(row, "input"); ok {
		if e.input, err = length(v); err != nil {
			return fmt.Errorf("input %w", err)
		}
	}
	if v, ok := r.get(row, "output"); ok {
		if n, notNumber := number(v); notNumber == nil && n == 0 && r.ofSession(row) {
			v = int64(1) // as AIPerf asks for such a turn: servers refuse 0, and those after it go on from it
		}
		if e.output, err = length(v); err != nil {
			return fmt.Errorf("an output length: %w", err)
		}
	}
	if v, ok := r.get(row, "hash_ids"); ok {
		if e.hashes, err = ids(v); err != nil {
			return fmt.Errorf("hash_ids: %w", err)
		}
	}
	return nil
}

func readText(r *reading, row records.Row, e *entry) (err error) {
	v, ok := r.get(row, "messages")
	if !ok {
		v, ok = r.get(row, "prompt")
		ok = ok && isConversation(v)
	}
	if ok {
		if e.messages, e.unsent, err = chat(v); err != nil {
			return err
		}
		e.context = wholeContext
	} else if v, ok := r.get(row, "prompt"); ok {
		text, isText := v.(string)
		if !isText {
			return errors.New("the prompt is no text")
		}
		if said := arenaTurns(row, text); said != nil {
			if e.turns, err = userTurns(said); err != nil {
				return err
			}
		} else if text != "" {
			e.messages = user(text)
		}
	} else if e.turns, err = listedTurns(row); err != nil && !e.input.OK() { // else a prompt is made
		return err
	}
	said := &e.messages
	if len(e.turns) > 0 {
		e.turns[0].messages = user(e.turns[0].user)
		said = &e.turns[0].messages
	}
	if v, ok := r.get(row, "system"); ok && *said != nil && (*said)[0].Role != "system" {
		text, isText := v.(string)
		if !isText {
			return errors.New("the system prompt is no text")
		}
		*said = append([]api.Message{{Role: "system", Content: text}}, *said...)
	}
	return nil
}

// arenaTurns are a user's turns where they stand under prompt as JSON text, beside those of two
// models' answers, as in LMSYS's arena (lmsys-arena-human-preference-55k); nil: they are none.
func arenaTurns(row records.Row, text string) (said []any) {
	if !hasAny("response_a")(row.Names()) || json.Unmarshal([]byte(text), &said) != nil {
		return nil
	}
	return said
}

// listedTurns reads what a user says turn by turn, as the questions of MT-Bench and Spec-Bench
// have it; nil where a record has none, or only a number of turns.
func listedTurns(row records.Row) (turns []turn, err error) {
	v, _ := row.Get("turns")
	if text, isText := v.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") { // in CSV
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("turns: %w", err)
		}
	}
	said, _ := v.([]any)
	return userTurns(said)
}

// userTurns are the texts of a user's turns, up to the first that is empty.
func userTurns(said []any) (turns []turn, err error) {
	for i, x := range said {
		text, isText := x.(string)
		if !isText {
			return nil, fmt.Errorf("turn %d is no text: write each of such turns as a record with session_id, text_input and, after the first, delay in ms, as AIPerf's conversations of Mooncake traces have them", i+1)
		}
		if text = strings.TrimSpace(text); text == "" {
			break
		}
		turns = append(turns, turn{user: text})
	}
	return turns, nil
}

// session is the name of a record's session; empty: it names none.
func (r *reading) session(row records.Row) string {
	v, ok := r.get(row, "session")
	if !ok {
		return ""
	}
	return fmt.Sprint(v)
}

func readRest(r *reading, row records.Row, e *entry) (err error) {
	e.session = r.session(row)
	if v, ok := row.Get("chat_id"); ok && e.session == "" {
		parent, _ := row.Get("parent_chat_id")
		e.chat, e.parent = fmt.Sprint(v), fmt.Sprint(parent)
	}
	if v, ok := r.get(row, "model"); ok && r.modelless {
		e.elsewhere = v != r.model
	} else if ok {
		e.model, _ = v.(string)
	}
	if v, ok := r.get(row, "priority"); ok {
		n, err := number(v)
		if err != nil {
			return fmt.Errorf("priority: %w", err)
		}
		e.extra = map[string]any{"priority": n}
	}
	if v, ok := r.get(row, "answer"); ok {
		if e.unchecked = !r.isAnswer && (anyHolds(v) || r.lacks(row)); !e.unchecked {
			e.check, err = answerCheck(v)
		}
	}
	return err
}

// readMooncake reads AIPerf's form of Mooncake's records too: whether one adds to its
// session's conversation, and further fields of its request.
func readMooncake(r *reading, row records.Row) (entry, error) {
	if r.unanswered(row) {
		return entry{}, skipZero
	}
	e, err := readGeneric(r, row)
	if err != nil {
		return e, err
	}
	v, said := row.Get("message_mode")
	if !said {
		v, said = row.Get("context_mode")
	}
	e.grows = true // _infer_context_mode in aiperf's mooncake_trace.py
	if mode, _ := v.(string); strings.HasPrefix(mode, "delta") {
		e.context = addsToContext
	} else if said && v != nil {
		e.context = wholeContext
	}
	return e, e.further(row)
}

// further reads what a record adds to its request under extra.
func (e *entry) further(row records.Row) (err error) {
	extra, ok := row.Get("extra")
	if !ok || extra == nil {
		return nil
	}
	further, isObject := extra.(map[string]any)
	if !isObject {
		return errors.New("extra: want an object of further fields of the request")
	}
	EachWritten(further, func(path string, by Writer) {
		if by != TheEnd { // which a record says nowhere else
			err = fmt.Errorf("extra: %s is a part of the request that the record, or the run, says: leave it out", path)
		}
	})
	e.extra = merged(e.extra, further)
	return err
}

// readJSONL reads records of ours, and those of AIPerf without times, which may have fields
// of the request under extra; of others nobody knows what stands there, and it is told.
func readJSONL(r *reading, row records.Row) (entry, error) {
	e, err := readGeneric(r, row)
	if err == nil && !foreign(row.Names()) && objectUnder(row, "extra") {
		err = e.further(row)
	}
	return e, err
}

// objectUnder reports whether a column holds an object. It is only looked at.
func objectUnder(row records.Row, name string) bool {
	if w, first := row.(*watched); first {
		row = w.Row
	}
	v, _ := row.Get(name)
	_, object := v.(map[string]any)
	return object
}

// readAIPerf reads a turn that is the whole prompt, whatever came before it in its session.
func readAIPerf(r *reading, row records.Row) (entry, error) {
	e, err := readMooncake(r, row)
	e.context = max(e.context, wholeContext)
	return e, err
}

func readAzure(r *reading, row records.Row) (entry, error) {
	if r.unanswered(row) {
		return entry{}, skipZero
	}
	return readGeneric(r, row)
}

// unanswered reports whether no token was answered when the trace was recorded, as
// where a request failed. A turn of a session is not left out.
func (r *reading) unanswered(row records.Row) bool {
	v, ok := r.get(row, "output")
	n, err := number(v)
	return ok && err == nil && n == 0 && !r.ofSession(row)
}

// ofSession reports whether a record is a turn of a session.
func (r *reading) ofSession(row records.Row) bool {
	_, session := r.get(row, "session")
	_, chat := row.Get("chat_id")
	return session || chat
}

// readBurstGPT skips requests that failed when they were recorded. The models
// of the trace are not those of the run.
func readBurstGPT(r *reading, row records.Row) (e entry, err error) {
	for name, into := range map[string]*timeline.Opt[int64]{"Request tokens": &e.input, "Response tokens": &e.output} {
		v, _ := row.Get(name)
		n, err := number(v)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		if n < 1 {
			return e, skipFailed
		}
		if *into, err = length(v); err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
	}
	e.session = r.session(row) // since BurstGPT's release 2.0, of conversations alone
	return e, readWhen(r, row, &e)
}

// speaker are the names under which ShareGPT's files say who speaks.
var speaker = []string{"from", "role", "user"}

// readShareGPT reads a conversation. One that does not begin with the user, or
// where somebody speaks twice or says nothing, is cut off there.
func readShareGPT(r *reading, row records.Row) (e entry, err error) {
	v, ok := row.Get("conversations")
	if !ok {
		v, _ = row.Get("conversation")
	}
	said, ok := v.([]any)
	if !ok {
		return e, errors.New("the conversation is no list")
	}
	why := skipEmpty // of a conversation of which nothing is left
	for i, item := range said {
		object, _ := item.(map[string]any)
		from := firstText(object, speaker...)
		text := firstText(object, "value", "content", "text")
		text = strings.TrimSpace(text)
		if !hasAny(speaker...)(slices.Collect(maps.Keys(object))) { // SGLang's sharegpt.py and custom.py go by the place
			from = []string{"user", "assistant"}[i%2]
		}
		switch from {
		case "system":
			if i == 0 {
				e.system = true
				continue
			}
		case "human", "user":
			if text != "" && (len(e.turns) == 0 || e.turns[len(e.turns)-1].answer != "") {
				e.turns, why = append(e.turns, turn{user: text}), skipUnheard
				continue
			}
		case "gpt", "chatgpt", "bing", "bard", "assistant", "model":
			if text != "" && len(e.turns) == 0 {
				why = skipAnswer
			}
			if n := len(e.turns); text != "" && n > 0 && e.turns[n-1].answer == "" {
				e.turns[n-1].answer = text
				continue
			}
		default:
			if len(e.turns) == 0 {
				why = skipUnknown
			}
		}
		break
	}
	if n := len(e.turns); n > 0 && e.turns[n-1].answer == "" {
		e.turns = e.turns[:n-1]
	}
	if len(e.turns) == 0 {
		return e, why
	}
	return e, nil
}

func firstText(object map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := object[name].(string); ok {
			return s
		}
	}
	return ""
}
