package secret

import (
	"slices"
	"strings"
)

// SensitiveHeader reports whether the value of a header, or of a query's parameter, is a
// secret by its name.
func SensitiveHeader(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	if harmless(name) {
		return false
	}
	if containsAny(plainName(name), "apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "signature", "accesskey", "privatekey", "passcode") {
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(words) == 0 {
		return false
	}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(proofs, word) }) {
		return true
	}
	switch last := words[len(words)-1]; last {
	case "auth", "authorization", "authentication", "bearer", "cookie", "pass", "pat", "pwd", "sid", "sig", "subscriptionkey":
		return true
	case "session": // alone, as logins have it; DESKTOP_SESSION and X-Session-ID name one
		return len(words) == 1 || len(words) == 2 && words[0] == "x"
	case "key":
		return len(words) == 1 || !slices.Contains(dataKeys, words[len(words)-2])
	}
	return false
}

// proofs are what shows who somebody is, whatever stands beside the word: X-OTP-Code,
// X-Shopify-Hmac-Sha256, X-Goog-IAP-JWT-Assertion.
var proofs = []string{"assertion", "csrf", "hmac", "jwt", "otp", "totp", "xsrf"}

// dataKeys stand before the word key where it says which data are meant.
var dataKeys = []string{"affinity", "cache", "group", "hash", "idempotency", "partition", "routing", "sort", "surrogate", "websocket"}

// SensitiveField reports whether a field of a request's body holds a secret by its
// name. Tokens of text (stop_token_ids, prompt_cache_key) are none.
func SensitiveField(name string) bool {
	name = plainName(strings.ToLower(name))
	switch name {
	case "auth", "authorization", "token", "accesstoken", "authtoken", "bearertoken", "sessiontoken":
		return true
	}
	return containsAny(name, "apikey", "password", "passwd", "passphrase", "secret", "credential", "accesskey", "privatekey")
}

// harmless names speak of tokens of text: x-ratelimit-remaining-tokens.
func harmless(name string) bool {
	return strings.HasSuffix(name, "tokens") || strings.Contains(name, "ratelimit") || strings.Contains(name, "max-token")
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "")

// plainName is a name without what separates its words.
func plainName(name string) string { return separators.Replace(name) }

func containsAny(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
