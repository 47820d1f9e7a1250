package hf

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/pattern"
)

// metaspace writes spaces as a visible character, may put one at the start, and
// may cut before each.
type metaspace struct {
	mark    string
	prepend string // always, first or never
	cuts    bool
}

type metaspaceJSON struct {
	typed
	Replacement    string
	AddPrefixSpace *bool   `json:"add_prefix_space"`
	PrependScheme  *string `json:"prepend_scheme"`
	Split          *bool
	StrRep         *string `json:"str_rep"` // of old files, the same as Replacement
}

func readMetaspace(part string, raw json.RawMessage) (*metaspace, error) {
	v, err := read[metaspaceJSON](part, raw)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(v.Replacement) != 1 {
		return nil, fmt.Errorf("%s Metaspace: the replacement %.40q is no character", part, v.Replacement)
	}
	m := &metaspace{v.Replacement, "always", v.Split == nil || *v.Split}
	if v.PrependScheme != nil {
		m.prepend = *v.PrependScheme
	}
	if v.AddPrefixSpace != nil && !*v.AddPrefixSpace && m.prepend != "never" {
		return nil, fmt.Errorf("%s Metaspace: add_prefix_space is off, but prepend_scheme is %q", part, m.prepend)
	}
	if m.prepend != "always" && m.prepend != "first" && m.prepend != "never" {
		return nil, &UnsupportedError{"prepend_scheme", m.prepend}
	}
	return m, nil
}

func (m *metaspace) split(pieces, into []piece, _ *pattern.Budget) []piece {
	for _, p := range pieces {
		s := strings.ReplaceAll(p.text, " ", m.mark)
		if !strings.HasPrefix(s, m.mark) && (m.prepend == "always" || m.prepend == "first" && p.first) {
			s = m.mark + s
		}
		p.text = s
		if !m.cuts {
			into = append(into, p)
			continue
		}
		into = m.cut(p, into)
	}
	return into
}

// cut cuts before each mark.
func (m *metaspace) cut(p piece, into []piece) []piece {
	for start := 0; start < len(p.text); {
		end := len(p.text)
		from := start
		if strings.HasPrefix(p.text[start:], m.mark) {
			from += len(m.mark)
		}
		if i := strings.Index(p.text[from:], m.mark); i >= 0 {
			end = from + i
		}
		into = append(into, piece{p.text[start:end], p.first && start == 0})
		start = end
	}
	return into
}
