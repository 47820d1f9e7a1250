package timeline

import (
	"math"
	"slices"
	"testing"
)

// Amend changes kind, tokens and bytes of an event and nothing of when it came, and goes
// no further than it is let.
func TestAmend(t *testing.T) {
	var e Events
	late := int64(math.MaxUint32) + 100 // a gap that one delta can't hold
	e.Append(Event{AtUS: 10, Kind: Text, Bytes: 9, Tokens: Some[int64](4), Choice: 1, LagUS: 3})
	e.Append(Event{AtUS: late, Kind: Text, Bytes: 5, Read: 1})
	e.Append(Event{AtUS: late, Kind: Text, Bytes: 7, Tokens: Some[int64](2), Read: 1})
	seen := 0
	e.Amend(func(ev *Event) bool {
		if seen++; seen == 1 {
			ev.Kind, ev.Bytes, ev.Tokens = Empty, 0, Opt[int64]{}
			return true
		}
		ev.Bytes, ev.Tokens = 1, Some[int64](0)
		return false
	})
	want := []Event{{AtUS: 10, Kind: Empty, Choice: 1, LagUS: 3}, {AtUS: late, Kind: Text, Bytes: 1, Tokens: Some[int64](0), Read: 1},
		{AtUS: late, Kind: Text, Bytes: 7, Tokens: Some[int64](2), Read: 1}}
	if got := slices.Collect(e.All()); seen != 2 || !slices.Equal(got, want) {
		t.Errorf("%d seen, %+v", seen, got)
	}
}
