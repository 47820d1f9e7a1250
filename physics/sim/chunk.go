package sim

import (
	"fmt"
	"strconv"
)

// appendChunk adds data as one chunk of a chunked body; no data is its end.
func appendChunk(b, data []byte) []byte {
	b = strconv.AppendInt(b, int64(len(data)), 16)
	b = append(b, '\r', '\n')
	b = append(b, data...)
	return append(b, '\r', '\n')
}

// beginChunk leaves room for the length of a chunk that endChunk fills in.
func beginChunk(b []byte) ([]byte, int) {
	return append(b, "00000\r\n"...), len(b)
}

func endChunk(b []byte, at int) []byte {
	n := len(b) - at - 7
	for i := 4; i >= 0; i-- {
		b[at+i] = hexDigits[n&15]
		n >>= 4
	}
	return append(b, '\r', '\n')
}

func (r *reply) appendStreamHead(b []byte) []byte {
	if r.c.ws == nil {
		b = r.appendHTTPHead(b)
	}
	if r.s.cfg.RoleEarly {
		b = r.appendRole(b)
	}
	return b
}

func (r *reply) appendHTTPHead(b []byte) []byte {
	kind := eventStream
	if r.dialect != nil {
		kind = r.dialect.kind
	}
	if findFault(r.faults, FaultHTML) != nil {
		kind = "text/html"
	}
	more := "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\nX-Request-Id: " + r.truth.ID + "\r\n"
	if r.s.cfg.Like == LikeLlama {
		more += "Keep-Alive: timeout=5, max=100\r\n" // and then it closes: see afterEnd
	}
	b = appendHead(b, 200, kind, more, r.closing)
	return append(b, '\r', '\n')
}

// appendPart adds a part of the body: a chunk, or a message of a WebSocket.
func (r *reply) appendPart(b, data []byte) []byte {
	if r.c.ws != nil {
		return appendTextFrame(b, data)
	}
	return appendChunk(b, data)
}

// appendBodyEnd adds what ends a body. A WebSocket has nothing there: where the
// reply did not end by itself the connection does.
func (r *reply) appendBodyEnd(b []byte) []byte {
	switch {
	case r.c.ws == nil:
		return append(b, "0\r\n\r\n"...)
	case r.endless():
		return appendCloseFrame(b)
	}
	return b
}

// endless reports whether a fault leaves out what ends a reply.
func (r *reply) endless() bool {
	return findFault(r.faults, FaultNoDone) != nil || findFault(r.faults, FaultNoFinish) != nil || findFault(r.faults, FaultHTML) != nil
}

// appendOpen adds an event up to its choices. The beginning is the same in all
// events of a reply.
func (r *reply) appendOpen(b []byte) []byte {
	if r.opening == nil {
		r.opening = append(r.appendObject([]byte("data: "), "chat.completion.chunk"), `,"choices":[`...)
	}
	return append(b, r.opening...)
}

// appendObject adds the beginning of an object, in a chat of this kind: whose it is
// and which model's.
func (r *reply) appendObject(b []byte, kind string) []byte {
	if !r.chat {
		kind = "text_completion"
	}
	b = fmt.Appendf(appendQuoted(b, `{"id":`, r.truth.ID), `,"object":"%s","created":1700000000`, kind)
	return appendQuoted(b, `,"model":`, r.s.modelName())
}

// appendUsage adds the usage after the choices, or what stands in its place.
func (r *reply) appendUsage(b []byte, completion int, show bool) []byte {
	if !show {
		if r.s.cfg.Usage == UsageZeros {
			return append(b, `,"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`...)
		}
		if r.usage && r.s.cfg.Usage == UsageAsked {
			return append(b, `,"usage":null`...)
		}
		return b
	}
	b = fmt.Appendf(b, `,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d`,
		r.promptTokens, completion, r.promptTokens+completion, r.cachedTokens)
	if r.media > 0 {
		b = fmt.Appendf(b, `,"image_tokens":%d`, r.media)
	}
	b = append(b, '}')
	if n := min(r.s.cfg.Reasoning, completion); n > 0 {
		b = fmt.Appendf(b, `,"completion_tokens_details":{"reasoning_tokens":%d}`, n)
	}
	return append(b, '}')
}

