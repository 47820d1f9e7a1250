package secret

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// forms lists what a secret may have been turned into on its way back. Escapes of
// single bytes are no forms: match sees through them.
func forms(s string) []string {
	out := []string{s, hex.EncodeToString([]byte(s))}
	for shift := range 3 {
		core, end := base64Core(s, shift)
		if len(core) < minLength {
			continue
		}
		for _, form := range []string{core, end, strings.TrimRight(end, "=")} {
			out = append(out, form, toURLAlphabet(form))
		}
	}
	return out
}

// base64Core is the part of the base64 of any text with s at an offset of
// shift (mod 3) that depends on s alone; end is the same where the text ends
// with s.
func base64Core(s string, shift int) (core, end string) {
	padded := strings.Repeat("\x00", shift) + s
	enc := base64.StdEncoding.EncodeToString([]byte(padded))
	from := (shift*8 + 5) / 6 // characters that hold bits of what is before
	to := len(padded) * 8 / 6 // further characters hold bits of what comes after
	if from >= to {
		return "", ""
	}
	return enc[from:to], enc[from:]
}

func toURLAlphabet(s string) string {
	return strings.NewReplacer("+", "-", "/", "_").Replace(s)
}

// lowered is s with its ASCII letters in lower case, byte by byte.
func lowered(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
