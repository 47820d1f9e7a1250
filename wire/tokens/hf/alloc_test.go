//go:build !race

package hf

import (
	"path/filepath"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// Not under the race detector, which makes pools forget.
// Counting a text needs few allocations, whatever the tokenizer.
func TestCountAllocations(t *testing.T) {
	text := corpustest.Texts(t, "../testdata/corpus.zst")[12]
	for name, most := range map[string]float64{"bytes_gpt2": 4, "bytes_llama3": 4, "sp_mistral": 8} {
		tok := parsed(t, readFile(t, filepath.Join("testdata", name+".json.zst")), Options{})
		tok.Count(text)
		if n := testing.AllocsPerRun(20, func() { tok.Count(text) }); n > most {
			t.Errorf("%s: %v allocations a count, %v are granted", name, n, most)
		}
	}
}
