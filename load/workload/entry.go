package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tokenmeter/load/answer"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// entry is what a record of a file says of one request or conversation. What it
// does not say is empty.
type entry struct {
	at        timeline.Opt[time.Duration] // on the file's own clock
	delay     timeline.Opt[time.Duration] // after the end of the session's record before it, in place of a time
	messages  []api.Message
	turns     []turn // instead of messages
	input     timeline.Opt[int64]
	output    timeline.Opt[int64]
	hashes    []uint64
	system    bool     // a system turn was left out
	unsent    []string // members of its messages that hold something and are not sent
	dated     bool     // at was written as a date
	session   string
	context   context
	grows     bool   // where nothing is said of its context, it adds to its session's
	chat      string // of bailian: the record's own name, and that of the one it follows
	parent    string
	model     string
	extra     map[string]any
	check     *answer.Check
	elsewhere bool // it names a model that is not asked
	// unchecked: its answer is no check, as it is of more than what is sent, or one letter.
	unchecked bool
}

// context is what a record of a session is of its conversation.
type context uint8

const (
	contextUnsaid context = iota // the session decides
	wholeContext                 // all of the prompt
	addsToContext                // what it adds to the records before it and their answers
)

// turn is what was said to the model and what it answered.
type turn struct {
	user, answer string
	messages     []api.Message // instead of user
	calls        []api.ToolCall
}

// turnsOf cuts a recorded conversation behind each message of the assistant;
// nil where there is no such cut.
func turnsOf(messages []api.Message) (turns []turn) {
	var said []api.Message
	for _, m := range messages {
		if m.Role != "assistant" || len(said) == 0 {
			said = append(said, m)
			continue
		}
		turns = append(turns, turn{messages: said, answer: m.Content, calls: m.ToolCalls})
		said = nil
	}
	if len(said) > 0 && len(turns) > 0 {
		turns = append(turns, turn{messages: said})
	}
	return turns
}

// skip is why a record is not sent, of several records: public data sets have such.
type skip string

const (
	skipEmpty   skip = "hold nothing to send"
	skipFailed  skip = "failed when they were recorded"
	skipZero    skip = "have an answer of 0 tokens"
	skipAnswer  skip = "begin with an answer"
	skipUnheard skip = "have no answer to the first turn"
	skipUnknown skip = "begin with a speaker that is neither a user nor an assistant"
)

func (s skip) Error() string { return string(s) }

// skipped reports whether an error is that a record is not sent, and why.
func skipped(err error) (why skip, is bool) {
	is = errors.As(err, &why)
	return why, is
}

// number reads a whole number, as JSON, CSV and Parquet have it.
func number(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		return whole(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		x, err := v.Float64()
		if err != nil {
			return 0, err
		}
		return whole(x)
	case string:
		s := strings.TrimSpace(v)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n, nil
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no number", v)
		}
		return whole(x)
	}
	return 0, fmt.Errorf("%v is no number", v)
}

func whole(x float64) (int64, error) {
	if x != math.Trunc(x) || math.Abs(x) > 1e15 {
		return 0, fmt.Errorf("%v is no whole number", x)
	}
	return int64(x), nil
}

// ids reads a list of hash ids: numbers to 2^64 − 1, or texts; in CSV it is a text
// like [1, 2]. Only which of them are equal means anything.
func ids(v any) ([]uint64, error) {
	list := []uint64{}
	if text, ok := v.(string); ok {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("[], ;\"'\t\n", r) }) {
			list = append(list, hashID(part))
		}
		return list, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, errors.New("want a list of numbers or texts")
	}
	for _, x := range items {
		switch x := x.(type) {
		case string:
			list = append(list, hashID(x))
		case json.Number:
			if _, err := strconv.ParseUint(string(x), 10, 64); err != nil {
				return nil, fmt.Errorf("%s is no id: want a whole number from 0 to 2^64 − 1, or a text", x)
			}
			list = append(list, hashID(string(x)))
		case int64: // Parquet, also where the column is unsigned
			list = append(list, uint64(x))
		case uint64:
			list = append(list, x)
		default:
			return nil, fmt.Errorf("%v is no id: want a whole number from 0 to 2^64 − 1, or a text", x)
		}
	}
	return list, nil
}

