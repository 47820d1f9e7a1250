// Package ranks holds the vocabularies o200k_base and cl100k_base inside the
// program. They are those that OpenAI publishes with tiktoken (MIT licence, see
// LICENSE-tiktoken), packed by tools/oracle/tokens_ranks.py.
package ranks

import (
	_ "embed"
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
func O200kBase() *bpe.Ranks { return mustUnpack("o200k_base", o200kBase) }

// Cl100kBase unpacks the vocabulary of GPT-4 and GPT-3.5.
func Cl100kBase() *bpe.Ranks { return mustUnpack("cl100k_base", cl100kBase) }

func mustUnpack(name string, packed []byte) *bpe.Ranks {
	blob, ends, err := unpack(packed)
	if err == nil {
		var r *bpe.Ranks
		if r, err = bpe.NewRanks(blob, ends); err == nil {
			return r
		}
	}
	panic(fmt.Sprintf("embedded vocabulary %s: %v", name, err)) // the build is broken
}

const singles = 256

// unpack gives the bytes of all tokens, joined, and where each ends. The packed
// form is 256 single bytes, then for every other token the ranks of the two
// tokens that it is made of: six planes of bytes, three for the left ones and
// three for the right ones.
func unpack(packed []byte) (blob string, ends []uint32, err error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return "", nil, err
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		return "", nil, err
	}
	n := (len(raw) - singles) / 6
	if len(raw) < singles || len(raw) != singles+6*n {
		return "", nil, errors.New("cut short")
	}
	planes := raw[singles:]
	half := func(plane, i int) int {
		p := planes[plane*n:]
		return int(p[i]) | int(p[n+i])<<8 | int(p[2*n+i])<<16
	}
	// First where each token ends, then what it is.
	ends = make([]uint32, singles+n)
	for i := range singles {
		ends[i] = uint32(i) + 1
	}
	for i := range n {
		id, left, right := singles+i, half(0, i), half(3, i)
		if left >= id || right >= id {
			return "", nil, errors.New("a token is made of a later one")
		}
		size := ends[left] - start(ends, left) + ends[right] - start(ends, right)
		if size > mostBytes {
			return "", nil, errors.New("a token is too long")
		}
		ends[id] = ends[id-1] + size
	}
	b := make([]byte, int(ends[len(ends)-1])+chunk)
	copy(b, raw[:singles])
	for i := range n {
		at := ends[singles+i-1]
		for _, part := range [2]int{half(0, i), half(3, i)} {
			from := start(ends, part)
			repeat(b, at, from, ends[part]-from)
			at += ends[part] - from
		}
	}
	return string(b[:len(b)-chunk]), ends, nil
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
