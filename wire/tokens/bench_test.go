package tokens

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// The texts of the benchmarks: prose and code of this project, sentences in
// forty languages, and the whole corpus with all that is odd in it.
func benchTexts(b *testing.B) map[string]string {
	all := corpustest.Texts(b, "testdata/corpus.zst")
	return map[string]string{
		"prose":     glob(b, "../../docs/*.md"),
		"code":      glob(b, "../*/*.go"),
		"languages": strings.Join(all[12:12+40], "\n"),
		"corpus":    strings.Join(all, "\n"),
	}
}

func glob(b *testing.B, pattern string) string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		b.Fatal(pattern, err)
	}
	var s strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		s.Write(text)
	}
	return s.String()
}

func BenchmarkCount(b *testing.B) {
	texts := benchTexts(b)
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		enc := open(b, name, Options{})
		for _, kind := range []string{"prose", "code", "languages", "corpus"} {
			text := texts[kind]
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				defer cpuSpeed(b, len(text))()
				for range b.N {
					enc.Count(text)
				}
			})
		}
	}
}

// One letter again and again is one piece, however long.
func BenchmarkCountOneLetter(b *testing.B) {
	enc := open(b, "o200k_base", Options{})
	for _, n := range []int{1000, 100_000, 1_000_000} {
		text := strings.Repeat("a", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			defer cpuSpeed(b, n)()
			for range b.N {
				enc.Count(text)
			}
		})
	}
}
