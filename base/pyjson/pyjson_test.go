package pyjson

import (
	"encoding/json"
	"testing"
)

// What Python 3 writes of json.dumps({"a": [float("nan"), float("inf"), -float("inf")],
// "b": "NaN, \"Infinity"}), and that without spaces; texts and tables stay.
func TestFinite(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": [NaN, Infinity, -Infinity], "b": "NaN, \"Infinity"}`: `{"a": [null, null    , null    ], "b": "NaN, \"Infinity"}`,
		`{"a":[NaN,Infinity,-Infinity]}`:                            `{"a":[null,null    ,null    ]}`,
		`{"a": [NaN, "\\", Infinity, "NaN\""]}`:                     `{"a": [null, "\\", null    , "NaN\""]}`,
		` [NaN]`:                                                    ` [null]`,
		"start_s,e2e_ms\nNaN,Infinity":                              "start_s,e2e_ms\nNaN,Infinity",
		"NaN":                                                       "NaN",
	} {
		got := string(Finite([]byte(in)))
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if in[0] == '{' && !json.Valid([]byte(got)) {
			t.Errorf("%s is no JSON", got)
		}
	}
}
