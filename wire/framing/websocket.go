package framing

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Op is the opcode of a WebSocket's frame (RFC 6455 section 5.2).
type Op uint8

// The opcodes there are. OpContinuation never comes out of a [WebSocket].
const (
	OpContinuation Op = 0
	OpText         Op = 1
	OpBinary       Op = 2
	OpClose        Op = 8
	OpPing         Op = 9
	OpPong         Op = 10
)

// WebSocket reads what a server sends after the handshake: messages, put together
// from their fragments, and the control frames between them. It asked for no
// extension and no server masks (RFC 6455 section 5.1).
type WebSocket struct {
	max int

	head  [10]byte // of the frame that is read
	heads int      // bytes of it so far
	in    bool     // the head is whole
	op    Op
	fin   bool
	left  uint64 // of the frame's payload

	kind    Op     // of the message whose fragments come; OpContinuation: none does
	data    []byte // its payload so far
	control []byte
	err     error
}

// NewWebSocket returns a reader whose messages hold at most max bytes (0: the
// default).
func NewWebSocket(max int) *WebSocket { return &WebSocket{max: limit(max)} }

// WebSocketError says how a peer broke the protocol.
type WebSocketError struct {
	Code int // to close the connection with
	says string
}

func (e *WebSocketError) Error() string { return "no valid WebSocket frame: " + e.says }

func brokenFrame(format string, args ...any) error {
	return &WebSocketError{Code: 1002, says: fmt.Sprintf(format, args...)}
}

// Feed takes the bytes of one read and calls yield for every message and control
// frame that they complete, whose data is valid until it returns. It stops at the
// first error and stays failed.
func (w *WebSocket) Feed(p []byte, yield func(op Op, data []byte) error) error {
	for w.err == nil {
		if !w.in {
			if p, w.err = w.readHead(p); w.err != nil || !w.in {
				break
			}
		}
		n := min(uint64(len(p)), w.left)
		part := p[:n]
		p, w.left = p[n:], w.left-n
		if w.left == 0 {
			w.in = false
			w.err = w.ended(part, yield)
		} else {
			w.hold(part)
			break
		}
	}
	return w.err
}

// readHead takes bytes of a frame's head; w.in tells that it is whole.
func (w *WebSocket) readHead(p []byte) ([]byte, error) {
	for {
		size := w.headSize()
		n := copy(w.head[w.heads:size], p)
		p, w.heads = p[n:], w.heads+n
		switch {
		case w.heads < size:
			return p, nil
		case size == w.headSize():
			w.in, w.heads = true, 0
			return p, w.began(size)
		}
	}
}

// headSize is how long the head is, as far as its first two bytes tell.
func (w *WebSocket) headSize() int {
	switch {
	case w.heads >= 2 && w.head[1]&0x7f == 126:
		return 4
	case w.heads >= 2 && w.head[1]&0x7f == 127:
		return 10
	}
	return 2
}

// began judges a frame's head of so many bytes.
func (w *WebSocket) began(size int) error {
	first, second := w.head[0], w.head[1]
	w.fin, w.op, w.left = first&0x80 != 0, Op(first&0x0f), uint64(second&0x7f)
	switch size {
	case 4:
		w.left = uint64(binary.BigEndian.Uint16(w.head[2:]))
	case 10:
		w.left = binary.BigEndian.Uint64(w.head[2:])
	}
	control := w.op >= OpClose
	switch {
	case first&0x70 != 0:
		return brokenFrame("a reserved bit is set, and no extension was agreed on")
	case second&0x80 != 0:
		return brokenFrame("a server's frame is masked")
	case w.op > OpBinary && w.op < OpClose || w.op > OpPong:
		return brokenFrame("the opcode %d, which there is not", w.op)
	case control && !w.fin:
		return brokenFrame("a control frame in fragments")
	case control && w.left > 125:
		return brokenFrame("a control frame of %d bytes", w.left)
	case w.op == OpContinuation && w.kind == OpContinuation:
		return brokenFrame("the continuation of no message")
	case !control && w.op != OpContinuation && w.kind != OpContinuation:
		return brokenFrame("a message within another")
	case !control && w.left > uint64(w.max-len(w.data)):
		return &TooLargeError{w.max}
	}
	if !control && w.op != OpContinuation {
		w.kind = w.op
	}
	return nil
}

// hold keeps a part of a payload that goes on in a later read.
func (w *WebSocket) hold(part []byte) {
	if w.op >= OpClose {
		w.control = append(w.control, part...)
	} else {
		w.data = append(w.data, part...)
	}
}

// ended takes the last part of a frame's payload.
func (w *WebSocket) ended(part []byte, yield func(Op, []byte) error) error {
	held := &w.data
	if w.op >= OpClose {
		held = &w.control
	}
	if len(*held) > 0 || !w.fin {
		*held = append(*held, part...)
		part = *held
	}
	if !w.fin {
		return nil
	}
	*held = (*held)[:0]
	op := w.op
	if op < OpClose {
		op, w.kind = w.kind, OpContinuation
	}
	switch {
	case op == OpText && !utf8.Valid(part):
		return &WebSocketError{Code: 1007, says: "a text message is no UTF-8"}
	case op == OpClose:
		if err := checkClose(part); err != nil {
			return err
		}
	}
	return yield(op, part)
}

// checkClose judges what a close frame says.
func checkClose(data []byte) error {
	code, reason := CloseOf(data)
	switch {
	case len(data) == 1:
		return brokenFrame("a close frame of one byte")
	case len(data) > 0 && (code < 1000 || code == 1004 || code == 1005 || code == 1006 || code > 1014 && code < 3000 || code > 4999):
		return brokenFrame("the close code %d, which no peer may send", code)
	case !utf8.ValidString(reason):
		return &WebSocketError{Code: 1007, says: "the reason of a close frame is no UTF-8"}
	}
	return nil
}

// NoCloseCode stands for a close frame without a code (RFC 6455 section 7.4.1).
const NoCloseCode = 1005

// CloseOf reads a close frame.
func CloseOf(data []byte) (code int, reason string) {
	if len(data) < 2 {
		return NoCloseCode, ""
	}
	return int(binary.BigEndian.Uint16(data)), string(data[2:])
}

// AppendClose adds what a close frame of a code says.
func AppendClose(b []byte, code int) []byte {
	return binary.BigEndian.AppendUint16(b, uint16(code))
}

// Held is how many bytes of memory keep what is no whole message yet.
func (w *WebSocket) Held() int { return cap(w.data) + cap(w.control) }

// AppendFrame adds a whole message, or a control frame, as a client sends it: in
// one frame, under a mask that an onlooker can't foresee.
func AppendFrame(b []byte, op Op, mask [4]byte, data []byte) []byte {
	b = append(b, 0x80|byte(op))
	switch n := len(data); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	b = append(b, mask[:]...)
	from := len(b)
	b = append(b, data...)
	for i := range data {
		b[from+i] ^= mask[i&3]
	}
	return b
}

// AcceptKey is what a server answers to a client's Sec-WebSocket-Key (RFC 6455
// section 4.2.2).
func AcceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
