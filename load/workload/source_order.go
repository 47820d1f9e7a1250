package workload

import (
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/wire/api"
)

// shuffled returns entry i of a random order: every entry once, then all again
// in another order.
func (s *source) shuffled(i int64) (entry, error) {
	n, err := s.count()
	if err != nil {
		return entry{}, err
	}
	round := i / n
	if i < 0 {
		round = (i+1)/n - 1
	}
	src := random.New(*s.shuffle, orderKey, uint64(round))
	return s.at(permuted(uint64(i-round*n), uint64(n), src.Uint64()))
}

// permuted is where a permutation of 0 … n−1 puts x: a Feistel network over the
// next power of four, walked until it falls below n.
func permuted(x, n, key uint64) int64 {
	half := uint(1)
	for uint64(1)<<(2*half) < n {
		half++
	}
	mask := uint64(1)<<half - 1
	for {
		l, r := x>>half, x&mask
		for round := range uint64(4) {
			l, r = r, (l^random.Mix(key^r<<8^round))&mask
		}
		if x = l<<half | r; x < n {
			return int64(x)
		}
	}
}

// times yields when each entry is due, since the first.
func (s *source) times() iter.Seq2[time.Duration, error] {
	return func(yield func(time.Duration, error) bool) {
		for k := int64(0); ; k++ {
			i := k
			if s.sessions != nil {
				if k >= int64(len(s.sessions)) {
					return
				}
				i = int64(s.sessions[k][0])
			}
			e, err := s.at(i)
			if err == io.EOF {
				return
			}
			at, ok := e.at.Get()
			if err == nil && !ok {
				err = fmt.Errorf("%s: record %d has no time, the first one has", s.file.Name, i+1)
			}
			if err == nil {
				err = s.certain(i, &e)
			}
			if !yield(at-s.zero, err) || err != nil {
				return
			}
		}
	}
}

// print tells prompts from one another: equal ones have the same. before is that of the
// messages in front of these; 0: there are none.
func (s *source) print(before uint64, messages []api.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(s.hashSeed)
	maphash.WriteComparable(&h, before)
	for _, m := range messages {
		maphash.WriteComparable(&h, [2]string{m.Role, m.Content})
		for _, c := range m.ToolCalls {
			maphash.WriteComparable(&h, c)
		}
		for _, p := range m.Images {
			h.Write(p.Data)
		}
	}
	return max(h.Sum64(), 1)
}
