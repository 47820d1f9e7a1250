package answer

import (
	"strings"
	"testing"
)

func compile(t testing.TB, s Spec) *Check {
	t.Helper()
	c, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChecks(t *testing.T) {
	person := map[string]any{
		"type": "object", "required": []any{"name", "age"}, "additionalProperties": false,
		"properties": map[string]any{
			"name": map[string]any{"type": "string", "minLength": 1},
			"age":  map[string]any{"type": "integer", "minimum": 0, "maximum": 150},
			"tags": map[string]any{"type": "array", "items": map[string]any{"enum": []any{"a", "b"}}, "uniqueItems": true, "maxItems": 2},
		},
	}
	cases := []struct {
		name string
		spec Spec
		pass []string
		fail []string
	}{
		{"exact", Spec{Exact: "Paris"}, []string{"Paris", " paris.\n", "**Paris**", `"Paris"`}, []string{"", "Paris, France", "Pari"}},
		{"contains", Spec{Contains: "new  york"}, []string{"It is New York City.", "NEW\nYORK"}, []string{"newyork", ""}},
		{"regex", Spec{Regex: `^yes\b`}, []string{"yes, it is"}, []string{"Yes", "yesterday"}},
		{"number", Spec{Number: &Number{Value: 42}}, []string{"42", "6 × 7 = 42.", "The answer is 42.0", "so **42**"},
			[]string{"", "forty-two", "42 is not 43", "4.2", "-42"}},
		{"number with thousands", Spec{Number: &Number{Value: 1234567.5}}, []string{"1,234,567.5", "$1234567.5"}, []string{"1,234,567"}},
		{"negative number", Spec{Number: &Number{Value: -3}}, []string{"x = -3", "−3"}, []string{"7-3", "3"}},
		{"number near", Spec{Number: &Number{Value: 3.14159, Tolerance: 0.01}}, []string{"3.14", "about 3.15"}, []string{"3.2"}},
		{"huge number", Spec{Number: &Number{Value: 1}}, nil, []string{"1e999", "1" + strings.Repeat("0", 500)}},
		{"json", Spec{JSON: person}, []string{
			`{"name":"x","age":7}`, "Here it is:\n```json\n{\"name\":\"x\",\"age\":7,\"tags\":[\"a\",\"b\"]}\n```\nDone.", `{"name":"x","age":7.0}`},
			[]string{"", "no", `{"name":"x"}`, `{"name":"","age":7}`, `{"name":"x","age":7.5}`, `{"name":"x","age":-1}`, `{"name":"x","age":7,"more":1}`,
				`{"name":"x","age":7,"tags":["a","a"]}`, `{"name":"x","age":7} {}`, `[]`, `{"name":"x","age":"7"}`, `{"name":"x","age":7,"tags":["c"]}`}},
		{"json as text", Spec{JSON: `{"oneOf":[{"type":"integer"},{"minimum":2}]}`}, []string{"1", "2.5"}, []string{"3", "1.5"}},
		{"json const and not", Spec{JSON: `{"not":{"const":1}}`}, []string{"2", `"1"`}, []string{"1", "1.0"}},
		{"json all and any", Spec{JSON: `{"allOf":[{"type":"string"},{"pattern":"^a"}],"anyOf":[{"maxLength":2},{"pattern":"z$"}]}`},
			[]string{`"ab"`, `"abcz"`}, []string{`"b"`, `"abc"`, "1"}},
		{"json multiple", Spec{JSON: `{"multipleOf":0.1,"exclusiveMinimum":0}`}, []string{"0.3"}, []string{"0", "0.35"}},
		{"json never", Spec{JSON: `{"properties":{"a":false}}`}, []string{"{}"}, []string{`{"a":1}`}},
		// As Pydantic 2 writes a model with a nested one and a recursive one.
		{"json of Pydantic", Spec{JSON: `{"$defs":{"Item":{"properties":{"sku":{"pattern":"^[A-Z]{3}$","title":"Sku","type":"string"},"next":{"anyOf":[{"$ref":"#/$defs/Item"},{"type":"null"}],"default":null}},"required":["sku"],"title":"Item","type":"object"}},"properties":{"items":{"items":{"$ref":"#/$defs/Item"},"minItems":1,"title":"Items","type":"array"},"pair":{"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"string"}],"type":"array"}},"required":["items"],"title":"Order","type":"object"}`},
			[]string{`{"items":[{"sku":"ABC"}]}`, `{"items":[{"sku":"ABC","next":{"sku":"DEF","next":null}}],"pair":[1,"x"]}`},
			[]string{`{"items":[]}`, `{"items":[{"sku":"abc"}]}`, `{"items":[{"sku":"ABC","next":{}}]}`, `{"items":[{"sku":"ABC"}],"pair":["x",1]}`}},
		{"both", Spec{Contains: "a", Regex: "b"}, []string{"ab"}, []string{"a", "b"}},
	}
	for _, c := range cases {
		k := compile(t, c.spec)
		for _, a := range c.pass {
			if !k.Passes(a) {
				t.Errorf("%s: %q fails", c.name, a)
			}
		}
		for _, a := range c.fail {
			if k.Passes(a) {
				t.Errorf("%s: %q passes", c.name, a)
			}
		}
	}
	if k := compile(t, Spec{}); k != nil || !k.Passes("anything") || k.String() != "" {
		t.Error("an empty check")
	}
}

func TestWrongSpecs(t *testing.T) {
	for _, s := range []Spec{{Regex: "("}, {JSON: "{"}, {JSON: 1}, {JSON: map[string]any{"type": "text"}}, {JSON: map[string]any{"$ref": "other.json"}}, {JSON: map[string]any{"$ref": "file:///etc/passwd"}}, {JSON: map[string]any{"$ref": "#/$defs/none"}},
		{JSON: map[string]any{"minimum": "1"}}, {JSON: map[string]any{"enum": 1}}, {JSON: map[string]any{"anyOf": []any{}}},
		{JSON: map[string]any{"properties": 1}}, {JSON: map[string]any{"required": []any{1}}}, {JSON: map[string]any{"pattern": "("}},
		{Number: &Number{Tolerance: -1}}} {
		if _, err := Compile(s); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
	_, err := Compile(Spec{JSON: map[string]any{"properties": map[string]any{"a": map[string]any{"pattern": 5}}}})
	if err == nil || !strings.Contains(err.Error(), "/properties/a/pattern") {
		t.Errorf("%v does not say where", err)
	}
}

// Numbers that would take a gigabyte to write out, and schemas that refer to
// themselves, end at once.
func TestHostileJSON(t *testing.T) {
	c := compile(t, Spec{JSON: `{"multipleOf":3}`})
	for _, a := range []string{"1e999999999", `[3e-999999999]`, "3e99999999999999999999"} {
		if c.Passes(a) {
			t.Errorf("%s passes", a)
		}
	}
	if !c.Passes("3e300") {
		t.Error("3e300 is a multiple of 3")
	}
	for _, text := range []string{`{"$ref":"#"}`, `{"anyOf":[{"$ref":"#"}]}`} {
		if c, err := Compile(Spec{JSON: text}); err == nil {
			c.Passes("1")
		}
	}
}

// A schema of expressions has two branches at each level, both are tried, and the
// server chooses the depth: 2^40 steps would take years.
func TestDeepAnswer(t *testing.T) {
	const branches = `{"type":"object","properties":{"op":{"const":"+"},"x":{"$ref":"#/$defs/e"}},"required":["op","x"]},
		{"type":"object","properties":{"op":{"const":"*"},"x":{"$ref":"#/$defs/e"}},"required":["op","x"]},
		{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/e"},{"minItems":1,"items":{"$ref":"#/$defs/e"}}]}},
		{"type":"integer"}`
	of := func(ref string) string {
		return `{"$defs":{"e":{"anyOf":[` + branches + `]}},` + ref + `}`
	}
	nested := func(n int, before, leaf, after string) string {
		return strings.Repeat(before, n) + leaf + strings.Repeat(after, n)
	}
	c := compile(t, Spec{JSON: of(`"$ref":"#/$defs/e"`)})
	if !c.Passes(nested(6, `{"op":"*","x":`, "1", "}")) || c.Passes(nested(6, `{"op":"-","x":`, "1", "}")) {
		t.Error("an expression of six levels")
	}
	for _, ref := range []string{`"$ref":"#/$defs/e"`, `"not":{"$ref":"#/$defs/e"}`, `"if":{"$ref":"#/$defs/e"},"then":false`, `"oneOf":[{"$ref":"#/$defs/e"},{"$ref":"#/$defs/e"}]`,
		`"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#/$defs/e"}]`} {
		c := compile(t, Spec{JSON: of(ref)})
		for _, answer := range []string{nested(40, `{"op":"*","x":`, `"a"`, "}"), nested(40, "[", "1", "]")} {
			c.Passes(answer) // ends
		}
	}
	long := compile(t, Spec{JSON: `{"items":{"type":"object","properties":{"a":{"format":"email"},"b":{"type":"string"}}}}`})
	if !long.Passes("[" + strings.Repeat(`{"a":"x","b":"y"},`, 30_000) + "{}]") {
		t.Error("a long answer takes too many steps")
	}
}

func FuzzPasses(f *testing.F) {
	f.Add("```json\n{\"a\":1}\n```", "x-1,000.5e3")
	c := compile(f, Spec{Exact: "a", Contains: "b", Regex: "c", Number: &Number{Value: 1}})
	j := compile(f, Spec{JSON: `{"type":"object","properties":{"a":{"multipleOf":2,"minimum":1}},"anyOf":[{"minItems":1},true]}`})
	f.Fuzz(func(t *testing.T, a, b string) {
		c.Passes(a + b)
		j.Passes(a)
		last(b)
	})
}
