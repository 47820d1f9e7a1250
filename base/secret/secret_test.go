package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// B106: the key and the query secret of a run in every form they may come
// back in.
func TestB106EveryForm(t *testing.T) {
	const key, query = "sk-TESTSECRET123", "TEST/QUERY+456"
	r := ForTarget("http://h/v1?key="+url.QueryEscape(query), http.Header{"Authorization": {"Bearer " + key}})
	b64 := base64.StdEncoding.EncodeToString
	jsonOf := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, text := range []string{
		key, query, "x" + key + "y", "http://h/v1?key=" + url.QueryEscape(query), url.PathEscape(query),
		strings.ToLower(url.QueryEscape("/+")) + url.QueryEscape(query), jsonOf(key + "\n" + query),
		b64([]byte(key)), b64([]byte("a" + key)), b64([]byte("ab" + key)), b64([]byte(":" + key + "\n")),
		base64.URLEncoding.EncodeToString([]byte("user:" + query)), "TEST%2fQUERY%2b456",
		"next=" + url.QueryEscape("http://h?key="+url.QueryEscape(query)), "0x" + hex.EncodeToString([]byte(key)), strings.ToUpper(hex.EncodeToString([]byte(query))),
		"%54%45%53%54%2F%51%55%45%52%59%2B%34%35%36", `\u0054\u0045\u0053\u0054\u002f\u0051\u0055\u0045\u0052\u0059\u002B\u0034\u0035\u0036`,
		`{"error":"Incorrect API key provided: ` + key + `"}`,
		"TEST%25252FQUERY%2525252b456", `TEST\\u002FQUERY\\\x2B456`, "TEST&#x2f;QUERY&#43;456", "TEST&amp;#x2F;QUERY&amp;amp;#043;456",
		url.QueryEscape(b64([]byte(query + "a"))), "TEST%2FQUER&#89;+456", `sk\u002dTESTSECRET123`,
	} {
		got := r.String(text)
		if !strings.Contains(got, Mask) {
			t.Errorf("%q came out as %q", text, got)
		}
		for _, bad := range []string{key, query, url.QueryEscape(query), "TESTSECRET"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q still holds %q: %q", text, bad, got)
			}
		}
	}
	if got, want := r.String("Incorrect API key provided: "+key+"."), "Incorrect API key provided: ***."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A message that was cut in the middle of a secret does not show its start.
func TestCutSecrets(t *testing.T) {
	const key = "Kx7/Secret+9=quiet-zebra"
	r := New(key)
	coded := base64.StdEncoding.EncodeToString([]byte("user:" + key))
	for text, want := range map[string]string{
		"bad key " + key[:15]:            "bad key ***",
		"bad key " + key[:15] + " …":     "bad key *** …",
		"bad key " + key[:15] + "...":    "bad key ***...",
		"bad key " + key[:8] + "\uFFFD…": "bad key ***\uFFFD…",
		"bad key " + key[:4] + "…":       "bad key " + key[:4] + "…",
		"bad key " + coded[:26] + "…":    "bad key dXNlcjp***…",
		key[:15] + " is a start":         key[:15] + " is a start",
		"key " + key[:20] + " (of many)": "key *** (of many)",
		"key " + key[:20] + " b)":        "key " + key[:20] + " b)",
		"":                               "",
		"…":                              "…",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q came out as %q, want %q", text, got, want)
		}
	}
}

