package capture_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/capture"
)

// FuzzAnalyze: any text is either refused with its place, or has an outcome.
func FuzzAnalyze(f *testing.F) {
	paths, _ := filepath.Glob("testdata/cases/B[0-9].capture.jsonl")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(okHead + "\n{\"t_ms\":1,\"b64\":\"/w==\"}\n{\"t_ms\":2,\"end\":\"cut\",\"trailers\":{\"a\":[\"b\"]},\"cause\":\"x\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tl, err := capture.Analyze(bytes.NewReader(data), capture.Options{Name: "f"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		if tl.Outcome == "" || (tl.Outcome == timeline.OK) != (tl.Error == nil) {
			t.Errorf("outcome %q, error %v", tl.Outcome, tl.Error)
		}
		last := int64(0)
		for ev := range tl.Events.All() {
			if ev.AtUS < last {
				t.Errorf("event at %d after %d", ev.AtUS, last)
			}
			last = ev.AtUS
		}
	})
}

// Whatever a reply was and however it was read, its capture gives its timeline.
func FuzzWriteThenAnalyze(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte("data: {\"choices\":[{\"delta\":{\"content\":\"é\"},\"finish_reason\":\"stop\"}]}\n\n"), uint64(1))
	f.Add(uint8(1), uint8(2), []byte("\xff\x00\n"), uint64(2))
	ends := []timeline.End{timeline.EOF, timeline.Cut, timeline.Reset, timeline.EndTimeoutTTFT, timeline.EndTimeoutIdle,
		timeline.EndTimeoutTotal, timeline.EndUser, timeline.EndRunEnd}
	f.Fuzz(func(t *testing.T, which, how uint8, body []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		a := api.All[int(which)%len(api.All)]
		end := ends[int(how)%len(ends)]
		live := timeline.New()
		live.API, live.Asked, live.Attempts = a.Name, r.IntN(2) == 0, 1+r.IntN(3)
		live.DueUS = r.Int64N(1e12)
		live.StartUS = live.DueUS + r.Int64N(1e6)
		opts := api.StreamOptions{KeepText: true}
		var out bytes.Buffer
		s, w := api.NewStream(live, a, opts), capture.NewWriter(&out, live, nil)
		at := r.Int64N(1e9)
		head := api.Head{Status: []int{200, 200, 200, 429, 500}[r.IntN(5)], Header: http.Header{"Content-Type": {"text/event-stream"}}}
		s.Head(at, head)
		w.Head(at, head)
		for len(body) > 0 {
			n := 1 + r.IntN(len(body))
			at += r.Int64N(1e5)
			lag := r.Int64N(100)
			s.Read(at, lag, body[:n])
			w.Read(at, lag, body[:n])
			body = body[n:]
		}
		at += r.Int64N(1e5)
		s.End(at, end, nil, nil)
		if err := w.End(at, end, nil, nil); err != nil {
			t.Fatal(err)
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
