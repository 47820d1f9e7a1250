package hf

import (
	_ "embed"
	"sync"

	"tokenmeter/wire/tokens/char"
)

//go:embed sets.txt
var setLines string

// sets are the sets of code points that single parts of tokenizers use, each
// from its own version of Unicode. tools/oracle/tokens_sets.py makes them.
var sets = sync.OnceValue(func() map[string]char.Ranges {
	all, err := char.ParseRanges(setLines)
	if err != nil {
		panic(err) // the build is broken
	}
	return all
})
