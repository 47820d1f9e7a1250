package framing

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

const benchEvent = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"finish_reason\":null}]}\n\n"

func BenchmarkSSE(b *testing.B) {
	named := []byte("event: content_block_delta\n" + benchEvent)
	crlf := []byte("data: " + string(bytes.Repeat([]byte("x"), 150)) + "\r\n\r\n")
	cases := []struct {
		name  string
		reads [][]byte
	}{
		{"one read an event", [][]byte{[]byte(benchEvent)}},
		{"named", [][]byte{named}},
		{"CRLF", [][]byte{crlf}},
		{"split in two", [][]byte{[]byte(benchEvent)[:80], []byte(benchEvent)[80:]}},
		{"100 events a read", [][]byte{bytes.Repeat([]byte(benchEvent), 100)}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			f := NewSSE(0)
			n := 0
			yield := func(Event) error { n++; return nil }
			b.SetBytes(int64(len(bytes.Join(c.reads, nil))))
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range c.reads {
					f.Feed(p, yield)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
		})
	}
}

func BenchmarkLines(b *testing.B) {
	line := []byte(benchEvent[6 : len(benchEvent)-1])
	f := NewLines(0)
	yield := func(Event) error { return nil }
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		f.Feed(line, yield)
	}
}

// BenchmarkGzip is one flushed event a read, as a server that compresses a
// stream sends it.
func BenchmarkGzip(b *testing.B) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	var reads [][]byte
	for range 1000 {
		w.Write([]byte(benchEvent))
		w.Flush()
		reads = append(reads, bytes.Clone(packed.Bytes()))
		packed.Reset()
	}
	emit := func([]byte) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		d, _ := NewDecoder("gzip")
		for _, p := range reads {
			if err := d.Feed(p, emit); err != nil {
				b.Fatal(err)
			}
		}
		d.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}

// Framing allocates nothing per event once its buffers have grown.
func TestFramingAllocatesNothing(t *testing.T) {
	yield := func(Event) error { return nil }
	event := []byte("event: delta\nid: 7\n" + benchEvent)
	many := []byte("data: {\ndata: }\n\n: ping\n\n" + benchEvent)
	wrapped, _ := base64.StdEncoding.DecodeString(amazonVectors[0].base64)
	message := append(append([]byte{}, wrapped...), amazonMessage(":event-type", "chunk", `{"bytes":"eyJhIjoxfQ==","p":"abcd"}`)...)
	for name, c := range map[string]struct {
		f interface {
			Feed([]byte, func(Event) error) error
		}
		first []byte
		event []byte
	}{
		"event stream": {NewEventStream(0), nil, message},
		"elements":     {NewElements(0), []byte("["), []byte(`{"a":[1,"}"]},`)},
	} {
		f, n := c.f, 0
		count := func(e Event) error { n++; return nil }
		if err := f.Feed(c.first, count); err != nil {
			t.Fatal(err)
		}
		run := func() {
			f.Feed(c.event, count)
			f.Feed(c.event[:9], count)
			f.Feed(c.event[9:], count)
		}
		run()
		if got := testing.AllocsPerRun(200, run); got != 0 || n < 400 {
			t.Errorf("%s: %v allocations for two events, %d events", name, got, n)
		}
	}
	socket := NewWebSocket(0)
	messages := 0
	frame := append([]byte{0x81, 11}, `{"a":"b c"}`...)
	run := func() {
		for _, p := range [][]byte{frame, frame[:5], frame[5:]} {
			if err := socket.Feed(p, func(Op, []byte) error { messages++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	if got := testing.AllocsPerRun(200, run); got != 0 || messages < 400 {
		t.Errorf("WebSocket: %v allocations for two messages, %d messages", got, messages)
	}
	for name, f := range map[string]Framer{"SSE": NewSSE(0), "lines": NewLines(0)} {
		run := func() {
			f.Feed(event, yield)
			f.Feed(event[:30], yield)
			f.Feed(event[30:], yield)
			f.Feed(many, yield)
		}
		run()
		if n := testing.AllocsPerRun(200, run); n != 0 {
			t.Errorf("%s: %v allocations for four events", name, n)
		}
	}
}

// amazonMessage is a message of Amazon's event stream with one header, a text.
func amazonMessage(header, value, payload string) []byte {
	headers := append([]byte{byte(len(header))}, header...)
	headers = append(headers, 7, byte(len(value)>>8), byte(len(value)))
	headers = append(headers, value...)
	m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}
