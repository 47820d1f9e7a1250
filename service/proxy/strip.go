package proxy

import (
	"bytes"
	"encoding/json"
)

// stripper removes the usage that a server sent because the proxy asked for it.
// An event that says nothing else goes whole; of one that holds a part of the
// answer, too, only the member goes. Every other byte passes as it came. An event
// that is cut by the end of a read waits for its rest, unless it grows large:
// nobody could have used a part of an event.
type stripper struct {
	held    []byte
	open    bool // the event in hand is let through to its end
	start   bool // at the start of a line
	cr      bool // the byte before was CR
	skipLF  bool // an event was removed that ended in CR
	removed int64
	unsure  bool // another content type than that of events: the first bytes tell
	none    bool // they told that there are no events
	ended   bool // a choice had its finish reason: who speaks is no news any more
	nulls   bool // "usage":null stands there because usage was asked for: it goes, too

	// What is seen on the way (manner):
	looking    bool
	trial      bool     // nothing was asked for, and nothing is taken out
	sought     [][]byte // names of members that a trial looks for
	foundMoved bool     // one of them was there
	nulled     bool     // "usage":null was there
	beside     bool     // usage came in an event with choices
	moved      [][]byte // names of members that came only with the usage
	shown      []byte   // while looking: the first event, and the last
	first      int      // length of the first
}

// mostHeld is how much of an unfinished event is held back.
const mostHeld = 64 << 10

func newStripper() *stripper { return &stripper{start: true} }

// feed takes the bytes of one read and calls write with what passes.
func (s *stripper) feed(data []byte, write func([]byte) error) error {
	if begin := bytes.TrimLeft(data, "\ufeff \r\n"); s.unsure && len(begin) > 0 {
		s.unsure, s.none = false, !bytes.ContainsRune([]byte("deir:"), rune(begin[0])) // data, event, id, retry, a comment
	}
	if s.none {
		return write(data)
	}
	if s.skipLF && len(data) > 0 {
		if s.skipLF = false; data[0] == '\n' {
			data = data[1:]
			s.cr = false
		}
	}
	if len(s.held) == 0 {
		n, err := s.scan(data, 0, write)
		if err != nil {
			return err
		}
		s.held = append(s.held, data[n:]...)
		return nil
	}
	s.held = append(s.held, data...)
	from := len(s.held) - len(data)
	n, err := s.scan(s.held, from, write)
	if rest := s.held[n:]; cap(s.held) > mostFrame && len(rest) <= mostFrame {
		s.held = append([]byte(nil), rest...) // streams that wait hold little
	} else {
		s.held = append(s.held[:0], rest...)
	}
	return err
}

// scan looks for ends of events in data[from:] and returns how much of data
// is dealt with. Runs of events that stay are written at once.
func (s *stripper) scan(data []byte, from int, write func([]byte) error) (done int, err error) {
	event := 0 // where the event in hand begins
	for i := from; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n' && s.cr:
			s.cr = false // the second half of a line's end
			if event == i && !s.open {
				event = i + 1 // of the event before
			}
		case c == '\n' || c == '\r':
			blank := s.start
			s.start, s.cr = true, c == '\r'
			if !blank {
				continue
			}
			from, to := 0, 0
			if !s.open {
				from, to = s.injected(data[event : i+1])
			}
			if whole := to == i+1-event; to > 0 {
				if done < event+from {
					if err := write(data[done : event+from]); err != nil {
						return done, err
					}
				}
				done = event + to
				s.removed++
				if !whole {
					s.open, event = false, i+1
					continue
				}
				if c == '\r' {
					if i+1 == len(data) {
						s.skipLF = true
					} else if data[i+1] == '\n' {
						i++
						done++
						s.cr = false
					}
				}
			}
			s.open = false
			event = i + 1
		default:
			s.start, s.cr = false, false
		}
	}
	if !s.open && len(data)-event > mostHeld {
		s.open = true
	}
	if s.open {
		event = len(data)
	}
	if done < event {
		if err := write(data[done:event]); err != nil {
			return done, err
		}
		done = event
	}
	return done, nil
}

// end returns what is still held. whole: the reply is; its last event may lack the blank
// line behind it.
func (s *stripper) end(whole bool, write func([]byte) error) error {
	if len(s.held) == 0 {
		return nil
	}
	held := s.held
	s.held = nil
	if from, to := s.injected(held); whole && to > 0 {
		s.removed++
		held = append(held[:from], held[to:]...)
	}
	return write(held)
}

