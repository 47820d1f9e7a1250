package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/char"
	"tokenmeter/wire/tokens/pattern"
	"tokenmeter/wire/tokens/split"
)

// parsePreTokenizer gives the steps of a pre-tokenizer; a sequence is several.
func parsePreTokenizer(raw json.RawMessage) ([]preTokenizer, error) {
	const part = "pre-tokenizer"
	kind, err := typeOf(part, raw)
	if err != nil {
		return nil, err
	}
	one := func(p preTokenizer, err error) ([]preTokenizer, error) { return []preTokenizer{p}, err }
	simple := func(p ...preTokenizer) ([]preTokenizer, error) {
		_, err := read[typed](part, raw)
		return p, err
	}
	switch kind {
	case "Sequence":
		return parseSequence(raw)
	case "ByteLevel":
		return parseByteLevel(raw)
	case "Metaspace":
		m, err := readMetaspace(part, raw)
		return one(m, err)
	case "Split":
		return one(parseSplit(raw))
	case "Digits":
		v, err := read[struct {
			typed
			Individual bool `json:"individual_digits"`
		}](part, raw)
		if err != nil {
			return nil, err
		}
		b := contiguous
		if v.Individual {
			b = isolated
		}
		return one(&chars{sets()["number"].Has, b}, nil)
	case "Punctuation":
		v, err := read[struct {
			typed
			Behavior *behavior
		}](part, raw)
		if err != nil {
			return nil, err
		}
		b := isolated
		if v.Behavior != nil {
			b = *v.Behavior
		}
		return one(&chars{isPunctuation, b}, nil)
	case "CharDelimiterSplit":
		v, err := read[struct {
			typed
			Delimiter string
		}](part, raw)
		if err != nil {
			return nil, err
		}
		r, n := utf8.DecodeRuneInString(v.Delimiter)
		if n != len(v.Delimiter) || n == 0 {
			return nil, fmt.Errorf("%s %s: the delimiter %q is no character", part, kind, v.Delimiter)
		}
		return one(&chars{func(c rune) bool { return c == r }, removed}, nil)
	case "WhitespaceSplit":
		return simple(&chars{isSpace, removed})
	case "Whitespace":
		return simple(words{})
	case "BertPreTokenizer":
		return simple(&chars{isSpace, removed}, &chars{isPunctuation, isolated})
	case "FixedLength":
		v, err := read[struct {
			typed
			Length *int
		}](part, raw)
		if err != nil {
			return nil, err
		}
		n := fixedLength(5)
		if v.Length != nil {
			n = fixedLength(*v.Length)
		}
		if n < 1 {
			return nil, fmt.Errorf("%s %s: the length is %d", part, kind, n)
		}
		return one(n, nil)
	}
	return nil, &UnsupportedError{part, kind}
}

func parseSequence(raw json.RawMessage) ([]preTokenizer, error) {
	v, err := read[struct {
		typed
		PreTokenizers []json.RawMessage `json:"pretokenizers"`
	}]("pre-tokenizer", raw)
	if err != nil {
		return nil, err
	}
	all, err := parts(v.PreTokenizers, parsePreTokenizer)
	return slices.Concat(all...), err
}

func isPunctuation(r rune) bool { return sets()["punctuation"].Has(r) }

// chars cuts at the characters that are wanted, each by itself.
type chars struct {
	wanted   func(rune) bool
	behavior behavior
}

func (c *chars) split(pieces, into []piece, _ *pattern.Budget) []piece {
	var spans []span
	for _, p := range pieces {
		spans = spans[:0]
		last := 0
		for i, r := range p.text {
			if !c.wanted(r) {
				continue
			}
			if last < i {
				spans = append(spans, span{last, i, false})
			}
			last = i + utf8.RuneLen(r)
			spans = append(spans, span{i, last, true})
		}
		if last < len(p.text) {
			spans = append(spans, span{last, len(p.text), false})
		}
		into = c.behavior.apply(p, spans, into)
	}
	return into
}

// words keeps \w+|[^\w\s]+ and drops what lies between.
type words struct{}

