package hf

import (
	"os"
	"path/filepath"
	"testing"
)

// Loading every tokenizer.json of the folder TOKENMETER_TOKENIZERS.
func BenchmarkParse(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("TOKENMETER_TOKENIZERS"), "*.json"))
	for _, file := range files {
		raw := readFile(b, file)
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				parsed(b, raw, Options{})
			}
		})
	}
}
