package engine

// blocks is the KV cache of an instance, in blocks of equal size. Blocks that
// nobody uses keep their content until they are needed for something else, the
// longest unused first; a named one can be found again by its name.
type blocks struct {
	size  int // tokens in a block
	named bool

	uses  []int32 // sequences that hold the block
	name  []uint64
	found map[uint64]int32 // by name, whether used or not
	next  []int32          // the free ones as a ring with the sentinel at the end
	prev  []int32
	free  int
}

// newBlocks makes n free blocks. With n = 0 there is no limit and nothing is kept.
func newBlocks(n, size int, named bool) *blocks {
	b := &blocks{size: size, named: named}
	if n == 0 {
		return b
	}
	b.uses = make([]int32, n)
	b.next, b.prev = make([]int32, n+1), make([]int32, n+1)
	for i := range n + 1 {
		b.next[i], b.prev[i] = int32((i+1)%(n+1)), int32((i+n)%(n+1))
	}
	b.free = n
	if named {
		b.name = make([]uint64, n)
		b.found = make(map[uint64]int32)
	}
	return b
}

func (b *blocks) limited() bool { return len(b.uses) > 0 }

// need is how many blocks a request takes for its first n tokens. The beams of
// a search share the prompt.
func (b *blocks) need(r *Request, n int) int {
	if w := r.width(); w > 1 && n > r.PromptTokens {
		return ceil(r.PromptTokens, b.size) + w*ceil(n-r.PromptTokens, b.size)
	}
	return ceil(n, b.size)
}

func ceil(a, b int) int { return (a + b - 1) / b }

// grow gives a request the blocks for its first n tokens, or nothing at all.
func (b *blocks) grow(r *Request, n int) bool {
	if !b.limited() {
		return true
	}
	more := b.need(r, n) - len(r.s.blocks)
	if more > b.free {
		return false
	}
	for ; more > 0; more-- {
		r.s.blocks = append(r.s.blocks, b.take())
	}
	return true
}

// take removes the block that was free for the longest time.
func (b *blocks) take() int32 {
	i := b.next[len(b.uses)]
	b.unlink(i)
	if b.named && b.name[i] != 0 {
		if b.found[b.name[i]] == i {
			delete(b.found, b.name[i])
		}
		b.name[i] = 0
	}
	b.uses[i] = 1
	return i
}

func (b *blocks) unlink(i int32) {
	p, n := b.prev[i], b.next[i]
	b.next[p], b.prev[n] = n, p
	b.free--
}

// release gives up all blocks of a request. The last go first, so that the
// beginning of a prompt, which others are likelier to share, stays longest.
func (b *blocks) release(r *Request) {
	for k := len(r.s.blocks) - 1; k >= 0; k-- {
		i := r.s.blocks[k]
		if b.uses[i]--; b.uses[i] == 0 {
			end := int32(len(b.uses))
			last := b.prev[end]
			b.next[last], b.prev[i], b.next[i], b.prev[end] = i, last, end, i
			b.free++
		}
	}
	r.s.blocks = r.s.blocks[:0]
	r.s.named = 0
}

// match is how many blocks of a request's prompt the cache holds. At least one
// token is always left to compute.
func (b *blocks) match(r *Request) int {
	if !b.named {
		return 0
	}
	most := min(len(r.Blocks), (r.PromptTokens-1)/b.size)
	for k := range most {
		if _, ok := b.found[r.Blocks[k]]; !ok {
			return k
		}
	}
	return max(most, 0)
}

// share gives a request the first n blocks that match found.
func (b *blocks) share(r *Request, n int) {
	for _, name := range r.Blocks[:n] {
		i := b.found[name]
		if b.uses[i] == 0 {
			b.unlink(i)
		}
		b.uses[i]++
		r.s.blocks = append(r.s.blocks, i)
	}
	r.s.named = n
}

// idle is how many of the first n matching blocks are free: sharing them uses
// up so many of the free ones.
func (b *blocks) idle(r *Request, n int) (k int) {
	for _, name := range r.Blocks[:n] {
		if b.uses[b.found[name]] == 0 {
			k++
		}
	}
	return k
}

// publish names the blocks of a request that are full.
func (b *blocks) publish(r *Request) {
	if !b.named {
		return
	}
	full := min(r.s.computed/b.size, len(r.Blocks), len(r.s.blocks))
	for ; r.s.named < full; r.s.named++ {
		name, i := r.Blocks[r.s.named], r.s.blocks[r.s.named]
		if _, ok := b.found[name]; !ok && name != 0 && b.name[i] == 0 {
			b.found[name] = i
			b.name[i] = name
		}
	}
}

// NameBlocks names the full blocks of a sequence of tokens for Request.Blocks.
func NameBlocks(tokens []uint32, size int) []uint64 {
	names := make([]uint64, 0, len(tokens)/size)
	h := uint64(14695981039346656037) // FNV-1a
	for i, t := range tokens {
		for range 4 {
			h = (h ^ uint64(byte(t))) * 1099511628211
			t >>= 8
		}
		if (i+1)%size == 0 {
			names = append(names, h|1) // 0 means unnamed
		}
	}
	return names
}
