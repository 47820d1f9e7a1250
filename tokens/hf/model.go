package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parseModel reads the model. It may take over the last step of the
// pre-tokenizer.
func parseModel(raw json.RawMessage, steps []preTokenizer) (model, []preTokenizer, error) {
	kind, err := typeOf(raw)
	if err != nil {
		return nil, nil, err
	}
	if kind == "" {
		if kind, err = guessModel(raw); err != nil {
			return nil, nil, err
		}
	}
	var m model
	switch kind {
	case "BPE":
		return parseBPE(raw, steps)
	case "Unigram":
		m, err = parseUnigram(raw)
	case "WordPiece":
		m, err = parseWordPiece(raw)
	case "WordLevel":
		m, err = parseWordLevel(raw)
	default:
		err = &UnsupportedError{"model", kind}
	}
	return m, steps, err
}

// guessModel names the model of a file that is too old to say: each has fields
// that no other has.
func guessModel(raw json.RawMessage) (string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return "", err
	}
	for _, m := range [][2]string{{"merges", "BPE"}, {"max_input_chars_per_word", "WordPiece"}, {"unk_id", "Unigram"}, {"unk_token", "WordLevel"}} {
		if _, ok := fields[m[0]]; ok {
			return m[1], nil
		}
	}
	return "", errors.New("the model has no type")
}

// byID puts the tokens of a vocabulary in the order of their ids.
func byID(vocab map[string]uint32) ([]string, error) {
	if len(vocab) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	size := uint32(0)
	for token, id := range vocab {
		if id >= mostIDs {
			return nil, fmt.Errorf("the id %d of the token %q is too large", id, token)
		}
		size = max(size, id+1)
	}
	names := make([]string, size)
	for token, id := range vocab {
		if names[id] != "" {
			return nil, fmt.Errorf("the tokens %q and %q have one id, %d", names[id], token, id)
		}
		names[id] = token
	}
	return names, nil
}

// byteTokens are the ids of <0x00> to <0xFF>; ok is false if one is missing.
func byteTokens(find func(string) (uint32, bool)) (ids [256]uint32, ok bool) {
	const hex = "0123456789ABCDEF"
	for b := range 256 {
		id, found := find("<0x" + string(hex[b>>4]) + string(hex[b&15]) + ">")
		if !found {
			return ids, false
		}
		ids[b] = id
	}
	return ids, true
}

// isByteToken gives the byte of a token like <0x0A>.
func isByteToken(s string) (b byte, ok bool) {
	if len(s) != 6 || !strings.HasPrefix(s, "<0x") || s[5] != '>' {
		return 0, false
	}
	for _, c := range []byte(s[3:5]) {
		switch {
		case '0' <= c && c <= '9':
			b = b<<4 | (c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			b = b<<4 | (c | 0x20 - 'a' + 10)
		default:
			return 0, false
		}
	}
	return b, true
}