// What is cut is cut after secrets were replaced.
func TestStart(t *testing.T) {
	const key = "Kx7/Secret+9=quiet-zebra"
	r := New(key)
	for most, want := range map[int]string{100: "the key *** is bad é", 12: "the key *** …", 9: "the key *…", 20: "the key *** is bad …"} {
		if got := r.Start("the key "+key+" is bad é", most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}

func TestJSONInsideOfJSON(t *testing.T) {
	const key = "quo\"ted&back\\slash"
	quoted := key
	for range 2 {
		b, _ := json.Marshal(map[string]string{"error": quoted})
		quoted = string(b)
		if got := New(key).String(quoted); strings.Contains(got, "slash") || !strings.Contains(got, Mask) {
			t.Errorf("%s came out as %s", quoted, got)
		}
	}
}

// Escapes that are none, or that end too early, are text like any other.
func TestBrokenEscapes(t *testing.T) {
	r := New("quiet-zebra&more\\\\here")
	for _, text := range []string{"%", "%2", "%25", "%252", "%zz", `\`, `\\`, `\u`, `\u00`, `\u002`, `\x`, `\x2`, "&", "&a", "&amp", "&amp;", "&#", "&#;", "&#x;", "&#xzz;", "&#999;", "&lt", "&;", "+"} {
		for _, s := range []string{text, "quiet" + text, text + "quiet", strings.Repeat(text, 50)} {
			if got := r.String(s); got != s {
				t.Errorf("%q came out as %q", s, got)
			}
		}
	}
	for _, text := range []string{`quiet-zebra&amp;more\\here`, `QUIET-zebra&amp;amp;more\\\\\\\\here`, `quiet%2dzebra%26more%5c%5Chere`, `quiet&#45;zebra&more&#92;\here`} {
		if got := r.String(text); got != Mask {
			t.Errorf("%q came out as %q", text, got)
		}
	}
}

// However a secret is embedded in text that is then encoded, it does not get
// out; the letters of a secret that would show are the ones in the middle.
func TestBase64AtAnyOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9+/&<>"\\ _-]{8,40}`).Draw(t, "key")
		key = strings.TrimSpace(key)
		if len(key) < minLength+2 {
			return
		}
		before := rapid.StringMatching(`.{0,7}`).Draw(t, "before")
		after := rapid.StringMatching(`.{0,7}`).Draw(t, "after")
		r := New(key)
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			coded := enc.EncodeToString([]byte(before + key + after))
			got := r.String(coded)
			if !strings.Contains(got, Mask) {
				t.Fatalf("%q in base64 of %q passed: %q", key, before+key+after, got)
			}
		}
		quoted, _ := json.Marshal(map[string]string{"k": before + key + after})
		if got := r.String(string(quoted)); !strings.Contains(got, Mask) {
			t.Fatalf("%q passed in JSON: %q", key, got)
		}
	})
}

