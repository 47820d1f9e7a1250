package client

import (
	"bytes"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
)

// feedHead takes bytes of a head and returns those that follow it. A head that
// comes in one piece is not copied.
func (r *response) feedHead(data []byte) ([]byte, error) {
	if len(r.kept) == 0 {
		data = bytes.TrimLeft(data, "\r\n") // stray line ends after the response before
	}
	if len(data) == 0 {
		return nil, nil
	}
	end := headEnd(r.kept, data)
	if err := r.checkStart(data); err != nil {
		return nil, err
	}
	if len(r.kept)+max(end, 0) > maxHead || end < 0 && len(r.kept)+len(data) > maxHead {
		return nil, broken("a head over %d bytes", maxHead)
	}
	if end < 0 {
		r.kept = append(r.kept, data...)
		return nil, nil
	}
	head := data[:end]
	if len(r.kept) > 0 {
		r.kept = append(r.kept, head...)
		head = r.kept
	}
	err := r.parseHead(head)
	r.kept = r.kept[:0]
	return data[end:], err
}

// headEnd returns how many bytes of data belong to a head that began with
// kept, or -1 when its empty line has not come.
func headEnd(kept, data []byte) int {
	for i := 0; i < len(data); i++ {
		j := bytes.IndexByte(data[i:], '\n')
		if j < 0 {
			return -1
		}
		i += j
		if blankBefore(kept, data, i) {
			return i + 1
		}
	}
	return -1
}

// blankBefore reports whether the LF at data[i] ends an empty line.
func blankBefore(kept, data []byte, i int) bool {
	at := func(k int) byte { // the k-th byte before data[i]
		if k <= i {
			return data[i-k]
		}
		if k -= i; k <= len(kept) {
			return kept[len(kept)-k]
		}
		return 0
	}
	return at(1) == '\n' || at(1) == '\r' && at(2) == '\n'
}

// checkStart refuses what can't become a status line, without waiting for more.
func (r *response) checkStart(data []byte) error {
	const want = "HTTP/"
	if len(r.kept) >= len(want) {
		return nil
	}
	var start [len(want)]byte
	n := copy(start[:], r.kept)
	n += copy(start[n:], data)
	if string(start[:n]) == want[:n] {
		return nil
	}
	shown := append(append([]byte{}, r.kept...), data[:min(len(data), 32)]...)
	if shown[0] == 0 { // the length of a frame; servers of HTTP/2 begin with one (RFC 9113 §3.4)
		return broken("it starts with %q, as HTTP/2 does", shown)
	}
	if shown[0] == 0x15 && (len(shown) == 1 || shown[1] == 3) { // an alert (RFC 8446 section 5.1)
		return broken("it starts with %q, as TLS does; use https:// or wss://", shown)
	}
	return broken("it starts with %q", shown)
}

// parseHead reads a complete head, and settles how the body is framed.
func (r *response) parseHead(head []byte) error {
	line, fields, _ := bytes.Cut(head, []byte("\n"))
	minor, status, err := parseStatusLine(strings.TrimRight(string(line), "\r"))
	if err != nil {
		return err
	}
	header, err := parseFields(fields)
	if err != nil {
		return err
	}
	if status < 200 {
		if status == http.StatusSwitchingProtocols {
			if !r.upgrade {
				return broken("101 Switching Protocols, which was not asked for")
			}
			r.status, r.header, r.state, r.last = status, header, inUntilClose, true
			return nil
		}
		r.interim, r.interimHeader = status, header
		if r.informational++; r.informational > maxInformational {
			return broken("more than %d informational responses", maxInformational)
		}
		return nil
	}
	r.status, r.header = status, header
	r.readConnection(minor)
	return r.readFraming()
}

func parseStatusLine(line string) (minor, status int, err error) {
	rest, ok := strings.CutPrefix(line, "HTTP/1.")
	if !ok || len(rest) < 5 || rest[0] != '0' && rest[0] != '1' || rest[1] != ' ' {
		return 0, 0, broken("status line %s", quoted(line))
	}
	code, _, _ := strings.Cut(strings.TrimLeft(rest[1:], " "), " ")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || len(code) != 3 || n < 100 {
		return 0, 0, broken("status line %s", quoted(line))
	}
	return int(rest[0] - '0'), int(n), nil
}

// quoted is what a server sent, or the start of it with an ellipsis behind: by that a key
// is known which the cut halved.
func quoted[T string | []byte](sent T) string {
	const most = 64
	if len(sent) <= most {
		return strconv.Quote(string(sent))
	}
	return strconv.Quote(string(sent[:most]) + "…")
}

// parseFields reads header or trailer lines up to an empty one. A line that
// starts with white space continues the one before it.
func parseFields(block []byte) (http.Header, error) {
	header := http.Header{}
	var name string // of the field before, for continuations
	fields := 0
	for len(block) > 0 {
		line, rest, _ := bytes.Cut(block, []byte("\n"))
		block = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if name == "" {
				return nil, broken("the first header line is a continuation")
			}
			values := header[name]
			values[len(values)-1] += " " + string(bytes.Trim(line, " \t"))
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !validName(key) {
			return nil, broken("header line %s", quoted(line))
		}
		if fields++; fields > maxFields {
			return nil, broken("more than %d header fields", maxFields)
		}
		name = textproto.CanonicalMIMEHeaderKey(string(key))
		if bytes.ContainsAny(value, "\x00\r") { // RFC 9110 section 5.5
			return nil, broken("header %s, whose value has a NUL or CR", name)
		}
		header[name] = append(header[name], string(bytes.Trim(value, " \t")))
	}
	return header, nil
}

func validName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return len(name) > 0
}

// readConnection settles whether the connection may be used again.
func (r *response) readConnection(minor int) {
	tokens := listOf(r.header["Connection"])
	r.last = slices.Contains(tokens, "close") || minor == 0 && !slices.Contains(tokens, "keep-alive")
	for _, t := range listOf(r.header["Keep-Alive"]) {
		if v, ok := strings.CutPrefix(t, "timeout="); ok {
			if s, err := strconv.ParseUint(strings.Trim(v, `"`), 10, 31); err == nil {
				r.keepFor = time.Duration(s) * time.Second
				if s == 0 {
					r.last = true
				}
			}
		}
	}
}

// readFraming settles where the body ends. The header then says nothing else.
func (r *response) readFraming() error {
	codings := listOf(r.header["Transfer-Encoding"])
	if len(codings) > 0 {
		delete(r.header, "Content-Length")
	}
	if r.headless || r.status == http.StatusNoContent || r.status == http.StatusNotModified {
		r.state = atEnd
		return nil
	}
	if len(codings) > 0 {
		if len(codings) != 1 || codings[0] != "chunked" {
			return broken("transfer-encoding %s", quoted(strings.Join(codings, ", ")))
		}
		r.startChunk()
		return nil
	}
	lengths := listOf(r.header["Content-Length"])
	if len(lengths) == 0 {
		delete(r.header, "Content-Length")
		r.state, r.last = inUntilClose, true
		return nil
	}
	for _, l := range lengths[1:] {
		if l != lengths[0] {
			return broken("two values of content-length")
		}
	}
	r.header["Content-Length"] = lengths[:1]
	n, err := strconv.ParseUint(lengths[0], 10, 62)
	if err != nil {
		return broken("content-length %s", quoted(lengths[0]))
	}
	r.left, r.state = int64(n), inFixed
	if n == 0 {
		r.state = atEnd
	}
	return nil
}

// listOf splits comma-separated values into lower-case items.
func listOf(values []string) []string {
	var items []string
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.ToLower(strings.TrimSpace(item)); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}
