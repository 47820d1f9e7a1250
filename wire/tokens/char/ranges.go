package char

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Range is a range of code points, both ends within it.
type Range struct{ Lo, Hi rune }

// Ranges is a set of code points in ascending order.
type Ranges []Range

// Has says whether a code point is in the set.
func (r Ranges) Has(c rune) bool {
	i := sort.Search(len(r), func(i int) bool { return c <= r[i].Hi })
	return i < len(r) && r[i].Lo <= c
}

// ParseRanges reads lines of a name, a colon and ranges in hexadecimal:
//
//	vowels: 61 65 69 6f 75-76
func ParseRanges(lines string) (map[string]Ranges, error) {
	sets := map[string]Ranges{}
	for line := range strings.Lines(lines) {
		name, list, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("a set of code points has no name: %.20q", line)
		}
		last := rune(-1)
		for word := range strings.FieldsSeq(list) {
			lo, hi, two := strings.Cut(word, "-")
			if !two {
				hi = lo
			}
			a, err := strconv.ParseUint(lo, 16, 21)
			if err != nil {
				return nil, err
			}
			b, err := strconv.ParseUint(hi, 16, 21)
			if err != nil {
				return nil, err
			}
			if rune(a) <= last || b < a {
				return nil, fmt.Errorf("the set %s is out of order at %s", name, word)
			}
			last = rune(b)
			sets[name] = append(sets[name], Range{rune(a), rune(b)})
		}
	}
	return sets, nil
}