func (words) split(pieces, into []piece, _ *pattern.Budget) []piece {
	kind := func(r rune) int {
		switch c := char.Of(r); {
		case char.Word.Has(c):
			return 1
		case char.Space.Has(c):
			return 0
		}
		return 2
	}
	for _, p := range pieces {
		start, now := 0, 0
		for i, r := range p.text {
			if k := kind(r); k != now {
				if now != 0 {
					into = append(into, piece{p.text[start:i], p.first && start == 0})
				}
				start, now = i, k
			}
		}
		if now != 0 {
			into = append(into, piece{p.text[start:], p.first && start == 0})
		}
	}
	return into
}

type fixedLength int

func (n fixedLength) split(pieces, into []piece, _ *pattern.Budget) []piece {
	for _, p := range pieces {
		start, count := 0, 0
		for i := range p.text {
			if count == int(n) {
				into = append(into, piece{p.text[start:i], p.first && start == 0})
				start, count = i, 0
			}
			count++
		}
		if start < len(p.text) {
			into = append(into, piece{p.text[start:], p.first && start == 0})
		}
	}
	return into
}

// byHand cuts by a pattern that covers every text and is known by heart.
type byHand struct{ split.Splitter }

func (h byHand) split(pieces, into []piece, _ *pattern.Budget) []piece {
	for _, p := range pieces {
		for start := 0; start < len(p.text); {
			end := start + h.Next(p.text[start:])
			into = append(into, piece{p.text[start:end], p.first && start == 0})
			start = end
		}
	}
	return into
}

// splitter cuts where a pattern or a text matches.
type splitter struct {
	pattern  *pattern.Pattern
	expr     string // of the pattern, as it was written
	text     string
	behavior behavior
	invert   bool
}

func parseSplit(raw json.RawMessage) (preTokenizer, error) {
	v, err := read[struct {
		typed
		Pattern  patternJSON
		Behavior behavior
		Invert   bool
	}]("pre-tokenizer", raw)
	if err != nil {
		return nil, err
	}
	s := &splitter{behavior: v.Behavior, invert: v.Invert}
	switch {
	case v.Pattern.String != nil && *v.Pattern.String != "":
		s.text = *v.Pattern.String
	case v.Pattern.Regex != nil:
		s.expr = *v.Pattern.Regex
		if by, ok := split.ByPattern(s.expr); ok && s.covers() {
			return byHand{by}, nil
		}
		if s.pattern, err = pattern.Compile(s.expr); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("pre-tokenizer Split: it has no pattern")
	}
	return s, nil
}

// covers says that the pieces are the matches, where these cover the text.
func (s *splitter) covers() bool {
	return s.behavior == isolated || s.behavior == removed && s.invert
}

func (s *splitter) split(pieces, into []piece, b *pattern.Budget) []piece {
	var spans []span
	for _, p := range pieces {
		spans = spans[:0]
		at := 0
		for {
			start, end, ok := s.find(p.text, at, b)
			if !ok {
				break
			}
			if at < start {
				spans = append(spans, span{at, start, s.invert})
			}
			spans = append(spans, span{start, end, !s.invert})
			at = end
		}
		if at < len(p.text) {
			spans = append(spans, span{at, len(p.text), s.invert})
		}
		into = s.behavior.apply(p, spans, into)
	}
	return into
}

func (s *splitter) find(text string, from int, b *pattern.Budget) (start, end int, ok bool) {
	if s.pattern != nil {
		return s.pattern.Find(text, from, b)
	}
	i := strings.Index(text[from:], s.text)
	return from + i, from + i + len(s.text), i >= 0
}

// fuse puts one splitter in the place of several steps that it does at once.
func fuse(steps []preTokenizer) []preTokenizer {
	for i := 0; i+len(split.DeepSeek3Patterns) <= len(steps); i++ {
		var patterns []string
		for _, step := range steps[i : i+len(split.DeepSeek3Patterns)] {
			if s, ok := step.(*splitter); ok && s.behavior == isolated && s.expr != "" {
				patterns = append(patterns, s.expr)
			}
		}
		if by, ok := split.BySequence(patterns); ok && len(patterns) == len(split.DeepSeek3Patterns) {
			return append(append(steps[:i:i], byHand{by}), steps[i+len(patterns):]...)
		}
	}
	return steps
}
