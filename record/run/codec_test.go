package run

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func TestJournalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyTimeline(t)
		got, err := decodeTimeline(encodeTimeline(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

// Files from before input_images have the pictures that a chat was sent as images.
func TestPicturesOfOlderFiles(t *testing.T) {
	two, none := timeline.Some[int64](2), timeline.Opt[int64]{}
	for api, want := range map[string][2]timeline.Opt[int64]{"openai-chat": {none, two}, "anthropic": {none, two}, "images": {two, none}} {
		old := timeline.New()
		old.API, old.Images, old.MediaBytes = api, two, timeline.Some[int64](4480)
		got, err := decodeTimeline(encodeTimeline(nil, old))
		if err != nil || got.Images != want[0] || got.InputImages != want[1] {
			t.Errorf("journal of %s: images %v, input images %v, %v", api, got.Images, got.InputImages, err)
		}
		row := outline{API: api, Images: old.Images.Ptr(), Media: old.MediaBytes.Ptr()}
		if err := row.into(got); err != nil || got.Images != want[0] || got.InputImages != want[1] {
			t.Errorf("row of %s: images %v, input images %v, %v", api, got.Images, got.InputImages, err)
		}
	}
}

func TestParquetRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anyTimeline), 0, 5).Draw(t, "timelines")
		path := filepath.Join(dir, "t.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w := newTableWriter(f)
		for _, tl := range want {
			rec := metric.Of(tl)
			if err := w.write(&rec, tl); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		size, _ := f.Seek(0, 2)
		table, err := openTable(f, size)
		if err != nil {
			t.Fatal(err)
		}
		var got []*timeline.Timeline
		for tl, err := range table.each {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tl)
		}
		if d := diff(want, got); d != "" && len(want)+len(got) > 0 {
			t.Fatal(d)
		}
	})
}

// An older payload that ends early reads as far as it goes.
func TestPayloadMayEndBetweenFields(t *testing.T) {
	tl := streamed(7, 0)
	payload := encodeTimeline(nil, tl)
	got, err := decodeTimeline(payload[:len(payload)-1]) // the end of the events
	if err != nil || got.Request != 7 || got.FinishReason != "stop" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := decodeTimeline(append(payload, 1, 2, 3)); err != nil {
		t.Fatalf("later fields of a newer writer: %v", err)
	}
	if _, err := decodeTimeline([]byte{99, 0}); err == nil {
		t.Fatal("a newer version was read")
	}
}

func TestEventsTakeFewBytes(t *testing.T) {
	tl := streamed(0, 1000)
	per := float64(len(encodeTimeline(nil, tl))) / 1000
	if per > 7 {
		t.Errorf("%.1f bytes an event", per)
	}
}

func FuzzDecodeTimeline(f *testing.F) {
	f.Add(encodeTimeline(nil, streamed(3, 5)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		tl, err := decodeTimeline(payload)
		if err != nil {
			return
		}
		metric.Of(tl)
		again, err := decodeTimeline(encodeTimeline(nil, tl))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encodeTimeline(nil, tl), encodeTimeline(nil, again)) {
			t.Fatal("written anew it reads otherwise")
		}
	})
}
