package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/pattern"
)

var durationForm = pattern.Lazy(`^(\d+w)?(\d+d)?(.*)$`)

// ParseDuration reads a length of time as time.ParseDuration does, and one of
// weeks and days of 24 hours, which come first: 28d, 1w2d, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	m := durationForm().FindStringSubmatch(strings.TrimSpace(text))
	wrong := fmt.Errorf("%q is no length of time; write 28d, 1h30m or 90s", text)
	if m == nil || m[0] == "" {
		return 0, wrong
	}
	var sum time.Duration
	for i, unit := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour} {
		if part := m[i+1]; part != "" {
			n, err := strconv.ParseInt(part[:len(part)-1], 10, 32)
			if err != nil || time.Duration(n) > 100*365*24*time.Hour/unit { // or the sum would overflow
				return 0, wrong
			}
			sum += time.Duration(n) * unit
		}
	}
	if m[3] == "" {
		return sum, nil
	}
	rest, err := time.ParseDuration(m[3])
	if err != nil || sum > 0 && (rest < 0 || sum+rest < sum) {
		return 0, wrong
	}
	return sum + rest, nil
}
