package run

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// maxSlug keeps the names of folders well below every file system's limit.
const maxSlug = 48

// Slug turns any name into one that every file system takes: lower-case
// letters, digits, dots, dashes and underscores. Where that loses something, a
// short hash of the exact name keeps different names different.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '.':
			b.WriteRune(r)
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
				b.WriteByte('-')
			}
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	slug := strings.Trim(b.String(), ".-")
	if slug == name && !reserved(slug) {
		return slug
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:4])
	if slug == "" {
		return hash
	}
	return slug + "-" + hash
}

// reserved names are devices on Windows, with any extension.
func reserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "", "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt"))
}

// folderName is the name of a run's folder where the user gave none.
func folderName(started time.Time, name string) string {
	stamp := started.UTC().Format("2006-01-02T150405Z")
	if name == "" {
		return stamp
	}
	return stamp + "-" + Slug(name)
}
