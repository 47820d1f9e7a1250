package tokens

import (
	"fmt"
	"strings"
)

// UnknownIDError is an id that a tokenizer does not have.
type UnknownIDError struct {
	Tokenizer string
	ID        uint32
}

func (e *UnknownIDError) Error() string {
	return fmt.Sprintf("tokenizer %s has no token %d", e.Tokenizer, e.ID)
}

// specials are tokens that have a name instead of a text.
type specials struct {
	ids   map[string]uint32
	names map[uint32]string
}

func newSpecials(ids map[string]uint32) *specials {
	s := &specials{ids, make(map[uint32]string, len(ids))}
	for name, id := range ids {
		s.names[id] = name
	}
	return s
}

func (s *specials) size() int {
	n := 0
	for id := range s.names {
		n = max(n, int(id)+1)
	}
	return n
}

// next finds the first special token in a text. No name is the start of
// another.
func (s *specials) next(text string) (at int, name string, ok bool) {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], "<|")
		if i < 0 {
			return 0, "", false
		}
		from += i
		if end := strings.Index(text[from:], "|>"); end >= 0 {
			for name := range s.ids {
				if strings.HasPrefix(text[from:], name) {
					return from, name, true
				}
			}
		}
	}
}

// specialEncoder reads the names of special tokens inside a text as tokens.
type specialEncoder struct{ *rankEncoder }

func (e *specialEncoder) Count(text string) (int, error) {
	n := 0
	for {
		at, name, ok := e.specials.next(text)
		if !ok {
			return n + e.count(text), nil
		}
		n += e.count(text[:at]) + 1
		text = text[at+len(name):]
	}
}

func (e *specialEncoder) Append(ids []uint32, text string) ([]uint32, error) {
	for {
		at, name, ok := e.specials.next(text)
		if !ok {
			return e.append(ids, text), nil
		}
		ids = append(e.append(ids, text[:at]), e.specials.ids[name])
		text = text[at+len(name):]
	}
}
