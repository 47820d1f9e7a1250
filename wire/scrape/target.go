package scrape

import (
	"net/url"
	"strings"

	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// PageOf is where the server of a client may tell of itself: at /metrics, or where
// NIM and trtllm-serve have it. False where none can be: of a known provider, behind
// a Unix socket.
func PageOf(cfg *client.Config) (Page, bool) {
	at := hostOf(cfg)
	if at.Host == "" || at.Scheme == "http+unix" || api.ProviderOf(at.Hostname()) != nil {
		return Page{}, false
	}
	path, err := client.LookupPath(cfg.BaseURL, cfg.API.Path, "/metrics")
	if err != nil {
		return Page{}, false
	}
	path, _, _ = strings.Cut(path, "?")
	root := at.Scheme + "://" + at.Host
	below := root + strings.TrimSuffix(path, "/metrics")
	return Page{URL: root + path, Else: []string{below + "/v1/metrics", below + "/prometheus/metrics"}, Header: cfg.OwnHeader(), Guessed: true}, true
}

// Named is a page that somebody named. The client's key goes along to its own server
// and to nobody else.
func Named(page string, cfg *client.Config) Page {
	p, at := Page{URL: page}, hostOf(cfg)
	if u, err := url.Parse(page); err == nil && u.Scheme == at.Scheme && u.Host == at.Host {
		p.Header = cfg.OwnHeader()
	}
	return p
}

// hostOf is where a client's requests go; without a host where that is no URL.
func hostOf(cfg *client.Config) *url.URL {
	full, err := client.JoinURL(cfg.BaseURL, cfg.API.Path)
	if err != nil {
		return &url.URL{}
	}
	if at, err := url.Parse(full); err == nil {
		at.Scheme = client.HTTPScheme(at.Scheme) // its pages are read over HTTP
		return at
	}
	return &url.URL{}
}
