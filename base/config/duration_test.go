package config

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "28d": 28 * day, "1w2d": 9 * day, "1d12h": 36 * time.Hour, " 1h30m ": 90 * time.Minute, "-5s": -5 * time.Second, "0s": 0, "36500d": 36500 * day,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%q is %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "d", "5", "1x", "1d-1h", "36501d", "99999999999w", "36500d2562047h", "1d1w", "1.5d"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
