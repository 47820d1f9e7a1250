package api

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// inHand is what the replies of these tests take without asking.
const inHand = 64 << 10

// Replies in flight share what they may take, whatever of them takes it: events,
// kept text, an event that does not end, a body that is no stream. Whoever finds
// nothing left ends by our own want, the others go on; and what is given back
// serves the next.
func TestRepliesShareTheirRoom(t *testing.T) {
	const most = 4 << 20
	stream, whole := "text/event-stream", "application/json"
	for name, c := range map[string]struct{ contentType, data string }{
		"tokens":       {stream, strings.Repeat(events(content("a")), 500)},
		"heartbeats":   {stream, strings.Repeat(": ping\n\n", 500)},
		"text":         {stream, events(content(strings.Repeat("a", 30_000)))},
		"one event":    {stream, "data: " + strings.Repeat("a", 30_000)},
		"no line feed": {stream, strings.Repeat("a", 30_000)},
		"whole body":   {whole, "[" + strings.Repeat("1,", 15_000)},
	} {
		room := NewRoom(most, inHand)
		open := func() (*Stream, *timeline.Timeline) {
			s, tl := opened(200, c.contentType, StreamOptions{Room: room, KeepText: true})
			if name == "no line feed" {
				s.Read(0, 0, []byte("data: "))
			}
			return s, tl
		}
		// None ends by itself: each of these eight is under its own caps.
		var streams []*Stream
		var tls []*timeline.Timeline
		for range 8 {
			s, tl := open()
			streams, tls = append(streams, s), append(tls, tl)
		}
		ended := -1
		for i := 0; ended < 0 && i < 2000; i++ {
			for k, s := range streams {
				if s.Read(int64(i), 0, []byte(c.data)); s.Complete() {
					ended = k
					break
				}
			}
		}
		if ended < 0 {
			t.Errorf("%s: nobody ended", name)
			continue
		}
		var held int64
		for k, s := range streams {
			if k != ended {
				held += s.tl.Events.Bytes() + int64(s.kept.bytes) + int64(s.framer.Held())
			}
		}
		if held > most+8*inHand+8*int64(len(c.data)) {
			t.Errorf("%s: %d bytes in flight", name, held)
		}
		streams[ended].End(5000, timeline.EndUser, nil, nil)
		tl := tls[ended]
		if tl.Outcome != timeline.ClientResource || !strings.Contains(tl.Error.Message, "4 MiB of memory") {
			t.Errorf("%s: %s %v", name, tl.Outcome, tl.Error)
		}
		for _, tl := range tls {
			room.Free(tl)
		}
		if room.used != 0 || len(room.of) != 0 {
			t.Errorf("%s: %d bytes of %d replies are never given back", name, room.used, len(room.of))
		}
	}
}

// A reply that needs little never asks, and without a room there is no end.
func TestSmallRepliesNeedNoRoom(t *testing.T) {
	for _, room := range []*Room{NewRoom(0, inHand), nil} {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{Room: room})
		s.Head(0, Head{200, http.Header{"Content-Type": {"text/event-stream"}}})
		for i := range 2000 {
			s.Read(int64(i), 0, []byte(events(content("a"))))
		}
		s.Read(2000, 0, []byte(events(stopChunk, "[DONE]")))
		s.End(2000, timeline.EOF, nil, nil)
		room.Free(tl)
		if tl.Outcome != timeline.OK {
			t.Errorf("%s: %v", tl.Outcome, tl.Error)
		}
	}
}

// A few bytes of a compressed reply may be millions of events: the room is asked for while
// they are unpacked, whatever the coding.
func TestCompressedRepliesAskForRoom(t *testing.T) {
	const most = 1 << 20
	flood := []byte(strings.Repeat(": \n", 900_000)) // 16 B an event: 14 MB, under the cap of one reply
	for coding, open := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		var packed bytes.Buffer
		w := open(&packed)
		_, _ = w.Write(flood)
		_ = w.Close()
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{Room: NewRoom(most, inHand)})
		s.Head(0, Head{200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {coding}}})
		s.Read(1, 0, packed.Bytes())
		if held := tl.Events.Bytes(); !s.NoRoom() || held > 2*most {
			t.Errorf("%s: %d bytes of %d that were packed hold %d, no room: %v", coding, len(flood), packed.Len(), held, s.NoRoom())
		}
	}
}
