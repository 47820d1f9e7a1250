package secret

import (
	"regexp"
	"strings"

	"tokenmeter/base/pattern"
)

// looks are the shapes of keys that are recognised without being known. Each
// has a cheap sign, so that text without one costs a few searches only, and is
// compiled when the sign is first met.
var looks = []struct {
	sign string // lower case
	re   func() *regexp.Regexp
}{
	{"sk-", pattern.Lazy(`\bsk-[A-Za-z0-9_\-]{10,}`)},
	{"bearer", pattern.Lazy(`(?i)\bbearer\s+[A-Za-z0-9._~+/\-]{8,}=*`)},
	{"basic", pattern.Lazy(`(?i)\bauthorization["']?\s*[:=]\s*["']?basic\s+[A-Za-z0-9+/\-_]{8,}=*`)},
	{"hf_", pattern.Lazy(`\bhf_[A-Za-z0-9]{16,}`)},
	{"aiza", pattern.Lazy(`\bAIza[A-Za-z0-9_\-]{30,}`)},
	{"gsk_", pattern.Lazy(`\bgsk_[A-Za-z0-9]{16,}`)},
	{"nvapi-", pattern.Lazy(`\bnvapi-[A-Za-z0-9_\-]{16,}`)},
	{"akia", pattern.Lazy(`\bAKIA[A-Z0-9]{16}\b`)},
	{"asia", pattern.Lazy(`\bASIA[A-Z0-9]{16}\b`)},
	{"absk", pattern.Lazy(`\bABSK[A-Za-z0-9+/]{32,}=*`)},
	{"fw_", pattern.Lazy(`\bfw_[A-Za-z0-9]{20,}`)},
	{"tgp_v1_", pattern.Lazy(`\btgp_v1_[A-Za-z0-9_\-]{16,}`)},
	{"eyj", pattern.Lazy(`\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`)},
	{"ghp_", pattern.Lazy(`\bghp_[A-Za-z0-9]{20,}`)},
	{"gho_", pattern.Lazy(`\bgho_[A-Za-z0-9]{20,}`)},
	{"ghs_", pattern.Lazy(`\bghs_[A-Za-z0-9]{20,}`)},
	{"ghu_", pattern.Lazy(`\bghu_[A-Za-z0-9]{20,}`)},
	{"glpat-", pattern.Lazy(`\bglpat-[A-Za-z0-9_\-]{16,}`)},
	{"xox", pattern.Lazy(`\bxox[abeprs]-[A-Za-z0-9\-]{16,}`)},
	{"github_pat_", pattern.Lazy(`\bgithub_pat_[A-Za-z0-9_]{20,}`)},
	{"csk-", pattern.Lazy(`\bcsk-[A-Za-z0-9]{16,}`)},
	{"pplx-", pattern.Lazy(`\bpplx-[A-Za-z0-9]{16,}`)},
	{"xai-", pattern.Lazy(`\bxai-[A-Za-z0-9]{16,}`)},
	{"r8_", pattern.Lazy(`\br8_[A-Za-z0-9]{16,}`)},
}

// prefixes of a look that tell what was there and are kept.
var kept = pattern.Lazy(`(?i)^(?:authorization["']?\s*[:=]\s*["']?)?(?:bearer|basic)\s+`)

func maskLooks(s string) string { return replaceLooks(s, func(string) {}) }

// lookSecrets lists what in a text looks like a key.
func lookSecrets(s string) (out []string) {
	replaceLooks(s, func(found string) { out = append(out, found) })
	return out
}

// replaceLooks masks what looks like a key and tells of each one.
func replaceLooks(s string, each func(found string)) string {
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
		s = look.re().ReplaceAllStringFunc(s, func(m string) string {
			scheme := kept().FindString(m)
			each(m[len(scheme):])
			return scheme + Mask
		})
		lower = ""
	}
	return s
}
