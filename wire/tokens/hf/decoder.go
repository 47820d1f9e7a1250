package hf

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/pattern"
)

// decoder turns the names of tokens into text, which lies in the strings of
// the last step, one after the other.
type decoder interface {
	decode(tokens []string, b *pattern.Budget) []string
}

// UnknownIDError is an id that the tokenizer does not have.
type UnknownIDError struct{ ID uint32 }

func (e *UnknownIDError) Error() string { return fmt.Sprintf("there is no token %d", e.ID) }

// AppendText appends the text of some ids.
func (t *Tokenizer) AppendText(text []byte, ids []uint32) ([]byte, error) {
	if t.decodeErr != nil {
		return text, t.decodeErr
	}
	names, size := make([]string, 0, len(ids)), 0
	for _, id := range ids {
		if int(id) >= len(t.known) || !t.known[id] {
			return text, &UnknownIDError{id}
		}
		names = append(names, t.names[id])
		size += len(t.names[id])
	}
	if t.decode == nil {
		return append(text, strings.Join(names, " ")...), nil
	}
	budget := pattern.NewBudget(size)
	names = t.decode.decode(names, budget)
	if err := budget.Err(); err != nil {
		return text, err
	}
	for _, s := range names {
		text = append(text, s...)
	}
	return text, nil
}

func parseDecoder(raw json.RawMessage) (decoder, error) {
	kind, err := typeOf("decoder", raw)
	if err != nil {
		return nil, err
	}
	const part = "decoder"
	switch kind {
	case "Sequence":
		v, err := read[struct {
			typed
			Decoders []json.RawMessage
		}](part, raw)
		if err != nil {
			return nil, err
		}
		all, err := parts(v.Decoders, parseDecoder)
		return decoderSequence(all), err
	case "ByteLevel":
		return decoderFunc(decodeLetters), nil
	case "ByteFallback":
		return decoderFunc(decodeBytes), nil
	case "Fuse":
		return decoderFunc(func(tokens []string) []string { return []string{strings.Join(tokens, "")} }), nil
	case "Metaspace":
		m, err := readMetaspace(part, raw)
		if err != nil {
			return nil, err
		}
		return decoderFunc(m.decode), nil
	case "Replace":
		r, err := readReplace(part, raw)
		if err != nil {
			return nil, err
		}
		return r, nil
	case "Strip":
		v, err := read[struct {
			typed
			Content     string
			Start, Stop int
		}](part, raw)
		if err != nil {
			return nil, err
		}
		return eachToken(func(s string) string { return stripped(s, v.Content, v.Start, v.Stop) }), nil
	case "WordPiece":
		v, err := read[struct {
			typed
			Prefix  string
			Cleanup bool
		}](part, raw)
		if err != nil {
			return nil, err
		}
		return decoderFunc(func(tokens []string) []string { return decodeWordPiece(tokens, v.Prefix, v.Cleanup) }), nil
	case "BPEDecoder":
		v, err := read[struct {
			typed
			Suffix string
		}](part, raw)
		if err != nil {
			return nil, err
		}
		return decoderFunc(func(tokens []string) []string {
			for i, s := range tokens {
				space := " "
				if i == len(tokens)-1 {
					space = ""
				}
				tokens[i] = strings.ReplaceAll(s, v.Suffix, space)
			}
			return tokens
		}), nil
	}
	return nil, &UnsupportedError{part, kind}
}

type decoderFunc func(tokens []string) []string

func (f decoderFunc) decode(tokens []string, _ *pattern.Budget) []string { return f(tokens) }

func eachToken(f func(string) string) decoder {
	return decoderFunc(func(tokens []string) []string {
		for i, s := range tokens {
			tokens[i] = f(s)
		}
		return tokens
	})
}

type decoderSequence []decoder

func (all decoderSequence) decode(tokens []string, b *pattern.Budget) []string {
	for _, d := range all {
		tokens = d.decode(tokens, b)
		size := 0
		for _, s := range tokens {
			size += len(s)
		}
		if !b.Holds(size) {
			return nil
		}
	}
	return tokens
}

// decodeLetters makes bytes of letters; a token that has others stays.
func decodeLetters(tokens []string) []string {
	for i, s := range tokens {
		if b, ok := fromLetters(s); ok {
			tokens[i] = b
		}
	}
	return tokens
}

// decodeBytes makes text of tokens like <0x0A>. Those in a row that are no
// UTF-8 become U+FFFD, one each.
func decodeBytes(tokens []string) []string {
	var out []string
	var row []byte
	flush := func() {
		if utf8.Valid(row) {
			out = append(out, string(row))
		} else {
			out = append(out, strings.Repeat("\ufffd", len(row)))
		}
		row = row[:0]
	}
	for _, s := range tokens {
		if b, ok := isByteToken(s); ok {
			row = append(row, b)
			continue
		}
		if len(row) > 0 {
			flush()
		}
		out = append(out, s)
	}
	if len(row) > 0 {
		flush()
	}
	return out
}

func (m *metaspace) decode(tokens []string) []string {
	for i, s := range tokens {
		space := " "
		if i == 0 && m.prepend != "never" {
			space = ""
		}
		tokens[i] = strings.ReplaceAll(s, m.mark, space)
	}
	return tokens
}

// stripped is s without up to start of a character in front, stop at the end.
func stripped(s, c string, start, stop int) string {
	if c == "" {
		return s
	}
	for ; start > 0 && strings.HasPrefix(s, c); start-- {
		s = s[len(c):]
	}
	for ; stop > 0 && strings.HasSuffix(s, c); stop-- {
		s = s[:len(s)-len(c)]
	}
	return s
}

var cleanups = [][2]string{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"},
	{" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}}

func decodeWordPiece(tokens []string, prefix string, cleanup bool) []string {
	for i, s := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(s, prefix); ok {
				s = rest
			} else {
				s = " " + s
			}
		}
		if cleanup {
			for _, c := range cleanups {
				s = strings.ReplaceAll(s, c[0], c[1])
			}
		}
		tokens[i] = s
	}
	return tokens
}

// isByteToken gives the byte of a token like <0x0A>.
func isByteToken(s string) (b byte, ok bool) {
	if len(s) != 6 || !strings.HasPrefix(s, "<0x") || s[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[3:5], 16, 8)
	return byte(n), err == nil
}
