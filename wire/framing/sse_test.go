package framing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// frame runs data through a framer in pieces of the given size and describes
// every event.
func frame(f Framer, data string, size int) (events []string, garbage int, err error) {
	yield := func(e Event) error {
		s := fmt.Sprintf("%s|%s", e.Name, e.Data)
		if e.Comment {
			s = "comment|" + string(e.Data)
		}
		if e.Partial {
			s += "|partial"
		}
		events = append(events, s)
		return nil
	}
	for len(data) > 0 {
		n := min(size, len(data))
		buf := []byte(data[:n])
		err := f.Feed(buf, yield)
		for i := range buf { // a framer must keep nothing of the caller's buffer
			buf[i] = '#'
		}
		if err != nil {
			return events, 0, err
		}
		data = data[n:]
	}
	garbage, err = f.Close(yield)
	return events, garbage, err
}

var sseCases = []struct {
	name, in string
	want     []string
	garbage  int
}{
	{"LF", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}, 0},
	{"CRLF with fields (B26)", "retry: 3\r\nid: 1\r\nevent: m\r\ndata: a\r\n\r\n", []string{"m|a"}, 0},
	{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}, 0},
	{"mixed", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", []string{"|a", "|b", "|c"}, 0},
	{"no space (B25)", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}, 0},
	{"several data lines (B28)", "data: {\ndata:  1\ndata: }\n\n", []string{"|{\n 1\n}"}, 0},
	{"empty data line", "data\n\ndata:\ndata\n\n", []string{"|", "|\n"}, 0},
	{"comments (B30)", ": a\n\n:b\n:\n\n", []string{"comment|a", "comment|b", "comment|"}, 0},
	{"comment within an event", "data: a\n: c\ndata: b\n\n", []string{"comment|c", "|a\nb"}, 0},
	{"byte-order mark (B29)", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}, 0},
	{"byte-order mark later is text", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"|a"}, 0},
	{"half a byte-order mark", "\xef\xbbdata: a\n\n", nil, 0},
	{"unicode separators end no line (B35)", "data: a\u2028b\u0085c\n\n", []string{"|a\u2028b\u0085c"}, 0},
	{"name does not stick", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}, 0},
	{"event without data", "event: x\n\ndata: b\n\n", []string{"|b"}, 0},
	{"unknown field", "foo: 1\ndata: a\nbar\n\n", []string{"|a"}, 0},
	{"field called error", "error: {}\n\n", []string{"error|{}"}, 0},
	{"error in a comment (Dynamo)", "event: error\n: it broke\n\ndata: b\n\n", []string{"comment|it broke", "error|it broke", "|b"}, 0},
	{"error in two", "event: error\r\n:it\r\n: broke\r\n\r\n", []string{"comment|it", "comment|broke", "error|it\nbroke"}, 0},
	{"error in a comment at the end", "data: a\n\nevent: error\n: it broke\n", []string{"|a", "comment|it broke", "error|it broke|partial"}, 0},
	{"error in a comment that the end cuts off", "data: a\n\nevent: error\n: it bro", []string{"|a", "error|it bro|partial"}, 0},
	{"error in the last of two comments", "event: error\n: it\n: bro", []string{"comment|it", "error|it\nbro|partial"}, 0},
	{"an event that is called error first", "event: error\n: a\nevent: x\n\ndata: b\n\n", []string{"comment|a", "|b"}, 0},
	{"the same at the end", "event: error\n: a\nevent: x", []string{"comment|a"}, 21},
	{"an empty comment in one at the end", "event: error\n:", nil, 14},
	{"a heartbeat within an error", "event: error\n: ping\ndata: {}\n\n: ping\n\n", []string{"comment|ping", "error|{}", "comment|ping"}, 0},
	{"an empty comment within one", "event: error\n:\n\ndata: b\n\n", []string{"comment|", "|b"}, 0},
	{"a comment before one", ": ping\nevent: error\n\ndata: b\n\n", []string{"comment|ping", "|b"}, 0},
	{"no blank line at the end (B38)", "data: [DONE]\n", []string{"|[DONE]|partial"}, 0},
	{"no line end at the end (B38)", "data: [DONE]", []string{"|[DONE]|partial"}, 0},
	{"cut within an event", "data: a\n\ndata: {\"b", []string{"|a", "|{\"b|partial"}, 0},
	{"cut within a field name", "data: a\n\nda", []string{"|a"}, 2},
	{"cut after a name", "event: x\nid: 4\n", nil, 15},
	{"cut comment", ": pi", nil, 4},
	{"cut byte-order mark", "\xef\xbb", nil, 2},
	{"empty", "", nil, 0},
	{"blank lines", "\n\r\n\r\r\n\n", nil, 0},
}

