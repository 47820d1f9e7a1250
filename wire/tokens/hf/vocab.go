package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
	s := scanner{b: raw}
	err := s.each('{', func(key []byte) error {
		id, err := s.id()
		entries = append(entries, entry{id, len(blob)})
		blob = append(blob, key...)
		size = max(size, id+1)
		return err
	})
	if err == nil {
		err = s.done()
	}
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

// id is the id of a token.
func (v *vocab) id(token string) (uint32, bool) {
	id := v.Find(token)
	return id, id != bpe.None
}

// readScores reads a list of tokens and their scores.
func readScores(raw json.RawMessage) (names []string, scores []float64, err error) {
	s := scanner{b: raw}
	var token []byte
	err = s.each('[', func([]byte) error {
		if !s.take('[') {
			return s.fail()
		}
		var err error
		if token, err = s.text(token[:0]); err != nil {
			return err
		}
		if !s.take(',') {
			return s.fail()
		}
		n, err := s.number()
		if err != nil {
			return err
		}
		score, err := strconv.ParseFloat(n, 64)
		if err != nil || !s.take(']') {
			return s.fail()
		}
		names, scores = append(names, string(token)), append(scores, score)
		return nil
	})
	if err == nil {
		err = s.done()
	}
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
	s := scanner{b: raw}
	var left, right []byte
	err := s.each('[', func([]byte) error {
		var err error
		if s.next() == '"' {
			if left, err = s.text(left[:0]); err != nil {
				return err
			}
			a, b, ok := cutOnce(left)
			if !ok {
				return fmt.Errorf("%q is no pair", left)
			}
			return merge(string(a), string(b))
		}
		if !s.take('[') {
			return s.fail()
		}
		if left, err = s.text(left[:0]); err != nil {
			return err
		}
		if !s.take(',') {
			return s.fail()
		}
		if right, err = s.text(right[:0]); err != nil {
			return err
		}
		if !s.take(']') {
			return s.fail()
		}
		return merge(string(left), string(right))
	})
	if err == nil {
		err = s.done()
	}
	if err != nil {
		return fmt.Errorf("the merges: %w", err)
	}
	return nil
}

// cutOnce cuts at the only space.
func cutOnce(b []byte) (left, right []byte, ok bool) {
	at := -1
	for i, c := range b {
		if c == ' ' {
			if at >= 0 {
				return nil, nil, false
			}
			at = i
		}
	}
	if at < 0 {
		return nil, nil, false
	}
	return b[:at], b[at+1:], true
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
