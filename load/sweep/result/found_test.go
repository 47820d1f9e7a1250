package result

import (
	"testing"

	"tokenmeter/record/timeline"
)

func TestNoneHolds(t *testing.T) {
	some := timeline.Some[float64]
	for name, c := range map[string]struct {
		found Found
		want  bool
	}{
		"nothing is known":   {Found{}, false},
		"a bracket":          {Found{Holds: some(2), Fails: some(3)}, false},
		"the smallest fails": {Found{Fails: some(2), Steps: []Step{{Load: 4}, {Load: 2}, {Load: 1.9998}}}, true},
		"less was left open": {Found{Fails: some(4), Steps: []Step{{Load: 4}, {Load: 2}}}, false},
		"no upper end":       {Found{Holds: some(8)}, false},
	} {
		if got := c.found.NoneHolds(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
