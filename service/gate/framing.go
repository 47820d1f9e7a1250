package gate

import (
	"bytes"
	"strconv"
	"strings"
)

// framing follows one connection's requests: where each head ends, how long each
// body is. It understands less than net/http does and lets through only what
// both understand alike. After what it leaves to net/http to refuse it lets
// nothing through any more, so that nothing can hide behind it.
type framing struct {
	state   state
	most    int    // bytes of a head
	mark    string // name of the header that refused requests get
	heading heading
	left    int64  // of a body, or of a chunk
	began   bool   // this can be no beginning of HTTP/2
	why     string // a request was refused, in words
}

type state uint8

const (
	inLine state = iota // the first of a request
	inFields
	inBody
	inSize    // of a chunk
	inChunk   // its bytes
	afterIt   // its CR LF
	inTrailer // whose lines are dropped
	over      // nothing passes
	raw       // everything passes: HTTP/2, WebSocket
)

const (
	mostLine    = 4 << 10  // of a chunk's size
	mostTrailer = 64 << 10 // of all its lines
)

// next looks at bytes that stand where the last call stopped: so many pass as
// they are, so many behind them are dropped, and instead is put in their place.
// Nothing of all this: more must come.
func (f *framing) next(in []byte) (pass, drop int, instead string) {
	if len(in) == 0 {
		return 0, 0, ""
	}
	switch f.state {
	case raw:
		return len(in), 0, ""
	case over:
		return 0, len(in), ""
	case inLine, inFields:
		return f.head(in)
	case inBody, inChunk:
		n := min(int64(len(in)), f.left)
		if f.left -= n; f.left == 0 {
			if f.state == inBody {
				f.state = inLine
			} else {
				f.state = afterIt
			}
		}
		return int(n), 0, ""
	case afterIt:
		switch {
		case len(in) < 2 && in[0] == '\r':
			return 0, 0, ""
		case len(in) < 2 || in[0] != '\r' || in[1] != '\n':
			return f.badBody(in)
		}
		f.state = inSize
		return 2, 0, ""
	case inSize:
		return f.size(in)
	}
	return f.trailer(in)
}

// badBody ends a body with what is no chunk.
func (f *framing) badBody(in []byte) (pass, drop int, instead string) {
	f.state = over
	return 0, len(in), "!!\r\n"
}

// size reads the line before a chunk.
func (f *framing) size(in []byte) (pass, drop int, instead string) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 {
		if len(in) > mostLine {
			return f.badBody(in)
		}
		return 0, 0, ""
	}
	line, ok := bytes.CutSuffix(in[:end], []byte("\r"))
	if !ok || len(line) > mostLine || bytes.IndexByte(line, '\r') >= 0 {
		return f.badBody(in)
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 {
		return f.badBody(in)
	}
	n, err := strconv.ParseUint(string(digits), 16, 63)
	if err != nil {
		return f.badBody(in)
	}
	if n == 0 {
		f.state = inTrailer
		return 0, end + 1, "0\r\n"
	}
	f.left, f.state = int64(n), inChunk
	return end + 1, 0, ""
}

// trailer drops the lines behind the last chunk. Nobody reads them, and upstream
// they could be taken for a header.
func (f *framing) trailer(in []byte) (pass, drop int, instead string) {
	for from := 0; ; {
		end := bytes.IndexByte(in[from:], '\n')
		if end < 0 {
			if len(in) > mostTrailer {
				return f.badTrailer(in)
			}
			return 0, 0, ""
		}
		line := in[from : from+end]
		from += end + 1
		if string(line) == "\r" {
			f.state = inLine
			return 0, from, "\r\n"
		}
		if line, ok := bytes.CutSuffix(line, []byte("\r")); !ok || bytes.IndexByte(line, ':') < 1 || bytes.ContainsAny(line, "\r\x00") {
			return f.badTrailer(in)
		}
	}
}

// badTrailer ends trailers with what is none.
func (f *framing) badTrailer(in []byte) (pass, drop int, instead string) {
	f.state = over
	return 0, len(in), "!!\r\n\r\n"
}

// head passes a head on as it comes. Only the lines that say where the request
// ends wait until all of them are here.
func (f *framing) head(in []byte) (pass, drop int, instead string) {
	h := &f.heading
	if f.state == inLine && h.size == 0 {
		if blank := len(in) - len(bytes.TrimLeft(in, "\r\n")); blank > 0 {
			return 0, blank, "" // RFC 9112 section 2.2
		}
		if end := headEnd(in); end >= 0 {
			return f.whole(in, end)
		}
	}
	end := bytes.IndexByte(in, '\n') + 1
	switch {
	case h.size+max(end, len(in)) > f.most:
		f.state = over // net/http refuses it for its length
		return len(in), 0, ""
	case f.state == inLine:
		pass = end
		if end == 0 {
			pass = len(in)
		}
		h.size += pass
		h.tail = append(h.tail, in[:pass]...)
		h.tail = h.tail[max(len(h.tail)-mostVersion, 0):]
		if end > 0 && h.begin(string(h.tail), h.size, f.began) {
			f.state = raw
		} else if end > 0 {
			f.state = inFields
		}
		return pass, 0, ""
	case end == 0:
		return 0, 0, ""
	}
	h.size += end
	line := string(in[:end])
	if strings.TrimRight(line, "\r\n") == "" {
		instead = f.settle(h.kept, line)
		return 0, end, instead
	}
	if h.field(line) {
		h.kept += line
		return 0, end, ""
	}
	return end, 0, ""
}

