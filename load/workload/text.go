package workload

import (
	"strings"

	"tokenmeter/base/random"
)

const wordBits = 9 // len(words) is 2^wordBits

// text makes a prompt of n words for item i. Its first words are a nonce: the
// digits of i, each scrambled by the salt and the digits before it. Thereby the
// first words of any 1024 items in a row differ, and no two of 2^(9n+1) items
// are the same text. What follows is drawn at random; it needs no sense, only
// tokens that no cache has seen.
func text(salt uint64, i int64, n int) string {
	var b strings.Builder
	b.Grow(n * 7)
	left := uint64(i)
	key := random.Mix(salt ^ textKey)

	d := scramble(left, wordBits+1, key)
	left >>= wordBits + 1
	first := words[d>>1]
	if d&1 == 1 {
		first = strings.ToUpper(first[:1]) + first[1:]
	}
	b.WriteString(first)

	src := random.New(salt, textKey, uint64(i))
	for w := 1; w < n; w++ {
		if w*wordBits < 64 {
			key = random.Mix(key + d + 1)
			d = scramble(left, wordBits, key)
			left >>= wordBits
		} else {
			d = src.Uint64() >> (64 - wordBits)
		}
		b.WriteByte(' ')
		b.WriteString(words[d])
	}
	return b.String()
}

// scramble maps the low bits of x onto themselves one to one.
func scramble(x uint64, bits uint, key uint64) uint64 {
	mask := uint64(1)<<bits - 1
	x &= mask
	for range 3 {
		x = (x*(key|1) + key>>20) & mask
		x ^= x >> (bits/2 + 1)
		key = random.Mix(key)
	}
	return x
}
