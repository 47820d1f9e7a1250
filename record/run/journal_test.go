package run

import (
	"bytes"
	"testing"

	"tokenmeter/record/timeline"
)

func journalOf(tls ...*timeline.Timeline) []byte {
	buf := []byte(journalMagic)
	for _, tl := range tls {
		buf = AppendFrame(buf, func(b []byte) []byte { return encodeTimeline(b, tl) })
	}
	return buf
}

func readJournal(t testing.TB, data []byte) (*journal, []*timeline.Timeline) {
	t.Helper()
	j, err := indexJournal(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var all []*timeline.Timeline
	for tl, err := range j.each {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tl)
	}
	return j, all
}

// A program may die at any byte: whole records are kept, a torn one is dropped.
func TestJournalCutAtEveryByte(t *testing.T) {
	tls := []*timeline.Timeline{streamed(0, 3), streamed(1, 0), streamed(2, 8)}
	whole := journalOf(tls...)
	var ends []int // where each record ends
	for n := range len(tls) + 1 {
		ends = append(ends, len(journalOf(tls[:n]...)))
	}
	for size := range len(whole) + 1 {
		want := 0
		for n, end := range ends {
			if size >= end {
				want = n
			}
		}
		j, got := readJournal(t, whole[:size])
		if d := diff(tls[:want], append([]*timeline.Timeline{}, got...)); d != "" {
			t.Fatalf("cut at %d: %s", size, d)
		}
		if torn := int64(size - ends[want]); size >= ends[0] && j.torn != torn {
			t.Fatalf("cut at %d: %d bytes torn, want %d", size, j.torn, torn)
		}
	}
}

func TestJournalPassesOverADamagedRecord(t *testing.T) {
	tls := []*timeline.Timeline{streamed(0, 3), streamed(1, 3), streamed(2, 3)}
	data := journalOf(tls...)
	data[len(journalOf(tls[0]))+frameHead+9] ^= 0x40
	j, got := readJournal(t, data)
	if len(got) != 2 || got[0].Request != 0 || got[1].Request != 2 || j.damaged != 1 {
		t.Fatalf("got %d records, %d damaged", len(got), j.damaged)
	}
}

// After a power failure a file may end in zeros, which carry a valid checksum.
func TestJournalTakesZerosAsTorn(t *testing.T) {
	j, got := readJournal(t, append(journalOf(streamed(0, 2)), make([]byte, 4096)...))
	if len(got) != 1 || j.torn != 4096 {
		t.Fatalf("got %d records, %d torn", len(got), j.torn)
	}
}

func TestJournalInTheOrderOfRequests(t *testing.T) {
	_, got := readJournal(t, journalOf(streamed(2, 1), streamed(0, 1), streamed(1, 1)))
	for i, tl := range got {
		if tl.Request != int64(i) {
			t.Fatalf("place %d has request %d", i, tl.Request)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add(journalOf(streamed(0, 2), streamed(1, 0)))
	f.Add([]byte(journalMagic + "\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(journalMagic + "\xff\xff\xff\x3f\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := indexJournal(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for range j.each {
		}
	})
}
