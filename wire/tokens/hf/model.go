package hf

import (
	"encoding/json"
	"errors"
)

// modelJSON is a model: its settings, and apart from them the long lists.
type modelJSON struct {
	settings      json.RawMessage
	vocab, merges json.RawMessage
}

// parseModel reads the model. It may take over the last step of the
// pre-tokenizer.
func parseModel(raw json.RawMessage, steps []preTokenizer) (model, []preTokenizer, error) {
	f, err := fields(raw)
	if err != nil {
		return nil, nil, err
	}
	m := modelJSON{vocab: f["vocab"], merges: f["merges"]}
	kind := guessModel(f)
	delete(f, "vocab")
	delete(f, "merges")
	if m.settings, err = json.Marshal(f); err != nil {
		return nil, nil, err
	}
	if v, ok := f["type"]; ok {
		if err := json.Unmarshal(v, &kind); err != nil {
			return nil, nil, err
		}
	}
	if m.vocab == nil {
		return nil, nil, errors.New("the model has no vocabulary")
	}
	var read func(modelJSON) (model, error)
	switch kind {
	case "BPE":
		return parseBPE(m, steps)
	case "Unigram":
		read = parseUnigram
	case "WordPiece":
		read = parseWordPiece
	case "WordLevel":
		read = parseWordLevel
	default:
		return nil, nil, &UnsupportedError{"model", kind}
	}
	made, err := read(m)
	return made, steps, err
}

// guessModel names the model of a file that is too old to say: each has fields
// that no other has.
func guessModel(f map[string]json.RawMessage) string {
	for _, m := range [][2]string{{"merges", "BPE"}, {"max_input_chars_per_word", "WordPiece"}, {"unk_id", "Unigram"}, {"unk_token", "WordLevel"}} {
		if _, ok := f[m[0]]; ok {
			return m[1]
		}
	}
	return ""
}
