package tokens

import (
	"os"
	"path/filepath"
	"testing"
)

// withMarker is a tokenizer that sets a BOS before every text when it is asked
// for special tokens.
const withMarker = `{"version":"1.0",
"added_tokens":[{"id":0,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
"normalizer":null,"pre_tokenizer":null,
"post_processor":{"type":"TemplateProcessing",
 "single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
 "pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],
 "special_tokens":{"<s>":{"id":"<s>","ids":[0],"tokens":["<s>"]}}},
"decoder":null,
"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,
 "byte_fallback":false,"vocab":{"<s>":0,"a":1,"b":2,"ab":3},"merges":["a b"]}}`

// B18: nothing is added to a text: an empty one has no token.
func TestB18NoMarkersAreAdded(t *testing.T) {
	for _, name := range Names() {
		e, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Count(""); err != nil || n != 0 {
			t.Errorf("%s: an empty text has %d tokens", name, n)
		}
		if n, err := e.Count("a"); err != nil || n != 1 {
			t.Errorf("%s: one letter has %d tokens", name, n)
		}
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, []byte(withMarker), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := ByName(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"": 0, "ab": 1, "abab": 2, "ba": 2} {
		if n, err := e.Count(text); err != nil || n != want {
			t.Errorf("%q has %d tokens, want %d", text, n, want)
		}
	}
}
