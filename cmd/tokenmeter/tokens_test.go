package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// A text in UTF-16, as some shells write it, has no tokens byte by byte.
func TestTokensNameTheEncoding(t *testing.T) {
	words := func(order binary.AppendByteOrder, text string) (data []byte) {
		for _, unit := range utf16.Encode([]rune(text)) {
			data = order.AppendUint16(data, unit)
		}
		return data
	}
	for name, file := range map[string]struct {
		data  []byte
		jsonl bool
		want  string // of the answer, or of the error
	}{
		"marked":   {words(binary.LittleEndian, "\ufeffhéllo wörld\n"), false, "UTF-16LE"},
		"unmarked": {words(binary.BigEndian, "hello"), false, "UTF-16BE"},
		"lines":    {words(binary.LittleEndian, "\ufeff{\"text\":\"héllo\"}\n"), true, "UTF-16LE"},
		"UTF-32":   {[]byte("\xff\xfe\x00\x00h\x00\x00\x00"), false, "UTF-32"},
		"UTF-8":    {[]byte("héllo wörld\n"), false, "6"},
		"short":    {[]byte("a"), false, "1"},
		"none":     {nil, false, "0"},
		"its own":  {[]byte(`{"text":"hi"}`), true, `{"tokens":1}`},
	} {
		path := filepath.Join(t.TempDir(), "x.txt")
		if err := os.WriteFile(path, file.data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := tokensCmd{Files: []string{path}, Tokenizer: "o200k_base", JSONL: file.jsonl}
		got := ""
		if err := c.Run(&app{stdout: &out}); err != nil {
			got = err.Error()
		} else {
			got = out.String()
		}
		if !strings.Contains(got, file.want) || strings.HasPrefix(file.want, "UTF") && out.Len() > 0 {
			t.Errorf("%s: %q, want %q", name, got, file.want)
		}
	}
}
