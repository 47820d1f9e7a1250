package secret

import (
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// References of HTML that are none: none of them may end the program.
func TestHostileEntities(t *testing.T) {
	r := New("quiet-zebra")
	for _, text := range []string{"&t>;", "&gt>;", "&<gt>;", "&quot\"apos'lt<gt>;", "&\"a;", "&apos'lt;", "&;;", "&lt", "&amp;t>;", "&#xx;", "&#x110000;", "&#99999999999;"} {
		for _, s := range []string{text, "quiet" + text, text + "quiet", "quiet-zebr" + text} {
			if got := r.String(s); !strings.HasSuffix(text+"quiet", got) && got != s && !strings.Contains(got, Mask) {
				t.Errorf("%q came out as %q", s, got)
			}
		}
	}
}

var (
	inURLs = regexp.MustCompile(`%(?:25)*[0-9A-Fa-f]{2}`)
	inJSON = regexp.MustCompile(`\\+(?:u00|x)[0-9A-Fa-f]{2}`)
)

// plainly is a text with all its escapes undone, in lower case.
func plainly(s string) string {
	last := func(m string) string {
		v, _ := strconv.ParseUint(m[len(m)-2:], 16, 8)
		return string([]byte{byte(v)})
	}
	s = inJSON.ReplaceAllStringFunc(inURLs.ReplaceAllStringFunc(s, last), last)
	for next := html.UnescapeString(s); next != s; next = html.UnescapeString(s) {
		s = next
	}
	return strings.ToLower(s)
}

// A message that was cut shows no more of a secret than its first few letters, however
// its bytes are escaped, and wherever the cut is: in the middle of an escape too.
func TestCutEscapes(t *testing.T) {
	const key, query = "sk-TESTSECRET123", "TEST/QUERY+456"
	r := New(key, query)
	coded := base64.StdEncoding.EncodeToString([]byte(query + "a?>"))
	for _, text := range []string{
		key, query, url.QueryEscape(query), url.PathEscape(query), url.QueryEscape(url.QueryEscape(query)), "TEST%2fQUERY%2b456",
		"%54%45%53%54%2F%51%55%45%52%59%2B%34%35%36", `\u0054\u0045\u0053\u0054\u002f\u0051\u0055\u0045\u0052\u0059\u002B\u0034\u0035\u0036`,
		"TEST%25252FQUERY%2525252b456", `TEST\\u002FQUERY\\\x2B456`, "TEST&#x2f;QUERY&#43;456", "TEST&amp;#x2F;QUERY&amp;amp;#043;456",
		"TEST%2FQUER&#89;+456", `sk\u002dTESTSECRET123`, `sk\\\\\u002dTESTSECRET\x31\x32\x33`, coded, url.QueryEscape(coded),
	} {
		for end := 1; end < len(text); end++ {
			for _, ellipsis := range []string{"", "…", "...", " …", " … (type t, code c)", "… fp_1", "\uFFFD… and more", `..." is no key`, "...; trailers a: b"} {
				got := plainly(r.String("bad key " + text[:end] + ellipsis))
				for _, start := range []string{key[:minStart], query[:minStart], coded[:minStart]} {
					if strings.Contains(got, strings.ToLower(start)) {
						t.Errorf("%q came out as %q", text[:end]+ellipsis, got)
					}
				}
			}
		}
	}
}

// The time for a text grows with its length, whatever it holds: by the square of it, each
// of these would take minutes to hours.
func TestHostileTextsTakeNoTime(t *testing.T) {
	r := New("quiet-zebra&more\\\\here", `\\\\\\-begins`, "------------")
	for _, part := range []string{`\`, `\\u002`, "%", "%25", "25", "&", "&amp;", "amp;", "&#x2d", "-", `-\`, `\u002d`, "+", "password=", `"a":"`, `\",`, "[", `[\"`} {
		text := strings.Repeat(part, (1<<17)/len(part))
		for _, begin := range []string{"[", `password="`, "password=["} {
			began := time.Now()
			RedactArgs([]string{begin + text})
			HeaderSecrets(http.Header{"X-Config": {begin + text}, "X-Token": {begin + text}})
			if took := time.Since(began); took > 20*time.Second {
				t.Fatalf("%s%q, many times: %v", begin, part, took)
			}
		}
		for _, s := range []string{text, `\` + text, "%" + text, "&" + text, "-" + text, text + "u002d"} {
			began := time.Now()
			r.String(s)
			if took := time.Since(began); took > 20*time.Second {
				t.Fatalf("%q, many times: %v", part, took)
			}
		}
	}
}

// Letters outside of ASCII are escaped as one, though they are several bytes.
func TestEscapesOfOtherLetters(t *testing.T) {
	r := New("müller-café-𝄞-geheim")
	for _, text := range []string{
		"müller-café-𝄞-geheim", `m\u00fcller-caf\u00e9-\ud834\udd1e-geheim`, `M\\u00FCLLER-CAF\\u00E9-\\uD834\\uDD1E-GEHEIM`,
		"m%C3%BCller-caf%c3%a9-%F0%9D%84%9E-geheim", "m&#252;ller-caf&#xE9;-&#119070;-geheim", "m&amp;#252;ller-caf&#233;-&#x1d11e;-geheim",
		"m%FCller-caf%e9-𝄞-geheim", `m\xfcller-caf\xe9-𝄞-geheim`, `m\xc3\xbcller-caf\xc3\xa9-𝄞-geheim`,
	} {
		if got := r.String("no: " + text + "."); got != "no: ***." {
			t.Errorf("%q came out as %q", text, got)
		}
		for end := range len(text) {
			if got := r.String("no: " + text[:end]); strings.Contains(strings.ToLower(got), "ller-ca") {
				t.Errorf("%q came out as %q", text[:end], got)
			}
		}
	}
	for _, text := range []string{`m\ud834\ud834ller`, `m\ud834`, `m\ud834\`, `m\udd1e\ud834`, "m&#xd834;&#xdd1e;"} {
		if got := r.String(text); got != text {
			t.Errorf("%q came out as %q", text, got)
		}
	}
}
