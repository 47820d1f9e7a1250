// Package secret keeps keys out of everything that is printed, logged or
// written: it knows the secrets of a run in the forms they come back in, and
// the looks of common keys besides.
package secret

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"tokenmeter/base/printable"
)

// Mask is what a secret is shown as.
const Mask = "***"

// minLength is the shortest text that is treated as a secret: replacing every
// "x" or "none" would spoil the output and hide nothing.
const minLength = 6

// Redactor replaces known secrets and what looks like one. The zero value and
// nil know no secrets and still catch the looks. Safe for concurrent use.
type Redactor struct {
	forms  []string  // of known secrets, in lower case, the longest first
	starts [256]bool // bytes that a form starts with
}

// New returns a redactor of the given secrets, in raw, hexadecimal and base64 form,
// with any of their bytes escaped as in URLs, JSON and HTML, whatever became of the
// case of their letters on the way. Texts under six bytes are left out.
func New(secrets ...string) *Redactor {
	var all []string
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= minLength {
			all = append(all, forms(s)...)
		}
	}
	for i := range all {
		all[i] = lowered(all[i])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	longestFirst(all)
	r := &Redactor{forms: all}
	for _, form := range all {
		r.starts[form[0]] = true
	}
	return r
}

// longestFirst: a secret that contains another goes as a whole.
func longestFirst(forms []string) {
	sort.SliceStable(forms, func(i, j int) bool { return len(forms[i]) > len(forms[j]) })
}

// And returns a redactor that knows the secrets of both; either may be nil.
func (r *Redactor) And(o *Redactor) *Redactor {
	switch {
	case r == nil || len(r.forms) == 0:
		return o
	case o == nil || len(o.forms) == 0:
		return r
	}
	both := &Redactor{forms: slices.Concat(r.forms, o.forms)}
	longestFirst(both.forms)
	for i := range both.starts {
		both.starts[i] = r.starts[i] || o.starts[i]
	}
	return both
}

// ForTarget returns a redactor of what a target is reached with: the key, the
// secret headers, and the secrets in its URL.
func ForTarget(rawURL string, header http.Header, keys ...string) *Redactor {
	var secrets []string
	for _, key := range keys {
		secrets = append(secrets, Values(key)...)
	}
	secrets = append(secrets, HeaderSecrets(header)...)
	secrets = append(secrets, URLSecrets(rawURL)...)
	return New(secrets...)
}

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	if r != nil && len(r.forms) > 0 {
		s = r.maskStart(r.maskKnown(s))
	}
	return maskLooks(s)
}

