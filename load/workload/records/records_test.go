package records

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func open(t testing.TB, name, data string, form Form) *File {
	t.Helper()
	f, err := Open(name, memory{bytes.NewReader([]byte(data))}, int64(len(data)), form)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// all lists the records from the front, each with its line.
func all(t testing.TB, f *File) (out []string) {
	t.Helper()
	for i := int64(0); ; i++ {
		row, line, err := f.Row(i)
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, "error: "+err.Error())
		}
		out = append(out, fmt.Sprintf("%d %s", line, row))
	}
}

// A line end of Windows is no part of a prompt.
func TestTextColumnWithoutLineEnd(t *testing.T) {
	row, _, err := open(t, "a.txt", "one\r\ntwo\r\n", Text).Row(1)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := row.Get("text"); !ok || text != "two" {
		t.Errorf("the text is %q, %v", text, ok)
	}
}

func TestForms(t *testing.T) {
	cases := []struct {
		name, data string
		form       Form
		want       []string
	}{
		{"a.txt", "one\r\n\n  \n two \nthree", Text, []string{"1 one", "4  two ", "5 three"}},
		{"a.txt", "\xef\xbb\xbfone", Text, []string{"1 one"}},
		{"a", `{"a":1}` + "\n\n" + `{"a":2}`, JSONL, []string{`1 {"a":1}`, `3 {"a":2}`}},
		{"a", "{not json} as a first line", Text, []string{"1 {not json} as a first line"}},
		{"a.json", `[ {"a":"]}\""}, {"b":[1,{}]}` + "\n" + `,{} ]`, Array, []string{`1 {"a":"]}\""}`, `1 {"b":[1,{}]}`, `2 {}`}},
		{"a.json", `[]`, Array, nil},
		{"a.json", "[\n  \"one, \\\"two\\\"\",\n  \"a\\nb\"\n]\n", Array, []string{"2 one, \"two\"", "3 a\nb"}},
		{"a.jsonl", "\"one\"\n\"two\"\n", JSONL, []string{"1 one", "2 two"}},
		{"a.txt", `["is", "this"] a prompt?`, Text, []string{`1 ["is", "this"] a prompt?`}},
		{"a.csv", "a,b\n1,\"x\ny\"\n\n2,z\n", CSV, []string{"2 1,\"x\ny\"", "5 2,z"}},
		{"a.jsonl", `{"a":1}` + "\n[1]", JSONL, []string{`1 {"a":1}`, "error: a.jsonl:2: want a JSON object, not a list"}},
		{"a.jsonl", `{"a":1} {}`, JSONL, []string{"error: a.jsonl:1: something follows the JSON object"}},
		{"a.jsonl", "\n{\"a\":", JSONL, []string{"error: a.jsonl:2: the JSON ends in the middle"}},
		{"a.csv", "a,b\n1\n", CSV, []string{"error: a.csv:2: 1 fields, but the first line names 2 columns"}},
		{"a.csv", ",a\n0,x\n1,\"y\"\n", CSV, []string{"2 0,x", "3 1,\"y\""}}, // pandas' own numbers in front
		{"a.csv", "a,b\n1,\"x\n", CSV, []string{"error: a.csv:3: a quoted field does not end"}},
		{"a.json", `[{"a":1}, 5]`, Array, []string{`1 {"a":1}`, "error: a.json:1: want a JSON object, not a number"}},
		{"a.json", `[{"a":1}`, Array, []string{`1 {"a":1}`, "error: a.json:1: the JSON array does not end"}},
		{"a.json", `[{"a":1}] []`, Array, []string{`1 {"a":1}`, "error: a.json:1: something follows the JSON array"}},
		// A saved request, and what jq prints of several.
		{"a.json", "{\n  \"a\": \"}\"\n}\n", Objects, []string{"1 {\n  \"a\": \"}\"\n}"}},
		{"a.txt", "{\nhello template}\n", Text, []string{"1 {", "2 hello template}"}},
		{"a.txt", "{\n  \"a\": 1\n}\n{\n  \"a\": [{}]\n}", Objects, []string{"1 {\n  \"a\": 1\n}", "4 {\n  \"a\": [{}]\n}"}},
		{"a.json", "{\n  \"a\": 1\n}\n{\n", Objects, []string{"1 {\n  \"a\": 1\n}", "error: a.json:5: the JSON object does not end"}},
		{"a.json", "{\n  \"a\": 1\n},\n{}", Objects, []string{"1 {\n  \"a\": 1\n}", "4 {}"}},
		{"a.json", "{\n  \"a\": 1\n}}\n", Objects, []string{"1 {\n  \"a\": 1\n}", "error: a.json:3: a bracket is closed that was never opened"}},
	}
	for _, c := range cases {
		f := open(t, c.name, c.data, "")
		if f.Form != c.form {
			t.Errorf("%s %q is %s, want %s", c.name, c.data, f.Form, c.form)
		}
		if got := all(t, f); strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s %q:\n got %q\nwant %q", c.name, c.data, got, c.want)
		}
	}
	for name, data := range map[string]string{"a.txt": " \n", "b.csv": "", "c.csv": "a,,b\n", "d.csv": "a,a\n", "e.parquet": "PAR1xxxxPAR1",
		// What stands in place of a file that was not fetched.
		"f.json": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "g.parquet": "version https://git-lfs.github.com/spec/v1\n", "h.json": "<!doctype html>\n<p>", "i.json": "Entry not found"} {
		if _, err := Open(name, memory{bytes.NewReader([]byte(data))}, int64(len(data)), ""); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s %q: %v", name, data, err)
		}
	}
}

