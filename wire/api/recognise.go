package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Sign is a set of conditions that together show which API a reply belongs to.
// A condition is a path of member names from the top of an event's JSON,
// "choices/delta" (arrays are entered at their first element), or a path with
// the string that stands there, "type=response.*", a * standing for any rest.
type Sign []string

// Recognise tells the API from the first bytes of a reply's body, after content
// decoding. It returns nil when no sign is found.
func Recognise(body []byte) *API {
	var found *API
	look := func(e framing.Event) error {
		var value any
		if found == nil && json.Unmarshal(e.Data, &value) == nil {
			found = recogniseValue(value)
		}
		return nil
	}
	var framer framing.Framer = framing.NewSSE(0)
	if bytes.HasPrefix(body, []byte{0}) { // the length of a message
		framer = framing.NewEventStream(0)
	}
	if first := bytes.TrimLeft(body, " \t\r\n\ufeff"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		framer = framing.NewLines(0)
		_ = look(framing.Event{Data: body})
	}
	_ = framer.Feed(body, look) // what is cut short is told by what came before
	_, _ = framer.Close(look)
	return found
}

// Reread reads a reply of status 200 of which only the bytes were kept: what came, and what
// became of it, is told as if all of it had come at once. It returns nil for a body of no
// known API that says nothing of an error.
func Reread(body string) *timeline.Timeline {
	data := []byte(body)
	if begun, _ := begins(data, OpenAIChat); begun == foreign {
		return nil
	}
	a := Recognise(data)
	known := a != nil
	if !known {
		a = OpenAIChat // whose errors are those of many
	}
	tl := timeline.New()
	s := NewStream(tl, a, StreamOptions{})
	s.Head(0, Head{Status: http.StatusOK})
	s.Read(0, 0, data)
	s.End(0, timeline.EOF, nil, nil)
	if !known && tl.Outcome != timeline.StreamError {
		return nil
	}
	return tl
}

func recogniseValue(value any) *API {
	for _, a := range All {
		for _, sign := range a.Signs {
			if sign.Holds(value) {
				return a
			}
		}
	}
	return nil
}

// Holds reports whether a JSON value, as encoding/json reads it, has all of the sign.
func (s Sign) Holds(value any) bool {
	for _, condition := range s {
		path, want, exact := strings.Cut(condition, "=")
		at, ok := Follow(value, strings.Split(path, "/"))
		if !ok {
			return false
		}
		if !exact {
			continue
		}
		got, isText := at.(string)
		prefix, open := strings.CutSuffix(want, "*")
		if !isText || got != want && !(open && strings.HasPrefix(got, prefix)) {
			return false
		}
	}
	return true
}

// Follow goes down a JSON value by the names of members; a list is entered at its
// first element. False: there is nothing at that place.
func Follow(value any, path []string) (any, bool) {
	for _, name := range path {
		if list, ok := value.([]any); ok {
			if len(list) == 0 {
				return nil, false
			}
			value = list[0]
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[name]; !ok {
			return nil, false
		}
	}
	return value, true
}
