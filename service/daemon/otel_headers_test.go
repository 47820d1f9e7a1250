package daemon

import (
	"maps"
	"testing"
)

// Headers of the file, and its key, come before those of the environment.
func TestOTelHeaders(t *testing.T) {
	const environment = "api-key=a%20b, x-scope = c ,broken,=d,bad=%zz"
	for _, c := range []struct {
		o    OTel
		key  string
		want map[string]string
	}{
		{OTel{}, "", map[string]string{"api-key": "a b", "x-scope": "c"}},
		{OTel{}, "k", map[string]string{"Authorization": "Bearer k"}},
		{OTel{KeyHeader: "DD-API-KEY"}, "k", map[string]string{"DD-API-KEY": "k"}},
		{OTel{Headers: map[string]string{"x": "y"}}, "", map[string]string{"x": "y"}},
	} {
		if got := c.o.headers(c.key, environment); !maps.Equal(got, c.want) {
			t.Errorf("%+v with key %q: %v, want %v", c.o, c.key, got, c.want)
		}
	}
}
