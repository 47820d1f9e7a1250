package gate

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a gate with its client.
func pair() (client net.Conn, server *Conn) {
	ours, theirs := net.Pipe()
	return ours, newConn(theirs, 8<<10, "Refused", nil)
}

const body = `{"model":"m"}`

var (
	sized   = fmt.Sprintf("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	chunked = "POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n" + body[:5] + "\r\n8\r\n" + body[5:] + "\r\n0\r\n\r\n"
	bare    = "GET /c HTTP/1.1\r\nHost: h\r\n\r\n"
)

// What is well passes as it came, however it is cut; what two servers could read
// in two ways ends the connection's requests.
func TestWhatPasses(t *testing.T) {
	const stands = "Refused: 1\r\nConnection: close\r\n\r\n"
	head := "POST /d HTTP/1.1\r\nHost: h\r\n"
	for name, tc := range map[string]struct{ in, out string }{
		"three":                    {sized + chunked + bare, ""},
		"empty lines before":       {"\r\n\r\n" + bare + "\r\n" + sized + "\n" + bare, bare + sized + bare},
		"bare LF":                  {"GET /c HTTP/1.1\nHost: h\n\n" + bare, ""},
		"equal lengths":            {head + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx" + bare, ""},
		"HTTP/2":                   {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nanything \r\n\r\n !", ""},
		"not at the start":         {bare + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nanything", bare + "PRI * HTTP/2.0\r\n\r\n"},
		"a folded header":          {head + "X: a\r\n b\r\n\r\n" + bare, ""},
		"length and chunks":        {bare + head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare, bare + head + stands},
		"chunks and length":        {head + "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n0\r\n\r\n" + bare, head + stands},
		"a coding of another kind": {head + "Transfer-Encoding: gzip\r\nContent-Length: 0\r\n\r\n" + bare, head + "Transfer-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"},
		"a short method":           {"GE / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + bare, "GE / HTTP/1.1\r\n" + stands},
		"a folded coding":          {head + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", head + stands},
		"a folded length":          {head + "Content-Length: 1\r\n\t0\r\n\r\n0123456789", head + stands},
		"chunks in HTTP/1.0":       {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare, "POST / HTTP/1.0\r\n" + stands},
		"the same, kept alive":     {"POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + bare, "POST / HTTP/1.0\r\nConnection: keep-alive\r\n" + stands},
		"two codings":              {head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare, head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
		"two lengths":              {head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx" + bare, head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"},
		"a length with a sign":     {head + "Content-Length: +1\r\n\r\nx" + bare, head + "Content-Length: +1\r\n\r\n"},
		"another version":          {"GET / HTTP/2.1\r\n\r\n" + bare, "GET / HTTP/2.1\r\n\r\n"},
		"none":                     {"GET / HTTP/1.\r\n\r\n" + bare, "GET / HTTP/1.\r\n\r\n"},
		"a version of two digits":  {"GET / HTTP/1.10\r\n\r\n" + bare, "GET / HTTP/1.10\r\n\r\n"},
		"a later minor version":    {strings.Replace(sized, "1.1", "1.2", 1) + strings.Replace(chunked, "1.1", "1.9", 1) + bare, ""}, // as 1.1: RFC 9110 section 2.5
		"chunks and length in it":  {"POST / HTTP/1.2\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare, "POST / HTTP/1.2\r\n" + stands},
		"a length behind noughts":  {head + "Content-Length: " + strings.Repeat("0", 40) + "1\r\n\r\nx" + bare, ""}, // 1*DIGIT: RFC 9110 section 8.6
		"one of 64 bits":           {head + "Content-Length: 9223372036854775807\r\n\r\nx" + bare, ""},
		"one beyond":               {head + "Content-Length: 9223372036854775808\r\n\r\nx" + bare, head + "Content-Length: 9223372036854775808\r\n\r\n"},
		"trailers":                 {strings.Replace(chunked, "0\r\n\r\n", "0\r\nContent-Length: 9\r\nAuthorization: x\r\n\r\n", 1) + bare, chunked + bare},
		"a trailer that is none":   {strings.Replace(chunked, "0\r\n\r\n", "0\r\nGET / HTTP/1.1\r\n\r\n", 1) + bare, strings.TrimSuffix(chunked, "\r\n") + "!!\r\n\r\n"},
		"a size with a bare LF":    {strings.Replace(chunked, "8\r\n", "8\n", 1) + bare, chunked[:strings.Index(chunked, "8\r\n")] + "!!\r\n"},
		"a size in hex notation":   {strings.Replace(chunked, "8\r\n", "0x8\r\n", 1) + bare, chunked[:strings.Index(chunked, "8\r\n")] + "!!\r\n"},
		"a size that is beyond":    {strings.Replace(chunked, "8\r\n", "ffffffffffffffff\r\n", 1) + bare, chunked[:strings.Index(chunked, "8\r\n")] + "!!\r\n"},
		"a chunk longer than it said": {strings.Replace(chunked, "8\r\n", "7\r\n", 1) + bare,
			chunked[:strings.Index(chunked, "8\r\n")] + "7\r\n" + body[5:12] + "!!\r\n"},
	} {
		for _, step := range []int{1, 2, 3, 7, 50, 100_000} {
			client, server := pair()
			go func() {
				for in := tc.in; in != ""; {
					n := min(step, len(in))
					_, _ = io.WriteString(client, in[:n])
					in = in[n:]
				}
				_ = client.Close()
			}()
			got, err := io.ReadAll(server)
			want := tc.out
			if want == "" {
				want = tc.in
			}
			if string(got) != want || err != nil {
				t.Errorf("%s, by %d: %v\n got %q\nwant %q", name, step, err, got, want)
			}
			if refused := server.Refused(http.Header{"Refused": {"1"}}) != ""; refused != strings.Contains(want, stands) {
				t.Errorf("%s: refused is %v", name, refused)
			}
		}
	}
}

// A client is noticed when it goes, whatever it sent before; what it sent is not lost.
func TestWatch(t *testing.T) {
	for name, sent := range map[string]string{"nothing": "", "an empty line": "\r\n", "a byte": "G", "a request": bare, "much": strings.Repeat(bare, 10_000)} {
		synctest.Test(t, func(t *testing.T) {
			client, server := pair()
			defer client.Close()
			defer server.Close()
			in := bufio.NewReader(server)
			go func() { _, _ = io.WriteString(client, sized) }()
			req, err := http.ReadRequest(in)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(req.Body)
			one := make(chan error, 1)
			go func() { _, err := in.Peek(1); one <- err }() // as net/http does
			synctest.Wait()
			var at atomic.Int64
			began := time.Now()
			stop := server.Watch(func() { at.Store(int64(time.Since(began))) })
			go func() {
				_, _ = io.WriteString(client, sent)
				time.Sleep(3 * time.Second)
				_ = client.Close()
			}()
			time.Sleep(10 * time.Second)
			leaves := 3 * time.Second
			if len(sent) > mostAhead {
				leaves += fullWait // a pipe holds nothing: it was written so much later
			}
			noticed := sent == "" || at.Load() == int64(leaves) // else the read itself tells
			if err := <-one; !noticed || (err == nil) != (strings.Trim(sent, "\r\n") != "") {
				t.Errorf("%s: gone after %v, %v", name, time.Duration(at.Load()), err)
			}
			stop()
		})
	}
}

// After a reply the next request is read, though it came before the reply.
func TestWatchStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair()
		defer client.Close()
		defer server.Close()
		in := bufio.NewReader(server)
		go func() { _, _ = io.WriteString(client, sized) }()
		for _, next := range []string{chunked, bare, sized, bare} {
			req, err := http.ReadRequest(in)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(req.Body); err != nil || len(got) != 0 && string(got) != body {
				t.Fatalf("%s: %q, %v", req.URL, got, err)
			}
			var gone atomic.Bool
			stop := server.Watch(func() { gone.Store(true) })
			go func() { _, _ = io.WriteString(client, next[:10]); _, _ = io.WriteString(client, next[10:]) }()
			time.Sleep(time.Second)
			stop()
			if gone.Load() {
				t.Fatal("one that is there counts as gone")
			}
		}
	})
}

// A client has its reply before we are done with it, and its next request may be large:
// that comes whole, whatever else there is room for.
func TestALargeRequestBehindAReply(t *testing.T) {
	for _, most := range []int64{1 << 20, -1} {
		synctest.Test(t, func(t *testing.T) {
			room := &counted{}
			room.most.Store(most)
			client, server := pair()
			server.room = room
			defer client.Close()
			defer server.Close()
			in := bufio.NewReader(server)
			go func() { _, _ = io.WriteString(client, sized) }()
			for range 3 {
				req, err := http.ReadRequest(in)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(req.Body); err != nil {
					t.Fatalf("%d bytes, then %v", len(got), err)
				}
				stop := server.Watch(func() { t.Error("one that is there counts as gone") })
				long := strings.Repeat("x", 200<<10)
				go func() {
					_, _ = fmt.Fprintf(client, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(long), long)
				}()
				time.Sleep(fullWait / 2) // the reply is out, its record is not
				stop()
			}
		})
	}
}

// counted is room that was taken, up to a bound.
type counted struct{ most, used, highest atomic.Int64 }

func (c *counted) Take(n int64) bool {
	if c.used.Add(n) > c.most.Load() {
		c.used.Add(-n)
		return false
	}
	c.highest.Store(max(c.highest.Load(), c.used.Load()))
	return true
}

func (c *counted) Give(n int64) { c.used.Add(-n) }

// What clients send behind a request takes room until it is read or they have gone. Where
// there is none, what was kept is answered and the connection ends.
func TestReadAheadTakesRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		most              int64
		least, mostOfThem int
	}{
		"enough": {1 << 20, 64 << 10 / len(bare) * 9 / 10, 64 << 10 / len(bare)}, "little": {4 << 10, 1, 5 << 10 / len(bare)}, "none": {-1, 1, 1 << 10 / len(bare)},
	} {
		for _, leaves := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				room := &counted{}
				room.most.Store(tc.most)
				client, server := pair()
				server.room = room
				defer client.Close()
				in := bufio.NewReader(server)
				go func() { _, _ = io.WriteString(client, sized) }()
				req, err := http.ReadRequest(in)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.ReadAll(req.Body)
				stop := server.Watch(func() {})
				go func() { _, _ = io.WriteString(client, strings.Repeat(bare, 10_000)) }()
				time.Sleep(2 * fullWait)
				if used := room.used.Load(); used > max(tc.most, 0) || tc.most > 0 && used == 0 {
					t.Errorf("%s: %d of %d are taken", name, used, tc.most)
				}
				if leaves {
					_ = server.Close()
					synctest.Wait()
				}
				stop()
				answered := 0
				for !leaves {
					if _, err := http.ReadRequest(in); err != nil {
						break
					}
					answered++
				}
				_ = server.Close()
				synctest.Wait()
				if !leaves && (answered < tc.least || answered > tc.mostOfThem) {
					t.Errorf("%s: %d further requests were kept, want %d to %d", name, answered, tc.least, tc.mostOfThem)
				}
				if used := room.used.Load(); used != 0 {
					t.Errorf("%s: %d are never given back", name, used)
				}
			})
		}
	}
}
