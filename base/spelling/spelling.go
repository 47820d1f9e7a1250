// Package spelling finds the name that was meant among those that are known.
package spelling

import "strings"

// Meant says, after the name of something that is not there, which of the known
// names was probably meant, or which there are.
func Meant(name string, known []string) string {
	switch best := Nearest(name, known); {
	case best != "":
		return "; did you mean \"" + best + "\"?"
	case len(known) == 0:
		return ""
	}
	return "; known are " + strings.Join(known, ", ")
}

// Nearest is the known name that differs in the fewest letters, at most one or a
// third of them; empty: none.
func Nearest(name string, known []string) (best string) {
	least := max(1, len(name)/3)
	for _, k := range known {
		if n := Distance(name, k); n <= least && n < len(k) {
			best, least = k, n-1
		}
	}
	return best
}

// Distance is how many letters differ (Levenshtein), where two that changed places
// are one mistake.
func Distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