func TestSSEHoweverSplit(t *testing.T) {
	for _, c := range sseCases {
		for size := 1; size <= len(c.in)+1; size++ {
			got, garbage, err := frame(NewSSE(0), c.in, size)
			if !slices.Equal(got, c.want) || garbage != c.garbage || err != nil {
				t.Errorf("%s in pieces of %d: %q, garbage %d, %v", c.name, size, got, garbage, err)
			}
		}
	}
}

// CR and LF of one line end in two reads are one line end, and the event is not
// held back for the LF (case B27).
func TestSSEDeliversAtTheCR(t *testing.T) {
	f := NewSSE(0)
	var got []string
	yield := func(e Event) error { got = append(got, string(e.Data)); return nil }
	for i, step := range []struct {
		in   string
		want int
	}{{"data: {\r", 0}, {"\ndata: }\r\n\r", 1}, {"\n", 1}, {"data: b\n\n", 2}} {
		if err := f.Feed([]byte(step.in), yield); err != nil || len(got) != step.want {
			t.Errorf("after read %d: %q, %v", i, got, err)
		}
	}
	if !slices.Equal(got, []string{"{\n}", "b"}) {
		t.Errorf("got %q", got)
	}
}

func TestSSEErrorOfYieldStops(t *testing.T) {
	f, want := NewSSE(0), errors.New("stop")
	n := 0
	yield := func(Event) error { n++; return want }
	if err := f.Feed([]byte("data: a\n\ndata: b\n\n"), yield); err != want || n != 1 {
		t.Errorf("%v after %d events", err, n)
	}
	if _, err := f.Close(yield); err != want {
		t.Errorf("Close: %v", err)
	}
}

// An event over the cap is an error that names the cap, whatever the split, and
// what was kept of it is freed (case B36).
func TestCapOfAnEvent(t *testing.T) {
	big := strings.Repeat("x", 1000)
	inputs := map[string]string{
		"line":    "data: a\n\ndata: " + big,
		"lines":   "data: a\n\n" + strings.Repeat("data: "+big[:100]+"\n", 10),
		"comment": "data: a\n\n: " + big + "\n\n",
	}
	for name, in := range inputs {
		for _, size := range []int{1, 64, 5000} {
			f := NewSSE(512)
			got, _, err := frame(f, in, size)
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) || len(got) != 1 || !strings.Contains(err.Error(), "512 bytes") {
				t.Errorf("%s in pieces of %d: %q, %v", name, size, got, err)
			}
			f.Feed([]byte(big), nil)
			if cap(f.line)+cap(f.data) > 0 {
				t.Errorf("%s: memory is kept after the error", name)
			}
		}
	}
	if got := (&TooLargeError{DefaultMaxEvent}).Error(); !strings.Contains(got, "16 MiB") {
		t.Error(got)
	}
}

// One event of 1 MiB in slices of 16 KiB (case B36).
func TestSSELargeEvent(t *testing.T) {
	in := "data: " + strings.Repeat("x", 1<<20) + "\n\n"
	got, _, err := frame(NewSSE(0), in, 16<<10)
	if err != nil || len(got) != 1 || len(got[0]) != 1<<20+1 {
		t.Errorf("%d events, %v", len(got), err)
	}
}

func TestLinesHoweverSplit(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string
	}{
		{"LF", "{\"a\":1}\n{\"b\":2}\n", []string{`|{"a":1}`, `|{"b":2}`}},
		{"CRLF and blank lines", "{}\r\n\r\n\n{}\r\n", []string{"|{}", "|{}"}},
		{"no end", "{}\n{\"a\"", []string{"|{}", `|{"a"|partial`}},
		{"byte-order mark", "\xef\xbb\xbf{}\n", []string{"|{}"}},
		{"CR ends no line", "{}\r{}\n", []string{"|{}\r{}"}},
		{"empty", "", nil},
	}
	for _, c := range cases {
		for size := 1; size <= len(c.in)+1; size++ {
			got, garbage, err := frame(NewLines(0), c.in, size)
			if !slices.Equal(got, c.want) || garbage != 0 || err != nil {
				t.Errorf("%s in pieces of %d: %q, %v", c.name, size, got, err)
			}
		}
	}
	if _, _, err := frame(NewLines(10), strings.Repeat("x", 11), 3); err == nil {
		t.Error("no error over the cap")
	}
	if _, _, err := frame(NewWhole(10), strings.Repeat("x", 11), 3); err == nil {
		t.Error("no error over the cap of a body")
	}
	if got, _, _ := frame(NewWhole(10), "0123456789", 3); !slices.Equal(got, []string{"|0123456789"}) {
		t.Errorf("whole body: %q", got)
	}
}
