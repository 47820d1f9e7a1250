package hf

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// unigram picks the tokens of the best total score.
type unigram struct {
	names  []string
	scores []float64
	sorted []uint32 // ids by the bytes of their tokens
	starts [257]int // where the tokens of each first byte start in sorted
	ids    map[string]uint32
	unk    uint32
	least  float64 // the score of an unknown character
	bytes  *byteTokens
}

// unkPenalty is what an unknown character scores below the worst token.
const unkPenalty = 10

func parseUnigram(raw modelJSON) (model, error) {
	v, err := read[struct {
		typed
		UnkID        *uint32 `json:"unk_id"`
		ByteFallback *bool   `json:"byte_fallback"`
	}]("model", raw.settings)
	if err != nil {
		return nil, err
	}
	names, scores, err := readScores(raw.vocab)
	if err != nil {
		return nil, err
	}
	if v.UnkID == nil || int(*v.UnkID) >= len(names) {
		return nil, errors.New("the model has no token for unknown characters")
	}
	m := &unigram{names: names, scores: scores, unk: *v.UnkID, least: slices.Min(scores), ids: make(map[string]uint32, len(names))}
	for id, name := range names {
		m.ids[name] = uint32(id)
	}
	m.least -= unkPenalty
	for token, id := range m.ids {
		if token != "" {
			m.sorted = append(m.sorted, id)
		}
	}
	slices.SortFunc(m.sorted, func(a, b uint32) int { return strings.Compare(m.names[a], m.names[b]) })
	for b := range 256 {
		m.starts[b+1], _ = slices.BinarySearchFunc(m.sorted, b+1, func(id uint32, b int) int { return int(m.names[id][0]) - b })
	}
	if is(v.ByteFallback) {
		m.bytes = newByteTokens(m.find)
	}
	return m, nil
}

func (m *unigram) tokens() []string { return m.names }

// node is the best way to the end of a token.
type node struct {
	score float64
	from  int32 // where the token starts; -1 if there is no way
	id    uint32
}

func (m *unigram) encode(s string, out *scratch) {
	best := m.ways(s, out)
	if out.budget.Err() != nil {
		return
	}
	// From the end back; unknown characters in a row are one.
	w := &out.word
	w.Reset()
	for end := len(s); end > 0; {
		n := best[end]
		start := int(n.from)
		if n.id != m.unk {
			w.IDs = append(w.IDs, n.id)
			end = start
			continue
		}
		for start > 0 && best[start].id == m.unk {
			start = int(best[start].from)
		}
		w.IDs = m.unknown(w.IDs, s[start:end])
		end = start
	}
	slices.Reverse(w.IDs)
	out.addAll(w.IDs)
}

// unknown appends the ids of a text that is no token, backwards.
func (m *unigram) unknown(ids []uint32, s string) []uint32 {
	if id, ok := m.ids[s]; ok {
		return append(ids, id)
	}
	if !m.bytes.spell(s) {
		return append(ids, m.unk)
	}
	for i := len(s) - 1; i >= 0; i-- {
		ids = append(ids, m.bytes[s[i]])
	}
	return ids
}

// ways finds the best way to every place in s.
func (m *unigram) ways(s string, out *scratch) []node {
	if cap(out.best) < len(s)+1 {
		out.best = make([]node, len(s)+1)
	}
	best := out.best[:len(s)+1]
	for i := range best {
		best[i] = node{from: -1}
	}
	take := func(start, end int, id uint32, score float64) {
		if n := &best[end]; n.from < 0 || score > n.score {
			*n = node{score, int32(start), id}
		}
	}
	for start := 0; start < len(s); {
		_, size := utf8.DecodeRuneInString(s[start:])
		before, single := best[start].score, false
		looked := m.prefixes(s[start:], func(id uint32, n int) {
			take(start, start+n, id, before+m.scores[id])
			single = single || n == size
		})
		if !out.budget.Look(looked) {
			break
		}
		if !single {
			take(start, start+size, m.unk, before+m.least)
		}
		start += size
	}
	return best
}

// bytesApart is how many bytes in a row are compared in the time of one that is elsewhere.
const bytesApart = 8

// prefixes gives the tokens that s starts with, the shortest first, and how many
// bytes of tokens it looked at, each far from the other.
func (m *unigram) prefixes(s string, f func(id uint32, n int)) (looked int) {
	in := m.sorted[m.starts[s[0]]:m.starts[int(s[0])+1]]
	for n := 1; len(in) > 0; n++ {
		// All tokens of in start with s[:n]; the shortest comes first.
		if len(m.names[in[0]]) == n {
			f(in[0], n)
			in = in[1:]
		}
		if n == len(s) {
			break
		}
		looked += bytesApart * bits.Len(uint(len(in)))
		from, _ := slices.BinarySearchFunc(in, int(s[n]), func(id uint32, b int) int { return int(m.names[id][n]) - b })
		in = in[from:]
		to, _ := slices.BinarySearchFunc(in, int(s[n])+1, func(id uint32, b int) int { return int(m.names[id][n]) - b })
		in = in[:to]
	}
	return looked
}

func (m *unigram) find(token string) (uint32, bool) {
	id, ok := m.ids[token]
	return id, ok
}
