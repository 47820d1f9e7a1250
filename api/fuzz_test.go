package api

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tokenmeter/timeline"
)

var fuzzTypes = []string{"text/event-stream", "application/x-ndjson", "application/json", "", "text/html"}

var fuzzEnds = []timeline.End{timeline.EOF, timeline.Cut, timeline.Reset, timeline.EndTimeoutIdle, timeline.EndUser}

// FuzzReply: whatever the bytes, a reply has one outcome with words, events in
// order, and the same ones however the bytes are split.
func FuzzReply(f *testing.F) {
	paths, _ := filepath.Glob("testdata/recorded/*/*.http")
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 4000 && i%4 == 0 {
			f.Add(uint8(i), uint8(i/9), data[len(data)/3:], uint64(i))
		}
	}
	for i := range All {
		for _, c := range typicalChunks {
			f.Add(uint8(i), uint8(0), []byte("data: "+c.chunk+"\n\ndata: [DONE]"), uint64(1))
			f.Add(uint8(i), uint8(1), []byte(c.chunk), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, which, kind uint8, body []byte, seed uint64) {
		a := All[int(which)%len(All)]
		head := Head{200, http.Header{}}
		if ct := fuzzTypes[int(kind)%len(fuzzTypes)]; ct != "" {
			head.Header.Set("Content-Type", ct)
		}
		end := fuzzEnds[int(kind)/len(fuzzTypes)%len(fuzzEnds)]
		whole := replay(a, head, [][]byte{body}, end)
		sameReply(t, whole, replay(a, head, single(body), end))
		sameReply(t, whole, replay(a, head, pieces(body, seed), end))
		if !slices.Contains(timeline.Outcomes, whole.Outcome) {
			t.Errorf("outcome %q", whole.Outcome)
		}
		if (whole.Outcome == timeline.OK) != (whole.Error == nil) || whole.Error != nil && whole.Error.Message == "" {
			t.Errorf("outcome %s with error %+v", whole.Outcome, whole.Error)
		}
		for _, n := range []timeline.Opt[int64]{whole.Usage.Input, whole.Usage.Output, whole.Usage.Cached, whole.Counted} {
			if n.Or(0) < 0 {
				t.Errorf("negative count in %+v, %v", whole.Usage, whole.Counted)
			}
		}
		for ev := range whole.Events.All() {
			if ev.Kind.Bears() && ev.Tokens.OK() && ev.Tokens.Or(0) < 1 {
				t.Errorf("a generation event of %v tokens", ev.Tokens)
			}
		}
	})
}
