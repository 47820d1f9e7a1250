package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// valid passes over a text and reports whether it is JSON.
func valid(data []byte) bool {
	var c Scanner
	c.Reset(data)
	c.Skip()
	return c.End()
}

var jsonSamples = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1.5e-7`, `""`, ` {"a" : [1 , 2] } `,
	``, ` `, `nul`, `truefalse`, `01`, `-`, `1.`, `1e`, `.5`, `+1`, `--1`, `1e+`, `0x1`, `NaN`,
	`{`, `}`, `[`, `]`, `{]`, `[}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{a:1}`, `{1:2}`,
	`[1,]`, `[,1]`, `[1 2]`, `[[],{}]`, `{"a":{"b":[{"c":null}]}}`, `{}{}`, `[] x`, `"a`, `"\`, `"\u12"`, `"\u12g4"`,
	`"\x"`, `"\u00e9\n\/\\\""`, "\"\x01\"", "\"\x7f\"", "\"\xff\xfe\"", `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`,
	`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\u00e9"`, "\"aaaaaaaa\x1f\"", "\"aaaaaaa\x00a\"",
	"\ufeff{}", "{}\x00", `{"a":1,"a":2}`, `{"\u0061":1}`,
}

func TestScanAcceptsWhatEncodingJSONDoes(t *testing.T) {
	samples := append([]string{
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		strings.Repeat("{\"a\":", 50) + "1" + strings.Repeat("}", 50),
		"\"" + strings.Repeat("x", 1<<16) + "\"",
	}, jsonSamples...)
	for _, in := range samples {
		if got, want := valid([]byte(in)), json.Valid([]byte(in)); got != want {
			t.Errorf("%.60q: %v, encoding/json says %v", in, got, want)
		}
	}
}

// A string has the value and the size that encoding/json gives it.
func TestTextIsWhatEncodingJSONReads(t *testing.T) {
	for _, in := range jsonSamples {
		checkText(t, []byte(in))
	}
}

func checkText(t *testing.T, data []byte) {
	t.Helper()
	var want string
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &want) != nil {
		return
	}
	var c Scanner
	c.Reset(data)
	got, ok := c.Text()
	if !ok || got.String() != want || got.Size() != int64(len(want)) {
		t.Errorf("%q: %q of %d bytes, want %q", data, got.String(), got.Size(), want)
	}
}

func FuzzScan(f *testing.F) {
	for _, in := range jsonSamples {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := valid(data), json.Valid(data); got != want {
			t.Errorf("valid: %v, encoding/json says %v", got, want)
		}
		checkText(t, data)
	})
}

// What nobody reads of an object or a list is passed over.
func TestUnreadValuesAreSkipped(t *testing.T) {
	var s Scanner
	s.Reset([]byte(`{"a": {"x": [1, {"y": "z"}]} , "b" : 2, "c":[ 3 , "four", 5 ], "d": null}`))
	var names []string
	var b, last int64
	for name := range s.Members {
		names = append(names, string(name))
		switch string(name) {
		case "b":
			b, _ = s.Integer()
		case "c":
			n := 0
			for range s.Elements {
				if n++; n == 3 {
					last, _ = s.Integer()
				}
			}
		}
	}
	if s.Failed() || b != 2 || last != 5 || len(names) != 4 {
		t.Errorf("%q: %d, %d, failed %t", names, b, last, s.Failed())
	}
	s.Reset([]byte(`{"a": {"x": tru}}`))
	for range s.Members {
	}
	if !s.Failed() {
		t.Error("a wrong value that nobody reads is no error")
	}
}
