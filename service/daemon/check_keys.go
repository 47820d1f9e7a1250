package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/base/secret"
	"tokenmeter/service/proxy"
)

// ClientKey is a key that clients of a listener may show.
type ClientKey struct {
	Name    string  `yaml:"name" required:"true" doc:"by which it is in logs and records"`
	SHA256  string  `yaml:"sha256" doc:"the key's SHA-256 in hex, as of printf %s KEY | sha256sum"`
	KeyEnv  string  `yaml:"key_env" doc:"environment variable that holds the key, instead of sha256"`
	Rate    float64 `yaml:"rate" doc:"requests a second as a mean, at most those of a second at once; more get 429; default: no limit"`
	Streams int     `yaml:"streams" doc:"requests at once; more get 429; default: no limit"`
}

// clientKeys reads the keys of a listener, from the configuration and from the
// file that it names.
func (c *checker) clientKeys(at string, l *Listener) []proxy.Key {
	listed := slices.Clone(l.Keys)
	places := make([]string, len(listed))
	for i := range places {
		places[i] = fmt.Sprintf("%s.keys[%d]", at, i)
	}
	if l.KeysFile != "" {
		var file struct {
			Keys []ClientKey `yaml:"keys" required:"true"`
		}
		data, err := limitio.File(l.KeysFile, mostFile)
		if err == nil {
			err = config.Decode(l.KeysFile, data, &file).Err()
		}
		if err != nil {
			c.addf(at+".keys_file", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		} else if len(file.Keys) == 0 {
			c.addf(at+".keys_file", "%s has no keys", l.KeysFile)
		}
		for range file.Keys {
			places = append(places, at+".keys_file")
		}
		listed = append(listed, file.Keys...)
	}
	var keys []proxy.Key
	seen := map[string]bool{}
	for i, k := range listed {
		place := places[i]
		made := proxy.Key{Name: k.Name, Rate: k.Rate, Streams: k.Streams}
		sum, err := hex.DecodeString(strings.TrimPrefix(k.SHA256, "sha256:"))
		switch {
		case seen[k.Name]:
			c.addf(place+".name", "a key named %q is there already", k.Name)
		case (k.SHA256 == "") == (k.KeyEnv == ""):
			c.addf(place, "key %q: give sha256 or key_env", k.Name)
		case k.KeyEnv != "":
			if text := c.secret(place, k.KeyEnv, "", "key_env", ""); text != "" {
				made.SHA256 = sha256.Sum256([]byte(text))
			}
		case err != nil || len(sum) != sha256.Size:
			c.addf(place+".sha256", "key %q: sha256 is not 64 digits of hex; printf %%s KEY | sha256sum prints them", k.Name)
		case ofNothing([sha256.Size]byte(sum)):
			c.addf(place+".sha256", "key %q: sha256 is that of an empty key: was the variable set when it was made?", k.Name)
		default:
			made.SHA256 = [sha256.Size]byte(sum)
		}
		if !(k.Rate >= 0) {
			c.addf(place+".rate", "key %q: a limit below 0", k.Name)
		}
		if k.Streams < 0 {
			c.addf(place+".streams", "key %q: a limit below 0", k.Name)
		}
		seen[k.Name] = true
		keys = append(keys, made)
	}
	return keys
}

// ofNothing reports whether a sum is that of an empty text or line, as sha256sum
// prints it where the key's variable is not set.
func ofNothing(sum [sha256.Size]byte) bool {
	return sum == sha256.Sum256(nil) || sum == sha256.Sum256([]byte("\n"))
}

// exposed refuses a listener at which everybody could spend an upstream's key.
func (c *checker) exposed(at string, l *Listener, keys []proxy.Key) {
	if len(keys) > 0 || l.Open || local(l.Listen) || l.TLS != nil && l.TLS.ClientCA != "" {
		return
	}
	cfg := &c.p.Config
	for i := range cfg.Upstreams {
		u := &cfg.Upstreams[i]
		if u.KeyEnv == "" && u.KeyFile == "" && len(u.Headers) == 0 && u.Cert == "" && !strings.Contains(u.URL, "@") && secret.RedactURL(u.URL) == u.URL {
			continue
		}
		for k := range cfg.Routes {
			r := &cfg.Routes[k]
			if !on(r, l.Name) || !slices.ContainsFunc(r.Upstreams, func(s Share) bool { return s.Name == u.Name }) {
				continue
			}
			if c.called != nil {
				c.addf(at+".listen", "%s can be reached from elsewhere, and whoever reaches it would spend the server's key: listen on 127.0.0.1, or give clients keys in a configuration of serve (docs/proxy.md)", l.Listen)
			} else {
				c.addf(at+".listen", "%s can be reached from elsewhere, and whoever reaches it would spend the key of upstream %s: give keys, keys_file or tls.client_ca, or say open: true", l.Listen, u.Name)
			}
			return
		}
	}
}
