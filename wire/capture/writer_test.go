package capture_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/capture"
)

// A live measurement and the analysis of its capture give the same timeline.
func TestWriteThenAnalyzeIsIdentical(t *testing.T) {
	request := []byte(`{"model":"m","stream":true,"max_tokens":12}`)
	start := func() *timeline.Timeline {
		tl := timeline.New()
		tl.API, tl.Model, tl.Asked, tl.Requested = "openai-chat", "m", true, timeline.Some(int64(12))
		tl.Request, tl.ID, tl.Worker, tl.Phase, tl.Clock = 7, "req-7", 2, timeline.Warmup, timeline.Kernel
		tl.Session, tl.Turn, tl.Task, tl.Step, tl.Parent = "s", timeline.Some(int64(0)), "t", timeline.Some(int64(3)), "p"
		tl.DueUS, tl.StartUS = 12_345_678, 12_345_699
		tl.DNSUS, tl.ConnectUS, tl.TLSUS = timeline.Some(int64(0)), timeline.Some(int64(1234)), timeline.Some(int64(5))
		tl.Reused, tl.Remote, tl.Attempts, tl.ConnRetries = timeline.Some(false), "127.0.0.1:80", 2, 1
		tl.SentUS, tl.RetryAfterUS = timeline.Some(int64(1500)), timeline.Some(int64(2_000_000))
		return tl
	}
	head := api.Head{Status: 200, Header: http.Header{
		"Content-Type": {"text/event-stream"}, "X-Many": {"a", "b"}, "Set-Cookie": {"secret=1"}}}
	cases := map[string]func(*session){
		"good": func(s *session) {
			s.head(2001, head)
			s.read(2001, 3, `data: {"choices":[{"index":0,"delta":{"content":"<é&>"}}]}`+"\n\n")
			s.read(3777, 0, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}\n\n")
			s.read(3777, 12, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			s.end(4000, timeline.EOF, nil)
		},
		"reset": func(s *session) {
			s.head(2001, head)
			s.read(2005, 0, `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n")
			s.end(4000, timeline.Reset, errors.New("read: connection reset by peer"))
		},
		"clock step": func(s *session) {
			s.head(2001, head)
			s.tl.ClockStepUS, s.tl.Flags = timeline.Some(int64(-3_000_000)), s.tl.Flags|timeline.ClockStep
			s.end(4000, timeline.EndTimeoutTTFT, nil)
		},
		"no response": func(s *session) {
			s.end(250, timeline.Cut, nil)
			s.tl.Fail(timeline.ConnectRefused, "connect: refused")
		},
		"retry": func(s *session) {
			s.head(100, api.Head{Status: 429, Header: http.Header{"Retry-After": {"2"}}})
			s.w.Read(110, 0, []byte("slow down"))
			s.head(2_100_000, head)
			s.read(2_100_000, 0, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n")
			s.end(2_100_007, timeline.EOF, nil)
		},
		"compressed": func(s *session) {
			coded := head
			coded.Header = http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"gzip"}}
			s.head(2001, coded)
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			for i, text := range []string{"a", "b", "c"} {
				_, _ = io.WriteString(zip, `data: {"choices":[{"index":0,"delta":{"content":"`+text+`"}}]}`+"\n\n")
				_ = zip.Flush()
				s.read(int64(3000+i), 0, out.String())
				out.Reset()
			}
			s.end(4000, timeline.EOF, nil) // without its end
		},
		"a coding that is not known": func(s *session) {
			s.head(2001, api.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"quiet"}}})
			s.read(3000, 0, "data: {}\n\n")
			s.end(4000, timeline.EOF, nil)
		},
		"long": func(s *session) {
			s.head(2001, head)
			for i := range int64(400) {
				s.read(3000+i, 0, `data: {"choices":[{"index":0,"delta":{"content":"`+strings.Repeat("x", 5000)+`"}}]}`+"\n\n")
			}
			s.end(4000, timeline.EOF, nil)
		},
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			live := start()
			opts := api.StreamOptions{KeepText: true}
			s := &session{tl: live, s: api.NewStream(live, api.OpenAIChat, opts), w: capture.NewWriter(&out, live, request)}
			run(s)
			if err := s.w.End(s.endUS, s.ended, nil, s.cause); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "secret=1") {
				t.Error("a cookie is in the capture")
			}
			got, err := capture.Analyze(&out, capture.Options{Stream: opts})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, live) {
				t.Errorf("got  %+v\nwant %+v", got, live)
			}
		})
	}
}

// session feeds stream and writer as a client does: the capture ends after the
// outcome is settled.
type session struct {
	tl    *timeline.Timeline
	s     *api.Stream
	w     *capture.Writer
	endUS int64
	ended timeline.End
	cause error
}

func (s *session) head(at int64, h api.Head) {
	s.s.Head(at, h)
	s.w.Head(at, h)
}

func (s *session) read(at, lag int64, data string) {
	s.s.Read(at, lag, []byte(data))
	s.w.Read(at, lag, []byte(data))
}

func (s *session) end(at int64, end timeline.End, cause error) {
	s.s.End(at, end, nil, cause)
	s.endUS, s.ended, s.cause = at, end, cause
}

// No part of a secret that is long enough to be known is in a capture, in however many
// reads it came; times and bytes of the rest stay.
func TestWriterRedacts(t *testing.T) {
	const key = "Quiet-Zebra/42"
	for name, tc := range map[string]struct{ reads, want []string }{
		"whole":             {[]string{"bad key " + key + "."}, []string{"bad key ***."}},
		"no UTF-8":          {[]string{"\xff " + key}, []string{"\xff ***"}},
		"two reads":         {[]string{"bad key Quiet-", "Zebra/42.", "more"}, []string{"bad key ***", ".", "more"}},
		"byte by byte":      {strings.Split("a"+key+"b"+key, ""), nil},
		"escaped, halved":   {[]string{"aQuiet-Zebra%2", "F42b"}, []string{"a***", "b"}},
		"escaped often":     {strings.Split("a"+escapedOften(key)+"b", ""), slices.Concat([]string{"a", "***"}, make([]string, len(escapedOften(key))-1), []string{"b"})},
		"cut, byte by byte": {strings.Split("bad key Quiet-Zebra", ""), nil},
		"cut":               {[]string{"bad key ", "Quiet-Zeb"}, []string{"bad key ", "***"}},
		"none":              {[]string{"Quiet-", "Giraffe", strings.Repeat("x", 500), "y"}, []string{"Quiet-", "Giraffe", strings.Repeat("x", 500), "y"}},
	} {
		var out bytes.Buffer
		w := capture.NewWriter(&out, timeline.New(), []byte(`{"user":"`+key+`"}`))
		w.Redact = secret.New(key)
		w.Head(1, api.Head{Status: 401, Header: http.Header{"X-Echo": {key}}})
		for i, data := range tc.reads {
			w.Read(int64(i), 0, []byte(data))
		}
		if err := w.End(1000, timeline.Cut, nil, errors.New(key)); err != nil {
			t.Fatal(err)
		}
		var got []string
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, text := range lines[1 : len(lines)-1] {
			var l struct {
				T    float64 `json:"t_ms"`
				Data string
				B64  []byte
			}
			if err := json.Unmarshal([]byte(text), &l); err != nil || l.T != float64(i)/1000 {
				t.Fatalf("%s: %v, read %d at %v ms", name, err, i, l.T)
			}
			got = append(got, l.Data+string(l.B64))
		}
		if tc.want != nil && !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if all := out.String() + strings.Join(got, ""); strings.Contains(all, "Zebra") || strings.Count(out.String(), "***") < 3 {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

// Nor is it in what a server compressed, whole or damaged or in a coding that nobody knows.
func TestWriterRedactsWhatIsCompressed(t *testing.T) {
	const key = "Quiet-Zebra/42"
	packed := func(coding string) []byte {
		var out bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&out)
		if coding == "deflate" {
			w = zlib.NewWriter(&out)
		}
		_, _ = io.WriteString(w, `{"error":{"message":"bad key `+key+`"}}`+strings.Repeat(" ", 300))
		_ = w.Close()
		return out.Bytes()
	}
	bomb := func() []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(bytes.Repeat([]byte("data: "+key+"\n\n"), 400_000))
		_ = w.Close()
		return out.Bytes()
	}
	for name, tc := range map[string]struct {
		coding string
		data   []byte
		kept   string
	}{
		"gzip":        {"gzip", packed("gzip"), "bad key ***"},
		"deflate":     {"deflate", packed("deflate"), "bad key ***"},
		"plain after": {"gzip", append(packed("gzip"), "bad key "+key...), "bad key ***"},
		"not packed":  {"gzip", []byte("bad key " + key), ""},
		"not known":   {"quiet", packed("gzip"), ""},
		"a bomb":      {"gzip", bomb(), ""}, // the whole read is left out
	} {
		for _, piece := range []int{len(tc.data), 7} {
			if name == "a bomb" && piece == 7 {
				continue
			}
			var out bytes.Buffer
			w := capture.NewWriter(&out, timeline.New(), nil)
			w.Redact = secret.New(key)
			w.Head(1, api.Head{Status: 401, Header: http.Header{"Content-Encoding": {tc.coding}}})
			for data := range slices.Chunk(tc.data, piece) {
				w.Read(2, 0, data)
			}
			if err := w.End(1000, timeline.EOF, nil, nil); err != nil {
				t.Fatal(err)
			}
			all := out.String()
			for line := range strings.Lines(all) {
				var l struct{ B64 []byte }
				_ = json.Unmarshal([]byte(line), &l)
				if r, err := gzip.NewReader(bytes.NewReader(l.B64)); err == nil {
					plain, _ := io.ReadAll(r)
					all += string(plain)
				}
				all += string(l.B64)
			}
			if strings.Contains(all, "Zebra") || !strings.Contains(all, tc.kept) || name == "a bomb" && len(all) > 1<<10 {
				t.Errorf("%s in pieces of %d: %.500s", name, piece, all)
			}
		}
	}
}

// What compressed replies decode to is memory of all replies in flight: half of theirs at
// most, and given back when it is written. What finds none is left out.
func TestWriterDecodesWithinTheRoom(t *testing.T) {
	packed := func(size int) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(bytes.Repeat([]byte("a"), size))
		_ = w.Close()
		return out.Bytes()
	}
	const most = 8 << 20
	room := api.NewRoom(most, 64<<10)
	for size, kept := range map[int]bool{1000: true, 500_000: true, 4 << 20: false} {
		for range 20 { // each gives back what it took
			var out bytes.Buffer
			w := capture.NewWriter(&out, timeline.New(), nil)
			w.Room, w.Redact = room, secret.New("aaaaaaaaab") // it may go on in the next read
			w.Head(1, api.Head{Status: 200, Header: http.Header{"Content-Encoding": {"gzip"}}})
			w.Read(2, 0, packed(size))
			if err := w.End(1000, timeline.EOF, nil, nil); err != nil {
				t.Fatal(err)
			}
			if got := out.Len() > size; got != kept {
				t.Fatalf("%d bytes: %d are kept", size, out.Len())
			}
		}
	}
	if !room.Borrow(most/2) || room.Borrow(1) {
		t.Error("what was borrowed is not what is there")
	}
}

// escapedOften is a text with each letter escaped by two standards in turn, as often as
// a text may be that is handed on.
func escapedOften(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		if i%2 == 0 {
			fmt.Fprintf(&b, "%%252525252525252525%02x", c)
		} else {
			fmt.Fprintf(&b, `%su00%02x`, strings.Repeat(`\`, 15), c)
		}
	}
	return b.String()
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriterReportsErrors(t *testing.T) {
	w := capture.NewWriter(fullDisk{}, timeline.New(), nil)
	w.Read(2, 0, []byte("x"))
	if err := w.End(3, timeline.EOF, nil, nil); err == nil {
		t.Error("no error from a full disk")
	}
}

// A flipped bit anywhere in a capture is found, and so is a line that is
// missing or comes twice. How it ends is no damage.
func TestCaptureProvesItself(t *testing.T) {
	tl := timeline.New()
	tl.API = "openai-chat"
	var out bytes.Buffer
	s := &session{tl: tl, s: api.NewStream(tl, api.OpenAIChat, api.StreamOptions{}), w: capture.NewWriter(&out, tl, []byte(`{"model":"m"}`))}
	s.head(1, api.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}})
	s.read(2, 1, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
	s.read(3, 0, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	s.end(4, timeline.EOF, nil)
	if err := s.w.End(s.endUS, s.ended, nil, nil); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	refused := func(data []byte) bool {
		_, err := capture.Analyze(bytes.NewReader(data), capture.Options{})
		return err != nil
	}
	for _, good := range [][]byte{whole, bytes.TrimSuffix(whole, []byte("\n")), append(bytes.Clone(whole), '\n')} {
		if refused(good) {
			t.Errorf("refused: %s", good)
		}
	}
	for bit := range len(whole) * 8 {
		data := bytes.Clone(whole)
		data[bit/8] ^= 1 << (bit % 8)
		if !refused(data) {
			t.Errorf("bit %d went unnoticed: %s", bit, data)
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if !refused(bytes.Join([][]byte{lines[0], lines[1], lines[3]}, nil)) || !refused(bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2], lines[3]}, nil)) {
		t.Error("a missing or doubled line went unnoticed")
	}
}
