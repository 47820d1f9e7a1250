package workload

import (
	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// batch is how many texts a request holds, for servers that answer several at once:
// with embeddings, or with scores of documents for a query.
type batch struct {
	texts Lengths // zero: 1
	// query is how long the query is, which comes first; zero: there is none.
	query Lengths
}

const (
	batchKey = 0x6261746368
	queryKey = 0x7175657279

	// maxBatch is OpenAI's limit of texts in a request.
	maxBatch = 2048
	// defaultQuery is the length of a query in tokens: a sentence.
	defaultQuery = "16"
)

// stride is how many single requests lie between those of one batch and of the next,
// so that no text is in two of them.
func (b *batch) stride() int64 {
	n, fixed := b.texts.Fixed()
	switch {
	case b.texts.IsZero():
		n = 1
	case !fixed:
		n = maxBatch
	}
	return n
}

// ranks reports whether a query comes first. Its length is counted as servers like,
// so that nothing can be learnt of lengths.
func (b *batch) ranks() bool { return b != nil && !b.query.IsZero() }

// batched makes an item of several single ones. Of the texts of a file the first is
// the query, where one is wanted; a query for made documents is made.
func (c *class) batched(i int64) Item {
	if c.source != nil && c.batch.texts.IsZero() {
		if whole := c.single(i); len(whole.Messages) > 1 || whole.Err != nil || !c.batch.ranks() { // a record with all of them
			whole.InputTokens, whole.Units = timeline.Opt[int64]{}, 0
			c.sent(&whole)
			return whole
		}
	}
	src := random.New(c.seed, batchKey, uint64(i))
	n, each := drawOr1(c.batch.texts, &src), c.batch.stride()
	if c.batch.ranks() && c.source != nil {
		n, each = n+1, each+1
	}
	whole := c.single(i * each)
	for k := int64(1); k < int64(n) && whole.Err == nil; k++ {
		one := c.single(i*each + k)
		whole.Err = one.Err
		whole.Messages = append(whole.Messages[:len(whole.Messages):len(whole.Messages)], one.Messages...)
		whole.InputTokens = plus(whole.InputTokens, one.InputTokens)
		whole.Units += one.Units
	}
	whole.Index = i
	c.sent(&whole)
	if c.batch.ranks() {
		whole.InputTokens, whole.Units = timeline.Opt[int64]{}, 0
		if c.source == nil {
			query := c.maker.make(c.salt^queryKey, i, c.maker.units(c.batch.query.Draw(&src)))
			whole.Messages = append(user(query), whole.Messages...)
		}
	}
	return whole
}

// sent takes the texts of a file as one prompt.
func (c *class) sent(whole *Item) {
	if c.source != nil && whole.Err == nil {
		whole.Print = c.source.print(0, whole.Messages)
	}
}

// plus adds counts; empty unless both are known.
func plus(a, b timeline.Opt[int64]) timeline.Opt[int64] {
	x, ok := a.Get()
	y, too := b.Get()
	if !ok || !too {
		return timeline.Opt[int64]{}
	}
	return timeline.Some(x + y)
}

// ForAPI fits a workload to what an API takes. One that ranks wants a query in front
// of its texts.
func (w *Made) ForAPI(a *api.API) {
	if a.Product() != timeline.Scores {
		return
	}
	query, _ := ParseLengths(defaultQuery)
	for _, c := range w.classes {
		if c.batch == nil {
			c.batch = &batch{}
		}
		if c.batch.query.IsZero() {
			c.batch.query = query
		}
	}
}

// ParseBatch reads how many texts a request holds.
func ParseBatch(text string) (Lengths, error) {
	l, err := ParseLengths(text)
	if err != nil {
		return l, err
	}
	return l.atMost(maxBatch)
}