// whole deals with a head that is here from its beginning to its end.
func (f *framing) whole(in []byte, end int) (pass, drop int, instead string) {
	h := &f.heading
	var others strings.Builder
	first := true
	for line := range strings.Lines(string(in[:end])) {
		switch {
		case first:
			first = false
			if h.begin(line, len(line), f.began) {
				f.state = raw
				return end, 0, ""
			}
			others.WriteString(line)
		case strings.TrimRight(line, "\r\n") == "":
		case !h.field(line):
			others.WriteString(line)
		}
	}
	if instead = f.settle("", ""); f.why != "" {
		return 0, end, others.String() + instead
	}
	return end, 0, ""
}

// settle ends a head: what follows it is known, or it is refused. It returns what
// of the head must still pass.
func (f *framing) settle(kept, blank string) string {
	f.state, f.left, f.why = f.heading.decide()
	f.heading = heading{}
	f.began = true
	if f.why != "" {
		return f.mark + ": 1\r\nConnection: close\r\n\r\n"
	}
	return kept + blank
}

// headEnd is where the empty line ends that ends a head; −1: it has not come.
func headEnd(in []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(in[i:], '\n')
		if n < 0 {
			return -1
		}
		if i += n; i > 0 && in[i-1] == '\n' || i > 1 && in[i-1] == '\r' && in[i-2] == '\n' {
			return i + 1
		}
	}
}

// heading is what is known of a head so far.
type heading struct {
	size, lines      int
	tail             []byte // of the request's line
	old              bool   // HTTP/1.0
	strange          bool   // net/http is to refuse it
	lengths, codings []string
	ends             bool // the line before says where the request ends
	folded           bool // such a line goes on in the next
	kept             string
}

// mostVersion is how much of a line's end is looked at.
const mostVersion = 32

// begin looks at the request's line, of which only the end may be given. It tells
// that the connection is one of HTTP/2.
func (h *heading) begin(line string, size int, began bool) bool {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if !began && line == "PRI * HTTP/2.0" && size <= len(line)+2 {
		return true
	}
	_, minor, is := strings.Cut(line[max(len(line)-len(" HTTP/1.1"), 0):], " HTTP/1.")
	h.old = is && minor == "0"
	h.strange = !is || len(minor) != 1 || minor[0] < '0' || minor[0] > '9' // 1.2 and more is read as 1.1: RFC 9110 section 2.5
	return false
}

// field looks at a line of the header, and tells whether it says where the request ends.
func (h *heading) field(line string) bool {
	h.lines++
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if line[0] == ' ' || line[0] == '\t' {
		h.folded = h.folded || h.ends
		return h.ends
	}
	name, value, ok := strings.Cut(line, ":")
	h.strange = h.strange || !ok || strings.ContainsAny(line, "\r\x00")
	value = strings.Trim(value, " \t")
	switch strings.ToLower(name) {
	case "content-length":
		h.lengths, h.ends = append(h.lengths, value), true
	case "transfer-encoding":
		h.codings, h.ends = append(h.codings, value), true
	default:
		h.ends = false
	}
	return h.ends
}

// decide tells what follows a head, or why it is refused.
func (h *heading) decide() (next state, left int64, why string) {
	known := len(h.codings) == 1 && strings.EqualFold(h.codings[0], "chunked")
	n, whole := length(h.lengths)
	switch {
	case h.strange:
	case h.folded:
		return over, 0, "a header that says where the request ends is folded"
	case len(h.codings) > 0 && h.old:
		return over, 0, "HTTP/1.0 has no transfer-encoding"
	case known && len(h.lengths) > 0:
		return over, 0, "the request has a content-length and a transfer-encoding: give one of them"
	case known:
		return inSize, 0, ""
	case len(h.codings) > 0 || !whole:
	case n > 0:
		return inBody, n, ""
	default:
		return inLine, 0, ""
	}
	return over, 0, ""
}

// length is the length that all say; without any, 0.
func length(values []string) (n int64, ok bool) {
	if len(values) == 0 {
		return 0, true
	}
	for _, v := range values {
		if v != values[0] {
			return 0, false
		}
	}
	u, err := strconv.ParseUint(values[0], 10, 63)
	return int64(u), err == nil
}
