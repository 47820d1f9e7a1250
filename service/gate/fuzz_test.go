package gate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzFraming: whatever a client sends, and however it is cut, net/http finds the
// same requests in what passes; so does a reader that lets a content-length win
// where net/http lets chunks win; and no more is held back than a head or trailers.
func FuzzFraming(f *testing.F) {
	head := "POST /d HTTP/1.1\r\nHost: h\r\n"
	for _, seed := range []string{
		sized + chunked + bare, "\r\n\n" + bare, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bare + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare,
		head + "Content-Length: 1\r\n\t0\r\n\r\n0123456789" + bare, head + "Content-Length : 1\r\n\r\nx" + bare,
		head + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + bare, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + bare,
		strings.Replace(chunked, "0\r\n\r\n", "0\r\nContent-Length: 9\r\n\r\n", 1) + bare, strings.Replace(chunked, "8\r\n", "08 ;a=\"\n\"\r\n", 1) + bare,
		strings.Replace(sized, "1.1", "1.2", 1) + bare, head + "Content-Length: 00000000000000000001\r\n\r\nx" + bare,
		head + "Content-Length: 1, 1\r\n\r\nx" + bare, head + "X: a\x00b\r\nContent-Length: 1\r\n\r\nx" + bare, head + "X: a\r\r\n\r\n" + bare,
	} {
		f.Add([]byte(seed), byte(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step byte) {
		const most = 8 << 10
		whole := through(t, in, len(in), most)
		cut := through(t, in, int(step)+1, most)
		if len(in) >= most {
			return // net/http bounds heads by itself
		}
		want, got := requests(whole), requests(cut)
		if !slices.Equal(want, got) {
			t.Fatalf("in one piece %q, by %d %q:\n%q\n%q", want, int(step)+1, got, whole, cut)
		}
		if bytes.HasPrefix(bytes.TrimLeft(in, "\r\n"), []byte("PRI * HTTP/2.0")) {
			return
		}
		if other := otherwise(whole, len(want)); !slices.Equal(want, other) {
			t.Fatalf("net/http reads %q, another %q in %q", want, other, whole)
		}
	})
}

// through is what passes of what a client sends in pieces.
func through(t *testing.T, in []byte, step, most int) (out []byte) {
	fr := framing{most: most, mark: "Refused"}
	var held []byte
	for len(in) > 0 {
		n := min(step, len(in))
		held, in = append(held, in[:n]...), in[n:]
		for {
			pass, drop, instead := fr.next(held)
			if pass < 0 || drop < 0 || pass+drop > len(held) {
				t.Fatalf("%d pass and %d go of %d bytes", pass, drop, len(held))
			}
			out = append(append(out, held[:pass]...), instead...)
			if held = held[pass+drop:]; pass+drop == 0 {
				break
			}
		}
		if len(held) > max(most, mostTrailer, mostLine)+step {
			t.Fatalf("%d bytes are held back", len(held))
		}
	}
	return out
}

// requests are those that net/http reads to their ends, each as one text.
func requests(data []byte) (all []string) {
	for r := bufio.NewReader(bytes.NewReader(data)); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return all
		}
		if req.ProtoMajor != 1 { // its server refuses this, and the next, and closes
			return all
		}
		for name := range req.Header {
			if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", c) }) {
				return all
			}
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || req.Header.Get("Refused") != "" {
			return all
		}
		all = append(all, fmt.Sprintf("%s %s %q", req.Method, req.RequestURI, body))
	}
}

// otherwise reads the first n requests as a simpler server could: a content-length
// counts wherever it stands, and before chunks.
func otherwise(data []byte, n int) (all []string) {
	for len(all) < n {
		data = bytes.TrimLeft(data, "\r\n")
		first, length, chunks := "", -1, false
		for {
			line, rest, ok := bytes.Cut(data, []byte("\n"))
			if data = rest; !ok {
				return append(all, "no end of the head")
			}
			text := strings.TrimSuffix(string(line), "\r")
			if text == "" {
				break
			}
			if first == "" {
				first = text
				continue
			}
			name, value, _ := strings.Cut(text, ":")
			switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(name)) {
			case "content-length":
				length, _ = strconv.Atoi(value)
			case "transfer-encoding":
				chunks = strings.Contains(strings.ToLower(value), "chunked")
			}
		}
		var body []byte
		switch {
		case length >= 0:
			if length > len(data) {
				return append(all, "no end of the body")
			}
			body, data = data[:length], data[length:]
		case chunks:
			for size := int64(1); size > 0; {
				line, rest, ok := bytes.Cut(data, []byte("\r\n"))
				digits, _, _ := strings.Cut(string(line), ";")
				var err error
				if size, err = strconv.ParseInt(strings.TrimSpace(digits), 16, 64); !ok || err != nil || size+2 > int64(len(rest)) {
					return append(all, "no chunk")
				}
				body, data = append(body, rest[:size]...), rest[size+2:]
			}
		}
		part := strings.SplitN(first, " ", 3)
		all = append(all, fmt.Sprintf("%s %s %q", part[0], part[min(1, len(part)-1)], body))
	}
	return all
}