// injected tells which part of an event is usage that nobody asked for: all of it
// where it says nothing else, its member where it does; none: from and to are 0.
func (s *stripper) injected(event []byte) (from, to int) {
	for _, name := range s.sought { // by a trial
		s.foundMoved = s.foundMoved || bytes.Contains(event, name)
	}
	ended := s.ended
	s.ended = s.ended || finishes(event)
	if !bytes.Contains(event, []byte(`"usage"`)) {
		s.show(event)
		return 0, 0
	}
	var data []byte
	at, lines := 0, 0 // where the data stands in the event, of so many lines
	for i := 0; i < len(event); {
		end := i + bytes.IndexAny(event[i:], "\r\n")
		if end < i {
			end = len(event)
		}
		if value, ok := bytes.CutPrefix(event[i:end], []byte("data:")); ok {
			if at = end - len(value); lines > 0 {
				value = append(bytes.Clone(data), value...)
			}
			data = value
			lines++
		}
		i = end + 1
	}
	usage, choices, failed, null := span{}, span{}, false, false
	more := false         // it has members that say something
	var before, after int // ends of the members beside it
	end, err := eachMember(data, 0, func(key []byte, v span) {
		switch string(key) {
		case "choices":
			choices = v
		case "error":
			failed = true
		case "id", "object", "created", "model", "provider", "service_tier", "system_fingerprint":
		case "usage":
			isNull := data[v.from] == 'n'
			s.nulled = s.nulled || isNull
			if usage.to == 0 && (data[v.from] == '{' || isNull && s.nulls) {
				usage, after, null = v, -1, isNull
				return
			}
		default:
			more = more || saysSomething(data[v.from:v.to])
		}
		if usage.to == 0 {
			before = v.to
		} else if after < 0 {
			after = v.to
		}
	})
	switch {
	case err != nil || usage.to == 0 || s.trial:
		s.show(event)
		return 0, 0
	case null:
		s.show(event)
	case choices.to > 0 || !failed && !more: // Fireworks and ATOM may leave choices out; clients read them in every chunk
		s.beside = s.beside || bytes.IndexByte(data[choices.from:choices.to], '{') >= 0
		if failed || choices.to > 0 && !nothingChosen(data[choices.from:choices.to], ended) {
			break
		}
		if s.looking {
			_, _ = eachMember(data, 0, func(key []byte, _ span) { s.others(key) })
		}
		return 0, len(event)
	}
	switch {
	case lines != 1:
		return 0, 0 // the member may stand in several lines
	case before > 0: // with the comma before it
		return at + before, at + usage.to
	case after > 0: // with the comma behind it
		first := skipSpace(data, bytes.IndexByte(data, '{')+1)
		next := skipSpace(data, usage.to)
		return at + first, at + next + 1
	case skipSpace(data, end+1) == len(data):
		return 0, len(event) // there is nothing else
	}
	return 0, 0
}

// saysSomething reports whether a value of JSON is more than null, an empty text, list or object.
func saysSomething(raw []byte) bool {
	switch raw[0] {
	case 'n':
		return false
	case '"', '[', '{':
		return len(bytes.TrimSpace(raw[1:])) > 1
	}
	return true
}

// show keeps what an event without usage looks like.
func (s *stripper) show(event []byte) {
	if !s.looking || len(event) > mostHeld {
		return
	}
	if s.shown = append(s.shown[:s.first], event...); s.first == 0 {
		s.first = len(event)
	}
}

// finishes reports whether a choice of an event has its finish reason.
func finishes(event []byte) bool {
	const name = `"finish_reason"`
	for {
		at := bytes.Index(event, []byte(name))
		if at < 0 {
			return false
		}
		event = bytes.TrimLeft(event[at+len(name):], ": ")
		if len(event) > 0 && event[0] == '"' {
			return true
		}
	}
}

// nothingChosen reports whether a list of choices brings nothing: it is empty, or
// their deltas are and none has ended. ended: the answer has, and a role says nothing.
func nothingChosen(raw []byte, ended bool) bool {
	var choices []struct {
		Delta, Message map[string]json.RawMessage
		Text           *string
		FinishReason   *string `json:"finish_reason"`
		StopReason     any     `json:"stop_reason"`
		Logprobs       any
	}
	if json.Unmarshal(raw, &choices) != nil {
		return false
	}
	for _, c := range choices {
		for name, v := range c.Delta {
			if ended && name == "role" {
				continue
			}
			if text := string(v); text != "null" && text != `""` && text != "[]" {
				return false
			}
		}
		if len(c.Message) > 0 || c.Text != nil && *c.Text != "" || c.FinishReason != nil && *c.FinishReason != "" || c.StopReason != nil || c.Logprobs != nil {
			return false
		}
	}
	return true
}
