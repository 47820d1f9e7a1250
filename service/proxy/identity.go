package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"

	"tokenmeter/service/traffic"
)

// Check says what is wrong with an identity; nil: nothing.
func (i Identity) Check() error {
	name, isHeader := strings.CutPrefix(string(i), "header:")
	switch {
	case i == "", i == "traceparent", i == "user", isHeader && strings.TrimSpace(name) != "":
		return nil
	}
	return fmt.Errorf("%q is none of header:NAME, traceparent and user", string(i))
}

// DefaultProbe is the header that marks probes where none is named.
const DefaultProbe = "X-Tokenmeter-Probe"

// source says whose request it is: a probe's has the header, with anything but 0
// or false in it.
func (p *Proxy) source(h http.Header) traffic.Source {
	if p.cfg.Probe == "" {
		return traffic.Live
	}
	switch strings.ToLower(strings.TrimSpace(h.Get(p.cfg.Probe))) {
	case "", "0", "false":
		return traffic.Live
	}
	return traffic.Probe
}

// of returns the id that a request has, hidden by the HMAC; empty: none.
func (i Identity) of(h http.Header, user string, key []byte) string {
	var id string
	switch name, isHeader := strings.CutPrefix(string(i), "header:"); {
	case isHeader:
		id = h.Get(textproto.TrimString(name))
	case i == "traceparent":
		// version-traceid-parentid-flags
		if parts := strings.Split(h.Get("Traceparent"), "-"); len(parts) >= 4 && len(parts[1]) == 32 {
			id = parts[1]
		}
	case i == "user":
		id = user
	}
	if id == "" {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil)[:10])
}
