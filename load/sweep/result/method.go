package result

import "tokenmeter/record/timeline"

// Method is a published way to measure that was followed, and its figures under
// its own names.
type Method struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	AsOf  string   `json:"as_of"` // which version of the rules
	Says  string   `json:"says"`  // what the result is not
	Rules []string `json:"rules"` // as they were followed
	// Verdict is VALID, INVALID or a sentence; empty where the method has none.
	Verdict string        `json:"verdict"`
	Why     []string      `json:"why"`    // what is in the way of VALID, or how the rules were departed from
	Fields  []MethodField `json:"fields"` // of the whole result
	// Heads and Rows are a table with a row a point.
	Heads []string       `json:"heads"`
	Rows  [][]MethodCell `json:"rows"`
}

// MethodField is a figure under the method's own name.
type MethodField struct {
	Name  string                `json:"name"`
	Unit  string                `json:"unit"`
	Value timeline.Opt[float64] `json:"value"` // null: it can't be told; Note says why
	Note  string                `json:"note"`
}

// MethodCell is a figure of a row, or a word.
type MethodCell struct {
	Text  string                `json:"text"` // as the method prints it
	Value timeline.Opt[float64] `json:"value"`
}
