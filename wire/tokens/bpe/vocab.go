package bpe

// Vocab finds the ids of tokens by their bytes. Ids may have gaps.
type Vocab struct {
	tokens []string
	table  *table
}

// NewVocab makes a vocabulary of tokens by id. An empty string is a gap.
func NewVocab(tokens []string) *Vocab {
	v := &Vocab{tokens: tokens}
	short, long := 0, 0
	for _, s := range tokens {
		if len(s) > inline {
			long++
		} else if s != "" {
			short++
		}
	}
	v.table = newTable(short, long, func(id uint32) string { return v.tokens[id] })
	v.table.addAll(len(tokens))
	return v
}

// Find is the id of the token that is exactly these bytes, or None.
func (v *Vocab) Find(s string) uint32 {
	if s == "" {
		return None
	}
	return v.table.find(s)
}

// Longest is the length of the longest token in bytes.
func (v *Vocab) Longest() int { return v.table.longest }
