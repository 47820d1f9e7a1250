package metric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"tokenmeter/record/timeline"
)

// Why a request that has gaps between its chunks has none between its tokens (itl_ms).
const (
	leftCoalesced = "coalesced"        // one read held several chunks
	leftBurst     = "burst"            // the whole answer came at once
	leftChoices   = "several_choices"  // the gaps are of several sequences
	leftUncounted = "tokens_per_chunk" // how many tokens each chunk holds is not known
	leftPace      = "no_pace"          // fewer than two tokens, or no time between them
)

var leftWords = map[string]string{
	leftCoalesced: "one read brought several chunks",
	leftBurst:     "came in one burst",
	leftChoices:   "several choices in one stream",
	leftUncounted: "tokens per chunk not known",
	leftPace:      "no pace",
}

// leftOut says why gaps between tokens are not known, where there are gaps between
// chunks; empty otherwise.
func leftOut(s *seen, v *Values) string {
	switch {
	case v.Gaps.Or(0) == 0 || v.TokenGaps.OK():
		return ""
	case v.Flags.Has(timeline.Burst):
		return leftBurst
	case s.severalChoices: // whether or not those of one step came together
		return leftChoices
	case v.Flags.Has(timeline.Coalesced):
		return leftCoalesced
	case s.k == unknown:
		return leftUncounted
	}
	return leftPace
}

// LeftOut says how many of the successful answers are not in ITL, and why, the most
// frequent reason first: "60 of 100 answers left out (50: one read brought several
// chunks, 10: tokens per chunk not known)"; empty: all are in it.
func LeftOut(counts map[string]int64, ok int64) string {
	names := slices.Sorted(maps.Keys(counts))
	sort.SliceStable(names, func(i, j int) bool { return counts[names[i]] > counts[names[j]] })
	var sum int64
	var parts []string
	for _, name := range names {
		sum += counts[name]
		parts = append(parts, fmt.Sprintf("%d: %s", counts[name], cmp.Or(leftWords[name], name)))
	}
	switch {
	case sum == 0:
		return ""
	case len(parts) == 1:
		return fmt.Sprintf("%d of %s left out (%s)", sum, Plural(ok, "answer"), cmp.Or(leftWords[names[0]], names[0]))
	}
	return fmt.Sprintf("%d of %s left out (%s)", sum, Plural(ok, "answer"), strings.Join(parts, ", "))
}
