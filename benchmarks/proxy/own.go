package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

// serveOwn is a server and a client of our own in place of net/http's: one goroutine
// a connection, which reads a request, passes it on and writes the reply as it comes.
// Nothing watches whether the client leaves, so it is the least that a proxy costs
// which waits in Go's poller.
func serveOwn(address, upstream string) error {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	idle := make(chan *bufio.ReadWriter, 10000)
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			in := bufio.NewReaderSize(c, 4<<10)
			for pass(in, c, upstream, idle) == nil {
			}
		}()
	}
}

// pass is one request and its reply.
func pass(in *bufio.Reader, client net.Conn, upstream string, idle chan *bufio.ReadWriter) error {
	request, length, err := readHead(in, nil)
	if err != nil {
		return err
	}
	request = append(request, make([]byte, max(length, 0))...)
	if _, err := io.ReadFull(in, request[len(request)-max(length, 0):]); err != nil {
		return err
	}
	up, reply, err := ask(request, upstream, idle)
	if err != nil {
		return err
	}
	if _, err := client.Write(reply); err != nil {
		return err
	}
	for end := (chunks{}); !end.reached; {
		if _, err := up.Peek(1); err != nil {
			return err
		}
		part, _ := up.Peek(up.Reader.Buffered())
		if err := end.see(part); err != nil {
			return err
		}
		if _, err := client.Write(part); err != nil {
			return err
		}
		_, _ = up.Discard(len(part))
	}
	idle <- up
	return nil
}

// ask sends a request on a connection that is kept open, and reads the reply's head.
func ask(request []byte, upstream string, idle chan *bufio.ReadWriter) (up *bufio.ReadWriter, head []byte, err error) {
	select {
	case up = <-idle:
	default:
		c, err := net.Dial("tcp", upstream)
		if err != nil {
			return nil, nil, err
		}
		up = bufio.NewReadWriter(bufio.NewReaderSize(c, 4<<10), bufio.NewWriter(c))
	}
	if _, err := up.Write(request); err != nil {
		return nil, nil, err
	}
	if err := up.Flush(); err != nil {
		return nil, nil, err
	}
	head, _, err = readHead(up.Reader, request[:0])
	return up, head, err
}

// serveHalf is net/http's server with the client of serveOwn.
func serveHalf(address, upstream string) error {
	idle := make(chan *bufio.ReadWriter, 10000)
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		var request bytes.Buffer
		if in.Write(&request) != nil {
			return
		}
		up, _, err := ask(request.Bytes(), upstream, idle)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		err = flush.Flush()
		body := httputil.NewChunkedReader(up.Reader)
		var buf [4 << 10]byte
		for err == nil {
			var n int
			if n, err = body.Read(buf[:]); n > 0 {
				if _, lost := w.Write(buf[:n]); lost != nil || flush.Flush() != nil {
					return
				}
			}
		}
		if _, err = up.Discard(2); err == nil {
			idle <- up
		}
	}))
}

// readHead reads up to the empty line; length is that of a body, −1 without one.
func readHead(in *bufio.Reader, to []byte) (head []byte, length int, err error) {
	for length = -1; ; {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, 0, err
		}
		to = append(to, line...)
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return to, length, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), "content-length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, 0, err
			}
		}
	}
}

// chunks finds the end of a chunked body.
type chunks struct {
	line    []byte
	left    int // of a chunk's data and the line's end after it
	last    bool
	reached bool
}

func (c *chunks) see(data []byte) error {
	for len(data) > 0 {
		if c.left > 0 {
			n := min(c.left, len(data))
			c.left, data = c.left-n, data[n:]
			c.reached = c.last && c.left == 0
			continue
		}
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			c.line = append(c.line, data...)
			return nil
		}
		c.line, data = append(c.line, data[:i]...), data[i+1:]
		size, err := strconv.ParseInt(string(bytes.TrimSpace(c.line)), 16, 32)
		if err != nil {
			return err
		}
		c.line, c.left, c.last = c.line[:0], int(size)+2, size == 0
	}
	return nil
}
