package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// maxBody bounds a request's body.
const maxBody = 64 << 20

// conn is the reading side of a connection: it reads requests one after the
// other and notices when the client leaves.
type conn struct {
	s       *Server
	id      int64
	n       int64 // requests so far
	src     *source
	br      *bufio.Reader
	out     out
	idle    chan struct{} // holds a token while no reply is under way
	current *reply        // the reply under way, of the reading goroutine
	ws      *webSocket    // nil: the connection speaks HTTP

	headOnly bool // the request is a HEAD, whose answer has no body
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{s: s, id: s.conns.Add(1), src: newSource(nc, s.clock), idle: make(chan struct{}, 1)}
	c.br = bufio.NewReader(c.src)
	c.out = out{s: s, nc: nc, d: newDirect(nc)}
	c.idle <- struct{}{}
	return c
}

func (c *conn) serve() {
	defer func() {
		if r := c.current; r != nil {
			c.s.post(message{at: c.s.clock.now(), r: r, cancel: true})
			<-c.idle
		}
		c.out.kill()
		c.s.mu.Lock()
		delete(c.s.open, c)
		c.s.mu.Unlock()
		c.s.reads.Done()
	}()
	for {
		req, err := http.ReadRequest(c.br)
		var body []byte
		if err == nil {
			if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
				io.WriteString(c.out.nc, "HTTP/1.1 100 Continue\r\n\r\n")
			}
			body, err = io.ReadAll(io.LimitReader(req.Body, maxBody+1))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && c.current == nil && isHTTPError(err) {
				<-c.idle
				c.answer(http.StatusBadRequest, "application/json", errorBody(400, "BadRequestError", err.Error()), true)
			}
			return
		}
		at, kernel := c.src.lastNS, c.src.kernel
		<-c.idle // one reply at a time
		c.current = nil
		c.n++
		if !c.handle(req, body, at, kernel) {
			return
		}
	}
}

func isHTTPError(err error) bool {
	var ne net.Error
	return !errors.As(err, &ne)
}

// handle answers a request or hands it to the pacing goroutine. It tells
// whether the connection goes on.
func (c *conn) handle(req *http.Request, body []byte, at int64, kernel bool) bool {
	closing := req.Close || !req.ProtoAtLeast(1, 1)
	c.headOnly = req.Method == http.MethodHead
	if len(body) > maxBody {
		return c.answer(413, "application/json", errorBody(413, "BadRequestError", "the body is too long"), true)
	}
	if d := dialectOf(req.URL.Path); isUpgrade(req) && (d == &responses || d == &realtime) {
		return c.switches(req)
	}
	var chat bool
	var other *dialect
	switch req.URL.Path {
	case "/v1/chat/completions":
		chat = true
	case "/v1/completions":
	default:
		if other = dialectOf(req.URL.Path); other != nil {
			chat = true
			break
		}
		status, kind, text := c.s.route(req, body)
		return c.answer(status, kind, text, closing)
	}
	if req.Method != http.MethodPost {
		return c.answer(405, "application/json", errorBody(405, "MethodNotAllowed", "use POST"), closing)
	}
	a, err := parseAsk(&c.s.cfg, chat, other, req.URL.EscapedPath(), body, req.Header.Get("X-Sim"))
	if err != nil {
		return c.answer(400, "application/json", errorBody(400, "BadRequestError", err.Error()), closing)
	}
	return c.begin(newReply(c, a, req.Header.Get("X-Request-Id"), at, kernel, closing))
}

// begin hands a reply to the pacing goroutine, or refuses it at once.
func (c *conn) begin(r *reply) bool {
	if status, message := r.refusal(); status != 0 {
		r.refuse(status, message)
		return !r.closing
	}
	if findFault(r.faults, FaultDrop) != nil {
		r.end("fault")
		return false
	}
	c.current = r
	c.s.post(message{at: r.truth.ReceivedNS, r: r})
	return true
}

// answer writes a whole response from the reading goroutine.
func (c *conn) answer(status int, contentType string, body []byte, closing bool) bool {
	b := wholeHead(status, contentType, "", closing, len(body))
	if !c.headOnly {
		b = append(b, body...)
	}
	_, err := c.out.nc.Write(b)
	c.idle <- struct{}{}
	return err == nil && !closing
}

// appendHead adds a status line and headers, without the empty line.
func appendHead(b []byte, status int, contentType, more string, closing bool) []byte {
	b = fmt.Appendf(b, "HTTP/1.1 %d %s\r\nServer: tokenmeter-sim\r\nContent-Type: %s\r\n%s", status, http.StatusText(status), contentType, more)
	if closing {
		b = append(b, "Connection: close\r\n"...)
	}
	return b
}

// wholeHead is the head of an answer of so many bytes.
func wholeHead(status int, contentType, more string, closing bool, size int) []byte {
	return fmt.Appendf(appendHead(nil, status, contentType, more, closing), "Content-Length: %d\r\n\r\n", size)
}

// errorBody is an error as OpenAI-compatible servers write it.
func errorBody(code int, kind, message string) []byte {
	b := appendQuoted(appendQuoted(nil, `{"error":{"message":`, message), `,"type":`, kind)
	return fmt.Appendf(b, `,"param":null,"code":%d}}`, code)
}
