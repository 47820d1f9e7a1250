package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

type shared struct {
	Size int64 `yaml:"size" doc:"how large"`
}

type inner struct {
	Name string  `yaml:"name" required:"true"`
	Part float64 `yaml:"part"`
}

type upper string

func (u *upper) UnmarshalText(b []byte) error {
	if strings.ContainsAny(string(b), "0123456789") {
		return fmt.Errorf("%q has digits", b)
	}
	*u = upper(strings.ToUpper(string(b)))
	return nil
}

type example struct {
	shared
	Length string         `yaml:"length"`
	Wait   time.Duration  `yaml:"wait"`
	On     bool           `yaml:"on"`
	Kind   string         `yaml:"kind" enum:"one|two"`
	List   []inner        `yaml:"list"`
	Maybe  *inner         `yaml:"maybe"`
	More   map[string]any `yaml:"more"`
	Seed   uint64         `yaml:"seed"`
	Any    any            `yaml:"any"`
	Upper  upper          `yaml:"upper"`
	Hidden string         `yaml:"-"`
}

func TestDecode(t *testing.T) {
	var got example
	err := Decode("x.yaml", []byte(`
size: 7
length: 512
wait: 1m30s
on: true
kind: two
list:
  - &a {name: first, part: 1}
  - <<: *a
    part: 2.5
  - name: "third"
maybe: *a
more: {temperature: 0, stop: [a, "b"], deep: {x: null}}
seed: 18446744073709551615
any: [1, two]
upper: abc
`), &got).Err()
	if err != nil {
		t.Fatal(err)
	}
	want := example{shared: shared{7}, Length: "512", Wait: 90 * time.Second, On: true, Kind: "two",
		List:  []inner{{"first", 1}, {"first", 2.5}, {"third", 0}},
		Maybe: &inner{"first", 1},
		More:  map[string]any{"temperature": int64(0), "stop": []any{"a", "b"}, "deep": map[string]any{"x": nil}},
		Seed:  1<<64 - 1, Any: []any{int64(1), "two"}, Upper: "ABC"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Everything that is wrong is told at once, each with its place.
func TestAllErrorsAtOnce(t *testing.T) {
	var got example
	d := Decode("x.yaml", []byte(`size: big
lenght: 5
wait: 30
on: yes please
kind: three
list:
  - part: 1
  - name: [a]
size: 8
more: 5
seed: -1
maybe:
  nmae: x
upper: a1
`), &got)
	d.Addf("list[1].part", "looks odd")
	d.Addf("nowhere", "of the file")
	want := []string{
		`x.yaml:1:1: of the file`,
		`x.yaml:1:7: want a whole number, not "big"`,
		`x.yaml:2:1: unknown field "lenght"; did you mean "length"?`,
		`x.yaml:3:7: a time needs a unit, like 30s`,
		`x.yaml:4:5: want true or false, not "yes please"`,
		`x.yaml:5:7: kind is "three"; want one, two`,
		`x.yaml:7:5: "name" is missing`,
		`x.yaml:8:5: looks odd`,
		`x.yaml:8:11: want a text, not a list`,
		`x.yaml:9:1: "size" was given in line 1 already`,
		`x.yaml:10:7: want fields (name: value), not the number 5`,
		`x.yaml:11:7: want a whole number from 0, not the number -1`,
		`x.yaml:13:3: unknown field "nmae"; did you mean "name"?`,
		`x.yaml:14:8: "a1" has digits`,
	}
	lines := strings.Split(fmt.Sprint(d.Err()), "\n")
	for i := range max(len(lines), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("more: %s", lines[i])
		case i >= len(lines):
			t.Errorf("missing: %s", want[i])
		case !strings.HasPrefix(lines[i], want[i]):
			t.Errorf("got  %s\nwant %s", lines[i], want[i])
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	for data, word := range map[string]string{
		"":                           "empty",
		"# nothing\n":                "empty",
		"a: [1":                      "1:",
		"size: 1\n---\nsize: 2":      "second document",
		"- 1":                        "want fields",
		"maybe: *nobody":             "nothing is named &nobody",
		"size: 99999999999999999999": "whole number",
		"more: &m {a: *m}":           "too much",
		"unknown: 1":                 "known are size, length",
		"more: {a: 1, a: 2}":         "already",
		"any: {a: .inf}":             "can't be used",
	} {
		var got example
		if err := Decode("x", []byte(data), &got).Err(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want a word about %q", data, err, word)
		}
	}
	bomb := "any:\n  - &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("  - &%c [%s]\n", c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	var got example
	if err := Decode("x", []byte(bomb), &got).Err(); err == nil || !strings.Contains(err.Error(), "too much") {
		t.Errorf("a file of aliases: %v", err)
	}
}

// What PyYAML writes for float("inf"), float("-inf") and float("nan"), and the other
// spellings of YAML 1.2's core schema, are null among results and a mistake elsewhere.
func TestResultsWithoutNumber(t *testing.T) {
	for _, word := range []string{".inf", "-.inf", ".nan", ".Inf", "-.INF", ".NaN", "!!float .inf"} {
		data := []byte("a: [1.0e-05, " + word + "]\nb: " + word + "\nc: '.inf'\n")
		docs, err := Results("x.yaml", data)
		want := []any{map[string]any{"a": []any{1e-05, nil}, "b": nil, "c": ".inf"}}
		if err != nil || !reflect.DeepEqual(docs, want) {
			t.Errorf("%s: %v, %v", word, docs, err)
		}
		if _, err := Documents("x.yaml", data); err == nil || !strings.Contains(err.Error(), "can't be used here") {
			t.Errorf("%s in a file of settings: %v", word, err)
		}
	}
}

func TestSchema(t *testing.T) {
	data, err := Schema(&example{}, "https://example.com/x.json", "Example")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Type        any
			Enum        []string
			Description string
			Ref         string `json:"$ref"`
		}
		Additional *bool                                  `json:"additionalProperties"`
		Defs       map[string]struct{ Required []string } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	p := s.Properties
	if len(p) != 11 || p["size"].Type != "integer" || p["size"].Description != "how large" || len(p["kind"].Enum) != 2 ||
		p["maybe"].Ref != "#/$defs/inner" || s.Defs["inner"].Required[0] != "name" || s.Additional == nil || *s.Additional {
		t.Errorf("%s", data)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("size: 7\nlist:\n  - &a {name: x}\n  - <<: *a\n")
	f.Add("more: {a: [1, {b: null}]}\nany: |\n  text\n")
	f.Fuzz(func(t *testing.T, data string) {
		if len(data) > 4096 {
			return
		}
		var got example
		_ = Decode("x", []byte(data), &got).Err()
	})
}