// hashID is a number itself, and of another text a number that stands for it.
func hashID(text string) uint64 {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return saltOf(text)
}

// blocks says what is wrong with a number of hash ids: each stands for a block of
// the prompt, the last one also for a part of one, which some writers leave out.
func (e *entry) blocks(block int64) error {
	n, known := e.input.Get()
	if len(e.hashes) == 0 || block <= 0 || !known {
		return nil
	}
	have, whole, want := int64(len(e.hashes)), n/block, (n+block-1)/block
	if have > want || have < whole {
		return fmt.Errorf("%d hash_ids of %d tokens each for a prompt of %d tokens, which has %d such blocks: is the block size right (content.block)?",
			have, block, n, want)
	}
	return nil
}

// length reads a number of tokens.
func length(v any) (timeline.Opt[int64], error) {
	n, err := number(v)
	if err != nil {
		return timeline.Opt[int64]{}, err
	}
	if n < 1 || n > MaxTokens {
		return timeline.Opt[int64]{}, fmt.Errorf("a length of %d; want 1 to %d", n, MaxTokens)
	}
	return timeline.Some(n), nil
}

// chat reads a list of messages with a role and a content; in CSV and Parquet it
// may be a JSON text.
func chat(v any) (out []api.Message, unsent []string, err error) {
	if text, ok := v.(string); ok {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, nil, fmt.Errorf("messages: %w", err)
		}
	}
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil, nil, errors.New("messages: want a list that is not empty")
	}
	for i, item := range items {
		m, err := chatMessage(item)
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		out = append(out, m)
	}
	return out, unsentIn(items), nil
}

// isConversation reports whether a prompt is a list of messages, be it written as JSON text,
// as published sets have it: openai/mrcr, whose card reads it so, and verl's.
func isConversation(v any) bool {
	if text, ok := v.(string); ok && (!strings.HasPrefix(strings.TrimSpace(text), "[") || json.Unmarshal([]byte(text), &v) != nil) {
		return false
	}
	items, _ := v.([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		_, role := m["role"].(string)
		if _, content := m["content"]; !role || !content {
			return false
		}
	}
	return len(items) > 0
}

// answerCheck makes a check of an answer column: a number, a text that must be
// in the answer, or an object like check of a workload file. Of a worked solution as
// GSM8K has them, it is what stands behind ####.
func answerCheck(v any) (*answer.Check, error) {
	var spec answer.Spec
	switch v := v.(type) {
	case map[string]any:
		data, err := json.Marshal(v)
		if err == nil {
			err = strict(data, &spec)
		}
		if err != nil {
			return nil, fmt.Errorf("answer: %w; columns: {answer: none} in a workload file sends the questions alone", err)
		}
	case string:
		text := strings.TrimSpace(v)
		if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			if err := strict([]byte(text), &spec); err != nil {
				return nil, fmt.Errorf("answer: %w", err)
			}
			break
		}
		_, end, worked := strings.Cut(text, "#### ")
		if x, is := finite(text); is {
			spec.Number = &answer.Number{Value: x}
		} else if x, is := finite(end); worked && is {
			spec.Number = &answer.Number{Value: x}
		} else {
			spec.Contains = text
		}
	default:
		x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil {
			return nil, fmt.Errorf("answer: want a text, a number or an object like {\"exact\": …}; columns: {answer: none} in a workload file sends the questions alone")
		}
		spec.Number = &answer.Number{Value: x}
	}
	c, err := answer.Compile(spec)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if c == nil {
		return nil, errors.New("answer: it is empty")
	}
	return c, nil
}

// anyHolds reports whether an answer is the letter of a choice, which any English text holds.
func anyHolds(v any) bool {
	text, _ := v.(string)
	text = strings.TrimSpace(text)
	return len(text) == 1 && (text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
}

// finite reads a number, which may have commas between thousands.
func finite(text string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
