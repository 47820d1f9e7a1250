package config

import (
	"fmt"
	"strings"
)

// hint names the field that was probably meant.
func hint(key string, fields []field) string {
	best, least := "", 1+len(key)/3
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
		if n := distance(key, f.name); n <= least {
			best, least = f.name, n-1
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; known are " + strings.Join(names, ", ")
}

// distance is how many letters differ (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(b)]
}
