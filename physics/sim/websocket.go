package sim

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// webSocket is what a connection knows after its handshake (RFC 6455). Of the
// Responses API the server keeps the last response alone, as OpenAI's does where nothing
// is stored.
type webSocket struct {
	directive string // of the handshake's X-Sim, for every reply
	path      string
	last      *reply
	messages  []askMessage // that led to it

	// Of the Realtime API:
	realtime bool
	model    string
	wishes   realtimeWishes
	sound    int          // bytes that are not committed
	heard    int          // tokens of those that are
	events   atomic.Int64 // that were sent
}

const (
	opText   = 0x81
	opClose  = 0x88
	opPing   = 0x89
	opPong   = 0x8a
	fin      = 0x80
	masked   = 0x80
	opBits   = 0x0f
	control  = 0x08
	ofAccept = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

func isUpgrade(req *http.Request) bool {
	return req.Method == http.MethodGet && strings.EqualFold(req.Header.Get("Upgrade"), "websocket") && req.Header.Get("Sec-Websocket-Key") != ""
}

// switches answers the handshake and serves messages until the client leaves.
func (c *conn) switches(req *http.Request) bool {
	sum := sha1.Sum([]byte(req.Header.Get("Sec-Websocket-Key") + ofAccept))
	c.ws = &webSocket{directive: req.Header.Get("X-Sim"), path: req.URL.EscapedPath(),
		realtime: dialectOf(req.URL.Path) == &realtime, model: req.URL.Query().Get("model")}
	_, err := fmt.Fprintf(c.out.nc, "HTTP/1.1 101 Switching Protocols\r\nServer: tokenmeter-sim\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	if c.ws.realtime {
		c.later(c.ws.appendEvent(nil, "session.created", `"session":`, c.ws.session()))
	}
	c.idle <- struct{}{}
	for err == nil {
		err = c.message()
	}
	return false
}

var errClosed = errors.New("the client closed the WebSocket")

// message takes one message, or a control frame.
func (c *conn) message() error {
	var data []byte
	for {
		op, part, err := c.frame()
		if err != nil {
			return err
		}
		switch op & opBits {
		case opClose & opBits:
			c.later(append([]byte{opClose, byte(len(part))}, part...))
			return errClosed
		case opPing & opBits:
			c.later(append([]byte{opPong, byte(len(part))}, part...))
			return nil
		case opPong & opBits:
			return nil
		}
		if data = append(data, part...); len(data) > maxBody {
			return errors.New("the message is too long")
		}
		if op&fin != 0 {
			break
		}
	}
	at, kernel := c.src.lastNS, c.src.kernel
	<-c.idle // one reply at a time
	c.current = nil
	take := c.create
	if c.ws.realtime {
		take = c.converse
	}
	if !take(data, at, kernel) {
		return errClosed
	}
	return nil
}

// later writes a frame between those of the pacing goroutine.
func (c *conn) later(b []byte) {
	c.s.post(message{look: func() { c.out.write(b, mark{}, keepOpen) }})
}

// frame reads a client's frame, which must be masked.
func (c *conn) frame() (op byte, data []byte, err error) {
	var head [8]byte
	if _, err = io.ReadFull(c.br, head[:2]); err != nil {
		return 0, nil, err
	}
	op = head[0]
	size := uint64(head[1] &^ masked)
	isMasked := head[1]&masked != 0
	switch size {
	case 126:
		_, err = io.ReadFull(c.br, head[:2])
		size = uint64(binary.BigEndian.Uint16(head[:]))
	case 127:
		_, err = io.ReadFull(c.br, head[:8])
		size = binary.BigEndian.Uint64(head[:])
	}
	var mask [4]byte
	if err == nil {
		_, err = io.ReadFull(c.br, mask[:])
	}
	switch {
	case err != nil:
		return 0, nil, err
	case !isMasked || op&control != 0 && (size > 125 || op&fin == 0) || size > maxBody:
		return 0, nil, errors.New("no valid frame of a client")
	}
	data = make([]byte, size)
	_, err = io.ReadFull(c.br, data)
	for i := range data {
		data[i] ^= mask[i&3]
	}
	return op, data, err
}

// create answers response.create.
func (c *conn) create(body []byte, at int64, kernel bool) bool {
	w := c.ws
	c.n++
	j, err := readResponses(body)
	switch {
	case err == nil && j.Type != "response.create":
		err = fmt.Errorf("no client event of this simulator: %q", j.Type)
	case err == nil && j.Previous != "" && (w.last == nil || w.last.truth.ID != j.Previous || w.last.truth.Finish == ""):
		return c.complain("previous_response_not_found", "Previous response with id '"+j.Previous+"' not found.")
	}
	var a ask
	if err == nil {
		messages := j.Messages
		if j.Previous != "" {
			answer := json.RawMessage(w.last.appendText(nil, 0, w.last.yielded))
			messages = append(append(w.messages[:len(w.messages):len(w.messages)], askMessage{answer}), messages...)
		}
		w.messages = messages
		d := responses
		d.read = func(string, []byte) (askJSON, error) {
			j.Messages = messages
			j.begin(rawText(j.Instructions))
			j.Stream = true
			return j.askJSON, nil
		}
		a, err = parseAsk(&c.s.cfg, true, &d, w.path, body, w.directive)
	}
	if err != nil {
		return c.complain("invalid_request_error", err.Error())
	}
	w.last = newReply(c, a, "", at, kernel, false)
	return c.begin(w.last)
}

// complain answers with an error alone.
func (c *conn) complain(code, says string) bool {
	c.later(appendErrorEvent(nil, http.StatusBadRequest, code, says))
	c.idle <- struct{}{}
	return true
}

// appendErrorEvent adds an error as the Responses API tells it over a WebSocket.
func appendErrorEvent(b []byte, status int, code, says string) []byte {
	data := appendQuoted(fmt.Appendf(nil, `{"type":"error","status":%d,"error":{"type":"invalid_request_error"`, status), `,"code":`, code)
	return appendTextFrame(b, append(appendQuoted(data, `,"message":`, says), `,"param":null}}`...))
}

// appendTextFrame adds a message of text as a server sends it.
func appendTextFrame(b, data []byte) []byte {
	switch n := len(data); {
	case n < 126:
		b = append(b, opText, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, opText, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, opText, 127), uint64(n))
	}
	return append(b, data...)
}

// appendCloseFrame adds a normal end.
func appendCloseFrame(b []byte) []byte {
	return binary.BigEndian.AppendUint16(append(b, opClose, 2), 1000)
}
