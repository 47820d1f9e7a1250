package framing

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// read feeds the bytes in pieces of a size and lists what came.
func readFrames(w *WebSocket, data []byte, piece int) (got []string, err error) {
	for chunk := range slices.Chunk(data, piece) {
		if err = w.Feed(bytes.Clone(chunk), func(op Op, data []byte) error {
			got = append(got, fmt.Sprintf("%d %s", op, data))
			return nil
		}); err != nil {
			break
		}
	}
	return got, err
}

// RFC 6455 section 5.7, and what its other sections demand of a reader.
func TestWebSocketFrames(t *testing.T) {
	long := strings.Repeat("x", 256)
	for name, c := range map[string]struct {
		hex  string
		want []string
		code int // of the failure; 0: none
	}{
		"a text message":               {"8105 48656c6c6f", []string{"1 Hello"}, 0},
		"in two fragments":             {"0103 48656c 8002 6c6f", []string{"1 Hello"}, 0},
		"a ping":                       {"8905 48656c6c6f", []string{"9 Hello"}, 0},
		"a pong":                       {"8a05 48656c6c6f", []string{"10 Hello"}, 0},
		"256 bytes":                    {"827e0100" + hex.EncodeToString([]byte(long)), []string{"2 " + long}, 0},
		"256 bytes, by a long length":  {"827f0000000000000100" + hex.EncodeToString([]byte(long)), []string{"2 " + long}, 0},
		"a ping between fragments":     {"0103 48656c 8900 8002 6c6f", []string{"9 ", "1 Hello"}, 0},
		"empty fragments":              {"0100 0000 8000", []string{"1 "}, 0},
		"a rune across fragments":      {"0101 c3 8001 a9", []string{"1 é"}, 0},
		"two messages in a row":        {"810161 820162", []string{"1 a", "2 b"}, 0},
		"close 1000":                   {"8802 03e8", []string{"8 \x03\xe8"}, 0},
		"close without a code":         {"8800", []string{"8 "}, 0},
		"close 4000 with a reason":     {"8804 0fa0 6869", []string{"8 \x0f\xa0hi"}, 0},
		"masked":                       {"8185 37fa213d 7f9f4d5158", nil, 1002},
		"a reserved bit":               {"c105 48656c6c6f", nil, 1002},
		"a reserved opcode":            {"8300", nil, 1002},
		"a reserved control opcode":    {"8b00", nil, 1002},
		"a control frame in fragments": {"0900", nil, 1002},
		"a control frame of 126 bytes": {"897e007e", nil, 1002},
		"a continuation of nothing":    {"8000", nil, 1002},
		"a message within another":     {"0100 8100", nil, 1002},
		"no UTF-8":                     {"8101ff", nil, 1007},
		"no UTF-8 in the last of two":  {"010161 8001ff", nil, 1007},
		"bytes need be no UTF-8":       {"8201ff", []string{"2 \xff"}, 0},
		"close of one byte":            {"880103", nil, 1002},
		"close 1005":                   {"8802 03ed", nil, 1002},
		"close 1006":                   {"8802 03ee", nil, 1002},
		"close 1015":                   {"8802 03f7", nil, 1002},
		"close 999":                    {"8802 03e7", nil, 1002},
		"close 5000":                   {"8802 1388", nil, 1002},
		"a reason that is no UTF-8":    {"8803 03e8 ff", nil, 1007},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(name, err)
		}
		for _, piece := range []int{1, 2, 3, len(data)} {
			got, err := readFrames(NewWebSocket(0), data, piece)
			var broken *WebSocketError
			code := 0
			if errors.As(err, &broken) {
				code = broken.Code
			}
			if !slices.Equal(got, c.want) || code != c.code || (err != nil) != (code != 0) {
				t.Errorf("%s, %d at once: %q %v, want %q %d", name, piece, got, err, c.want, c.code)
			}
		}
	}
}

func TestWebSocketBound(t *testing.T) {
	for name, head := range map[string]string{
		"one frame":             "817e0401",
		"fragments together":    "01 7e 0200" + strings.Repeat("61", 512) + "80 7e 0201",
		"a length of 2^63":      "817f8000000000000000",
		"a length of 2^64 - 1":  "817fffffffffffffffff",
		"a tail of 2^64 - 1":    "010161 807fffffffffffffffff",
		"just more than allows": "827f0000000000000401",
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(head, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		w := NewWebSocket(1024)
		got, err := readFrames(w, data, 7)
		var large *TooLargeError
		if !errors.As(err, &large) || len(got) > 0 || w.Held() > 1024 {
			t.Errorf("%s: %q, %v, %d bytes held", name, got, err, w.Held())
		}
	}
	exact := append([]byte{0x82, 0x7e, 0x04, 0x00}, make([]byte, 1024)...)
	if got, err := readFrames(NewWebSocket(1024), exact, 100); len(got) != 1 || err != nil {
		t.Errorf("as much as allowed: %d, %v", len(got), err)
	}
}

// The RFC's masked "Hello" (section 5.7), and the lengths at which the head grows.
func TestAppendFrame(t *testing.T) {
	want, _ := hex.DecodeString("818537fa213d7f9f4d5158")
	if got := AppendFrame(nil, OpText, [4]byte{0x37, 0xfa, 0x21, 0x3d}, []byte("Hello")); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	for n, head := range map[int]string{0: "8280", 125: "82fd", 126: "82fe007e", 65535: "82feffff", 65536: "82ff0000000000010000"} {
		got := AppendFrame(nil, OpBinary, [4]byte{}, make([]byte, n))
		if h := hex.EncodeToString(got[:len(head)/2]); h != head || len(got) != len(head)/2+4+n {
			t.Errorf("%d bytes: head %s, %d in all", n, h, len(got))
		}
	}
}

// The example of RFC 6455 section 1.3.
func TestAcceptKey(t *testing.T) {
	if got := AcceptKey("dGhlIHNhbXBsZSBub25jZQ=="); got != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Error(got)
	}
}

// However the bytes are cut, the same comes out, and never more is held than allowed.
func FuzzWebSocket(f *testing.F) {
	for _, seed := range []string{"810548656c6c6f", "010348656c80026c6f", "010161890080016288020fa0", "827e0100", "817f8000000000000000"} {
		b, _ := hex.DecodeString(seed)
		f.Add(b, uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		const most = 512
		whole, at := NewWebSocket(most), NewWebSocket(most)
		want, wantErr := readFrames(whole, data, max(len(data), 1))
		got, err := readFrames(at, data, int(cut)+1)
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%q %v, in one piece %q %v", got, err, want, wantErr)
		}
		for _, message := range got {
			if len(message) > most+3 {
				t.Errorf("a message of %d bytes", len(message))
			}
		}
		if again := at.Feed(nil, nil); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%v after %v", again, err)
		}
	})
}