// maskKnown replaces the known secrets.
func (r *Redactor) maskKnown(s string) string {
	found, _ := r.find(s, never)
	var out strings.Builder
	done := 0
	for _, f := range found {
		out.WriteString(s[done:f.from])
		out.WriteString(Mask)
		done = f.to
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// maskStart hides the start of a secret that the end of a text cut off, with
// or without an ellipsis behind it.
func (r *Redactor) maskStart(s string) string {
	text := strings.TrimRight(strings.TrimRight(s, "….\uFFFD"), " ")
	begin := max(0, len(text)-r.longest())
	if _, cut := r.find(text[begin:], minStart); begin+cut < len(text) {
		return text[:begin+cut] + Mask + s[len(text):]
	}
	return s
}

// Without returns the names that hold no secret: those of models are labels and in every
// record, where a mask would be another name.
func (r *Redactor) Without(names []string) (plain []string) {
	for _, name := range names {
		if r.String(name) == name {
			plain = append(plain, name)
		}
	}
	return plain
}

// Pieces returns texts that follow each other without secrets. The mask of a known one
// that goes on in the next text stands where it begins. Where further texts may come,
// the last ones are left out when a secret may begin in them: hand them over again, with
// those that follow.
func (r *Redactor) Pieces(parts []string, further bool) []string {
	out := slices.Clone(parts)
	if r != nil && len(r.forms) > 0 {
		out = r.pieces(parts, further)
	}
	for i := range out {
		out[i] = maskLooks(out[i])
	}
	return out
}

func (r *Redactor) pieces(parts []string, further bool) (out []string) {
	all := strings.Join(parts, "")
	least := minStart
	if further {
		least = 0
	}
	found, cut := r.find(all, least)
	if cut < len(all) && !further {
		found = append(found, place{cut, len(all)})
	}
	begin, done := 0, 0 // of this part; up to where everything is told
	for _, part := range parts {
		end := begin + len(part)
		if further && end > cut {
			break
		}
		var b strings.Builder
		for done = max(done, begin); done < end; {
			if len(found) == 0 || found[0].from >= end {
				b.WriteString(all[done:end])
				break
			}
			b.WriteString(all[done:found[0].from])
			b.WriteString(Mask)
			done, found = found[0].to, found[1:]
		}
		out, begin = append(out, b.String()), end
	}
	return out
}

// place is where a secret stands in a text.
type place struct{ from, to int }

// never is more bytes of a secret than can be seen.
const never = math.MaxInt

// find returns the places of known secrets in s, and where one begins that the end of s
// cut off after at least so many bytes of it: len(s) where none does.
func (r *Redactor) find(s string, least int) (found []place, cut int) {
	for i := 0; i < len(s); {
		known := r.known(s[i:])
		switch {
		case known.cut && known.seen >= least && len(s)-i <= r.longest():
			return found, i
		case known.n > 0:
			found = append(found, place{i, i + known.n})
			i += known.n
		case s[i] == '\\':
			// What begins at one of many backslashes begins at the first or the last of them.
			// Each would have to look for the end of them all.
			i += max(1, backslashes(s[i:])-1)
		default:
			i++
		}
	}
	return found, len(s)
}

// longest is how many bytes of a text are looked through for a secret whose end is not
// there. That is enough for JSON within JSON within JSON.
func (r *Redactor) longest() int {
	return 16 * len(r.forms[0])
}

// known is what of a known secret s begins with.
func (r *Redactor) known(s string) (all sight) {
	if !r.starts[lower(s[0])] {
		v, n := unescaped(s)
		if n == 0 || !r.starts[lower(byte(v))] && !r.starts[string(v)[0]] {
			return sight{cut: opened(s)}
		}
	}
	for _, form := range r.forms {
		one := match(s, form)
		if one.cut {
			all.cut, all.seen = true, max(all.seen, one.seen)
		}
		if one.n > 0 {
			all.n = one.n
			break
		}
	}
	return all
}

// minStart is the shortest start of a secret that is hidden at the end of a
// text that was cut.
const minStart = 8

// foldPrefix reports whether s starts with a text in lower case, the case of
// ASCII letters aside.
func foldPrefix(s, lowerCase string) bool {
	if len(s) < len(lowerCase) {
		return false
	}
	for i := range len(lowerCase) {
		if lower(s[i]) != lowerCase[i] {
			return false
		}
	}
	return true
}

// Start returns how s begins, without secrets: most bytes, cut after they were
// replaced, as one that was cut is not recognised any more.
func (r *Redactor) Start(s string, most int) string {
	return printable.Short(r.String(s), most)
}

// Error returns the text of err without secrets, "" for nil.
func (r *Redactor) Error(err error) string {
	if err == nil {
		return ""
	}
	return r.String(err.Error())
}

// URL returns rawURL without secrets.
func (r *Redactor) URL(rawURL string) string { return r.String(RedactURL(rawURL)) }

// Args returns a copy of a command line without secrets.
func (r *Redactor) Args(argv []string) []string {
	out := RedactArgs(argv)
	for i, a := range out {
		out[i] = r.String(a)
	}
	return out
}

// HeaderSecrets lists the secrets in the values of headers: all of a sensitive one, and
// sensitive fields and what looks like a key whatever its header is called.
func HeaderSecrets(h http.Header) []string {
	var out []string
	for name, values := range h {
		sensitive := SensitiveHeader(name)
		for _, v := range values {
			if sensitive {
				out = append(out, valueSecrets(name, v)...)
			} else {
				out = append(append(out, fieldSecrets(v, SensitiveField)...), lookSecrets(v)...)
			}
		}
	}
	return out
}

// URLSecrets lists the secrets in a URL: the userinfo's password and the
// values of suspicious query parameters.
func URLSecrets(rawURL string) []string {
	var out []string
	forEachURLSecret(rawURL, func(from, to int) {
		enc := rawURL[from:to]
		out = append(out, Values(enc)...)
		if dec, err := url.QueryUnescape(enc); err == nil && dec != enc {
			out = append(out, Values(dec)...)
		}
		if dec, err := url.PathUnescape(enc); err == nil && dec != enc {
			out = append(out, Values(dec)...)
		}
	})
	return out
}
