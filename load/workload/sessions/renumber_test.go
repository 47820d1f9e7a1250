package sessions

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const goodLine = `{"at":"2026-03-03T14:00:00Z","session":"a","model":"m","in":32,"out":5,"took_ms":10,"hash_ids":[7,9]}` + "\n"

// A trace that is damaged or is none says so, with the place; only a line that broke off,
// as where the proxy was killed, is left out.
func TestDamagedTraces(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	zip.Write([]byte(strings.Repeat(goodLine, 1000)))
	zip.Close()
	for name, c := range map[string]struct{ text, want string }{
		"empty.jsonl":   {"", "empty.jsonl: there is no request in it"},
		"spaces.jsonl":  {"\n \n\n", "there is no request in it"},
		"broken.jsonl":  {goodLine[:40], "there is no request in it; lines that broke off and were left out: 1"},
		"words.jsonl":   {goodLine + "hello\n", "words.jsonl: line 2: byte 1: 'h' where '{' should come"},
		"list.jsonl":    {"[1]\n", "line 1"},
		"number.jsonl":  {goodLine + "\n12\n", "line 3"},
		"other.jsonl":   {`{"model":"m"}` + "\n", `line 1: byte 14: no time: a line of a trace has "at"`},
		"two.jsonl":     {"[]" + goodLine, "line 1"},
		"when.jsonl":    {goodLine + strings.Replace(goodLine, "2026", "soon", 1), "line 2"},
		"negative.json": {strings.Replace(goodLine, "32", "-32", 1), "line 1"},
		"fewer.json":    {strings.Replace(goodLine, "32", "31", 1), "line 1: byte 102: a request of 31 tokens with 2 hash_ids of 16 each"},
		"huge.jsonl":    {strings.Replace(goodLine, "32", "1e30", 1), "line 1"},
		"took.jsonl":    {strings.Replace(goodLine, "_ms\":10", "_ms\":-10", 1), "line 1"},
		"long.jsonl":    {goodLine + `{"at":"` + strings.Repeat("x", mostLine), "long.jsonl: line 2 has more than 64 MiB"},
		"cut.jsonl.gz":  {packed.String()[:packed.Len()/2], "cut.jsonl.gz: it can't be unpacked"},
		"bytes.jsonl":   {"\xff\xfe\x00\x01", "line 1"},
	} {
		path := write(t, name, c.text)
		if _, err := Renumber(new(bytes.Buffer), path, Span{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Renumber(new(bytes.Buffer), filepath.Join(t.TempDir(), "none.jsonl"), Span{}); err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// What is written acts on nobody who looks at it, and names of sessions and hashes are
// numbers.
func TestHostileTrace(t *testing.T) {
	words := "hos\x1b[2J\u009b31m\u202etile\u2066\ufeff\r\b<script> end"
	line, err := json.Marshal(map[string]any{"at": "2026-03-03T14:00:00Z", "session": words, "parent": words, "model": words, "in": 32, "out": 5, "hash_ids": []uint64{7, 9}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sum, err := Renumber(&out, write(t, "x.jsonl", string(line)+"\n"+goodLine), Span{})
	if err != nil || sum.Requests != 2 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\u009b\u202e\u2066\ufeff\r\b") || strings.Count(text, `"hash_ids":[1,2]`) != 2 || strings.Count(text, "hos") != 1 {
		t.Errorf("%q", text)
	}
}