func (r *reply) continuous() bool {
	u := r.s.cfg.Usage
	return u == UsageContinuous || u == UsageAsked && r.running
}

// usageChunk tells whether a chunk for usage alone ends the stream.
func (r *reply) usageChunk() bool {
	switch r.s.cfg.Usage {
	case UsageFinal, UsageContinuous, UsageZeros, UsageNull:
		return true
	case UsageAsked:
		return r.usage || r.running
	}
	return false
}

func (r *reply) appendRole(b []byte) []byte {
	if !r.chat || findFault(r.faults, FaultHTML) != nil {
		return b
	}
	if r.dialect != nil {
		if r.dialect.begin == nil {
			return b
		}
		return r.dialect.begin(r, b)
	}
	b, at := beginChunk(b)
	b = r.appendOpen(b)
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`...)
	b = r.appendUsage(b, 0, r.continuous())
	return endChunk(append(b, "}\n\n"...), at)
}

// appendTokens adds the tokens up to a count, as one chunk, or as one for
// reasoning and one for the answer where both are in it. Before the first go
// head and role, if they are not out yet.
func (r *reply) appendTokens(b []byte, upto int, last bool) []byte {
	if !r.headOut {
		r.headOut = true
		b = r.appendStreamHead(b)
	}
	if r.chunks == 0 && !r.s.cfg.RoleEarly {
		b = r.appendRole(b)
	}
	r.chunks++
	if findFault(r.faults, FaultHTML) != nil {
		if last {
			b = r.appendPart(b, []byte(htmlPage))
		}
		return b
	}
	split := min(max(r.s.cfg.Reasoning, r.sent), upto)
	if split > r.sent {
		b = r.appendPiece(b, "reasoning_content", r.sent, split, last && split == upto)
	}
	if upto > split {
		b = r.appendPiece(b, "content", split, upto, last)
	}
	return b
}

func (r *reply) appendPiece(b []byte, field string, from, to int, last bool) []byte {
	if r.dialect != nil {
		return r.dialect.piece(r, b, field != "content", from, to, last)
	}
	b, at := beginChunk(b)
	b = r.appendOpen(b)
	if r.chat {
		b = append(b, `{"index":0,"delta":{"`...)
		b = append(b, field...)
		b = append(b, `":`...)
	} else {
		b = append(b, `{"index":0,"text":`...)
	}
	b = r.appendText(b, from, to)
	if r.chat {
		b = append(b, '}')
	}
	b = r.appendTokenList(b, from, to)
	b = r.appendFinish(b, false)
	b = r.appendUsage(b, to, r.continuous())
	b = r.appendTimings(b, to, false)
	return endChunk(append(b, "}\n\n"...), at)
}

// appendFinish closes a choice.
func (r *reply) appendFinish(b []byte, done bool) []byte {
	b = append(b, `,"finish_reason":`...)
	if done {
		b = appendJSONString(b, r.finish)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}]"...)
}

func (r *reply) noFinish() bool { return findFault(r.faults, FaultNoFinish) != nil }

// appendText adds the words of tokens as a JSON string.
func (r *reply) appendText(b []byte, from, to int) []byte {
	oneText := !r.chat || r.dialect != nil && r.dialect.oneText
	b = append(b, '"')
	for i := from; i < to; i++ {
		if i > 0 && (i != r.s.cfg.Reasoning || oneText) {
			b = append(b, ' ')
		}
		b = append(b, word(r.s.cfg.Vocabulary, r.start, i)...)
	}
	return append(b, '"')
}
