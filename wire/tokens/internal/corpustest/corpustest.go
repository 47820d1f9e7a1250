// Package corpustest reads what the oracles of the tokenizers wrote, for tests.
package corpustest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Texts are the texts of a compressed corpus, one JSON string a line.
func Texts(t testing.TB, path string) []string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(read(t, path), nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var texts []string
	for line := range bytes.Lines(raw) {
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		texts = append(texts, s)
	}
	return texts
}

// Expected is what an oracle made of one text.
type Expected struct{ Count, Sum uint16 }

// Of is the same of our own ids.
func Of(ids []uint32) Expected {
	var b []byte
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return Expected{uint16(len(ids)), uint16(crc32.ChecksumIEEE(b))}
}

// Read reads a file of expectations.
func Read(t testing.TB, path string) []Expected {
	t.Helper()
	var all []Expected
	for b := read(t, path); len(b) > 0; b = b[4:] {
		all = append(all, Expected{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])})
	}
	return all
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