func TestGet(t *testing.T) {
	f := open(t, "a.jsonl", `{"a":{"b":{"c":7}},"a.x":1,"d":null}`, "")
	row, _, _ := f.Row(0)
	for name, want := range map[string]string{"a.b.c": "7 true", "a.x": "1 true", "a.b.z": "<nil> false", "q": "<nil> false", "d": "<nil> true"} {
		v, ok := row.Get(name)
		if got := fmt.Sprintf("%v %v", v, ok); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	f = open(t, "a.csv", "x,y\n1,\n", "")
	row, _, _ = f.Row(0)
	if _, ok := row.Get("y"); ok {
		t.Error("an empty field is there")
	}
}

// Records are the same from the front, from the back and in any order, whatever
// the chunks they fall into.
func TestRecordsByNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		form := rapid.SampledFrom([]Form{JSONL, Array, CSV}).Draw(t, "form")
		src := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var b strings.Builder
		want := make([]string, n)
		for i := range n {
			want[i] = fmt.Sprintf("%d-%s", i, strings.Repeat("x", src.IntN(20_000)))
			switch form {
			case JSONL:
				fmt.Fprintf(&b, "{\"v\":%q}\n%s", want[i], strings.Repeat("\n", src.IntN(3)))
			case Array:
				fmt.Fprintf(&b, "%s{\"v\":%q}%s", []string{"[", ", "}[min(i, 1)], want[i], strings.Repeat("\n", src.IntN(3)))
			case CSV:
				if i == 0 {
					b.WriteString("v,w\n")
				}
				fmt.Fprintf(&b, "%s,%d\n", want[i], i)
			}
		}
		if form == Array {
			b.WriteString("]")
		}
		f, err := Open("x", memory{bytes.NewReader([]byte(b.String()))}, int64(b.Len()), form)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			i := src.IntN(n)
			row, _, err := f.Row(int64(i))
			at := i
			if src.IntN(2) == 0 {
				k := 1 + src.IntN(n)
				row, _, err = f.Last(int64(k))
				at = n - k
			}
			if err != nil {
				t.Fatal(err)
			}
			if v, _ := row.Get("v"); v != want[at] {
				t.Fatalf("record %d of %d is %.20v, want %.20s", at, n, v, want[at])
			}
		}
		if _, _, err := f.Row(int64(n)); err != io.EOF {
			t.Fatalf("record %d of %d: %v", n, n, err)
		}
		if _, _, err := f.Last(int64(n) + 1); err != io.EOF {
			t.Fatalf("record %d from the end of %d: %v", n+1, n, err)
		}
		if got, err := f.Count(); got != int64(n) || err != nil {
			t.Fatalf("%d records, %v; want %d", got, err, n)
		}
	})
}

// What pyarrow 26.0.1 wrote of 12:00:00.25 on the first day of 2026, 00:00:01.25 of a day, a
// decimal of 0.25 and a single 0.1, in testdata/types.parquet and, with
// use_deprecated_int96_timestamps, int96.parquet.
func TestParquetTypes(t *testing.T) {
	const at, day = "2026-01-01T12:00:00.25Z", "1970-01-01T00:00:01.25Z"
	for name, want := range map[string]map[string]any{
		"types.parquet": {"at_ms": at, "at_us": at, "at_ns": at, "day_ms": day, "day_us": day, "day_ns": day, "date": "2026-01-01T00:00:00Z",
			"dec9": 0.25, "dec18": 0.25, "dec30": 0.25, "single": 0.1},
		"int96.parquet": {"at": at},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := open(t, name, string(data), "").Row(1)
		if err != nil {
			t.Fatal(err)
		}
		for column, value := range want {
			if got, _ := row.Get(column); got != value {
				t.Errorf("%s: %s is %v (%T), want %v", name, column, got, got, value)
			}
		}
	}
}

