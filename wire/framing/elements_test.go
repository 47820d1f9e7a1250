package framing

import (
	"encoding/json"
	"slices"
	"testing"
)

var elementCases = []struct {
	name, in string
	want     []string
	garbage  int
}{
	{"objects", `[{"a":1},{"b":[2,{}]}]`, []string{`|{"a":1}`, `|{"b":[2,{}]}`}, 0},
	{"white space", " [ {} ,\r\n {\"a\" : 1}\n]\n", []string{"|{}", `|{"a" : 1}`}, 0},
	{"brackets in strings", `[{"a":"}],[\"{"},{"b":"\\"}]`, []string{`|{"a":"}],[\"{"}`, `|{"b":"\\"}`}, 0},
	{"other values", `[1, "a,b" ,null,[1,2],true]`, []string{"|1", `|"a,b"`, "|null", "|[1,2]", "|true"}, 0},
	{"empty", `[]`, nil, 0},
	{"nothing", ``, nil, 0},
	{"cut in an element", `[{"a":1},{"b`, []string{`|{"a":1}`}, 3},
	{"cut between elements", `[{"a":1},`, []string{`|{"a":1}`}, 0},
	{"no array", `{"a":1}`, nil, 7},
	{"more behind it", `[{}] x`, []string{"|{}"}, 1},
}

func TestElementsHoweverSplit(t *testing.T) {
	for _, c := range elementCases {
		for size := 1; size <= len(c.in)+1; size++ {
			got, garbage, err := frame(NewElements(0), c.in, size)
			if !slices.Equal(got, c.want) || garbage != c.garbage || err != nil {
				t.Errorf("%s in pieces of %d: %q, garbage %d, %v", c.name, size, got, garbage, err)
			}
		}
	}
}

// FuzzElements: the elements of what encoding/json takes for an array are those
// that it finds; others never crash it; the split changes nothing.
func FuzzElements(f *testing.F) {
	for _, c := range elementCases {
		f.Add([]byte(c.in), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		want := framed(NewElements(0), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			if got := framed(NewElements(0), data, cuts); !slices.Equal(got.events, want.events) || got.garbage != want.garbage {
				t.Fatalf("cut at %v:\n got %+v\nwant %+v", cuts, got, want)
			}
		}
		var ref []json.RawMessage
		if json.Unmarshal(data, &ref) != nil || ref == nil {
			return
		}
		var texts described
		for _, e := range ref {
			texts.add("", []string{string(e)}, false, 0)
		}
		if !slices.Equal(texts.events, want.events) || want.garbage != 0 {
			t.Fatalf("got %+v\nencoding/json says %q", want, ref)
		}
		limited := framed(NewElements(16), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			if got := framed(NewElements(16), data, cuts); got.failed != limited.failed || !slices.Equal(got.events, limited.events) {
				t.Fatalf("with a cap, cut at %v:\n got %+v\nwant %+v", cuts, got, limited)
			}
		}
	})
}
