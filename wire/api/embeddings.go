package api

import (
	"fmt"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Embeddings is POST /v1/embeddings: a vector for each text. vLLM, SGLang,
// llama.cpp, TEI, Jina, Mistral and Ollama speak it too. Source: OpenAI's API
// reference.
var Embeddings = &API{
	Name: "embeddings",
	Path: "/v1/embeddings",
	// Ollama's own, which takes the same request, and Volcengine's, whose input is a list of parts.
	Aliases: []string{"/api/embed", "/embeddings/multimodal"},
	Build: func(r *Request) (Call, error) {
		return r.call("/v1/embeddings", map[string]any{"model": r.Model, "input": r.Texts()})
	},
	Decoder: func() Decoder { return new(batchDecoder) },
	Signs:   []Sign{{"data/embedding"}, {"embeddings"}, {"embedding"}},
}

// Rerank is POST /v1/rerank of Cohere, Jina, vLLM, llama.cpp and others: how well
// each document answers a query. Of the messages the first is the query, and the
// others are the documents; a single one is both. Source: Cohere's API reference.
var Rerank = &API{
	Name:    "rerank",
	Path:    "/v1/rerank",
	Aliases: []string{"/reranking"}, // llama.cpp's name for it. Source: tools/server/README.md
	Build:   func(r *Request) (Call, error) { return r.rank("/v1/rerank", "documents") },
	Decoder: func() Decoder { return new(batchDecoder) },
	Signs:   []Sign{{"results/relevance_score"}, {"data/relevance_score"}},
}

// TEIRerank is POST /rerank of Hugging Face's text-embeddings-inference, which
// calls documents texts and answers with a list. Source: TEI's OpenAPI description.
var TEIRerank = &API{
	Name:    "tei-rerank",
	Path:    "/rerank",
	Build:   func(r *Request) (Call, error) { return r.rank("/rerank", "texts") },
	Decoder: func() Decoder { return new(batchDecoder) },
	Signs:   []Sign{{"index", "score"}},
}

// Texts are the contents of the messages, for APIs that take each as a text of its
// own.
func (r *Request) Texts() []string {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = m.Content
	}
	return texts
}

// Inputs is how many texts a request has answered: texts to embed, or documents to
// rank; empty for an API that answers with text of its own.
func (a *API) Inputs(r *Request) timeline.Opt[int64] {
	switch n := int64(len(r.Messages)); a.Product() {
	case timeline.Vectors:
		return timeline.Some(n)
	case timeline.Scores:
		return timeline.Some(max(n-1, min(n, 1)))
	}
	return none
}

func (r *Request) rank(path, documents string) (Call, error) {
	texts := r.Texts()
	body := map[string]any{"query": "", documents: texts, "model": r.Model}
	if len(texts) > 0 {
		body["query"] = texts[0]
	}
	if len(texts) > 1 {
		body[documents] = texts[1:]
	}
	return r.call(path, body)
}

// batchDecoder reads a list of vectors or scores. It counts them: their values are
// nobody's business here.
type batchDecoder struct {
	r    reading
	n    int64
	list bool // there was one
}

// answered checks how many texts were answered. A ranking may hold only the best
// of them.
func (s *Stream) answered(n int64) {
	asked, told := s.tl.Inputs.Get()
	switch {
	case !told:
		s.tl.Inputs = timeline.Some(n)
	case n > asked, s.api.Product() == timeline.Vectors && n < asked:
		s.failQuietly(fmt.Sprintf("texts that the reply answers: %d; that were sent: %d", n, asked))
	}
}

func (d *batchDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	if c.Peek() == '[' { // TEI
		d.count()
		return c.End()
	}
	for name := range c.Members {
		switch string(name) {
		case "data", "results", "embeddings":
			if c.Peek() == '{' {
				for name := range c.Members {
					switch string(name) {
					case "embedding": // Volcengine's one vector of all parts
						d.one()
					case "float", "int8", "uint8", "binary", "ubinary", "base64": // Cohere's, a list a type
						d.count()
					}
				}
				continue
			}
			d.count()
		case "embedding": // Ollama's of before, one vector without a list
			d.one()
		case "meta": // Cohere's
			for name := range c.Members {
				if string(name) == "tokens" || string(name) == "billed_units" {
					d.r.counts()
				}
			}
		case "prompt_eval_count": // Ollama's
			d.r.count(&d.r.usage.Input)
		case "total_duration":
			d.r.timings.nanos(totalMS, c)
		case "load_duration":
			d.r.timings.nanos(loadMS, c)
		default:
			d.r.account(name)
		}
	}
	return c.End()
}

func (d *batchDecoder) apply(e framing.Event, s *Stream) {
	s.progress.done = true // no such API streams
	if !d.list && len(d.r.errors) == 0 {
		d.r.errors = refusal(e.Data)
	}
	s.named(d.r.model)
	s.server.merge(&d.r.timings)
	if !d.r.usage.Input.OK() { // nothing is written
		d.r.usage.Input = d.r.usage.Total
	}
	s.usage.merge(d.r.usage)
	switch {
	case len(d.r.errors) > 0:
		s.fail(wordsOf(d.r.errors))
	case d.n > 0:
		s.add(timeline.Media, 0, int64(len(e.Data)), none)
		s.answered(d.n)
	}
}

// Raw implements rawDecoder: the numbers alone. What they are of, and the usage, stands
// in vLLM's header metadata, in the form of the reply that has the rest: with
// encoding_format bytes_only nobody tells. Source: vLLM, entrypoints/pooling/embed.
func (d *batchDecoder) Raw(data []byte, s *Stream) {
	if told := s.header.Get("metadata"); s.tokens == 0 && told != "" && d.read(framing.Event{Data: []byte(told)}, s) {
		s.named(d.r.model)
		s.usage.merge(d.r.usage)
		s.answered(d.n)
	}
	s.add(timeline.Media, 0, int64(len(data)), none)
}

// one reads a vector that stands in no list of them: numbers, or base64.
func (d *batchDecoder) one() {
	var n int64
	if d.r.c.Peek() == '"' {
		t, _ := d.r.c.Text()
		n = t.Size()
	} else {
		n = d.r.c.length()
	}
	if n != notTold {
		d.list, d.n = true, max(d.n, min(n, 1))
	}
}

func (d *batchDecoder) count() {
	n := d.r.c.length()
	d.list = d.list || n != notTold
	d.n = max(d.n, n)
}
