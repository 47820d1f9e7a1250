package proxy

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/client"
)

// Key is what a client must show, in one of the ways in which clients of these
// APIs show keys. It never goes upstream.
type Key struct {
	Name    string // in metrics, logs and records
	SHA256  [sha256.Size]byte
	Rate    float64 // requests a second, as a mean; 0: no limit
	Streams int     // requests at once; 0: no limit
}

// keyUse is what a key's limits are held against. It goes on over reloads.
type keyUse struct {
	KeyStats
	// ready is when the next request may come if the rate is to hold: at most a
	// second's requests may come at once.
	ready time.Time
}

// keyUses are those of all keys, by name.
type keyUses struct {
	mu     sync.Mutex
	byName map[string]*keyUse
}

// keyHeaders are the headers in which clients show a key; the last is of Azure's gateway.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key"}

// keyQueries are the parameters of the query in which they do so; api-key is Azure's, of
// WebSockets, and the last again that of its gateway.
var keyQueries = []string{"key", "api-key", "subscription-key"}

// keyQuery reports whether a server may take a parameter of the query for a key, in any
// case of letters, as Azure's do. A page's token (pageToken) is none.
func keyQuery(name string) bool {
	return slices.Contains(keyQueries, strings.ToLower(name)) || secret.SensitiveField(name)
}

// keyProtocol begins a protocol of a WebSocket that is OpenAI's key, of pages.
const keyProtocol = "openai-insecure-api-key."

// shown are the keys that a request shows.
func shown(in *http.Request) []string {
	var keys []string
	for _, name := range keyHeaders {
		for _, v := range in.Header[name] {
			if scheme, key, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "bearer") {
				v = key
			}
			keys = append(keys, strings.TrimSpace(v))
		}
	}
	if in.URL.RawQuery != "" {
		query := in.URL.Query()
		for _, name := range keyQueries {
			keys = append(keys, query[name]...)
		}
	}
	return keys
}

// enter lets a request in that shows a key whose limits allow it. leave must be
// called when it has ended; nil: it was refused.
func (c *call) enter() (leave func()) {
	if len(c.p.cfg.Keys) == 0 {
		return func() {}
	}
	for _, text := range shown(c.in) {
		sum := sha256.Sum256([]byte(text))
		if i := slices.IndexFunc(c.p.cfg.Keys, func(k Key) bool { return k.SHA256 == sum }); i >= 0 {
			c.key = &c.p.cfg.Keys[i]
			break
		}
	}
	if c.key == nil {
		c.w.Header().Set("WWW-Authenticate", "Bearer")
		c.p.refuse(c.w, http.StatusUnauthorized, "key", "a key is needed that this proxy knows")
		return nil
	}
	uses := &c.p.stats.keyUses
	uses.mu.Lock()
	defer uses.mu.Unlock()
	use := uses.byName[c.key.Name]
	if use == nil {
		use = &keyUse{KeyStats: KeyStats{Name: c.key.Name}}
		uses.byName[c.key.Name] = use
	}
	if c.key.Streams > 0 && use.InFlight >= int64(c.key.Streams) {
		use.Limited++
		c.limited("1", fmt.Sprintf("too many requests at once with the key %s", c.key.Name))
		return nil
	}
	if c.key.Rate > 0 {
		now := time.Now()
		each := time.Duration(float64(time.Second) / c.key.Rate)
		ahead := max(time.Second-each, 0) // so much of the rate may be used at once
		if use.ready.Before(now) {
			use.ready = now
		}
		if wait := use.ready.Sub(now) - ahead; wait > 0 {
			use.Limited++
			c.limited(strconv.Itoa(int(math.Ceil(wait.Seconds()))), fmt.Sprintf("too many requests a second with the key %s", c.key.Name))
			return nil
		}
		use.ready = use.ready.Add(each)
	}
	use.InFlight++
	use.Requests++
	return func() {
		uses.mu.Lock()
		use.InFlight--
		uses.mu.Unlock()
	}
}

// KeyStats is what was counted of a client's key.
type KeyStats struct {
	Name     string
	InFlight int64
	Requests int64 // that were let in
	Limited  int64 // that were over its limits
	Input    int64 // tokens, where they are known
	Output   int64
}

// spent counts the tokens of a finished request.
func (u *keyUses) spent(r *traffic.Request) {
	if r.Key == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if use := u.byName[r.Key]; use != nil {
		use.Input += r.Record.InputTokens.Or(0)
		use.Output += r.Record.OutputTokens.Or(0)
	}
}

// stats are those of all keys that were shown, by name.
func (u *keyUses) stats() []KeyStats {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []KeyStats
	for _, name := range slices.Sorted(maps.Keys(u.byName)) {
		all = append(all, u.byName[name].KeyStats)
	}
	return all
}

func (c *call) limited(after, words string) {
	c.w.Header().Set("Retry-After", after)
	c.p.refuse(c.w, http.StatusTooManyRequests, "rate", words)
}

// withoutKey takes the client's key out of what goes upstream, where it is one of ours
// or the upstream has its own: a server could take either for the one that counts.
func (c *call) withoutKey(h http.Header, up *upstream) {
	if c.key == nil && up.Key == "" {
		return
	}
	for _, name := range keyHeaders {
		h.Del(name)
	}
	const protocols = "Sec-Websocket-Protocol"
	if all := strings.Join(h[protocols], ","); strings.Contains(all, keyProtocol) {
		kept := slices.DeleteFunc(strings.Split(all, ","), func(name string) bool {
			return strings.HasPrefix(strings.TrimSpace(name), keyProtocol)
		})
		if h.Set(protocols, strings.Join(kept, ",")); len(kept) == 0 {
			h.Del(protocols)
		}
	}
}

// target is the request's target as it goes upstream.
func (c *call) target(up *upstream) string {
	if c.key == nil && up.Key == "" || c.in.URL.RawQuery == "" {
		return c.in.URL.RequestURI()
	}
	u := *c.in.URL
	u.RawQuery = client.QueryWithout(u.RawQuery, keyQuery)
	return u.RequestURI()
}

// knownHost reports whether a request may name this host. A page in a browser
// can have its own name lead to a local address (DNS rebinding), but must say it.
func (p *Proxy) knownHost(host string) bool {
	return p.cfg.Hosts == nil || KnownHost(host, p.cfg.Hosts)
}

// KnownHost reports whether a Host header names this machine by a local name or
// address, or is one of others, of which * is any.
func KnownHost(host string, others []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return name == "" || secret.Loopback(name) || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(others, func(o string) bool { return o == "*" || strings.EqualFold(o, name) || strings.EqualFold(o, host) })
}

// knownOrigin reports whether a request may come from the page that a browser says it
// does: any page can send requests to a local address, and read a WebSocket's answers.
// Where clients need keys it is those that tell. Other schemes than HTTP's are those of
// programs that were installed.
func (p *Proxy) knownOrigin(h http.Header) bool {
	if p.cfg.Hosts == nil || len(p.cfg.Keys) > 0 || slices.Contains(p.cfg.Hosts, "*") {
		return true
	}
	return !slices.ContainsFunc(h["Origin"], func(origin string) bool {
		u, err := url.Parse(origin)
		return err != nil || u.Scheme == "" || (u.Scheme == "http" || u.Scheme == "https") && !KnownHost(u.Host, p.cfg.Hosts)
	})
}
