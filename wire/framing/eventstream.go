package framing

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// EventStream frames application/vnd.amazon.eventstream, in which Bedrock streams.
// A message is
//
//	u32 length of all · u32 length of the headers · u32 CRC of these eight bytes ·
//	headers · payload · u32 CRC of all before it
//
// (https://smithy.io/2.0/aws/amazon-eventstream.html). An event's name is its
// type, or the type of the exception; its data is the payload, with what
// InvokeModelWithResponseStream wraps in base64 unwrapped.
type EventStream struct {
	kept        // of a message
	data []byte // of an unwrapped payload
	kind string // of the event before: the next is mostly of the same
}

// NewEventStream returns a framer whose messages hold at most max bytes (0: the
// default).
func NewEventStream(max int) *EventStream { return &EventStream{kept: keep(max)} }

const (
	preludeBytes = 12
	crcBytes     = 4
)

var errShortHeader = errors.New("a message's headers stop short")

// Feed implements Framer.
func (f *EventStream) Feed(p []byte, yield func(Event) error) error {
	if f.err != nil {
		return f.err
	}
	if len(f.held) > 0 {
		f.held = append(f.held, p...)
		p = f.held
	}
	for len(p) >= preludeBytes {
		size := int(binary.BigEndian.Uint32(p))
		headers := int(binary.BigEndian.Uint32(p[4:]))
		switch {
		case binary.BigEndian.Uint32(p[8:]) != crc32.ChecksumIEEE(p[:8]):
			return f.fail(errors.New("a message's first bytes do not fit their checksum"))
		case size > f.max:
			return f.fail(&TooLargeError{f.max})
		case size < preludeBytes+crcBytes || headers > size-preludeBytes-crcBytes:
			return f.fail(fmt.Errorf("a message of %d bytes can't have headers of %d", size, headers))
		}
		if len(p) < size {
			break
		}
		if err := f.deliver(p[:size], headers, yield); err != nil {
			return f.fail(err)
		}
		p = p[size:]
	}
	f.held = append(f.held[:0], p...)
	return nil
}

func (f *EventStream) deliver(message []byte, headers int, yield func(Event) error) error {
	body, sum := message[:len(message)-crcBytes], message[len(message)-crcBytes:]
	if binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return errors.New("a message does not fit its checksum")
	}
	h, err := readHeaders(body[preludeBytes:preludeBytes+headers], f.kind)
	if err != nil {
		return err
	}
	f.kind = cmp.Or(h.event, f.kind)
	e := Event{Name: h.event, Data: f.unwrap(body[preludeBytes+headers:]), Size: len(message)}
	e.Name, e.Fails = cmp.Or(h.exception, e.Name), h.exception != ""
	if h.code != "" { // an error has no payload
		e.Name, e.Fails = h.code, true
		e.Data, _ = json.Marshal(map[string]string{"message": h.words})
	}
	return yield(e)
}

// unwrap returns what {"bytes":"…"} holds.
func (f *EventStream) unwrap(payload []byte) []byte {
	if !bytes.HasPrefix(payload, []byte(`{"bytes":`)) {
		return payload
	}
	if text, ok := bytes.CutPrefix(payload, []byte(`{"bytes":"`)); ok { // as it is written, but for blanks
		text, _, _ = bytes.Cut(text, []byte{'"'})
		if data, err := base64.StdEncoding.AppendDecode(f.data[:0], text); err == nil {
			f.data = data
			return data
		}
	}
	var wrapped struct{ Bytes string }
	if json.Unmarshal(payload, &wrapped) != nil {
		return payload
	}
	data, err := base64.StdEncoding.AppendDecode(f.data[:0], []byte(wrapped.Bytes))
	if err != nil {
		return payload
	}
	f.data = data
	return data
}

// messageHeaders are those that tell what a message is.
type messageHeaders struct{ event, exception, code, words string }

// fixedWidths are the sizes of the header values that are neither bytes (6) nor
// text (7): true, false, the integers of 1 to 8 bytes, a time, a UUID.
var fixedWidths = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// readHeaders reads them; last is what the event is mostly called.
func readHeaders(b []byte, last string) (h messageHeaders, err error) {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < n+2 {
			return h, errShortHeader
		}
		name, kind := b[1:1+n], b[1+n]
		b = b[n+2:]
		if int(kind) >= len(fixedWidths) {
			return h, fmt.Errorf("a message's header has the type %d, which there is not", kind)
		}
		size := fixedWidths[kind]
		if size < 0 {
			if len(b) < 2 {
				return h, errShortHeader
			}
			size = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < size {
			return h, errShortHeader
		}
		value := b[:size]
		b = b[size:]
		switch string(name) {
		case ":event-type":
			if h.event = last; string(value) != last {
				h.event = string(value)
			}
		case ":exception-type":
			h.exception = string(value)
		case ":error-code":
			h.code = string(value)
		case ":error-message":
			h.words = string(value)
		}
	}
	return h, nil
}

// BeginsEventStream reports whether a body begins as a message does, by the checksum of its
// first bytes; sure is false while there are too few of them.
func BeginsEventStream(b []byte) (is, sure bool) {
	if len(b) < preludeBytes {
		return false, len(b) > 0 && b[0] != 0 // no message has 16 MiB
	}
	return binary.BigEndian.Uint32(b[8:]) == crc32.ChecksumIEEE(b[:8]), true
}

// Held implements Framer.
func (f *EventStream) Held() int { return cap(f.held) + cap(f.data) }

// Close implements Framer.
func (f *EventStream) Close(func(Event) error) (int, error) { return f.drop(), f.err }
