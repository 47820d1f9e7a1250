package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tokenmeter/wire/tokens/char"
	"tokenmeter/wire/tokens/pattern"
)

// addedToken is a token that is looked for before the text is cut.
type addedToken struct {
	ID         uint32 `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// mostIDs bounds the ids, which are places in a slice.
const mostIDs = 1 << 24

func (t *Tokenizer) addTokens(raw json.RawMessage, opt Options) error {
	var tokens []addedToken
	if !absent(raw) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&tokens); err != nil {
			return fmt.Errorf("added token: %w", plainError(err))
		}
	}
	t.names = slices.Clone(t.model.tokens())
	t.known = make([]bool, len(t.names))
	for id, name := range t.names {
		t.known[id] = name != ""
	}
	t.raw, t.cooked = newAdded(opt), newAdded(opt)
	all, grown := 0, 0
	for _, a := range tokens {
		all += len(a.Content)
	}
	b := pattern.NewBudget(all)
	for _, a := range tokens {
		if a.Content == "" {
			continue
		}
		if id, ok := t.model.find(a.Content); ok {
			a.ID = id // the model's own id comes first
		}
		if a.ID >= mostIDs {
			return fmt.Errorf("the id %d of the added token %q is too large", a.ID, a.Content)
		}
		if n := int(a.ID) + 1; n > len(t.names) {
			t.names = append(t.names, make([]string, n-len(t.names))...)
			t.known = append(t.known, make([]bool, n-len(t.known))...)
		}
		t.names[a.ID], t.known[a.ID] = a.Content, true
		if !a.Normalized {
			t.raw.add(a.Content, a)
			continue
		}
		content := a.Content
		if t.normalize != nil {
			content, _ = t.normalize.normalize(content, b)
			if grown += len(content); !b.Holds(grown) {
				return fmt.Errorf("added token %q: %w", a.Content, b.Err())
			}
		}
		if content == "" {
			return errors.New("nothing is left of an added token once it is normalised: " + a.Content)
		}
		t.cooked.add(content, a)
		t.names[a.ID] = content
	}
	return nil
}

// added finds added tokens in a text: the leftmost, and of those the longest.
type added struct {
	tokens  map[string]addedToken
	lengths [256][]int // of those that start with a byte, the longest first
	// specials says that special tokens are cut out too.
	specials bool
}

func newAdded(opt Options) *added {
	return &added{tokens: map[string]addedToken{}, specials: opt.Specials}
}

func (a *added) add(content string, t addedToken) {
	if _, ok := a.tokens[content]; ok {
		return
	}
	a.tokens[content] = t
	lengths := &a.lengths[content[0]]
	if !slices.Contains(*lengths, len(content)) {
		*lengths = append(*lengths, len(content))
		slices.Sort(*lengths)
		slices.Reverse(*lengths)
	}
}

// find is the next token in s at or after from.
func (a *added) find(s string, from int, b *pattern.Budget) (t addedToken, start, end int, ok bool) {
	for i := from; i < len(s); i++ {
		for _, n := range a.lengths[s[i]] {
			if i+n > len(s) {
				continue
			}
			if !b.Look(n) {
				return addedToken{}, 0, 0, false
			}
			if t, ok := a.tokens[s[i:i+n]]; ok {
				return t, i, i + n, true
			}
		}
	}
	return addedToken{}, 0, 0, false
}

// each gives the tokens and the parts of the text between them, in order. No
// part is empty.
func (a *added) each(s string, b *pattern.Budget, token func(id uint32), part func(s string, start int)) {
	done := 0 // what lies before is given
	if len(a.tokens) > 0 {
		for at := 0; ; {
			t, start, end, ok := a.find(s, at, b)
			if !ok {
				break
			}
			at = end
			if t.Special && !a.specials || t.SingleWord && !alone(s, start, end) {
				continue
			}
			if t.LStrip {
				start = max(len(strings.TrimRightFunc(s[:start], isSpace)), done)
			}
			if t.RStrip {
				end += len(s[end:]) - len(strings.TrimLeftFunc(s[end:], isSpace))
			}
			if start > done {
				part(s[done:start], done)
			}
			token(t.ID)
			done = end
		}
	}
	if done < len(s) {
		part(s[done:], done)
	}
}

// alone says whether no character of a word touches s[start:end].
func alone(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return (start == 0 || !char.Word.Has(char.Of(before))) && (end == len(s) || !char.Word.Has(char.Of(after)))
}

// isSpace is the property White_Space, which Unicode has not changed for long.
func isSpace(r rune) bool { return unicode.IsSpace(r) }
