// Package ranks holds the vocabularies o200k_base and cl100k_base inside the
// program. They are those that OpenAI publishes with tiktoken (MIT licence, see
// LICENSE-tiktoken), packed by tools/oracle/tokens_ranks.py.
package ranks

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"tokenmeter/tokens/bpe"
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
	ends = make([]uint32, singles, singles+n)
	bytes := make([]byte, singles, 8*(singles+n))
	copy(bytes, raw[:singles])
	for i := range ends {
		ends[i] = uint32(i) + 1
	}
	planes := raw[singles:]
	part := func(plane, i int) ([]byte, bool) {
		p := planes[plane*n:]
		id := int(p[i]) | int(p[n+i])<<8 | int(p[2*n+i])<<16
		if id >= len(ends) {
			return nil, false
		}
		start := uint32(0)
		if id > 0 {
			start = ends[id-1]
		}
		return bytes[start:ends[id]], true
	}
	for i := range n {
		left, ok := part(0, i)
		right, ok2 := part(3, i)
		if !ok || !ok2 {
			return "", nil, errors.New("a token is made of a later one")
		}
		bytes = append(append(bytes, left...), right...)
		ends = append(ends, uint32(len(bytes)))
	}
	return string(bytes), ends, nil
}
