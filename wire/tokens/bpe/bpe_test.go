package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Merging as it is defined: join the best pair, the leftmost among equals,
// until there is none. It is slow and plainly right.
func merged(symbols []string, rank func(left, right string) (int, bool)) []string {
	for {
		best, at := 0, -1
		for i := range len(symbols) - 1 {
			if r, ok := rank(symbols[i], symbols[i+1]); ok && (at < 0 || r < best) {
				best, at = r, i
			}
		}
		if at < 0 {
			return symbols
		}
		symbols = slices.Replace(slices.Clone(symbols), at, at+2, symbols[at]+symbols[at+1])
	}
}

// vocabulary is all bytes and then random joins of what is there, of a few
// letters, so that pieces have many ways to merge.
func vocabulary(rng *rand.Rand, n int) []string {
	var all []string
	seen := map[string]bool{}
	for b := range 256 {
		all = append(all, string([]byte{byte(b)}))
	}
	parts := []string{"a", "b", "c"}
	for len(all) < 256+n {
		s := parts[rng.IntN(len(parts))] + parts[rng.IntN(len(parts))]
		if len(s) <= 40 && !seen[s] {
			seen[s] = true
			all, parts = append(all, s), append(parts, s)
		}
	}
	return all
}

func letters(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("abcd"[rng.IntN(4)])
	}
	return b.String()
}

func TestRanksMergeByDefinition(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tokens := vocabulary(rng, 20+rng.IntN(200))
		ranks := map[string]int{}
		var ends []uint32
		for id, s := range tokens {
			ranks[s] = id
			ends = append(ends, uint32(len(strings.Join(tokens[:id+1], ""))))
		}
		r, err := NewRanks(strings.Join(tokens, ""), ends)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 3, 7, 20, smallPiece, smallPiece + 1, 200} {
			piece := letters(rng, n)
			want := []string{piece}
			if _, ok := ranks[piece]; !ok {
				want = merged(strings.Split(piece, ""), func(a, b string) (int, bool) { rank, ok := ranks[a+b]; return rank, ok })
			}
			var got []string
			for _, id := range r.Append(nil, piece) {
				got = append(got, r.Token(id))
			}
			if !slices.Equal(got, want) || r.Count(piece) != len(want) {
				t.Errorf("seed %d: %q becomes %q (count %d), want %q", seed, piece, got, r.Count(piece), want)
			}
			cache := new(Cache)
			if a, b := r.CountCached(cache, piece), r.CountCached(cache, piece); a != len(want) || b != a {
				t.Errorf("seed %d: %q counts %d, then %d, want %d", seed, piece, a, b, len(want))
			}
		}
	}
}

func TestMergesMergeByDefinition(t *testing.T) {
	type pair struct{ left, right string }
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		tokens := vocabulary(rng, 20+rng.IntN(200))
		ids, ranks, m := map[string]uint32{}, map[pair]int{}, NewMerges(1)
		for id, s := range tokens {
			ids[s] = uint32(id)
		}
		// Some of the ways to make each token, in random order.
		var pairs []pair
		for _, s := range tokens {
			for i := 1; i < len(s); i++ {
				if rng.IntN(3) > 0 {
					pairs = append(pairs, pair{s[:i], s[i:]})
				}
			}
		}
		pairs = slices.DeleteFunc(pairs, func(p pair) bool { _, a := ids[p.left]; _, b := ids[p.right]; return !a || !b })
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for rank, p := range pairs {
			ranks[p] = rank
			m.Add(ids[p.left], ids[p.right], uint32(rank), ids[p.left+p.right])
		}
		var w Word
		for _, n := range []int{0, 1, 2, 3, 7, 20, smallPiece, smallPiece + 1, 200} {
			piece := letters(rng, n)
			w.Reset()
			for _, c := range []byte(piece) {
				w.IDs = append(w.IDs, uint32(c))
			}
			m.Merge(&w)
			var got []string
			for _, id := range w.IDs {
				got = append(got, tokens[id])
			}
			var want []string
			if n > 0 {
				want = merged(strings.Split(piece, ""), func(a, b string) (int, bool) { rank, ok := ranks[pair{a, b}]; return rank, ok })
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %q becomes %q, want %q", seed, piece, got, want)
			}
		}
	}
}

func TestTableKeepsApartWhatLooksAlike(t *testing.T) {
	tokens := []string{"a", "a\x00", "a\x00\x00", "", "abcdefgh", "abcdefgh\x00", "abcdefghijkl", "abcdefghijkl\x00", strings.Repeat("x", 12), strings.Repeat("x", 13), strings.Repeat("x", 128)}
	v := NewVocab(tokens)
	for id, s := range tokens {
		want := uint32(id)
		if s == "" {
			want = None
		}
		if got := v.Find(s); got != want {
			t.Errorf("Find(%q) = %d, want %d", s, got, want)
		}
	}
	for _, s := range []string{"b", "a\x00\x00\x00", "abcdefg", strings.Repeat("x", 14), strings.Repeat("x", 129)} {
		if got := v.Find(s); got != None {
			t.Errorf("Find(%q) = %d", s, got)
		}
	}
}

func TestNewRanksRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		blob string
		ends []uint32
	}{"empty token": {"ab", []uint32{1, 1, 2}}, "beyond the end": {"ab", []uint32{1, 9}}, "bytes missing": {"ab", []uint32{1, 2}}} {
		if _, err := NewRanks(c.blob, c.ends); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
