package framing

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"
)

// described are the events of a stream in a form that can be compared.
type described struct {
	events  []string
	size    int // sum over the events
	garbage int
	failed  bool
}

func (d *described) add(name string, lines []string, partial bool, size int) {
	d.events = append(d.events, fmt.Sprintf("%q %q false %v", name, strings.Join(lines, "\n"), partial))
	d.size = size
}

// framed feeds data in pieces that end at the given places.
func framed(f Framer, data []byte, cuts []int) (d described) {
	yield := func(e Event) error {
		d.events = append(d.events, fmt.Sprintf("%q %q %v %v", e.Name, e.Data, e.Comment, e.Partial))
		d.size += e.Size
		return nil
	}
	from := 0
	for _, to := range append(cuts, len(data)) {
		buf := bytes.Clone(data[from:to])
		if f.Feed(buf, yield) != nil {
			d.failed = true
			return d
		}
		for i := range buf {
			buf[i] = '#'
		}
		from = to
	}
	d.garbage, _ = f.Close(yield)
	return d
}

// cutsOf draws places to cut n bytes at.
func cutsOf(n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0))
	cuts := make([]int, r.IntN(min(n, 20)+1))
	for i := range cuts {
		cuts[i] = r.IntN(n + 1)
	}
	slices.Sort(cuts)
	return cuts
}

func everyByte(n int) []int {
	cuts := make([]int, n)
	for i := range cuts {
		cuts[i] = i
	}
	return cuts
}

// standard is the event stream interpretation of the HTML standard, written
// for the whole text at once, with the deviations that SSE documents.
func standard(data string) (d described) {
	var name string
	var lines []string
	hasData := false
	var told []byte // comments within an event called error
	finish := func(last bool, consumed int) {
		if words := strings.Trim(string(told), "\n"); !hasData && name == "error" && words != "" {
			lines, hasData = []string{words}, true
		}
		if hasData {
			d.add(name, lines, last, consumed)
		}
	}
	open, consumed := 0, len(data)
	data = strings.TrimPrefix(data, bomBytes)
	consumed -= len(data)
	for len(data) > 0 {
		end := strings.IndexAny(data, "\r\n")
		line, used, last := data, len(data), end < 0
		if !last {
			line, used = data[:end], end+1
		}
		consumed += used
		switch field, value, _ := strings.Cut(line, ":"); {
		case line == "":
			finish(false, consumed)
			name, lines, hasData, open, told = "", nil, false, 0, nil
		case field == "" && last:
			if open += used; name == "error" {
				told = KeepStray(told, []byte(strings.TrimPrefix(value, " ")))
			}
		case field == "":
			value = strings.TrimPrefix(value, " ")
			d.events = append(d.events, fmt.Sprintf("%q %q true false", "", value))
			if name == "error" {
				told = KeepStray(told, []byte(value))
			}
			if open > 0 {
				d.size += used
			} else {
				d.size = consumed
			}
		default:
			open += used
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "data":
				lines, hasData = append(lines, value), true
			case "event":
				name = value
			case "error":
				name, lines, hasData = "error", append(lines, value), true
			}
		}
		wasCR := data[used-1] == '\r'
		data = data[used:]
		if wasCR && strings.HasPrefix(data, "\n") { // the second half of a CR LF
			data = data[1:]
			consumed++
		}
	}
	if finish(true, consumed); hasData {
		return d
	}
	d.garbage = open
	return d
}

