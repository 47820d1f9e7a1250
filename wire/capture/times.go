package capture

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/timeline"
)

// micros are microseconds, written as milliseconds.
type micros int64

// MarshalJSON writes milliseconds with up to three decimals.
func (m micros) MarshalJSON() ([]byte, error) { return decimal(int64(m), 3), nil }

// UnmarshalJSON rounds to whole microseconds.
func (m *micros) UnmarshalJSON(data []byte) error {
	return parseDecimal(data, 1e3, (*int64)(m))
}

// seconds are microseconds, written as seconds.
type seconds int64

// MarshalJSON writes seconds with up to six decimals.
func (s seconds) MarshalJSON() ([]byte, error) { return decimal(int64(s), 6), nil }

// UnmarshalJSON rounds to whole microseconds.
func (s *seconds) UnmarshalJSON(data []byte) error {
	return parseDecimal(data, 1e6, (*int64)(s))
}

// opt is a duration that may not have been measured.
type opt = timeline.Opt[micros]

func fromOpt(v timeline.Opt[int64]) opt {
	if n, ok := v.Get(); ok {
		return timeline.Some(micros(n))
	}
	return opt{}
}

func toOpt(v opt) timeline.Opt[int64] {
	if n, ok := v.Get(); ok {
		return timeline.Some(int64(n))
	}
	return timeline.Opt[int64]{}
}

// decimal writes n / 10^places exactly, without trailing zeros.
func decimal(n int64, places int) []byte {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	unit := int64(math.Pow10(places))
	s := fmt.Sprintf("%s%d.%0*d", sign, n/unit, places, n%unit)
	return []byte(strings.TrimRight(strings.TrimRight(s, "0"), "."))
}

func parseDecimal(data []byte, scale float64, to *int64) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	f = math.Round(f * scale)
	if !(math.Abs(f) < 1<<53) {
		return fmt.Errorf("%s is out of range", data)
	}
	*to = int64(f)
	return nil
}
