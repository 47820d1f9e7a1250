package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Recorded replies of real servers, as curl printed them: testdata/recorded/
// SERVER/NAME.http. What each must give stands in expect.json, which another
// program worked out from the same bytes.
type recordedWant struct {
	API      string           `json:"api"`
	Status   int              `json:"status"`
	End      timeline.End     `json:"end"`
	Outcome  timeline.Outcome `json:"outcome"`
	Words    []string         `json:"words"`
	Streamed bool             `json:"streamed"`
	Events   map[string]int   `json:"events"` // generation events by kind
	Choices  map[string]int   `json:"choices"`
	Comments int              `json:"comments"`
	Text     string           `json:"text"`
	Thought  string           `json:"thought"`
	Calls    string           `json:"calls"`
	Finish   string           `json:"finish"`
	Usage    timeline.Usage   `json:"usage"`
	NoDone   bool             `json:"no_done"`
	Tokens   []int64          `json:"tokens"` // of each generation event, where known
	Counted  *int64           `json:"counted"`
}

func recordedCases(t testing.TB) map[string]recordedWant {
	data, err := os.ReadFile("testdata/recorded/expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]recordedWant
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	return want
}

// recording is one recorded reply; its reads are the HTTP chunks where they
// were kept, else the whole body.
type recording struct {
	head  Head
	reads [][]byte
}

func (r recording) body() []byte { return bytes.Join(r.reads, nil) }

func readRecording(t testing.TB, name string) recording {
	data, err := os.ReadFile(filepath.Join("testdata/recorded", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(bytes.NewReader(data))
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	status, err := strconv.Atoi(strings.Fields(line)[1])
	if err != nil {
		t.Fatal(err)
	}
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	r := recording{head: Head{status, http.Header(header)}}
	for strings.Contains(name, "chunked-raw") {
		size, _ := in.ReadString('\n')
		n, err := strconv.ParseInt(strings.TrimSpace(size), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return r
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			t.Fatal(err)
		}
		r.reads = append(r.reads, chunk[:n])
	}
	body, _ := io.ReadAll(in)
	r.reads = [][]byte{body}
	return r
}

// replay drives a stream with the given reads, 1 ms apart from 10 ms on.
func replay(a *API, head Head, reads [][]byte, end timeline.End) *timeline.Timeline {
	tl := timeline.New()
	tl.Asked = true
	s := NewStream(tl, a, StreamOptions{KeepText: true})
	s.Head(10_000, head)
	at := int64(10_000)
	for _, data := range reads {
		buf := bytes.Clone(data)
		s.Read(at, 5, buf)
		for i := range buf { // nothing of the caller's buffer may be kept
			buf[i] = '#'
		}
		at += 1000
	}
	s.End(at, end, nil, nil)
	return tl
}

func TestRecordedReplies(t *testing.T) {
	cases := recordedCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		want := cases[name]
		t.Run(name, func(t *testing.T) {
			a, err := ByName(want.API)
			if err != nil {
				t.Fatal(err)
			}
			rec := readRecording(t, name)
			if rec.head.Status != want.Status {
				t.Fatalf("status %d, want %d", rec.head.Status, want.Status)
			}
			tl := replay(a, rec.head, rec.reads, want.End)
			checkRecorded(t, tl, want)
			for _, reads := range [][][]byte{{rec.body()}, single(rec.body()), pieces(rec.body(), 7)} {
				sameReply(t, tl, replay(a, rec.head, reads, want.End))
			}
			if want.Status == 200 && len(rec.body()) > 0 && !strings.Contains(string(rec.body()[:30]), `{"error"`) {
				if got := Recognise(rec.body()); got == nil || got.Name != want.API {
					t.Errorf("recognised as %+v", got)
				}
			}
		})
	}
}

func checkRecorded(t *testing.T, tl *timeline.Timeline, want recordedWant) {
	t.Helper()
	events, choices, comments := map[string]int{}, map[string]int{}, 0
	var tokens []int64
	for ev := range tl.Events.All() {
		if ev.Kind == timeline.Ping {
			comments++
		}
		if ev.Kind.Bears() {
			events[ev.Kind.String()]++
			choices[strconv.Itoa(ev.Choice)]++
			tokens = append(tokens, ev.Tokens.Or(-1))
		}
	}
	equal := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	equal("outcome", tl.Outcome, want.Outcome)
	equal("events", events, mapOrEmpty(want.Events))
	equal("choices", choices, mapOrEmpty(want.Choices))
	equal("text", tl.Text, want.Text)
	equal("thought", tl.Thought, want.Thought)
	equal("calls", tl.Calls, want.Calls)
	equal("finish", tl.FinishReason, want.Finish)
	equal("unread", tl.Unread, "")
	equal("usage", jsonOf(tl.Usage), jsonOf(want.Usage))
	equal("streamed", tl.Streamed, want.Streamed)
	equal("no_done", tl.Flags.Has(timeline.NoDone), want.NoDone)
	if want.Streamed {
		equal("comments", comments, want.Comments)
	}
	if want.Tokens != nil {
		equal("tokens", tokens, want.Tokens)
	}
	if want.Counted != nil {
		equal("counted", tl.Counted, timeline.Some(*want.Counted))
	}
	if (tl.Error == nil) != (tl.Outcome == timeline.OK) {
		t.Errorf("outcome %s with error %v", tl.Outcome, tl.Error)
	}
	for _, word := range want.Words {
		if !strings.Contains(tl.Error.Message, strings.Join(strings.Fields(word), " ")) {
			t.Errorf("%q is not in the message %q", word, tl.Error.Message)
		}
	}
}

// sameReply compares everything but times and reads.
func sameReply(t *testing.T, a, b *timeline.Timeline) {
	t.Helper()
	flat := func(tl *timeline.Timeline) string {
		var out []string
		for ev := range tl.Events.All() {
			out = append(out, fmt.Sprint(ev.Kind, ev.Tokens, ev.Choice, ev.Bytes))
		}
		return fmt.Sprint(out, tl.Outcome, tl.Error, tl.Usage, tl.Text, tl.FinishReason, tl.Server, tl.Counted, tl.Flags.Names(), tl.Unread, tl.Model)
	}
	if flat(a) != flat(b) {
		t.Errorf("another split gives another reply:\n%.2000s\n%.2000s", flat(a), flat(b))
	}
}

func single(body []byte) (reads [][]byte) {
	for i := range body {
		reads = append(reads, body[i:i+1])
	}
	return reads
}

func pieces(body []byte, seed uint64) (reads [][]byte) {
	r := rand.New(rand.NewPCG(seed, 1))
	for len(body) > 0 {
		n := min(1+r.IntN(300), len(body))
		reads = append(reads, body[:n])
		body = body[n:]
	}
	return reads
}

func mapOrEmpty(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}

func sprint(v any) string { return fmt.Sprint(v) }

func jsonOf(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