func FuzzSSE(f *testing.F) {
	for _, c := range sseCases {
		f.Add([]byte(c.in), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		want := framed(NewSSE(0), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			if got := framed(NewSSE(0), data, cuts); !slices.Equal(got.events, want.events) || got.size != want.size || got.garbage != want.garbage {
				t.Fatalf("cut at %v:\n got %+v\nwant %+v", cuts, got, want)
			}
		}
		ref := standard(string(data))
		if !slices.Equal(ref.events, want.events) || ref.garbage != want.garbage || ref.size != want.size {
			t.Fatalf("got %+v\nthe standard says %+v", want, ref)
		}
		if rest := len(data) - want.size - want.garbage; rest < 0 {
			t.Fatalf("%d bytes became %d of events and %d of garbage", len(data), want.size, want.garbage)
		}
		limited := framed(NewSSE(16), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			if got := framed(NewSSE(16), data, cuts); got.failed != limited.failed || !slices.Equal(got.events, limited.events) {
				t.Fatalf("with a cap, cut at %v:\n got %+v\nwant %+v", cuts, got, limited)
			}
		}
		compareGoSSE(t, data)
	})
}

// compareGoSSE compares with another reader where that follows the standard: it
// takes a byte-order mark after blank lines too.
func compareGoSSE(t *testing.T, data []byte) {
	if bytes.Contains(data, []byte("\xef\xbb\xbf")) || bytes.Contains(data, []byte("error")) {
		return
	}
	var want, got []string
	for e, err := range sse.Read(bytes.NewReader(data), &sse.ReadConfig{MaxEventSize: 1 << 20}) {
		if err != nil {
			return
		}
		if e.Data != "" {
			want = append(want, fmt.Sprintf("%q %q", e.Type, e.Data))
		}
	}
	s := NewSSE(0)
	yield := func(e Event) error {
		if len(e.Data) > 0 && !e.Comment && !e.Partial {
			got = append(got, fmt.Sprintf("%q %q", e.Name, e.Data))
		}
		return nil
	}
	s.Feed(data, yield)
	s.Close(yield)
	if !slices.Equal(got, want) {
		t.Fatalf("got %q\ngo-sse %q", got, want)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":1}\r\n\n{\"b\":2}"), uint64(1))
	f.Add([]byte("\xef\xbb\xbf{}\n \n"), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		want := framed(NewLines(0), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			if got := framed(NewLines(0), data, cuts); !slices.Equal(got.events, want.events) || got.size != want.size {
				t.Fatalf("cut at %v:\n got %+v\nwant %+v", cuts, got, want)
			}
		}
		var ref []string
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			ended := bytes.HasSuffix(line, []byte("\n"))
			if ended {
				line = line[:len(line)-1]
			}
			if i == 0 {
				line = bytes.TrimPrefix(line, []byte(bomBytes))
			}
			if line = bytes.Trim(line, " \t\r"); len(line) > 0 {
				ref = append(ref, fmt.Sprintf("%q %q %v %v", "", line, false, !ended))
			}
		}
		if !slices.Equal(ref, want.events) {
			t.Fatalf("got %q\nwant %q", want.events, ref)
		}
	})
}

// FuzzCoding: no bytes make a decoder crash or hang, and the split of the bytes
// changes nothing.
func FuzzCoding(f *testing.F) {
	for i, c := range codings {
		var b bytes.Buffer
		w := c.enc(&b)
		w.Write(sampleText(300))
		w.Close()
		f.Add(uint8(i), b.Bytes(), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte, seed uint64) {
		c := codings[int(which)%len(codings)]
		const enough = 1 << 20
		run := func(cuts []int) (out []byte, failed bool) {
			d, _ := NewDecoder(c.name)
			from := 0
			for _, to := range append(slices.Clone(cuts), len(data)) {
				err := d.Feed(bytes.Clone(data[from:to]), func(p []byte) error {
					if out = append(out, p...); len(out) > enough {
						return io.ErrShortBuffer
					}
					return nil
				})
				if err != nil {
					d.Close()
					return out, true
				}
				from = to
			}
			return out, d.Close() != nil
		}
		want, failed := run(nil)
		if len(want) > enough {
			return
		}
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			got, alsoFailed := run(cuts)
			if alsoFailed != failed || !failed && !bytes.Equal(got, want) {
				t.Fatalf("%s cut at %v: %d bytes, failed %v; want %d, %v", c.name, cuts, len(got), alsoFailed, len(want), failed)
			}
		}
	})
}
