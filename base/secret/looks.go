package secret

import (
	"regexp"
	"strings"
	"sync"
)

// looks are the shapes of keys that are recognised without being known. Each
// has a cheap sign, so that text without one costs a few searches only, and is
// compiled when the sign is first met.
var looks = []struct {
	sign string // lower case
	re   func() *regexp.Regexp
}{
	{"sk-", shape(`\bsk-[A-Za-z0-9_\-]{10,}`)},
	{"bearer", shape(`(?i)\bbearer\s+[A-Za-z0-9._~+/\-]{8,}=*`)},
	{"basic", shape(`(?i)\bauthorization["']?\s*[:=]\s*["']?basic\s+[A-Za-z0-9+/\-_]{8,}=*`)},
	{"hf_", shape(`\bhf_[A-Za-z0-9]{16,}`)},
	{"aiza", shape(`\bAIza[A-Za-z0-9_\-]{30,}`)},
	{"gsk_", shape(`\bgsk_[A-Za-z0-9]{16,}`)},
	{"nvapi-", shape(`\bnvapi-[A-Za-z0-9_\-]{16,}`)},
	{"akia", shape(`\bAKIA[A-Z0-9]{16}\b`)},
	{"asia", shape(`\bASIA[A-Z0-9]{16}\b`)},
	{"absk", shape(`\bABSK[A-Za-z0-9+/]{32,}=*`)},
	{"fw_", shape(`\bfw_[A-Za-z0-9]{20,}`)},
	{"tgp_v1_", shape(`\btgp_v1_[A-Za-z0-9_\-]{16,}`)},
	{"eyj", shape(`\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`)},
	{"ghp_", shape(`\bghp_[A-Za-z0-9]{20,}`)},
	{"gho_", shape(`\bgho_[A-Za-z0-9]{20,}`)},
	{"ghs_", shape(`\bghs_[A-Za-z0-9]{20,}`)},
	{"ghu_", shape(`\bghu_[A-Za-z0-9]{20,}`)},
	{"glpat-", shape(`\bglpat-[A-Za-z0-9_\-]{16,}`)},
	{"xox", shape(`\bxox[abeprs]-[A-Za-z0-9\-]{16,}`)},
	{"github_pat_", shape(`\bgithub_pat_[A-Za-z0-9_]{20,}`)},
	{"csk-", shape(`\bcsk-[A-Za-z0-9]{16,}`)},
	{"pplx-", shape(`\bpplx-[A-Za-z0-9]{16,}`)},
	{"xai-", shape(`\bxai-[A-Za-z0-9]{16,}`)},
	{"r8_", shape(`\br8_[A-Za-z0-9]{16,}`)},
}

// prefixes of a look that tell what was there and are kept.
var kept = shape(`(?i)^(?:authorization["']?\s*[:=]\s*["']?)?(?:bearer|basic)\s+`)

func shape(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

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
