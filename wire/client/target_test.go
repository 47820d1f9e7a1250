package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"tokenmeter/wire/api"
)

// B54: users paste the URL with or without /v1, a slash, a prefix, a path.
func TestB54Joining(t *testing.T) {
	const chat = "/v1/chat/completions"
	for _, tc := range [][3]string{
		{"http://h", chat, "http://h/v1/chat/completions"},
		{"http://h/", chat, "http://h/v1/chat/completions"},
		{"http://h/v1", chat, "http://h/v1/chat/completions"},
		{"http://h/v1/", chat, "http://h/v1/chat/completions"},
		{"http://h/api/x", chat, "http://h/api/x/v1/chat/completions"},
		{"http://h/v1/chat/completions", chat, "http://h/v1/chat/completions"},

		{"h:8000", chat, "http://h:8000/v1/chat/completions"},
		{"localhost:8000/v1", chat, "http://localhost:8000/v1/chat/completions"},
		{"HTTP://h", chat, "http://h/v1/chat/completions"},
		{"http://h//v1//", chat, "http://h/v1/chat/completions"},
		{"http://h/x/v1/chat", chat, "http://h/x/v1/chat/completions"},
		{"https://h/v1?api-version=2", chat, "https://h/v1/chat/completions?api-version=2"},
		{"http://h/api", "/api/chat", "http://h/api/chat"},
		{"http://h/v1beta", "/v1beta/models/m:streamGenerateContent?alt=sse", "http://h/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"http://h?key=a", "/v1beta/models/m:x?alt=sse", "http://h/v1beta/models/m:x?alt=sse&key=a"},
		{"http://[::1]:8/v1", chat, "http://[::1]:8/v1/chat/completions"},
		{"http://h/a%2Fb", chat, "http://h/a%2Fb/v1/chat/completions"},
		{"h:8000?to=ftp://y", chat, "http://h:8000/v1/chat/completions?to=ftp://y"},
	} {
		got, err := JoinURL(tc[0], tc[1])
		if err != nil || got != tc[2] {
			t.Errorf("%s with %s: got %q (%v), want %q", tc[0], tc[1], got, err, tc[2])
		}
	}
}

func TestOtherPathsOfTheServer(t *testing.T) {
	for base, want := range map[string]string{
		"": "/v1/models", "/v1": "/v1/models", "/v1/chat/completions": "/v1/models",
		"/api/x": "/api/x/v1/models", "/api/x/v1": "/api/x/v1/models",
	} {
		if got, _ := LookupPath("http://h"+base, "/v1/chat/completions", "/v1/models"); got != want {
			t.Errorf("%q: got %q, want %q", base, got, want)
		}
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	for url, hint := range map[string]string{
		"":                                 "http://HOST:PORT",
		"ftp://h/":                         "http, https or unix",
		"ws://":                            "names no host",
		"wss+unix://h/v1":                  "http, https or unix",
		"http://":                          "names no host",
		"http:///v1":                       "names no host",
		"http://::1:8000/v1":               "http://[::1]:8000/v1",
		"http://fe80::1/v1":                "brackets",
		"::1:8000":                         "brackets",
		"http://h:port/":                   "port",
		"http://h:99999":                   "between 1 and 65535",
		"https://[::1]:0/v1":               "between 1 and 65535",
		"h:65536":                          "between 1 and 65535",
		"http://u:9999999/topsecret99@h":   "password",
		"http://h:8000 /v1":                "HOST:PORT",
		"unix://relative/path":             "unix:///path",
		"http+unix://nopath/v1":            "%2Fpath",
		"http://u:topsecret99@::1:80/?a=b": "brackets",

		"http://u:topsecret99:w/x@h:8000": "password",
		"http://u:topsecret99/x@h:8000":   "password",
		"http://u:topsecret99#x@h:8000":   "password",
		"http://u:topsecret99^?x@h:8000":  "password",
		"http://topsecret99^/x@h:8000":    "password",
		"http://u:topsecret99%zz@h:8000":  "%25",
		"http://::1:80#topsecret99":       "brackets",
		"u:topsecret99@h:x?to=http://y":   "port",
	} {
		_, err := New(Config{BaseURL: url, API: api.OpenAIChat})
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: got %v, want a hint of %q", url, err, hint)
		}
		if err != nil && strings.Contains(err.Error(), "topsecret99") {
			t.Errorf("a secret in %v", err)
		}
	}
}

func TestTargets(t *testing.T) {
	for url, want := range map[string]target{
		"http://h/v1":                    {network: "tcp", address: "h:80", host: "h", name: "h", base: "/v1"},
		"https://h/":                     {network: "tcp", address: "h:443", host: "h", name: "h", tls: true},
		"https://h:8443":                 {network: "tcp", address: "h:8443", host: "h:8443", name: "h", tls: true},
		"http://[::1]:8000":              {network: "tcp", address: "[::1]:8000", host: "[::1]:8000", name: "::1"},
		"http://[fe80::1%25eth0]/":       {network: "tcp", address: "[fe80::1%eth0]:80", host: "[fe80::1]", name: "fe80::1%eth0"},
		"unix:///run/x.sock":             {network: "unix", address: "/run/x.sock", host: "localhost"},
		"http+unix://%2Frun%2Fx/v1/?a=b": {network: "unix", address: "/run/x", host: "localhost", base: "/v1", query: "a=b"},
	} {
		got, err := parseTarget(url)
		if err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", url, got, err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	c, err := New(Config{BaseURL: "http://u:p4ssword@h/v1?key=topsecret99", API: api.OpenAIChat,
		Header: http.Header{"x-team": {"blue "}, "user-agent": {"mine"}, "Cookie": {"session=abcdefgh"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m := message{method: "POST", path: c.target.path("/v1/chat/completions"), id: "id-1", body: []byte("{}"),
		extra: http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Team": {"red"}, "Content-Length": {"9"}}}
	want := "POST /v1/chat/completions?key=topsecret99 HTTP/1.1\r\nhost: h\r\naccept-encoding: identity\r\n" +
		"authorization: Basic dTpwNHNzd29yZA==\r\ncookie: session=abcdefgh\r\nuser-agent: mine\r\nx-team: blue\r\n" +
		"anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: 2\r\nx-request-id: id-1\r\n\r\n{}"
	if got := string(m.appendTo(nil, c.head)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	dry, err := c.DryRun(hello)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"p4ssword", "dTpwNHNzd29yZA", "topsecret99", "abcdefgh"} {
		if strings.Contains(dry, secret) {
			t.Errorf("%q in %s", secret, dry)
		}
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	for _, h := range []http.Header{
		{"Content-Length": {"5"}}, {"transfer-encoding": {"chunked"}}, {"bad name": {"x"}}, {"x": {"a\r\nb: c"}}, {"": {"x"}},
	} {
		if _, err := New(Config{BaseURL: "http://h", API: api.OpenAIChat, Header: h}); err == nil {
			t.Errorf("%v was accepted", h)
		}
	}
}

func TestKeyGoesWhereTheAPIWantsIt(t *testing.T) {
	for header, want := range map[string]string{"": "Authorization: Bearer sk-1234567", "authorization": "Authorization: Bearer sk-1234567",
		"x-api-key": "X-Api-Key: sk-1234567"} {
		h, err := newTemplate(&Config{API: &api.API{AuthHeader: header}, Key: "sk-1234567"}, &target{host: "h"})
		name, value, _ := strings.Cut(want, ": ")
		if err != nil || !slices.Contains(h, field{strings.ToLower(name), value}) || len(h) != 4 {
			t.Errorf("%q: %v, %v", header, h, err)
		}
	}
}

// What the URL's query names stays its own, however it is written; a name without a value names nothing.
func TestQueryOfTheURL(t *testing.T) {
	for base, want := range map[string]string{
		"ws://h/v1": "/v1/realtime?model=m", "ws://h/v1?a=b": "/v1/realtime?model=m&a=b",
		"ws://h/v1?model=x": "/v1/realtime?model=x", "ws://h/v1?%6dodel=x": "/v1/realtime?%6dodel=x", "ws://h/v1?deployment=x": "/v1/realtime?deployment=x", "ws://h/v1?%64eployment=x": "/v1/realtime?%64eployment=x",
		"ws://h/v1?model": "/v1/realtime?model=m&model", "ws://h/v1?model=": "/v1/realtime?model=m&model=", "ws://h/v1?submodel=x": "/v1/realtime?model=m&submodel=x",
	} {
		tg, err := parseTarget(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := tg.path("/v1/realtime?model=m"); got != want {
			t.Errorf("%s: %s, not %s", base, got, want)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"http://h/v1", "http://::1:80", "unix:///a", "http+unix://%2Fa/b?c", "http://[::1%25a]:1/", "http://h/any#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tg, err := parseTarget(s)
		if err != nil {
			return
		}
		if tg.address == "" || tg.host == "" {
			t.Errorf("%q: %+v", s, tg)
		}
		path := tg.path("/v1/chat/completions")
		p, _, _ := strings.Cut(path, "?")
		exact := strings.HasSuffix(strings.TrimSpace(s), "#") // the endpoint as it stands, whatever it is called
		if !strings.HasPrefix(p, "/") || !exact && (strings.Contains(p, "//") || api.OfPath(p) == nil) {
			t.Errorf("%q: path %q", s, path)
		}
		if strings.ContainsAny(path+tg.host, " \r\n\t") {
			t.Errorf("%q: %q on %q", s, path, tg.host)
		}
	})
}
