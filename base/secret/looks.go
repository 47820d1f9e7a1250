package secret

import (
	"regexp"
	"strings"
)

// looks are the shapes of keys that are recognised without being known. Each
// has a cheap sign, so that text without one costs a few searches only.
var looks = []struct {
	sign string // lower case
	re   *regexp.Regexp
}{
	{"sk-", regexp.MustCompile(`\bsk-[A-Za-z0-9_\-]{10,}`)},
	{"bearer", regexp.MustCompile(`(?i)\bbearer\s+[A-Za-z0-9._~+/\-]{8,}=*`)},
	{"basic", regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?basic\s+[A-Za-z0-9+/\-_]{8,}=*`)},
	{"hf_", regexp.MustCompile(`\bhf_[A-Za-z0-9]{16,}`)},
	{"aiza", regexp.MustCompile(`\bAIza[A-Za-z0-9_\-]{30,}`)},
	{"gsk_", regexp.MustCompile(`\bgsk_[A-Za-z0-9]{16,}`)},
	{"nvapi-", regexp.MustCompile(`\bnvapi-[A-Za-z0-9_\-]{16,}`)},
	{"akia", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`)},
	{"eyj", regexp.MustCompile(`\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`)},
	{"ghp_", regexp.MustCompile(`\bghp_[A-Za-z0-9]{20,}`)},
}

// prefixes of a look that tell what was there and are kept.
var kept = regexp.MustCompile(`(?i)^(?:authorization["']?\s*[:=]\s*["']?)?(?:bearer|basic)\s+`)

func maskLooks(s string) string {
	if len(s) < minLength {
		return s
	}
	lower := ""
	for _, look := range looks {
		if lower == "" {
			lower = strings.ToLower(s)
		}
		if !strings.Contains(lower, look.sign) {
			continue
		}
		s = look.re.ReplaceAllStringFunc(s, func(m string) string {
			return kept.FindString(m) + Mask
		})
		lower = ""
	}
	return s
}
