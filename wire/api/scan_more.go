package api

import (
	"strings"

	"tokenmeter/wire/jsonscan"
)

// scan is a scanner that also reads the values several APIs share.
type scan struct {
	jsonscan.Scanner
	summed   bool    // thoughts found a summary
	thought  bool    // and thoughts named as such
	wide     bool    // reasoning had text beyond ASCII, or perhaps, in escapes
	signed   bool    // thoughts found a signature as long as Claude's
	sealed   bool    // thoughts found a part of Claude's whose words are kept back
	withheld bool    // thoughts found such a part and not whose it is
	unread   *unread // of the reply; nil: nobody asks
}

// problem reads the value of an error member; nil when it says that there is
// none: null, false, empty, or an object with neither words nor a code. Where it is
// no more than true or a number, the words stand beside it: all of the text is
// returned.
func (s *scan) problem() []byte {
	first := s.Peek()
	from := s.Place()
	none := s.nothing()
	switch {
	case s.Failed() || none:
		return nil
	case first == '{' || first == '[' || first == '"':
		return s.Since(from)
	}
	return s.Whole()
}

// oneOrMore calls read for the next value, or for each element of it where it is
// an array. read must read or skip the value.
func (s *scan) oneOrMore(read func()) {
	if s.Peek() != '[' {
		read()
		return
	}
	for range s.Elements {
		read()
	}
}

// reason reads why an answer ended: a word, or SGLang's object with a type. The
// word "null" is a null that was made text.
func (s *scan) reason() (t jsonscan.Text) {
	if s.Peek() == '{' {
		s.under("type", func() { t, _ = s.Text() })
	} else if t, _ = s.Text(); t.Is("null") {
		t = jsonscan.Text{}
	}
	return t
}

// ahead is a text of the object that comes, wherever among its members it stands: those of
// JSON have no order, and what is written by sorted names has type behind text. A reader
// that calls itself for what lies within has to end somewhere: each level is passed over once more.
func (s *scan) ahead(name string) (t jsonscan.Text) {
	if s.Peek() == '{' {
		from := s.Scanner
		s.under(name, func() { t, _ = s.Text() })
		s.Scanner = from
	}
	return t
}

// nothing passes over a value and reports whether it says nothing, or that all
// is well.
func (s *scan) nothing() bool {
	nothing := true
	switch s.Peek() {
	case '{':
		for range s.Members {
			nothing = s.nothing() && nothing
		}
	case '[':
		for range s.Elements {
			nothing = s.nothing() && nothing
		}
	case '"':
		t, _ := s.Text()
		return fine(t)
	case 'n', 'f':
		s.Skip()
	case 't':
		s.Skip()
		return false
	default:
		n, ok := s.Integer()
		return ok && n == 0
	}
	return nothing
}

// fine reports whether a code or a message says that nothing is wrong; null and None are
// those of gateways that made text of them.
func fine(t jsonscan.Text) bool {
	switch strings.ToLower(string(t.Raw)) {
	case "", "0", "200", "ok", "success", "null", "none":
		return true
	}
	return false
}

// baseResp reads the object in which MiniMax tells of an error within a reply of
// status 200; nil when it tells none.
func (s *scan) baseResp() []byte {
	s.Space()
	from, failed := s.Place(), false
	s.under("status_code", func() {
		n, ok := s.Integer()
		failed = ok && n != 0
	})
	if s.Failed() || !failed {
		return nil
	}
	return s.Since(from)
}

// refusal finds an error in an event that is none of its API's: FastAPI's
// detail, a code with a message, and their like. It returns the bytes that hold
// the words; nil when there are none.
func refusal(data []byte) []byte {
	var c scan
	c.Reset(data)
	var found []byte
	var words, titled, coded, well, failed, status bool
	members := 0
	for name := range c.Members {
		members++
		switch string(name) {
		case "error", "detail", "errors", "fault", "error_message", "error_msg", "errorMessage":
			if raw := c.problem(); raw != nil {
				found = data
			}
		case "base_resp":
			if raw := c.baseResp(); raw != nil {
				found = raw
			}
		case "title": // RFC 9457's words beside a status; a conversation has one, too
			c.Skip()
			titled = true
		case "message", "Message", "msg":
			if c.Peek() == '"' {
				t, _ := c.Text()
				words = words || !fine(t)
			} else {
				c.Skip()
			}
		case "code", "status_code", "statusCode":
			coded = true
			well = c.nothing() || well
		case "error_code", "errcode", "errno": // whatever its words are called: FastChat's stand in text
			coded = true
			if ok := c.nothing(); ok {
				well = true
			} else {
				found = data
			}
		case "success":
			is, ok := c.Boolean()
			failed = failed || ok && !is
		case "status": // a word, or HTTP's (GigaChat)
			if c.Peek() == '"' {
				t, _ := c.Text()
				failed = failed || t.Is("error") || t.Is("failed")
			} else if n, ok := c.Integer(); ok {
				status = status || n >= 400
			}
		case "request_id", "requestId", "id", "trace_id":
			c.Skip()
			members--
		}
	}
	switch {
	case !c.End():
		return nil
	case found != nil:
		return found
	case titled && status, words && (status || failed || coded && !well || members == 1):
		return data
	}
	return nil
}

// object passes over an object or a list and returns its bytes; nil when it is empty.
func (s *scan) object() []byte {
	from := s.Place()
	s.Skip()
	if s.Failed() || s.Place()-from <= len("{}") {
		return nil
	}
	return s.Since(from)
}

// written reads what a model wrote for a tool: a text, or an object or a list as it
// stands, unless it is empty.
func (s *scan) written() jsonscan.Text {
	if c := s.Peek(); c == '{' || c == '[' {
		return jsonscan.Text{Raw: s.object()}
	}
	t, _ := s.Text()
	return t
}

// under reads one member of an object.
func (s *scan) under(name string, read func()) {
	for member := range s.Members {
		if string(member) == name {
			read()
		}
	}
}

// length counts the elements of an array; notTold for any other value.
func (s *scan) length() int64 {
	if s.Peek() != '[' {
		s.Skip()
		return notTold
	}
	n := int64(0)
	for range s.Elements {
		s.Skip()
		n++
	}
	return n
}

// logprobs counts the tokens that a logprobs object lists, whatever its shape.
func (s *scan) logprobs() int64 {
	n := int64(notTold)
	for name := range s.Members {
		switch string(name) {
		case "content", "refusal", "tokens":
			if l := s.length(); l != notTold {
				n = max(n, 0) + l
			}
		}
	}
	return n
}
