package secret

import (
	"slices"
	"strings"
)

// SensitiveHeader reports whether the value of a header, or of a query's parameter, is a
// secret by its name.
func SensitiveHeader(name string) bool {
	name = strings.TrimSpace(name)
	if harmless(strings.ToLower(name)) {
		return false
	}
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	if holdsSecret(words) || containsAny(strings.Join(words, ""), "token", "signature") {
		return true
	}
	switch last := words[len(words)-1]; last {
	case "auth", "authorization", "authentication", "bearer", "cookie", "pass", "pat", "sid", "sig":
		return true
	case "code", "license", "licence", "session", "sign": // alone, as functions of Azure, activations and logins have them; DESKTOP_SESSION names one
		return len(words) == 1 || len(words) == 2 && words[0] == "x"
	case "key":
		return len(words) == 1 || !slices.Contains(dataKeys, words[len(words)-2])
	}
	// PHPSESSID and JSESSIONID are of a login; session_id and sessionId may be a router's.
	return endsWithAny(words[len(words)-1], "sessid", "sessionid")
}

// proofs are what shows who somebody is, whatever stands beside the word: X-OTP-Code,
// X-Shopify-Hmac-Sha256, X-Goog-IAP-JWT-Assertion.
var proofs = []string{"assertion", "csrf", "hmac", "jwt", "otp", "totp", "xsrf"}

// dataKeys stand before the word key where it says which data are meant.
var dataKeys = []string{"affinity", "cache", "group", "hash", "idempotency", "partition", "routing", "socket", "sort", "surrogate", "websocket"}

// SensitiveField reports whether a field of a request's body holds a secret by its
// name. Tokens of text (stop_token_ids, prompt_cache_key) are none.
func SensitiveField(name string) bool {
	words := nameWords(name)
	switch name = strings.Join(words, ""); name {
	case "auth", "authorization", "token":
		return true
	}
	return holdsSecret(words) || endsWithAny(name, "accesstoken", "apitoken", "authtoken", "bearertoken", "hftoken", "idtoken", "refreshtoken", "securitytoken", "sessiontoken")
}

// parts are in names of secrets wherever they stand, written as one word.
var parts = []string{"apikey", "appkey", "appcode", "authkey", "authcode", "accesskey", "accountkey", "consumerkey", "licensekey", "licencekey", "masterkey",
	"privatekey", "signingkey", "subscriptionkey", "secret", "password", "passwd", "passphrase", "passcode", "passkey", "credential"}

// short are names of secrets of their own, or the last word of one: an access key and
// its secret key as Baidu, Huawei and Volcengine write them, a key that was shared before.
var short = []string{"ak", "sk", "psk", "pwd"}

// holdsSecret reports whether a name of these words is that of a secret wherever it
// stands, in a header, a query or a field alike.
func holdsSecret(words []string) bool {
	return len(words) > 0 && slices.Contains(short, words[len(words)-1]) ||
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(proofs, word) }) ||
		containsAny(strings.Join(words, ""), parts...)
}

// nameWords are the words of a name in small letters: of x-api-key and of xApiKey alike.
func nameWords(name string) []string {
	var parts []byte
	for i := range len(name) {
		if i > 0 && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			parts = append(parts, ' ')
		}
		parts = append(parts, lower(name[i]))
	}
	return strings.FieldsFunc(string(parts), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
}

// harmless names speak of tokens of text: x-ratelimit-remaining-tokens.
func harmless(name string) bool {
	return strings.HasSuffix(name, "tokens") || strings.Contains(name, "ratelimit") || strings.Contains(name, "max-token")
}

func containsAny(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

func endsWithAny(name string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}
