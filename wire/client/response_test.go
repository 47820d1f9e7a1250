package client

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// readAll feeds data in pieces that end at the given cuts and returns what the
// response was.
func readAll(data []byte, cuts func(i int) int) (r response, body []byte, rest int, err error) {
	data = bytes.Clone(data) // feed works in place
	for i := 0; len(data) > 0 && !r.done(); i++ {
		n := min(max(cuts(i), 1), len(data))
		part, after, failed := r.feed(data[:n])
		body = append(body, part...)
		if failed != nil {
			return r, body, 0, failed
		}
		data, rest = data[n:], len(after)
	}
	return r, body, rest + len(data), nil
}

func all(int) int { return 1 << 30 }
func one(int) int { return 1 }

func TestResponseForms(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, tc := range map[string]struct {
		in   string
		body string
		rest int
		done bool // the end is known without the connection's end
		last bool // the connection can't be used again
		err  string
	}{
		"chunked":                {in: ok + "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", body: "hello world", done: true},
		"extensions":             {in: ok + "Transfer-Encoding: Chunked\r\n\r\n5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n", body: "hello", done: true},
		"space after the size":   {in: ok + "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n", body: "hello", done: true},
		"upper-case hex, zeros":  {in: ok + "Transfer-Encoding: chunked\r\n\r\n00A\r\n0123456789\r\n000\r\n\r\n", body: "0123456789", done: true},
		"bare LF":                {in: "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n0\n\n", body: "hello", done: true},
		"trailers":               {in: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n c\r\nD: e\r\n\r\n", body: "x", done: true},
		"content-length":         {in: ok + "content-length: 5\r\n\r\nhelloMORE", body: "hello", rest: 4, done: true},
		"content-length 0":       {in: ok + "content-length: 0\r\n\r\n", done: true},
		"content-length twice":   {in: ok + "content-length: 5\r\ncontent-length: 5\r\n\r\nhello", body: "hello", done: true},
		"chunked beats length":   {in: ok + "content-length: 50\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", body: "x", done: true},
		"204":                    {in: "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", done: true},
		"until close":            {in: ok + "\r\nhello", body: "hello", last: true},
		"1.0":                    {in: "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true, last: true},
		"1.0 keep-alive":         {in: "HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true},
		"close":                  {in: ok + "connection: x, Close\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true, last: true},
		"close wins":             {in: ok + "connection: close, keep-alive\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true, last: true},
		"keep-alive for 0 s":     {in: ok + "keep-alive: timeout=0\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true, last: true},
		"no reason phrase":       {in: "HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true},
		"stray line ends before": {in: "\r\n\n" + ok + "content-length: 1\r\n\r\nx", body: "x", done: true},
		"100 and 103 first":      {in: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\na: b\r\n\r\n" + ok + "content-length: 1\r\n\r\nx", body: "x", done: true},
		"continuation line":      {in: ok + "x: a\r\n\t b\r\ncontent-length: 1\r\n\r\nx", body: "x", done: true},
		"unfinished head":        {in: ok + "content-len"},

		"not HTTP":                  {in: "SSH-2.0", err: "starts with"},
		"a frame of HTTP/2":         {in: "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64", err: "as HTTP/2 does"},
		"HTTP/2":                    {in: "HTTP/2 200 OK\r\n\r\n", err: "status line"},
		"status of two digits":      {in: "HTTP/1.1 20 OK\r\n\r\n", err: "status line"},
		"status of letters":         {in: "HTTP/1.1 2x0 OK\r\n\r\n", err: "status line"},
		"status 000":                {in: "HTTP/1.1 000 X\r\n\r\n", err: "status line"},
		"101":                       {in: "HTTP/1.1 101 Switching Protocols\r\n\r\n", err: "101"},
		"endless 1xx":               {in: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 17), err: "informational"},
		"line without colon":        {in: ok + "hello\r\n\r\n", err: "header line"},
		"space in a name":           {in: ok + "a b: c\r\n\r\n", err: "header line"},
		"empty name":                {in: ok + ": c\r\n\r\n", err: "header line"},
		"continuation first":        {in: ok + " a: c\r\n\r\n", err: "continuation"},
		"negative length":           {in: ok + "content-length: -1\r\n\r\n", err: "content-length"},
		"signed length":             {in: ok + "content-length: +1\r\n\r\n", err: "content-length"},
		"giant length":              {in: ok + "content-length: 99999999999999999999\r\n\r\n", err: "content-length"},
		"two lengths":               {in: ok + "content-length: 1\r\ncontent-length: 2\r\n\r\n", err: "two values"},
		"other coding":              {in: ok + "transfer-encoding: gzip, chunked\r\n\r\n", err: "transfer-encoding"},
		"negative chunk":            {in: ok + "transfer-encoding: chunked\r\n\r\n-5\r\n", err: "chunk size"},
		"chunk without size":        {in: ok + "transfer-encoding: chunked\r\n\r\n\r\n", err: "without a size"},
		"giant chunk":               {in: ok + "transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", err: "chunk size"},
		"0x":                        {in: ok + "transfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n", err: "chunk size"},
		"chunk longer than it says": {in: ok + "transfer-encoding: chunked\r\n\r\n3\r\nhello\r\n", body: "hel", err: "longer"},
		"CR without LF":             {in: ok + "transfer-encoding: chunked\r\n\r\n3\rx", err: "CR without LF"},
		"long extension":            {in: ok + "transfer-encoding: chunked\r\n\r\n3;" + strings.Repeat("x", 5000), err: "chunk-size line"},
		"long trailers":             {in: ok + "transfer-encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("a: b\r\n", 20_000), err: "trailers"},
		"long head":                 {in: ok + strings.Repeat("a: "+strings.Repeat("b", 1000)+"\r\n", 100), err: "head over"},
		"many fields":               {in: ok + strings.Repeat("a: b\r\n", 257) + "\r\n", err: "fields"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cuts := range []func(int) int{all, one, func(i int) int { return i%7 + 1 }} {
				r, body, rest, err := readAll([]byte(tc.in), cuts)
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) {
						t.Fatalf("error %v, want one about %q", err, tc.err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				want(t, "body", string(body), tc.body)
				want(t, "rest", rest, tc.rest)
				want(t, "done", r.done(), tc.done)
				if r.headDone() {
					want(t, "last", r.last, tc.last)
				}
			}
		})
	}
}

// A header that is passed on frames the body as it was read, and in one way.
func TestHeaderSaysWhereTheBodyEnds(t *testing.T) {
	for fields, lengths := range map[string]string{
		"content-length: 50\r\ntransfer-encoding: chunked\r\n": "",
		"content-length: 1\r\nContent-Length: 1\r\n":           "1",
		"content-length: 1, 1\r\n":                             "1",
		"content-length:\r\n":                                  "",
	} {
		r, _, _, err := readAll([]byte("HTTP/1.1 200 OK\r\n"+fields+"\r\n1\r\nx\r\n0\r\n\r\n"), all)
		want(t, "error", err, nil)
		want(t, fields, strings.Join(r.header["Content-Length"], "|"), lengths)
	}
}

func TestHeadFields(t *testing.T) {
	r, _, _, err := readAll([]byte("HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nx-a:  b \r\nX-A: c\r\n d\r\nkeep-alive: timeout=5, max=100\r\n"+
		"transfer-encoding: chunked\r\n\r\n0\r\nX-Error: boom\r\n\r\n"), all)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "status", r.status, 503)
	want(t, "retry-after", r.header.Get("Retry-After"), "2")
	want(t, "x-a", strings.Join(r.header["X-A"], "|"), "b|c d")
	want(t, "trailer", r.trailer.Get("X-Error"), "boom")
	want(t, "keep for", r.keepFor.Seconds(), 5)
}

// A response that comes in one read is not copied and allocates only its
// header; body reads allocate nothing.
func TestBodyAllocatesNothing(t *testing.T) {
	frame := []byte(chunk(tok("w")) + chunk(tok("w")))
	data, payload := make([]byte, len(frame)), 2*len(tok("w"))
	var r response
	if _, _, err := r.feed([]byte(sseHead)); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(1000, func() {
		copy(data, frame)
		body, _, err := r.feed(data)
		if err != nil || len(body) != payload {
			t.Fatal(len(body), err)
		}
	})
	want(t, "allocations", n, 0)
}

// FuzzResponse: no input makes the reader panic, any split gives the same
// result, and what net/http's reader accepts too is read alike.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nA: b\r\n\r\nrest"), uint8(3))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\r\ncontent-length: 3\r\nx: a\r\n b\r\n\r\nabcdef"), uint8(1))
	f.Add([]byte("\r\nHTTP/1.1 204 x\n\nabc"), uint8(2))
	f.Add([]byte("HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\n"), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		r, body, rest, err := readAll(data, all)
		for _, cuts := range []func(int) int{one, func(int) int { return int(step) }} {
			r2, body2, rest2, err2 := readAll(data, cuts)
			if (err == nil) != (err2 == nil) {
				t.Fatalf("error %v in one piece, %v in pieces", err, err2)
			}
			if !bytes.Equal(body, body2) || r.status != r2.status || r.last != r2.last || r.state != r2.state {
				t.Fatalf("pieces differ: %q %q", body, body2)
			}
			if err == nil && rest != rest2 {
				t.Fatalf("rest %d, in pieces %d", rest, rest2)
			}
		}
		if err != nil || !r.done() {
			return
		}
		if len(body) > len(data) {
			t.Fatal("more body than data")
		}
		compareWithNetHTTP(t, data, &r, body)
	})
}

// compareWithNetHTTP holds a complete response against net/http's reader,
// where that accepts it as well.
func compareWithNetHTTP(t *testing.T, data []byte, r *response, body []byte) {
	in := bufio.NewReader(bytes.NewReader(bytes.TrimLeft(data, "\r\n")))
	req := &http.Request{Method: "POST"}
	for {
		resp, err := http.ReadResponse(in, req)
		if err != nil {
			return
		}
		if resp.StatusCode < 200 {
			continue
		}
		theirs, err := io.ReadAll(resp.Body)
		// net/http does not believe HTTP/1.0 when it says chunked.
		odd := resp.ProtoMinor == 0 && r.header.Get("Transfer-Encoding") != ""
		if err != nil || odd || resp.StatusCode == 304 || resp.StatusCode == 204 {
			return
		}
		if resp.StatusCode != r.status || !bytes.Equal(theirs, body) {
			t.Fatalf("net/http reads %d %q, we %d %q", resp.StatusCode, theirs, r.status, body)
		}
		return
	}
}
