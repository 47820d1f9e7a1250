// Package objectivetest reads objectives for tests.
package objectivetest

import (
	"testing"

	"tokenmeter/record/objective"
)

// Parse reads objectives as they are typed; a wrong one ends the test.
func Parse(t testing.TB, texts ...string) []objective.Objective {
	t.Helper()
	all, err := objective.ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
