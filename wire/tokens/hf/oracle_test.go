package hf

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"tokenmeter/wire/tokens/internal/corpustest"
)

// A folder of tokenizer.json files with what tools/oracle/tokens_hf.py made of
// them: TOKENMETER_TOKENIZERS=FOLDER.
func TestFolder(t *testing.T) {
	folder := os.Getenv("TOKENMETER_TOKENIZERS")
	if folder == "" {
		t.Skip("TOKENMETER_TOKENIZERS names no folder")
	}
	equalOracle(t, folder, 1)
}

// equalOracle compares every tokenizer in a folder with its expectations, of
// every so many texts.
func equalOracle(t *testing.T, folder string, every int) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	var texts []string
	for i, text := range corpustest.Texts(t, "../testdata/corpus.zst") {
		if i%every == 0 {
			texts = append(texts, text)
		}
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			raw := readFile(t, file)
			start := time.Now()
			plain := parsed(t, raw, Options{})
			t.Logf("loaded in %v", time.Since(start).Round(time.Millisecond))
			base := filepath.Join(folder, name)
			compare(t, plain, texts, corpustest.Read(t, base+".expect"), decoded(t, base+".decoded"))
			var named []string
			for _, text := range texts {
				if strings.Contains(text, "<|") || strings.Contains(text, "<s>") || strings.Contains(text, "[MASK]") {
					named = append(named, text)
				}
			}
			compare(t, parsed(t, raw, Options{Specials: true}), named, corpustest.Read(t, base+".special.expect"), nil)
		})
	}
}

func compare(t *testing.T, tok *Tokenizer, texts []string, want []corpustest.Expected, sums []uint16) {
	t.Helper()
	if len(texts) != len(want) {
		t.Fatalf("%d texts, %d expectations", len(texts), len(want))
	}
	wrong, wrongText := 0, 0
	for i, text := range texts {
		ids, _ := tok.Append(nil, text)
		if got := corpustest.Of(ids); got != want[i] {
			if wrong++; wrong <= 5 {
				t.Errorf("text %d %q has ids %v, want %d of them", i, text, ids, want[i].Count)
			}
			continue
		}
		if n, _ := tok.Count(text); n != len(ids) {
			t.Errorf("Count(%q) = %d, but %d ids", text, n, len(ids))
		}
		if sums == nil {
			continue
		}
		back, err := tok.AppendText(nil, ids)
		if err != nil {
			t.Fatal(err)
		}
		// The original gives text, not bytes: what is no UTF-8 is replaced.
		if sum := uint16(crc32.ChecksumIEEE([]byte(string([]rune(string(back)))))); sum != sums[i] {
			if wrongText++; wrongText <= 5 {
				t.Errorf("the ids of %q decode to %q", text, back)
			}
		}
	}
	t.Logf("%d of %d texts have the same ids, %d decode otherwise", len(texts)-wrong, len(texts), wrongText)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".zst" {
		d, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if raw, err = d.DecodeAll(raw, nil); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

func parsed(t testing.TB, raw []byte, opt Options) *Tokenizer {
	t.Helper()
	tok, err := Parse(raw, opt)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func decoded(t testing.TB, path string) []uint16 {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var sums []uint16
	for ; len(raw) > 0; raw = raw[2:] {
		sums = append(sums, binary.LittleEndian.Uint16(raw))
	}
	return sums
}

// Small tokenizers with every part that is known, on every ninth text.
func TestPartsEqualTheOriginal(t *testing.T) {
	equalOracle(t, "testdata", 9)
}
