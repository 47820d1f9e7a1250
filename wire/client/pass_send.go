package client

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/wire/api"
)

// mostWrite is the longest piece of a request whose taking has a limit of its own.
const mostWrite = 1 << 20

// mostTogether is the longest body that is copied, so that it goes in one write with the head.
const mostTogether = 16 << 10

// send writes the request, in one write if its body is in memory and short.
func (r *Passed) send(p *Passing) error {
	b, body := requests.Get().(*[]byte), p.Body
	if *b = r.c.passHead((*b)[:0], p); len(body) <= mostTogether {
		*b, body = append(*b, body...), nil
	}
	before := r.c.clk.Now()
	r.cn.src.begin(before)
	r.lastNS = before.NS
	err := r.write(*b, p.HeadLimit)
	if cap(*b) <= 1<<20 {
		requests.Put(b)
	}
	if err == nil {
		err = r.write(body, p.HeadLimit)
	}
	if err == nil && p.More != nil {
		err = r.sendMore(p)
	}
	r.whole = err == nil
	_ = r.cn.src.SetWriteDeadline(time.Time{}) // TLS writes while it reads, too
	r.SentNS = r.c.clk.NS()
	return err
}

// write sends a part of the request. A server that takes nothing of it for as
// long as patience is given up; 0: it may take as long as it likes.
func (r *Passed) write(b []byte, patience time.Duration) error {
	for len(b) > 0 {
		limit := r.until
		if patience > 0 {
			limit = min(limit, r.c.clk.NS()+int64(patience))
		}
		_ = r.cn.src.SetWriteDeadline(deadline(r.c.clk, limit))
		piece := b[:min(len(b), mostWrite)]
		if err := r.cn.write(piece); err != nil {
			return err
		}
		b = b[len(piece):]
	}
	return nil
}

// sendMore writes the part of the body that is not in memory.
func (r *Passed) sendMore(p *Passing) error {
	b := getBuffer()
	defer putBuffer(b)
	const room = 16 // for a chunk's size
	for {
		n, err := p.More.Read(b[room : len(b)-2])
		if n > 0 {
			out := b[room : room+n]
			if p.Length < 0 {
				size := strconv.AppendInt(nil, int64(n), 16)
				from := room - len(size) - 2
				copy(b[from:], size)
				copy(b[room-2:], "\r\n")
				copy(b[room+n:], "\r\n")
				out = b[from : room+n+2]
			}
			if err := r.write(out, p.HeadLimit); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && p.Length < 0:
			return r.write([]byte("0\r\n\r\n"), p.HeadLimit)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &senderError{err}
		}
	}
}

// senderError is a request's body that could not be read.
type senderError struct{ error }

// passHead writes the head of a request.
func (c *Client) passHead(b []byte, p *Passing) []byte {
	host := cmp.Or(p.Host, c.target.host)
	b = append(b, p.Method...)
	b = append(b, ' ')
	b = append(b, c.origin...)
	path := c.target.passPath(p.Path)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	for _, f := range c.head { // what the configuration gives wins
		if c.given(f.name) {
			f = c.keyField(f, path)
			b = appendField(b, f.name, f.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		if lower := strings.ToLower(name); lower == "host" || c.given(lower) && c.head.has(lower) ||
			frames(name) && (name != "Upgrade" || !p.Upgrade) {
			continue
		}
		for _, v := range p.Header[name] {
			if CheckField(name, v) == nil {
				b = appendField(b, name, v)
			}
		}
	}
	if p.Upgrade {
		b = appendField(b, "Connection", "Upgrade")
	}
	// Where the body ends is said in any case: what follows is another request.
	switch {
	case p.Length < 0:
		b = appendField(b, "Transfer-Encoding", "chunked")
	case p.Length > 0 || p.Method == http.MethodPost || p.Method == http.MethodPut || p.Method == http.MethodPatch:
		b = appendField(b, "Content-Length", strconv.FormatInt(p.Length, 10))
	}
	return append(b, "\r\n\r\n"...)
}

// keyField is a field of the configuration; that of the key is the one of the API whose path
// is asked for.
func (c *Client) keyField(f field, path string) field {
	key := c.cfg.Key
	if key == "" || !strings.EqualFold(f.name, api.KeyHeader(c.target.host, c.target.base, c.cfg.API)) {
		return f
	}
	for name := range c.cfg.Header {
		if strings.EqualFold(strings.TrimSpace(name), f.name) { // the configuration's own
			return f
		}
	}
	path, _, _ = strings.Cut(path, "?")
	switch name := api.PassedKeyHeader(c.target.host, path); {
	case strings.EqualFold(name, f.name), c.head.has(name):
		return f
	case name == "authorization":
		return field{name, "Bearer " + key}
	default:
		return field{name, key}
	}
}

// passPath joins a path that is passed on. Without a base path it stays as it is. Of
// the parameters that both queries have the URL's own count: who configured it decides.
func (t *target) passPath(path string) string {
	only, query, has := strings.Cut(path, "?")
	address := t.joins(only)
	if address.Plain() && t.query == "" {
		return escape(path)
	}
	joined := address.Through(escape(only))
	if strings.HasSuffix(only, "/") && !has && !strings.HasSuffix(joined, "/") {
		joined += "/"
	}
	named, _ := url.ParseQuery(t.query)
	return withQuery(withQuery(joined, QueryWithout(escape(query), named.Has)), t.query)
}

// QueryWithout is a query as it was, less the parameters whose names are to drop out.
func QueryWithout(query string, drop func(name string) bool) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err != nil || !drop(plain) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// given tells the headers that the configuration sets from those that the
// client adds of its own accord, which a request that is passed on must not get.
func (c *Client) given(lower string) bool {
	switch lower {
	case "host", "user-agent", "accept-encoding", "connection":
		return false
	}
	return true
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, "\r\n"...)
	b = append(b, name...)
	b = append(b, ": "...)
	return append(b, value...)
}
