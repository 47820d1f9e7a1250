package api

import (
	"encoding/json"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Replies with vectors and scores, by the examples of the vendors' references
// (synthetic). asked is how many texts were sent; 0: a proxy, or a capture, where
// only the reply tells.
func TestBatchReplies(t *testing.T) {
	const vector = `{"object":"embedding","index":0,"embedding":[0.1,-2e-3]}`
	for _, c := range []struct {
		name       string
		api        *API
		asked      int64
		body       string
		outcome    timeline.Outcome
		inputs     int64
		usage, say string
	}{
		{"OpenAI", Embeddings, 2, `{"object":"list","data":[` + vector + `,` + vector + `],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			timeline.OK, 2, `{"input":8,"total":8}`, ""},
		{"OpenAI, base64, seen by a proxy", Embeddings, 0, `{"data":[{"embedding":"AACAPw==","index":0}],"model":"e","usage":{"prompt_tokens":3,"total_tokens":3}}`,
			timeline.OK, 1, `{"input":3,"total":3}`, ""},
		{"vLLM counts an answer of none", Embeddings, 1, `{"id":"embd-1","object":"list","data":[` + vector + `],"usage":{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0,"prompt_tokens_details":null}}`,
			timeline.OK, 1, `{"input":5}`, ""},
		{"Ollama", Embeddings, 2, `{"model":"m","embeddings":[[0.1],[0.2]],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`,
			timeline.OK, 2, `{"input":8}`, ""},
		// https://docs.cohere.com/reference/embed
		{"Cohere's /v2/embed", Embeddings, 0, `{"id":"a","embeddings":{"float":[[0.1,0.2],[0.3,0.4]],"int8":[[1,2],[3,4]]},"texts":["hello","goodbye"],"meta":{"api_version":{"version":"2","is_experimental":true},"billed_units":{"input_tokens":2}},"response_type":"embeddings_by_type"}`,
			timeline.OK, 2, `{"input":2}`, ""},
		{"Cohere's /v2/embed, base64", Embeddings, 0, `{"id":"a","embeddings":{"base64":["AAAA"]},"texts":["hello"],"meta":{"billed_units":{"input_tokens":1}}}`,
			timeline.OK, 1, `{"input":1}`, ""},
		{"Ollama's /api/embeddings, seen by a proxy", Embeddings, 0, `{"embedding":[0.5670403838157654,0.009260174818336964,0.23178744316101074]}`,
			timeline.OK, 1, `{}`, ""},
		{"Ollama's /api/embeddings, of no text", Embeddings, 1, `{"embedding":[]}`, timeline.EmptyOutput, 1, `{}`, "answers none of the texts"},
		// https://docs.byteplus.com/en/docs/ModelArk/1409291
		{"Volcengine, one vector of a text and a picture", Embeddings, 0, `{"id":"v","model":"e","object":"list","data":{"object":"embedding","embedding":[0.1,-0.2,0.3],"sparse_embedding":[{"index":1,"value":0.5},{"index":7,"value":0.1}]},"usage":{"prompt_tokens":528,"prompt_tokens_details":{"image_tokens":497,"text_tokens":31},"total_tokens":528}}`,
			timeline.OK, 1, `{"input":528,"total":528,"media":497}`, ""},
		{"Volcengine, base64", Embeddings, 1, `{"object":"list","data":{"object":"embedding","embedding":"AACAPw=="}}`, timeline.OK, 1, `{}`, ""},
		{"a text is not answered", Embeddings, 3, `{"data":[` + vector + `],"usage":{"prompt_tokens":3}}`,
			timeline.StreamError, 3, `{"input":3}`, "answers: 1; that were sent: 3"},
		{"nothing is answered", Embeddings, 3, `{"data":[],"usage":{"prompt_tokens":3}}`,
			timeline.EmptyOutput, 3, `{"input":3}`, "answers none of the texts"},
		{"an error of status 200", Embeddings, 1, `{"error":{"message":"no such model","type":"invalid_request_error"}}`,
			timeline.StreamError, 1, `{}`, "no such model"},
		{"a detail of status 200", Rerank, 1, `{"detail":"overloaded"}`, timeline.StreamError, 1, `{}`, "overloaded"},
		{"no JSON", Embeddings, 1, `<html>`, timeline.StreamTruncated, 1, `{}`, ""},
		{"Cohere", Rerank, 2, `{"results":[{"index":1,"relevance_score":0.99},{"index":0,"relevance_score":0.1}],"id":"r","meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}`,
			timeline.OK, 2, `{}`, ""},
		{"Jina, the best of three", Rerank, 3, `{"model":"j","object":"list","usage":{"total_tokens":38},"results":[{"index":2,"relevance_score":0.9,"document":{"text":"x"}}]}`,
			timeline.OK, 3, `{"input":38,"total":38}`, ""},
		{"Voyage", Rerank, 2, `{"object":"list","data":[{"relevance_score":0.4,"index":0},{"relevance_score":0.3,"index":1}],"model":"v","usage":{"total_tokens":26}}`,
			timeline.OK, 2, `{"input":26,"total":26}`, ""},
		{"more than was sent", Rerank, 1, `{"results":[{"index":0},{"index":1}]}`, timeline.StreamError, 1, `{}`, "answers: 2; that were sent: 1"},
		{"TEI", TEIRerank, 2, `[{"index":1,"score":0.9976},{"index":0,"score":0.01}]`, timeline.OK, 2, `{}`, ""},
		{"TEI's error", TEIRerank, 2, `{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}`,
			timeline.StreamError, 2, `{}`, "maximum allowed batch size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, kind := range []string{"application/json", ""} {
				tl := timeline.New()
				if c.asked > 0 {
					tl.Inputs = timeline.Some(c.asked)
				}
				s := NewStream(tl, c.api, StreamOptions{KeepText: true})
				s.Head(1000, Head{200, map[string][]string{"Content-Type": {kind}}})
				for i := range len(c.body) { // as it may come
					s.Read(2000+int64(i), 0, []byte(c.body[i:i+1]))
				}
				s.End(9000, timeline.EOF, nil, nil)
				usage, _ := json.Marshal(tl.Usage)
				if tl.Outcome != c.outcome && !(c.outcome == timeline.StreamTruncated && tl.Outcome.Failed()) || tl.Inputs.Or(0) != c.inputs || string(usage) != c.usage {
					t.Errorf("%s (%v), %d texts, %s", tl.Outcome, tl.Error, tl.Inputs.Or(0), usage)
				}
				if c.say != "" && (tl.Error == nil || !strings.Contains(tl.Error.Message, c.say)) {
					t.Errorf("%v does not say %q", tl.Error, c.say)
				}
				if tl.Flags != 0 || tl.Text != "" {
					t.Errorf("flags %v, text %q", tl.Flags.Names(), tl.Text)
				}
				if a := Recognise([]byte(c.body)); c.outcome == timeline.OK && a != c.api && c.api != nil {
					t.Errorf("recognised as %+v", a)
				}
			}
		})
	}
}

// A page that nginx sends as it sends all whose type it was not told is neither vectors
// nor sound, a reply in JSON is read, and neither by how the bytes were split.
func TestPagesAreNoAnswers(t *testing.T) {
	for body, want := range map[string]timeline.Outcome{
		"<html>Service is down for maintenance</html>": timeline.BadContentType,
		"\r\n \r\n<html/>": timeline.BadContentType,
		"upstream connect error or disconnect/reset before headers": timeline.BadContentType,
		"busy":                                   timeline.BadContentType,
		`{"error": "the model is being loaded"}`: timeline.StreamError,
		`{"error":"x"}`:                          timeline.StreamError,
		`[{"msg":"Field required"`:               timeline.Parse,
		"\x00\x00\x80\x3f" + strings.Repeat("\xcd\xcc\x4c\x3e", 9): timeline.OK,
		"<{ab" + strings.Repeat("\xcd\xcc\x4c\x3e", 9):             timeline.OK,
		strings.Repeat(" ", 80):                                    timeline.OK,
	} {
		for _, of := range []*API{Embeddings, Speech} {
			for _, size := range []int{1, 7, len(body)} {
				tl := timeline.New()
				s := NewStream(tl, of, StreamOptions{})
				s.Head(1000, Head{200, map[string][]string{"Content-Type": {"application/octet-stream"}}})
				for rest := []byte(body); len(rest) > 0; rest = rest[min(size, len(rest)):] {
					s.Read(2000, 0, rest[:min(size, len(rest))])
				}
				s.End(3000, timeline.EOF, nil, nil)
				var sound int64
				for ev := range tl.Events.Generation() {
					sound += ev.Bytes
				}
				if tl.Outcome != want || (sound > 0) != (want == timeline.OK) || sound > int64(len(body)) || sound > 0 && sound < int64(len(body)) {
					t.Errorf("%s, %q in %d: %s, %d bytes, want %s", of.Name, body, size, tl.Outcome, sound, want)
				}
			}
		}
	}
}

// vLLM's encoding_format bytes: the numbers are the body, and the rest of the reply is
// the header metadata (vLLM, entrypoints/pooling/embed: EmbeddingBytesResponse); with
// bytes_only there is none.
func TestVectorsAsBytes(t *testing.T) {
	const metadata = `{"id":"embd-1","created":1,"model":"e","data":[{"index":0,"embed_dtype":"float32","endianness":"native","start":0,"end":8,"shape":[2]},` +
		`{"index":1,"embed_dtype":"float32","endianness":"native","start":8,"end":16,"shape":[2]}],"usage":{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0}}`
	for _, c := range []struct {
		name, metadata string
		asked          int64
		outcome        timeline.Outcome
		inputs, input  int64
	}{
		{"bytes", metadata, 2, timeline.OK, 2, 5},
		{"bytes, seen by a proxy", metadata, 0, timeline.OK, 2, 5},
		{"a text is not answered", metadata, 3, timeline.StreamError, 3, 5},
		{"bytes only", "", 2, timeline.OK, 2, -1},
		{"bytes only, seen by a proxy", "", 0, timeline.OK, -1, -1},
		{"damaged metadata", `{"data":[`, 2, timeline.OK, 2, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := timeline.New()
			if c.asked > 0 {
				tl.Inputs = timeline.Some(c.asked)
			}
			s := NewStream(tl, Embeddings, StreamOptions{})
			s.Head(1000, Head{200, map[string][]string{"Content-Type": {"application/octet-stream"}, "Metadata": {c.metadata}}})
			s.Read(1000, 0, make([]byte, 10))
			s.Read(2000, 0, make([]byte, 6))
			s.End(3000, timeline.EOF, nil, nil)
			if tl.Outcome != c.outcome || tl.Inputs.Or(-1) != c.inputs || tl.Usage.Input.Or(-1) != c.input {
				t.Errorf("%s, %d inputs, %d tokens; want %s, %d, %d", tl.Outcome, tl.Inputs.Or(-1), tl.Usage.Input.Or(-1), c.outcome, c.inputs, c.input)
			}
		})
	}
}
