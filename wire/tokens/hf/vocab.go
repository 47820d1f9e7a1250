package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tokenmeter/wire/jsonscan"
	"tokenmeter/wire/tokens/bpe"
)

// vocab is the tokens of a model by id; a gap is empty.
type vocab struct {
	names []string
	*bpe.Vocab
}

// readVocab reads an object of tokens and their ids.
func readVocab(raw json.RawMessage) (*vocab, error) {
	type entry struct {
		id    uint32
		start int
	}
	var blob []byte
	var entries []entry
	size := uint32(0)
	err := walk(raw, '{', func(s *jsonscan.Scanner) error {
		for key := range s.Members {
			start := len(blob)
			blob = append(blob, key...)
			from := s.Place()
			n, ok := s.Integer()
			if !s.Failed() && !(ok && n >= 0 && n < mostIDs) {
				return fmt.Errorf("%s is no id", s.Since(from))
			}
			entries = append(entries, entry{uint32(n), start})
			size = max(size, uint32(n)+1)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the vocabulary: %w", err)
	}
	if len(entries) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	names, all := make([]string, size), string(blob)
	for i, e := range entries {
		end := len(all)
		if i+1 < len(entries) {
			end = entries[i+1].start
		}
		if names[e.id] != "" {
			return nil, fmt.Errorf("the vocabulary: %q and %q have one id, %d", names[e.id], all[e.start:end], e.id)
		}
		names[e.id] = all[e.start:end]
	}
	return &vocab{names, bpe.NewVocab(names)}, nil
}

// find is the id of a token.
func (v *vocab) find(token string) (uint32, bool) {
	id := v.Find(token)
	return id, id != bpe.None
}

// tokens are the names of the tokens by id; gaps are empty.
func (v *vocab) tokens() []string { return v.names }

// readScores reads a list of tokens and their scores.
func readScores(raw json.RawMessage) (names []string, scores []float64, err error) {
	err = walk(raw, '[', func(s *jsonscan.Scanner) error {
		for range s.Elements {
			var token jsonscan.Text
			var score float64
			n, ok := 0, false
			for range s.Elements {
				if n++; n == 1 {
					token, ok = s.Text()
				} else if ok && n == 2 {
					score, ok = s.Float()
				}
			}
			if !ok || n != 2 {
				return errJSON
			}
			names, scores = append(names, token.String()), append(scores, score)
		}
		return nil
	})
	if err == nil && (len(names) == 0 || len(names) >= mostIDs) {
		err = errors.New("it is empty or too large")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the vocabulary: %w", err)
	}
	return names, scores, nil
}

// readMerges calls merge for every pair of a list, which is "a b" or ["a","b"].
func readMerges(raw json.RawMessage, merge func(left, right string) error) error {
	err := walk(raw, '[', func(s *jsonscan.Scanner) error {
		for range s.Elements {
			var pair []string
			if s.Peek() == '"' {
				t, _ := s.Text()
				if pair = strings.Split(t.String(), " "); len(pair) != 2 && !s.Failed() {
					return fmt.Errorf("%q is no pair", t.String())
				}
			} else {
				for range s.Elements {
					t, _ := s.Text()
					pair = append(pair, t.String())
				}
			}
			if len(pair) != 2 {
				return errJSON
			}
			if err := merge(pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the merges: %w", err)
	}
	return nil
}

// byteTokens are the ids of <0x00> to <0xFF>; bpe.None where the vocabulary lacks one, as
// Gemma's does, whose ninth stands for the tab itself.
type byteTokens [256]uint32

func newByteTokens(find func(string) (uint32, bool)) *byteTokens {
	var ids byteTokens
	for b := range ids {
		ids[b] = bpe.None
		if id, found := find(fmt.Sprintf("<0x%02X>", b)); found {
			ids[b] = id
		}
	}
	return &ids
}

// spell reports whether each byte of a text has its token. An unknown text of which one has
// none is unknown as a whole. Nil has none.
func (t *byteTokens) spell(s string) bool {
	if t == nil {
		return false
	}
	for i := range len(s) {
		if t[s[i]] == bpe.None {
			return false
		}
	}
	return true
}
