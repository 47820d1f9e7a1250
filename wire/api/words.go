package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWords is how much of an unknown body a message quotes, in bytes.
const maxWords = 256

// errorWords finds the server's own words for an error: message, type and code,
// in the shapes that servers use. It is empty when the data has none of them.
func errorWords(data []byte) string {
	var c scan
	c.Reset(data)
	if c.Peek() == '[' { // Gemini wraps errors in an array
		c.Enter()
		if !c.Element() {
			return ""
		}
	}
	var e errorObject
	e.read(&c, 0)
	if c.Failed() {
		return ""
	}
	return e.String()
}

// errorObject collects what is said about an error.
type errorObject struct {
	message string
	text    string   // FastChat's words, or RFC 9457's title, where there is no message
	details []string // "code 500", "type server_error"
}

const (
	maxErrorDepth = 4
	maxDetails    = 8
)

func (e *errorObject) read(c *scan, depth int) {
	if depth == maxErrorDepth {
		c.Skip()
		return
	}
	switch c.Peek() {
	case '"':
		if t, ok := c.Text(); ok && e.message == "" {
			e.message = t.String()
		}
		return
	case '{':
	case '[':
		for range c.Elements {
			e.read(c, depth+1)
		}
		return
	default:
		c.Skip()
		return
	}
	for name := range c.Members {
		switch string(name) {
		case "error", "detail", "errors", "msg", "message", "Message", "error_message", "error_msg", "errorMessage", "fault", "faultstring", "base_resp", "status_msg":
			e.read(c, depth+1)
		case "text", "title":
			t, _ := c.Text()
			e.text = t.String()
		case "code", "type", "status", "error_type", "status_code", "reason", "error_code", "errcode", "errno", "param", "loc", "field":
			e.detail(string(name), c)
		}
	}
}

func (e *errorObject) detail(name string, c *scan) {
	if len(e.details) == maxDetails {
		c.Skip()
		return
	}
	var parts []string // loc is a path: ["body", "messages", 0, "name"]
	c.oneOrMore(func() {
		if c.Peek() == '"' {
			if t, ok := c.Text(); ok && !t.Empty() {
				parts = append(parts, t.String())
			}
		} else if n, ok := c.Integer(); ok {
			parts = append(parts, strconv.FormatInt(n, 10))
		}
	})
	if words := strings.Join(parts, "."); words != "" && !(name == "type" && words == "error") {
		e.details = append(e.details, name+" "+words)
	}
}

func (e *errorObject) String() string {
	message, details := oneLine(cut(cmp.Or(e.message, e.text), maxMessage)), oneLine(cut(strings.Join(e.details, ", "), maxWords))
	switch {
	case details == "":
		return message
	case message == "":
		return details
	}
	return message + " (" + details + ")"
}

// maxMessage is how much of a server's own message is kept, in bytes.
const maxMessage = 1024

// cut shortens s to n bytes at a character's start and marks that it did.
//
// It is not inlined: the copies made the lean binary 2 kB larger.
//
//go:noinline
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}

// quote shows the start of a body that is no known error.
func quote(data []byte) string {
	s := string(data[:min(len(data), maxWords+utf8.UTFMax)])
	return oneLine(strings.ToValidUTF8(cut(s, maxWords), "\uFFFD"))
}

// oneLine folds white space and control characters to single spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
}

// statusWords describes an answer that is not 2xx.
func statusWords(status int, header http.Header, body []byte) string {
	s := fmt.Sprintf("HTTP %d", status)
	if name := http.StatusText(status); name != "" {
		s += " " + name
	}
	if to := header.Get("Location"); to != "" && status >= 300 && status <= 399 {
		return s + ": redirected to " + to
	}
	words := wordsOf(body)
	if words != "" {
		s += ": " + words
	}
	switch {
	case skewed(words):
		s += "; the clocks of this machine and the server differ: set both by NTP"
	case strings.Contains(header.Get("X-Amzn-Errortype")+words, "ExpiredToken"), strings.Contains(words, "security token included in the request is expired"):
		s += "; Amazon's temporary keys have run out: export new ones"
	}
	return s
}

// skewed reports whether Amazon refused a signature by its time. It tells two times
// then: a gateway that says no more than "Signature expired" means a token that is
// stale, and no clock.
func skewed(words string) bool {
	for _, said := range [][2]string{
		{"Signature expired: ", " is now earlier than "}, {"Signature not yet current: ", " is still later than "}, {"RequestTimeTooSkewed", ""},
	} {
		if strings.Contains(words, said[0]) && strings.Contains(words, said[1]) {
			return true
		}
	}
	return false
}