type parquetRow struct {
	Prompt string    `parquet:"prompt"`
	Input  int32     `parquet:"input"`
	IDs    []int64   `parquet:"hash_ids,list"`
	Chat   []message `parquet:"messages,list"`
	None   *string   `parquet:"none"`
}

type message struct {
	Role    string `parquet:"role"`
	Content string `parquet:"content"`
}

func TestParquet(t *testing.T) {
	const n = 1000
	var data bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&data, parquet.MaxRowsPerRowGroup(300))
	for i := range n {
		if _, err := w.Write([]parquetRow{{Prompt: fmt.Sprint("p", i), Input: int32(i), IDs: []int64{int64(i), 7},
			Chat: []message{{"user", "hi"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	f := open(t, "x", data.String(), "")
	if c, err := f.Count(); c != n || err != nil || f.Form != Parquet {
		t.Fatalf("%d rows, %v, %s", c, err, f.Form)
	}
	for _, i := range []int64{0, 999, 299, 300, 5, 700} {
		row, line, err := f.Row(i)
		if err != nil || line != i+1 {
			t.Fatal(i, line, err)
		}
		prompt, _ := row.Get("prompt")
		input, _ := row.Get("input")
		ids, _ := row.Get("hash_ids")
		chat, _ := row.Get("messages")
		got := fmt.Sprintf("%T %v %T %v %v %v", prompt, prompt, input, input, ids, chat)
		want := fmt.Sprintf("string p%d int64 %d [%d 7] [map[content:hi role:user]]", i, i, i)
		if got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
		if v, _ := row.Get("none"); v != nil {
			t.Errorf("none is %v", v)
		}
	}
	if row, _, err := f.Last(1); err != nil {
		t.Error(err)
	} else if v, _ := row.Get("input"); v != int64(n-1) {
		t.Errorf("the last row is %v", v)
	}
	if _, _, err := f.Row(n); err != io.EOF {
		t.Error(err)
	}
	// A damaged file is an error, not a crash.
	for cut := range 40 {
		bad := bytes.Clone(data.Bytes())
		for k := range 30 {
			bad[(cut*997+k*31)%len(bad)] ^= 0x5a
		}
		if f, err := Open("x", memory{bytes.NewReader(bad)}, int64(len(bad)), Parquet); err == nil {
			for i := int64(0); i < n; i += 100 {
				f.Row(i)
			}
		}
	}
}

// counted knows how much of a file was read.
type counted struct {
	Source
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Source.ReadAt(p, off)
	c.bytes += int64(n)
	return n, err
}

// A million records can be used before a tenth of them was read, in little memory.
func TestAMillionRecordsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 250 MB")
	}
	name := filepath.Join(t.TempDir(), "big.jsonl")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte(`{"timestamp":1234567,"input_length":8192,"output_length":512,"hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`+"\n"), 1000)
	for range 1000 {
		out.Write(block)
	}
	size, _ := out.Seek(0, io.SeekEnd)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in := &counted{Source: out}
	f, err := Open(name, in, size, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for k := int64(1); k <= 8; k++ {
		if _, _, err := f.Last(k); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(100) {
		if _, _, err := f.Row(i); err != nil {
			t.Fatal(err)
		}
	}
	first := in.bytes
	n, err := f.Count()
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if n != 1_000_000 || err != nil || first > size/10 || grown > 64<<20 {
		t.Errorf("%d records, %v; the first 100 after %d of %d bytes; %d MB", n, err, first, size, grown>>20)
	}
	t.Logf("%d MB: first 100 records after %d bytes, index %d MB", size>>20, first, grown>>20)
}

func FuzzOpen(f *testing.F) {
	f.Add("a.csv", "a,b\n1,\"x\ny\"\n")
	f.Add("a.json", `[{"a":"]}\""},{"b":[1,{}]},5]`)
	f.Add("a.jsonl", "{\"a\":1}\n\n{}")
	f.Add("a.parquet", "PAR1")
	f.Fuzz(func(t *testing.T, name, data string) {
		file, err := Open(name, memory{bytes.NewReader([]byte(data))}, int64(len(data)), "")
		if err != nil {
			return
		}
		n, err := file.Count()
		for i := range min(n, 20) {
			file.Row(i)
		}
		if _, _, end := file.Row(n); err == nil && end == nil {
			t.Fatalf("row %d of %d", n, n)
		}
		file.Last(1)
		file.Last(n)
	})
}

// A table by tabs would be sent line by line, its head first.
func TestTabsAreRefused(t *testing.T) {
	const table = "prompt\tmax_tokens\nHow?\t20\n"
	if _, err := Open("a.tsv", memory{bytes.NewReader([]byte(table))}, int64(len(table)), ""); err == nil || !strings.Contains(err.Error(), "tabs") {
		t.Errorf("error %v", err)
	}
}
