package api

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

var fuzzTypes = []string{"text/event-stream", "application/x-ndjson", "application/json", "", "text/html", "application/vnd.amazon.eventstream"}

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
	for i, a := range All {
		if a == Speech {
			continue
		}
		for _, c := range typicalChunks {
			f.Add(uint8(i), uint8(0), []byte("data: "+c.chunk+"\n\ndata: [DONE]"), uint64(1))
			f.Add(uint8(i), uint8(1), []byte(c.chunk), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, which, kind uint8, body []byte, seed uint64) {
		if a := All[int(which)%len(All)]; a != Speech { // whose events are reads: FuzzSpeech
			checkReply(t, a, kind, body, seed)
		}
	})
}

// One target an API, so that each can be fuzzed for a while of its own.

func FuzzOpenAIChat(f *testing.F)        { fuzzAPI(f, OpenAIChat) }
func FuzzOpenAICompletions(f *testing.F) { fuzzAPI(f, OpenAICompletions) }
func FuzzOpenAIResponses(f *testing.F)   { fuzzAPI(f, OpenAIResponses) }
func FuzzAnthropic(f *testing.F)         { fuzzAPI(f, Anthropic) }
func FuzzOllamaChat(f *testing.F)        { fuzzAPI(f, OllamaChat) }
func FuzzOllamaGenerate(f *testing.F)    { fuzzAPI(f, OllamaGenerate) }
func FuzzLlamaCpp(f *testing.F)          { fuzzAPI(f, LlamaCpp) }
func FuzzTGI(f *testing.F)               { fuzzAPI(f, TGI) }
func FuzzSGLang(f *testing.F)            { fuzzAPI(f, SGLang) }
func FuzzGemini(f *testing.F)            { fuzzAPI(f, Gemini) }
func FuzzInteractions(f *testing.F)      { fuzzAPI(f, GeminiInteractions) }
func FuzzBedrock(f *testing.F)           { fuzzAPI(f, Bedrock) }
func FuzzCohere(f *testing.F)            { fuzzAPI(f, Cohere) }
func FuzzTriton(f *testing.F)            { fuzzAPI(f, Triton) }
func FuzzEmbeddings(f *testing.F)        { fuzzAPI(f, Embeddings) }
func FuzzRerank(f *testing.F)            { fuzzAPI(f, Rerank) }
func FuzzTEIRerank(f *testing.F)         { fuzzAPI(f, TEIRerank) }
func FuzzRealtime(f *testing.F)          { fuzzAPI(f, Realtime) }
func FuzzTranscription(f *testing.F)     { fuzzAPI(f, Transcription) }

// FuzzSpeech: sound has an event a read, so what is the same however it is split is
// their sum, its length and the outcome.
func FuzzSpeech(f *testing.F) {
	f.Add(uint8(0), []byte(speechEvents), uint64(1))
	f.Add(uint8(1), []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xffabcd"), uint64(2))
	f.Add(uint8(2), []byte(`{"error":{"message":"no voice"}}`), uint64(3))
	kinds := []string{"text/event-stream", "audio/wav", "application/json", "", "audio/pcm", "audio/mpeg", "text/html", "application/octet-stream"}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte, seed uint64) {
		head := Head{200, http.Header{}}
		if ct := kinds[int(kind)%len(kinds)]; ct != "" {
			head.Header.Set("Content-Type", ct)
		}
		end := fuzzEnds[int(kind)/len(kinds)%len(fuzzEnds)]
		told := func(reads [][]byte) string {
			tl := replay(Speech, head, reads, end)
			var sound int64
			for ev := range tl.Events.Generation() {
				sound += ev.Bytes
			}
			if sound > int64(len(body)) || tl.AudioUS.Or(0) < 0 || tl.AudioRate.Or(0) < 0 || (tl.Outcome == timeline.OK) != (tl.Error == nil) {
				t.Errorf("%d bytes of sound in %d, %v µs, outcome %s, %v", sound, len(body), tl.AudioUS, tl.Outcome, tl.Error)
			}
			return sprint(sound) + sprint(tl.AudioUS) + sprint(tl.AudioRate) + string(tl.Outcome) + sprint(tl.Usage)
		}
		whole := told([][]byte{body})
		for _, reads := range [][][]byte{single(body), pieces(body, seed)} {
			if got := told(reads); got != whole {
				t.Errorf("in pieces %s, whole %s", got, whole)
			}
		}
	})
}

// fuzzAPI begins with the recorded replies in which the API is recognised, and
// with the typical chunks.
func fuzzAPI(f *testing.F, a *API) {
	paths, _ := filepath.Glob("testdata/recorded/*/*.http")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if _, body, ok := bytes.Cut(data, []byte("\r\n\r\n")); ok && len(body) < 4000 && Recognise(body) == a {
			f.Add(uint8(0), body, uint64(1))
		}
	}
	for _, c := range typicalChunks {
		f.Add(uint8(0), []byte("data: "+c.chunk+"\n\ndata: [DONE]"), uint64(1))
		f.Add(uint8(1), []byte(c.chunk), uint64(1))
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte, seed uint64) { checkReply(t, a, kind, body, seed) })
}

// checkReply replays a body whole, byte by byte and in pieces.
func checkReply(t *testing.T, a *API, kind uint8, body []byte, seed uint64) {
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
	if whole.Flags.Has(timeline.UnreadText) != strings.Contains(string(whole.Unread), "text:") || len(whole.Unread) > 256 ||
		strings.ContainsFunc(string(whole.Unread), func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("unread %q with flags %v", whole.Unread, whole.Flags.Names())
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
}
