package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that repeats what it was sent puts no key into a record: neither that of
// the client nor those by which any upstream is reached, in whatever letters.
func TestServerThatRepeatsKeys(t *testing.T) {
	p, err := New(Config{
		Upstreams: []Upstream{
			{Name: "a", URL: "http://127.0.0.1:9/v1?key=queryKey-0123456789", Key: "operatorKey-0123456789"},
			{Name: "b", URL: "http://127.0.0.1:9/v1", Header: http.Header{"X-Auth-Token": {"headerKey-0123456789"}}},
		},
		Routes: []Route{{Name: "all", Upstreams: []Share{{Upstream: "a", Weight: 1}, {Upstream: "b", Weight: 1}}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := httptest.NewRequest("POST", "/v1/chat/completions?api_key=clientQuery-0123456789", nil)
	in.Header.Set("Authorization", "Bearer clientKey-0123456789")
	c := &call{p: p, in: in}
	for _, key := range []string{"operatorKey-0123456789", "queryKey-0123456789", "headerKey-0123456789", "clientKey-0123456789", "clientQuery-0123456789"} {
		for _, said := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
			if got := c.hide("no entry for " + said + "!"); got != "no entry for ***!" {
				t.Errorf("%s: %q", key, got)
			}
		}
	}
}

// A head that is full of secrets is not searched for: nothing of such a request is told.
func TestManySecrets(t *testing.T) {
	p, err := New(Config{Upstreams: []Upstream{{Name: "a", URL: "http://127.0.0.1:9"}}, Routes: []Route{{Name: "all", Upstreams: []Share{{Upstream: "a", Weight: 1}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, shown := range map[int]string{10: "no entry", mostSecrets + 1: "***"} {
		in := httptest.NewRequest("POST", "/v1/chat/completions", nil)
		for i := range n {
			in.Header.Add("X-Api-Key", fmt.Sprintf("secret-%08d", i))
		}
		c := &call{p: p, in: in}
		want(t, "shown", c.hide("no entry"), shown)
	}
}
