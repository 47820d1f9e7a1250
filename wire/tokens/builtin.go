package tokens

import (
	"sync"

	"tokenmeter/wire/tokens/bpe"
	"tokenmeter/wire/tokens/ranks"
	"tokenmeter/wire/tokens/split"
)

// builtin is a tokenizer inside the program. Its vocabulary is unpacked when it
// is first asked for, which takes some milliseconds.
type builtin struct {
	ranks    func() *bpe.Ranks
	split    func() split.Splitter
	specials map[string]uint32
}

var builtins = map[string]builtin{
	"o200k_base": {sync.OnceValue(ranks.O200kBase), split.O200k,
		map[string]uint32{"<|endoftext|>": 199999, "<|endofprompt|>": 200018}},
	"cl100k_base": {sync.OnceValue(ranks.Cl100kBase), split.Cl100k,
		map[string]uint32{"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259,
			"<|fim_suffix|>": 100260, "<|endofprompt|>": 100276}},
}

func (b builtin) open(name string, opt Options) Encoder {
	e := &rankEncoder{name: name, ranks: b.ranks(), split: b.split(), specials: newSpecials(b.specials)}
	e.caches.New = func() any { return new(bpe.Cache) }
	if opt.Specials {
		return &specialEncoder{e}
	}
	return e
}

// rankEncoder encodes as tiktoken does. A byte that is not UTF-8 keeps its
// place: it counts as a character without a category when the text is split,
// and decodes to itself.
type rankEncoder struct {
	name     string
	ranks    *bpe.Ranks
	split    split.Splitter
	specials *specials
	caches   sync.Pool
}

func (e *rankEncoder) Name() string { return e.name }

func (e *rankEncoder) Size() int { return max(e.ranks.Len(), e.specials.size()) }

func (e *rankEncoder) Count(text string) (int, error) { return e.count(text), nil }

func (e *rankEncoder) Append(ids []uint32, text string) ([]uint32, error) {
	return e.append(ids, text), nil
}

func (e *rankEncoder) count(text string) int {
	cache := e.caches.Get().(*bpe.Cache)
	defer e.caches.Put(cache)
	n := 0
	for text != "" {
		end := e.split.Next(text)
		n += e.ranks.CountCached(cache, text[:end])
		text = text[end:]
	}
	return n
}

func (e *rankEncoder) append(ids []uint32, text string) []uint32 {
	for text != "" {
		end := e.split.Next(text)
		ids = e.ranks.Append(ids, text[:end])
		text = text[end:]
	}
	return ids
}

func (e *rankEncoder) AppendText(text []byte, ids []uint32) ([]byte, error) {
	for _, id := range ids {
		if int(id) < e.ranks.Len() {
			text = append(text, e.ranks.Token(id)...)
		} else if name, ok := e.specials.names[id]; ok {
			text = append(text, name...)
		} else {
			return text, &UnknownIDError{e.name, id}
		}
	}
	return text, nil
}
