// Package ranks holds the vocabularies o200k_base and cl100k_base inside the
// program. They are those that OpenAI publishes with tiktoken (MIT licence, see
// LICENSE-tiktoken), packed by tools/oracle/tokens_ranks.py.
package ranks

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"tokenmeter/wire/tokens/bpe"
)

//go:embed o200k_base.zst
var o200kBase []byte

//go:embed cl100k_base.zst
var cl100kBase []byte

// O200kBase unpacks the vocabulary of GPT-4o and what followed.
func O200kBase() *bpe.Ranks {
	return ranksOf(must(unpack(o200kBase, vocabulary{})))
}

// Cl100kBase unpacks the vocabulary of GPT-4 and GPT-3.5, of which most lies in the
// newer one.
func Cl100kBase() *bpe.Ranks {
	return ranksOf(must(unpack(cl100kBase, must(unpack(o200kBase, vocabulary{})))))
}

func ranksOf(v vocabulary) *bpe.Ranks { return must(bpe.NewRanks(v.blob, v.ends)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("an embedded vocabulary: %v", err)) // the build is broken
	}
	return v
}

// vocabulary is the bytes of all tokens, joined, and where each ends.
type vocabulary struct {
	blob string
	ends []uint32
}

func (v vocabulary) token(id int) string { return v.blob[start(v.ends, id):v.ends[id]] }

const singles = 256

// unpack reads the packed form: 256 single bytes and, in four bytes, how many tokens
// follow. Of each of them it holds the rank of the token that it begins with, of those
// that are not whole the rank of the one that it ends with. A rank that this vocabulary
// does not reach is of a whole token: of newer, counted from the end of this one. Ranks
// are three planes of bytes, the low ones first.
func unpack(packed []byte, newer vocabulary) (v vocabulary, err error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return v, err
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		return v, err
	}
	if len(raw) < singles+4 {
		return v, errors.New("cut short")
	}
	n, planes := int(binary.LittleEndian.Uint32(raw[singles:])), raw[singles+4:]
	if n > len(planes)/3 {
		return v, errors.New("cut short")
	}
	lefts, rights := planes[:3*n], planes[3*n:]
	all := singles + n
	// First where each token ends, then what it is.
	ends := make([]uint32, all)
	for i := range singles {
		ends[i] = uint32(i) + 1
	}
	parts := 0
	for id := singles; id < all; id++ {
		var size uint32
		if left := rank(lefts, id-singles); left >= all {
			if left-all >= len(newer.ends) {
				return v, errors.New("a token is of no vocabulary")
			}
			size = uint32(len(newer.token(left - all)))
		} else {
			if parts >= len(rights)/3 {
				return v, errors.New("cut short")
			}
			right := rank(rights, parts)
			parts++
			if left >= id || right >= id {
				return v, errors.New("a token is made of a later one")
			}
			size = ends[left] - start(ends, left) + ends[right] - start(ends, right)
		}
		if size > mostBytes {
			return v, errors.New("a token is too long")
		}
		ends[id] = ends[id-1] + size
	}
	b := make([]byte, int(ends[all-1])+chunk)
	copy(b, raw[:singles])
	parts = 0
	for id := singles; id < all; id++ {
		at, left := ends[id-1], rank(lefts, id-singles)
		if left >= all {
			copy(b[at:], newer.token(left-all))
			continue
		}
		from := start(ends, left)
		repeat(b, at, from, ends[left]-from)
		at += ends[left] - from
		right := rank(rights, parts)
		parts++
		from = start(ends, right)
		repeat(b, at, from, ends[right]-from)
	}
	return vocabulary{string(b[:len(b)-chunk]), ends}, nil
}

// rank is the i-th of three planes of bytes.
func rank(planes []byte, i int) int {
	n := len(planes) / 3
	return int(planes[i]) | int(planes[n+i])<<8 | int(planes[2*n+i])<<16
}

// mostBytes bounds a token, of which the published ones have 128 bytes at most.
const mostBytes = 1 << 10

func start(ends []uint32, id int) uint32 {
	if id == 0 {
		return 0
	}
	return ends[id-1]
}

// chunk is what is copied at a time: most tokens are shorter, and so many small
// copies are several times faster than calls of copy. What is too much lies
// where the next token comes.
const chunk = 16

// repeat copies n bytes of b to a later place.
func repeat(b []byte, to, from, n uint32) {
	for i := uint32(0); i < n; i += chunk {
		*(*[chunk]byte)(b[to+i:]) = [chunk]byte(b[from+i:])
	}
}
