package timeline

// Product is what a request is answered with.
type Product uint8

const (
	// Words are text, token by token: the rule.
	Words Product = iota
	// Vectors are embeddings, one for each text that was sent.
	Vectors
	// Scores say how well each of the documents that were sent fits a query.
	Scores
	// Speech is sound, made of a text.
	Speech
	// Transcript is text that was heard in sound: words, of no length that can be
	// asked for.
	Transcript
	// Pictures are made of a text, or of other pictures.
	Pictures
)

// ProductOf tells it by the name of an API.
func ProductOf(api string) Product {
	switch api {
	case "embeddings":
		return Vectors
	case "rerank", "tei-rerank":
		return Scores
	case "speech":
		return Speech
	case "transcription":
		return Transcript
	case "images":
		return Pictures
	}
	return Words
}

// SortImages tells pictures that were sent from those that were made: files from before
// InputImages hold both as Images, and only an API of pictures makes them.
func (t *Timeline) SortImages() {
	if t.Images.OK() && !t.InputImages.OK() && ProductOf(t.API) != Pictures {
		t.Images, t.InputImages = t.InputImages, t.Images
	}
}

// Batched reports whether a reply answers several texts at once, as one whole.
func (p Product) Batched() bool { return p == Vectors || p == Scores }

// Wordless reports whether replies have no text of their own, and so no pace of tokens.
func (p Product) Wordless() bool { return p != Words && p != Transcript }

// Lengthless reports whether no length can be asked for.
func (p Product) Lengthless() bool { return p != Words }

// Wordless reports whether the request is answered without words.
func (t *Timeline) Wordless() bool { return t.Inputs.OK() || ProductOf(t.API).Wordless() }
