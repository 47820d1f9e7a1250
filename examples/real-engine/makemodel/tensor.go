package main

import (
	"encoding/binary"
	"io"
	"math"
	"math/rand"
)

// ---- tensors ------------------------------------------------------------

const (
	ggmlF32  = 0
	ggmlF16  = 1
	ggmlQ8_0 = 8
)

func f16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	exp := int(b>>23&0xff) - 127 + 15
	man := b & 0x7fffff
	if exp <= 0 {
		if exp < -10 {
			return sign
		}
		man |= 0x800000
		return sign | uint16((man+(1<<(13-uint(exp))))>>(14-uint(exp)))
	}
	if exp >= 31 {
		return sign | 0x7c00
	}
	r := uint32(exp)<<10 | man>>13
	if man&0x1000 != 0 {
		r++
	}
	return sign | uint16(r)
}

// int8 values drawn evenly from -127..127 have this standard deviation.
const int8Std = 73.3

type tensor struct {
	name  string
	dims  []int // fastest first: {columns, rows}
	typ   int
	write func(w io.Writer) error
}

func rowBytes(typ, cols int) int {
	switch typ {
	case ggmlF32:
		return 4 * cols
	case ggmlF16:
		return 2 * cols
	}
	return cols / 32 * 34
}

func (t tensor) bytes() int64 {
	rows := 1
	if len(t.dims) > 1 {
		rows = t.dims[1]
	}
	return int64(rows) * int64(rowBytes(t.typ, t.dims[0]))
}

// encodeRow writes q*scale in the wanted type.
func encodeRow(dst []byte, typ int, q []int8, scale float32) []byte {
	switch typ {
	case ggmlF32:
		for _, x := range q {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x)*scale))
		}
	case ggmlF16:
		for _, x := range q {
			dst = binary.LittleEndian.AppendUint16(dst, f16(float32(x)*scale))
		}
	default:
		h := f16(scale)
		for i := 0; i < len(q); i += 32 {
			dst = append(dst, byte(h), byte(h>>8))
			for _, x := range q[i : i+32] {
				dst = append(dst, byte(x))
			}
		}
	}
	return dst
}

func fillRow(q []int8, rng *rand.Rand) {
	for i := 0; i < len(q); i += 8 {
		r := rng.Uint64()
		for j := i; j < i+8 && j < len(q); j++ {
			x := int8(r)
			if x == -128 {
				x = 127
			}
			q[j] = x
			r >>= 8
		}
	}
}

// randomMatrix has independent elements of the given standard deviation.
func randomMatrix(name string, cols, rows, typ int, std float64, seed int64) tensor {
	return tensor{name, []int{cols, rows}, typ, func(w io.Writer) error {
		rng := rand.New(rand.NewSource(seed))
		q := make([]int8, cols)
		var buf []byte
		for r := 0; r < rows; r++ {
			fillRow(q, rng)
			buf = encodeRow(buf[:0], typ, q, float32(std/int8Std))
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	}}
}

func ones(name string, n int) tensor {
	return tensor{name, []int{n}, ggmlF32, func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, func() []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = 1
			}
			return x
		}())
	}}
}

// checkChain looks whether, without the layers, the token that follows has by
// far the largest logit: of a few hundred tokens at most, how many have a rival of more than
// 0.8 of its logit, and the smallest margin. Random rows of few dimensions can
// happen to be alike.
func checkChain(embed []int8, next []int, dim int) (weak int, least float64) {
	row := func(i int) []int8 { return embed[i*dim : (i+1)*dim] }
	least = 1
	step := max(1, len(next)/512)
	if len(next) > 8192 {
		step = len(next) / 64
	}
	for t := 0; t < len(next); t += step {
		e := row(t)
		score := make([]int, len(next))
		for u := range next {
			dot := 0
			for i, x := range row(u) {
				dot += int(x) * int(e[i])
			}
			score[next[u]] += dot
		}
		best, rival := score[next[t]], 0
		for j, x := range score {
			if j != next[t] && x > rival {
				rival = x
			}
		}
		m := 1 - float64(rival)/float64(best)
		if m < 0.2 {
			weak++
		}
		least = min(least, m)
	}
	return weak, least
}
