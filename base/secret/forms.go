package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
)

// forms lists what a secret may have been turned into on its way back.
func forms(s string) []string {
	out := []string{s, hex.EncodeToString([]byte(s)), eachByte(s, "%%%02x"), eachByte(s, `\u%04x`)}
	if page := html.EscapeString(s); page != s {
		out = append(out, page, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(page))
	}
	for _, enc := range []string{url.QueryEscape(s), url.PathEscape(s)} {
		if enc != s { // a URL within a URL is escaped twice
			out = append(out, enc, url.QueryEscape(enc))
		}
	}
	for _, quoted := range jsonForms(s) {
		out = append(out, quoted)
		if quoted != s { // JSON inside of JSON: a server's error, handed on by a gateway
			out = append(out, jsonForms(quoted)...)
		}
	}
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

// eachByte is s with every byte escaped, whether it needs that or not.
func eachByte(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// jsonForms lists s as it stands inside a JSON string: with and without the
// escapes that Go adds for HTML, and with everything else than ASCII escaped.
func jsonForms(s string) []string {
	var out []string
	if quoted, err := json.Marshal(s); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) == nil {
		plain := strings.TrimSuffix(b.String(), "\n")
		plain = plain[1 : len(plain)-1]
		out = append(out, plain, strings.ReplaceAll(plain, "/", `\/`))
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

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