func TestLooks(t *testing.T) {
	var r *Redactor // knows nothing
	for text, want := range map[string]string{
		"key sk-proj-abcdefghijklmnop is wrong":                  "key *** is wrong",
		"Authorization: Bearer abcdefgh12345":                    "Authorization: Bearer ***",
		"authorization: basic dXNlcjpwYXNzd29yZA==":              "authorization: basic ***",
		"token hf_abcdefghijklmnopqrst":                          "token ***",
		"the bearer of this letter":                              "the bearer of this letter",
		"basic understanding":                                    "basic understanding",
		"task-1 asked for sk-1":                                  "task-1 asked for sk-1",
		"risk-adjusted-returns-are-fine":                         "risk-adjusted-returns-are-fine",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl": "***",
		"": "",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShortSecretsAreLeft(t *testing.T) {
	if got := New("none", "x", "").String("none of x"); got != "none of x" {
		t.Errorf("got %q", got)
	}
}

func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/v1?key=TESTQUERY456":              "http://h/v1?key=***",
		"https://user:pa%20ss@h:8/v1?a=1&api_key=x": "https://user:***@h:8/v1?a=1&api_key=***",
		"https://token@h/":                          "https://***@h/",
		"http://h/v1?api-version=2024-10-21":        "http://h/v1?api-version=2024-10-21",
		"http://h/?max_tokens=5&access_token=abc#f": "http://h/?max_tokens=5&access_token=***#f",
		"http://::1:80/?sig=abc":                    "http://::1:80/?sig=***",
		"not a url":                                 "not a url",
		"http://h/p@q":                              "http://h/p@q",
	} {
		if got := RedactURL(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRedactArgs(t *testing.T) {
	in := []string{"bench", "http://h/v1?key=TESTQUERY456", "--header", "Authorization: Bearer sk-TESTSECRET123",
		"--header=X-API-Key: abcdef", "--header", "x-team: blue", "--api-key", "abcdef", "--api-key-env", "NAME",
		"--api-key-file=/run/key", "-HCookie: a=b", "--model", "m", "--max-concurrency=5",
		"--vary", "proxy=http://u:abcdef@a:1,http://v:abcdef@b:1", "--vary=header=Authorization: Bearer abcdef,X-Token: abcdef", "--vary", "model=a,b", "--vary"}
	want := []string{"bench", "http://h/v1?key=***", "--header", "Authorization: Bearer ***",
		"--header=X-API-Key: ***", "--header", "x-team: blue", "--api-key", "***", "--api-key-env", "NAME",
		"--api-key-file=/run/key", "-HCookie: ***", "--model", "m", "--max-concurrency=5",
		"--vary", "proxy=http://u:***@a:1,http://v:***@b:1", "--vary=header=Authorization: Bearer ***,X-Token: ***", "--vary", "model=a,b", "--vary"}
	got := RedactArgs(in)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Bodies that are given as JSON, as Python writes a dictionary, or as pairs hold keys by
// the names of their fields; what only speaks of tokens stays, and so does the form.
func TestRedactArgsInBodies(t *testing.T) {
	for in, want := range map[string]string{
		`{"api_key":"quiet-zebra","seed":1}`:                         `{"api_key":"***","seed":1}`,
		`{"a": {"token" : "qu\"iet zebra"}, "b": ["x"]}`:             `{"a": {"token" : "***"}, "b": ["x"]}`,
		`{"password":12345,"credentials":{"user":"u","word":"w"}}`:   `{"password":"***","credentials":"***"}`,
		`{'Authorization': 'Token abc', 'seed': 1}`:                  `{'Authorization': '***', 'seed': 1}`,
		"api_key:quiet-zebra":                                        "api_key:***",
		"extra=api-key=quiet-zebra,seed=1":                           "extra=api-key=***,seed=1",
		`{"stop_token_ids":[1,2],"max_tokens":5,"prompt":"token a"}`: `{"stop_token_ids":[1,2],"max_tokens":5,"prompt":"token a"}`,
		"http://h/v1?api_key=quiet-zebra&n=1":                        "http://h/v1?api_key=***&n=1",
		"ttft:500 tpot:50":                                           "ttft:500 tpot:50",
		`{"api_key":"quiet`:                                          `{"api_key":"***"`,
		// The rest of a body stays, and so do quotes that are none of the name's.
		`{"auth":{"k":"}z"},"temperature":0,"credentials":[{"a":1},"x"],"n":9}`: `{"auth":"***","temperature":0,"credentials":"***","n":9}`,
		`{"note":"Authorization: Bearer quiet-zebra-1","n":1}`:                  `{"note":"Authorization: ***","n":1}`,
		`{Authorization: Bearer quiet-zebra-1, seed: 1}`:                        `{Authorization: ***, seed: 1}`,
		"Authorization=Bearer quiet-zebra-1":                                    "Authorization=***",
		"headers=Authorization:token quiet-zebra-1,n=2":                         "headers=Authorization:***,n=2",
		`{"api_key":null,"token":None}`:                                         `{"api_key":null,"token":None}`,
		`{"auth":{"k":"quiet`:                                                   `{"auth":"***"`,
		`{"api_key":""}`:                                                        `{"api_key":"***"}`,
	} {
		for _, args := range [][]string{{in}, {"--extra-body", in}, {"--extra-body=" + in}} {
			got := RedactArgs(args)
			if got := strings.TrimPrefix(got[len(got)-1], "--extra-body="); got != want {
				t.Errorf("%q: got %q, want %q", args, got, want)
			}
		}
	}
	got := RedactArgs([]string{"--headers", `{"X-Team":"blue","Cookie":"a=b","X-API-Key":"quiet-zebra"}`})[1]
	if want := `{"X-Team":"blue","Cookie":"***","X-API-Key":"***"}`; got != want {
		t.Errorf("headers: got %q, want %q", got, want)
	}
}

func TestRedactHeaderLine(t *testing.T) {
	for line, want := range map[string]string{
		"x-team: blue": "x-team: blue", "Authorization: Bearer abc": "Authorization: Bearer ***",
		"bad": "bad", "bad:": "bad:", "X-Key abc": "X-Key ***", "Authorization Bearer abc": "Authorization ***",
		"X-Key=abc": "X-Key=***", ":abc": ":***", "Cookie: a=b": "Cookie: ***", "Api-Key: k": "Api-Key: ***",
		"Content-Type: text/plain": "Content-Type: text/plain", "X-Ratelimit-Remaining-Tokens: 5": "X-Ratelimit-Remaining-Tokens: 5",
		// As vLLM's tool takes headers.
		"X-Model=llama": "X-Model=llama", "Content-Type=application/json": "Content-Type=application/json", "Authorization=Bearer abc": "Authorization=***",
		"X-API-Key=a: b": "X-API-Key=***", "Cookie=a=b": "Cookie=***", "My key=abc": "My ***", "X-Config=sk-proj-0123456789abcdefghij": "X-Config=***",
		"My key: abc": "My ***", "a\nb: abc": "a\n***", "": "",
	} {
		if got := RedactHeaderLine(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestNothingToHideAllocatesNothing(t *testing.T) {
	for _, r := range []*Redactor{nil, {}} {
		if n := testing.AllocsPerRun(100, func() { r.String("connection refused by 127.0.0.1:8000") }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// pieces are what texts of the fuzzer are made of, besides letters of the key.
var pieces = []string{"&", ";", "<", ">", "%", "25", "\\", "u", "00", "x", "2d", "#", "amp;", "lt;", "quot;", "'", "\"", "+", "…", "."}

// assembled is a text of pieces and of what a known key consists of.
func assembled(key string, recipe []byte) string {
	var b strings.Builder
	for _, c := range recipe {
		switch n := int(c); {
		case n < len(pieces):
			b.WriteString(pieces[n])
		case n < 128:
			fmt.Fprintf(&b, "%c", n)
		case n == 128:
			b.WriteString(key)
		default:
			b.WriteString(key[:n%len(key)])
		}
	}
	return b.String()
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-TESTSECRET123", "Bearer sk-TESTSECRET123", []byte{0, 't', 3, 1, 128, 4, '2', 'd'})
	f.Add("a%2fb&c=d+/", "http://u:a%2fb&c=d+/@h?key=a", []byte{0, 12, 2, 3, 1, 200, 6, 6, 7, 8, 10})
	f.Add("\\u00e9\\é-\"", "é", []byte{6, 6, 7, 'd', '8', '3', '4', 6, 7, 'd', 'd', '1', 'e', 130, 18})
	f.Fuzz(func(t *testing.T, key, text string, recipe []byte) {
		RedactURL(text)
		RedactArgs([]string{text, key, text})
		RedactHeaderLine(text)
		key = strings.TrimSpace(key)
		if len(key) < minLength || strings.Contains(key, "*") {
			return
		}
		r := New(key)
		made := assembled(key, recipe)
		for _, s := range []string{text + key + text, made, key[:len(key)/2] + made} {
			if got := r.String(s); strings.Contains(got, key) {
				t.Errorf("%q holds %q", got, key)
			}
			for at := 0; at <= len(s); at += 1 + len(s)/4 {
				if got := strings.Join(r.Pieces([]string{s[:at], s[at:]}, false), ""); strings.Contains(got, key) {
					t.Errorf("%q, parted at %d, holds %q", got, at, key)
				}
			}
			if got := r.Pieces([]string{s, s}, true); strings.Contains(strings.Join(got, ""), key) {
				t.Errorf("%q holds %q", got, key)
			}
		}
	})
}

func TestSensitiveField(t *testing.T) {
	for name, want := range map[string]bool{
		"api_key": true, "X-Api-Key": true, "authorization": true, "access_token": true, "client_secret": true, "token": true,
		"jwt": true, "otp": true, "hmac_sha256": true, "clientAssertion": true, "aws_session_token": true, "refreshToken": true,
		"ak": true, "sk": true, "app_key": true, "licenseKey": true, "pwd": true, "AccountKey": true,
		"code": false, "license": false, "key": false, "task": false, "sign": false,
		"next_token": false, "thought_signature": false, "session_id": false, "assertions": false,
		"stop_token_ids": false, "max_tokens": false, "prompt_cache_key": false, "tokens": false, "temperature": false, "skip_special_tokens": false,
	} {
		if SensitiveField(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// A server may write a key in other letters than it was sent: a header's name and
// value in lower case, a log line in capitals.
func TestAnyCaseOfLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9+/=_-]{6,40}`).Draw(t, "key")
		b := []byte(key)
		for i := range b {
			if rapid.Bool().Draw(t, "turned") {
				b[i] = lower(b[i])
			} else {
				b[i] = strings.ToUpper(string(b[i]))[0]
			}
		}
		before, after := rapid.StringMatching(`[é ]{0,5}`).Draw(t, "before"), rapid.StringMatching(`[é .]{0,5}x`).Draw(t, "after")
		for _, r := range []*Redactor{New(key), New("another key").And(New(key)), New(key).And(nil)} {
			if got := r.String(before + string(b) + after); got != before+Mask+after {
				t.Fatalf("%q came out as %q", b, got)
			}
		}
	})
}

// A key is a key under whatever name it is sent, and then known in every form in
// which a server may repeat it.
func TestKeysInHeadersOfHarmlessNames(t *testing.T) {
	const long = "Qm7RtY2WxZ9aBcD3eFgH5jKlMnP8sTuV"
	for _, key := range []string{
		"sk-" + long, "sk-ant-api03-" + long, "sk-proj-" + long, "csk-" + long, "xai-" + long, "pplx-" + long, "fw_" + long, "r8_" + long,
		"tgp_v1_" + long, "hf_" + long, "AIza" + long, "gsk_" + long, "nvapi-" + long, "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE",
		"ABSK" + long, "ghp_" + long, "gho_" + long, "ghs_" + long, "github_pat_" + long, "glpat-" + long, "xoxb-" + long,
		"eyJhbGciOiJIUzI1NiJ9." + long + "." + long,
	} {
		h := http.Header{"X-Config": {"mode=fast; key=" + key}, "X-Team": {"blue"}}
		if got := RedactHeaderLine("X-Config: mode=fast; key=" + key); strings.Contains(got, key) || !strings.Contains(got, "mode=fast") {
			t.Errorf("header: %q", got)
		}
		if got := RedactHeaderLine("X-Config: " + key); strings.Contains(got, key) {
			t.Errorf("line: %q", got)
		}
		if got := strings.Join(RedactArgs([]string{"bench", "--header", "X-Config: " + key}), " "); strings.Contains(got, key) {
			t.Errorf("args: %q", got)
		}
		for _, repeated := range []string{strings.ToUpper(key), url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key))} {
			if got := New(HeaderSecrets(h)...).String("no: " + repeated + " is wrong"); got != "no: *** is wrong" {
				t.Errorf("repeated: %q", got)
			}
		}
	}
}

// What is a secret by its name is one in a header and in a query alike.
func TestSensitiveNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "Proxy-Authorization": true, "Cookie": true, "Set-Cookie": true, "X-Api-Key": true, "api_key": true, "X-Auth": true,
		"X-Key": true, "x-functions-key": true, "X-Access-Key": true, "X-Custom-Auth": true, "X-Signature": true, "X-Pass": true, "x-passwd": true,
		"X-Master-Key": true, "Ocp-Apim-Subscription-Key": true, "sig": true, "key": true, "subscriptionKey": true, "X-Amz-Security-Token": true, "X-JWT": true,
		"X-Goog-IAP-JWT-Assertion": true, "client_assertion": true, "X-Hub-Pat": true, "X-Otp": true, "X-GitHub-OTP": true, "X-OTP-Code": true, "X-Hmac": true,
		"X-Shopify-Hmac-Sha256": true, "Session": true, "X-Session": true, "SID": true, "connect.sid": true, "X-XSRF": true, "X-Passcode": true,
		"PHPSESSID": true, "JSESSIONID": true, "sessionid": true, "otpCode": true, "xApiKey": true, "csrfToken": true,
		// Baidu's and Huawei's ak and sk, NetEase's AppKey, Alibaba's AppCode, licences; Azure's functions and shared access
		// signatures, and presigned URLs of Amazon and Google.
		"ak": true, "SK": true, "X-Ak": true, "appkey": true, "AppKey": true, "app_key": true, "appcode": true, "license": true, "license_key": true,
		"X-License": true, "code": true, "sign": true, "X-Amz-Signature": true, "X-Amz-Credential": true, "X-Goog-Signature": true, "AWSAccessKeyId": true,
		"subscription-key": true, "AccountKey": true, "auth_key": true, "auth_code": true, "pwd": true, "psk": true, "api%5Fkey": true,
		"X-Country-Code": false, "status_code": false, "X-License-Accepted": false, "task": false, "desk": false, "risk": false, "Signal": false, "skoid": false,
		"api-version": false, "X-Goog-Date": false, "X-Amz-Expires": false, "decode": false,
		"X-Session-ID": false, "session_id": false, "sessionId": false, "cacheKey": false, "X-Dynamo-Parent-Session-ID": false, "DESKTOP_SESSION": false, "Helicone-Session-Path": false,
		"X-Pattern": false, "X-Patience": false, "patch": false, "inside": false, "X-Side": false, "X-Option": false,
		"Idempotency-Key": false, "x-cache-key": false, "X-Routing-Key": false, "Sec-WebSocket-Key": false, "X-Ratelimit-Remaining-Tokens": false,
		"max_tokens": false, "Content-Type": false, "X-Author": false, "X-Compass": false, "monkey": false, "X-Team": false, "model": false, "": false, "-": false,
	} {
		if got := SensitiveHeader(name); got != want && !strings.Contains(name, "%") {
			t.Errorf("header %s: %v", name, got)
		}
		if got := strings.Contains(RedactURL("http://h/v1?"+name+"=abc"), Mask); got != want {
			t.Errorf("parameter %s: %v", name, got)
		}
	}
}

// A gateway's settings hold the keys of those behind it: Portkey's x-portkey-config,
// Vercel's providerOptions. Source: https://portkey.ai/docs/api-reference/inference-api/config-object
func TestFieldsWithinHeaders(t *testing.T) {
	const key = "quiet-zebra"
	for value, want := range map[string]string{
		`{"provider":"azure-openai","api_key":"` + key + `","retry":{"attempts":2}}`:                   `{"provider":"azure-openai","api_key":"***","retry":{"attempts":2}}`,
		`{"targets":[{"aws_secret_access_key":"` + key + `","weight":0.5},{"apiKey": "` + key + `"}]}`: `{"targets":[{"aws_secret_access_key":"***","weight":0.5},{"apiKey": "***"}]}`,
		`{"provider":"openai","config":"{\"api_key\":\"` + key + `\",\"retries\":2}"}`:                 `{"provider":"openai","config":"{\"api_key\":\"***\",\"retries\":2}"}`,
		`["{\"inner\":\"{\\\"password\\\":\\\"` + key + `\\\"}\"}"]`:                                   `["{\"inner\":\"{\\\"password\\\":\\\"***\\\"}\"}"]`,
		`{"credentials":{"key":"` + key + `"},"region":"eu"}`:                                          `{"credentials":"***","region":"eu"}`,
		`{"api_keys":["first-of-two",'` + key + `'],"region":"eu"}`:                                    `{"api_keys":"***","region":"eu"}`,
		`{"config":"{\"credentials\":[{\"key\":\"` + key + `\"}]}","region":"eu"}`:                     `{"config":"{\"credentials\":\"***\"}","region":"eu"}`,
		`{"Authorization":"Bearer ` + key + `"}`:                                                       `{"Authorization":"***"}`,
		`{"jwt":"` + key + `","otpCode":"123456"}`:                                                     `{"jwt":"***","otpCode":"***"}`,
		`team=blue; password=` + key:                                                                   `team=blue; password=***`,
		`{"prompt_cache_key":"blue"}`:                                                                  `{"prompt_cache_key":"blue"}`,
		`pc-config-blue`:                                                                               `pc-config-blue`,
		`http://h/?user=blue&session=blue`:                                                             `http://h/?user=blue&session=blue`,
	} {
		if got := RedactHeaderLine("x-portkey-config: " + value); got != "x-portkey-config: "+want {
			t.Errorf("%s", got)
		}
		got := New(HeaderSecrets(http.Header{"X-Portkey-Config": {value}})...).String("Incorrect key " + key)
		if strings.Contains(value, key) != strings.Contains(got, Mask) {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// A secret that is a list or an object comes back in parts, by whatever way it went.
func TestPartsOfSecrets(t *testing.T) {
	const object = `{"type":"sign","key":"quiet\nzebra","more":"{\"key\":\"brown-fox\"}",'pin':123456,"regions":["north-sea"]}`
	for way, r := range map[string]*Redactor{
		"key":      ForTarget("http://h", nil, object),
		"header":   ForTarget("http://h", http.Header{"X-Credentials": {object}}),
		"scheme":   ForTarget("http://h", http.Header{"Authorization": {"Bearer " + object}}),
		"cookie":   ForTarget("http://h", http.Header{"Cookie": {"a=b; c=" + object}}),
		"query":    ForTarget("http://h?credentials="+url.QueryEscape(object), nil),
		"field":    ForTarget("http://h", http.Header{"X-Config": {`{"credentials":` + object + `}`}}),
		"in query": ForTarget("http://h?credentials=["+url.PathEscape(object)+"]", nil),
	} {
		for repeated, want := range map[string]string{
			"no quiet\nzebra":   "no ***",
			`no "quiet\nzebra"`: `no "***"`,
			"no brown-fox.":     "no ***.",
			"no 123456.":        "no ***.",
			"no north-sea":      "no ***",
			"no regions":        "no regions",
		} {
			if got := r.String(repeated); got != want {
				t.Errorf("%s: %s came out as %s", way, repeated, got)
			}
		}
	}
}
