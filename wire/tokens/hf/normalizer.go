package hf

import (
	"encoding/json"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tokenmeter/wire/tokens/pattern"
)

func parseNormalizer(raw json.RawMessage) (normalizer, error) {
	kind, err := typeOf("normalizer", raw)
	if err != nil {
		return nil, err
	}
	make, ok := normalizers[kind]
	if !ok {
		return nil, &UnsupportedError{"normalizer", kind}
	}
	return make(raw)
}

// normalizers makes each by its name.
var normalizers map[string]func(json.RawMessage) (normalizer, error)

func init() {
	normalizers = map[string]func(json.RawMessage) (normalizer, error){
		"Sequence":       parseNormalizers,
		"NFC":            form(norm.NFC),
		"NFD":            form(norm.NFD),
		"NFKC":           form(norm.NFKC),
		"NFKD":           form(norm.NFKD),
		"Lowercase":      plain(func(s string) (string, bool) { return toLower(s), false }),
		"Strip":          parseStrip,
		"StripAccents":   plain(func(s string) (string, bool) { return drop(s, sets()["accent"].Has) }),
		"Nmt":            plain(nmt),
		"Replace":        parseReplace,
		"Prepend":        parsePrepend,
		"ByteLevel":      plain(func(s string) (string, bool) { return toLetters(s), false }),
		"BertNormalizer": parseBert,
		"Precompiled":    parsePrecompiled,
	}
}

// normalizerFunc is a normalizer that needs no settings of its own.
type normalizerFunc func(s string) (out string, cut bool)

func (f normalizerFunc) normalize(s string, _ *pattern.Budget) (out string, cut bool) { return f(s) }

// plain is a normalizer without settings.
func plain(f normalizerFunc) func(json.RawMessage) (normalizer, error) {
	return func(raw json.RawMessage) (normalizer, error) {
		if _, err := read[typed]("normalizer", raw); err != nil {
			return nil, err
		}
		return f, nil
	}
}

type normalizerSequence []normalizer

func parseNormalizers(raw json.RawMessage) (normalizer, error) {
	v, err := read[struct {
		typed
		Normalizers []json.RawMessage
	}]("normalizer", raw)
	if err != nil {
		return nil, err
	}
	all, err := parts(v.Normalizers, parseNormalizer)
	return normalizerSequence(all), err
}

func (all normalizerSequence) normalize(s string, b *pattern.Budget) (out string, cut bool) {
	for _, n := range all {
		var c bool
		s, c = n.normalize(s, b)
		cut = cut || c
		if !b.Holds(len(s)) {
			return "", cut
		}
	}
	return s, cut
}

func parseStrip(raw json.RawMessage) (normalizer, error) {
	v, err := read[struct {
		typed
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}]("normalizer", raw)
	if err != nil {
		return nil, err
	}
	return normalizerFunc(func(s string) (string, bool) {
		n := len(s)
		if v.Left {
			s = strings.TrimLeftFunc(s, isSpace)
		}
		cut := len(s) < n
		if v.Right {
			s = strings.TrimRightFunc(s, isSpace)
		}
		return s, cut
	}), nil
}

func parsePrepend(raw json.RawMessage) (normalizer, error) {
	v, err := read[struct {
		typed
		Prepend string
	}]("normalizer", raw)
	if err != nil {
		return nil, err
	}
	return normalizerFunc(func(s string) (string, bool) {
		if s == "" {
			return s, false
		}
		return v.Prepend + s, false
	}), nil
}

func parseReplace(raw json.RawMessage) (normalizer, error) {
	r, err := readReplace("normalizer", raw)
	return r, err
}

// replacer puts one text in the place of another, or of what a pattern matches.
type replacer struct {
	text, content string
	pattern       *pattern.Pattern
}

func readReplace(part string, raw json.RawMessage) (*replacer, error) {
	v, err := read[struct {
		typed
		Pattern patternJSON
		Content string
	}](part, raw)
	if err != nil {
		return nil, err
	}
	r := &replacer{content: v.Content}
	switch {
	case v.Pattern.String != nil && *v.Pattern.String != "":
		r.text = *v.Pattern.String
	case v.Pattern.Regex != nil:
		if r.pattern, err = pattern.Compile(*v.Pattern.Regex); err != nil {
			return nil, err
		}
	default:
		return nil, &UnsupportedError{part, "Replace without a pattern"}
	}
	return r, nil
}

func (r *replacer) normalize(s string, budget *pattern.Budget) (out string, cut bool) {
	if r.pattern == nil {
		if more := len(r.content) - len(r.text); more > 0 && !budget.Holds(len(s)+more*strings.Count(s, r.text)) {
			return "", false
		}
		cut = r.content == "" && strings.HasPrefix(s, r.text)
		return strings.ReplaceAll(s, r.text, r.content), cut
	}
	var b strings.Builder
	at := 0
	for {
		start, end, ok := r.pattern.Find(s, at, budget)
		if !ok || !budget.Holds(b.Len()) {
			break
		}
		cut = cut || start == 0 && r.content == ""
		b.WriteString(s[at:start])
		b.WriteString(r.content)
		at = end
	}
	if at == 0 {
		return s, false
	}
	b.WriteString(s[at:])
	return b.String(), cut
}

// decode does the same to every token, as a decoder.
func (r *replacer) decode(tokens []string, b *pattern.Budget) []string {
	size := 0
	for i, s := range tokens {
		tokens[i], _ = r.normalize(s, b)
		if size += len(tokens[i]); !b.Holds(size) {
			return nil
		}
	}
	return tokens
}
