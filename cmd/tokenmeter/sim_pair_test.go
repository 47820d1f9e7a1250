//go:build !lean

package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tokenmeter/physics/published"
	"tokenmeter/physics/sim"
)

// Each command of docs/reference-data.md prints what the text beside it says.
func TestClaimsCommandsPrintWhatTheTextSays(t *testing.T) {
	for _, claim := range slices.Concat(published.Misconceptions, published.Techniques) {
		t.Run(claim.Name, func(t *testing.T) {
			var rows []sim.Trial
			for _, show := range claim.Shows {
				var out, notes bytes.Buffer
				args := append(strings.Fields(show.Command())[1:], "--format", "json")
				none := func(string) (string, bool) { return "", false }
				if code := Main(args, &out, &notes, none); code != 0 {
					t.Fatalf("%s: exit code %d: %s", show.Command(), code, notes.String())
				}
				var got struct{ Trials []sim.Trial }
				if err := json.Unmarshal(out.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, got.Trials...)
			}
			for _, wrong := range claim.Check(rows) {
				t.Error(wrong)
			}
		})
	}
}
