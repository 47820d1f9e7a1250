package api

import "strings"

// This file reads values that several APIs share.

// problem reads the value of an error member; nil when it says that there is
// none: null, false, empty, or an object with neither words nor a code.
func (s *scan) problem() []byte {
	s.space()
	from := s.i
	none := s.nothing()
	if s.bad || none {
		return nil
	}
	return s.b[from:s.i]
}

// oneOrMore calls read for the next value, or for each element of it where it is
// an array. read must read or skip the value.
func (s *scan) oneOrMore(read func()) {
	if s.peek() != '[' {
		read()
		return
	}
	for range s.elements {
		read()
	}
}

// nothing passes over a value and reports whether it says nothing, or that all
// is well.
func (s *scan) nothing() bool {
	nothing := true
	switch s.peek() {
	case '{':
		for range s.members {
			nothing = s.nothing() && nothing
		}
	case '[':
		for range s.elements {
			nothing = s.nothing() && nothing
		}
	case '"':
		t, _ := s.text()
		return fine(t)
	case 'n', 'f':
		s.skip()
	case 't':
		s.skip()
		return false
	default:
		n, ok := s.integer()
		return ok && n == 0
	}
	return nothing
}

// fine reports whether a code or a message says that nothing is wrong.
func fine(t text) bool {
	switch strings.ToLower(string(t.raw)) {
	case "", "0", "200", "ok", "success":
		return true
	}
	return false
}

// baseResp reads the object in which MiniMax tells of an error within a reply of
// status 200; nil when it tells none.
func (s *scan) baseResp() []byte {
	s.space()
	from, failed := s.i, false
	for name := range s.members {
		if string(name) == "status_code" {
			n, ok := s.integer()
			failed = ok && n != 0
		} else {
			s.skip()
		}
	}
	if s.bad || !failed {
		return nil
	}
	return s.b[from:s.i]
}

// refusal finds an error in an event that is none of its API's: FastAPI's
// detail, a code with a message, and their like. It returns the bytes that hold
// the words; nil when there are none.
func refusal(data []byte) []byte {
	var c scan
	c.reset(data)
	var found []byte
	var words, coded, well, failed bool
	members := 0
	for name := range c.members {
		members++
		switch string(name) {
		case "detail", "errors", "fault", "error_message", "error_msg", "errorMessage":
			if raw := c.problem(); raw != nil {
				found = data
			}
		case "base_resp":
			if raw := c.baseResp(); raw != nil {
				found = raw
			}
		case "message", "Message", "msg":
			if c.peek() == '"' {
				t, _ := c.text()
				words = words || !fine(t)
			} else {
				c.skip()
			}
		case "code", "status_code", "statusCode", "error_code", "errcode", "errno":
			coded = true
			well = c.nothing() || well
		case "success":
			is, ok := c.boolean()
			failed = failed || ok && !is
		case "status":
			t, _ := c.text()
			failed = failed || t.is("error") || t.is("failed")
		case "request_id", "requestId", "id", "trace_id":
			c.skip()
			members--
		default:
			c.skip()
		}
	}
	switch {
	case !c.end():
		return nil
	case found != nil:
		return found
	case words && (failed || coded && !well || members == 1):
		return data
	}
	return nil
}

// object passes over an object and returns its bytes; nil when it is empty.
func (s *scan) object() []byte {
	from := s.i
	s.skip()
	if s.bad || s.i-from <= len("{}") {
		return nil
	}
	return s.b[from:s.i]
}

// length counts the elements of an array; notTold for any other value.
func (s *scan) length() int64 {
	if s.peek() != '[' {
		s.skip()
		return notTold
	}
	n := int64(0)
	for range s.elements {
		s.skip()
		n++
	}
	return n
}

// logprobs counts the tokens that a logprobs object lists, whatever its shape.
func (s *scan) logprobs() int64 {
	n := int64(notTold)
	for name := range s.members {
		switch string(name) {
		case "content", "refusal", "tokens":
			if l := s.length(); l != notTold {
				n = max(n, 0) + l
			}
		default:
			s.skip()
		}
	}
	return n
}
