package secret

import (
	"net/url"
	"strings"
)

// forEachURLSecret calls yield with the place of every secret in rawURL: a
// password (or a lone user name) before the host, and suspicious query values.
// It works on the text, so that URLs which do not parse are covered too.
func forEachURLSecret(rawURL string, yield func(from, to int)) {
	if _, rest, ok := strings.Cut(rawURL, "://"); ok {
		start := len(rawURL) - len(rest)
		end := len(rest)
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			end = i
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at > 0 {
			from := 0
			if colon := strings.IndexByte(rest[:at], ':'); colon >= 0 {
				from = colon + 1
			}
			if from < at {
				yield(start+from, start+at)
			}
		}
	}
	q := strings.IndexByte(rawURL, '?')
	if q < 0 {
		return
	}
	for pos := q + 1; pos < len(rawURL); {
		end := pos + strings.IndexAny(rawURL[pos:], "&;#")
		if end < pos {
			end = len(rawURL)
		}
		if name, value, ok := strings.Cut(rawURL[pos:end], "="); ok && value != "" && sensitiveParameter(name) {
			yield(end-len(value), end)
		}
		pos = end + 1
	}
}

// sensitiveParameter sees through the escapes of a name: api%5Fkey is one.
func sensitiveParameter(name string) bool {
	plain, err := url.QueryUnescape(name)
	return SensitiveHeader(name) || err == nil && SensitiveHeader(plain)
}

// RedactURL masks the password before the host and suspicious query values;
// the rest stays as it was.
func RedactURL(rawURL string) string {
	var b strings.Builder
	done := 0
	forEachURLSecret(rawURL, func(from, to int) {
		b.WriteString(rawURL[done:from])
		b.WriteString(Mask)
		done = to
	})
	if done == 0 {
		return rawURL
	}
	b.WriteString(rawURL[done:])
	return b.String()
}
