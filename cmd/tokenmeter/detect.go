package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"tokenmeter/api"
	"tokenmeter/bench"
	"tokenmeter/client"
)

// detectTime is for all look-ups together.
const detectTime = 5 * time.Second

// detect finds the API where the user named none: by the URL, else by what the
// server answers to GETs. A server that tells nothing gets openai-chat.
func (c *benchCmd) detect(p *bench.Plan) {
	if c.API != "" || c.Demo || c.DryRun || c.Preflight == "none" || c.WaitReady != "" || pathTells(c.URL) {
		return
	}
	cl, err := client.New(p.Client)
	if err != nil {
		return // the run will say it
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), detectTime)
	defer cancel()
	answers := map[string]api.Answer{}
	for _, probe := range api.Probes {
		got, err := cl.Get(ctx, probe.Path)
		if err != nil {
			return
		}
		answers[probe.Path] = api.Answer{Status: got.Status, Header: got.Header, Body: got.Body}
		if found := best(api.Sniff(answers)); found != nil {
			p.Client.API = found
			return
		}
		if got.Status == http.StatusUnauthorized || got.Status == http.StatusForbidden {
			return
		}
	}
}

// best is the first API of a server that this program speaks.
func best(s api.Server) *api.API {
	for _, name := range s.APIs {
		if known, err := api.ByName(name); err == nil {
			return known
		}
	}
	return nil
}

// vendorAPIs are hosts that speak one API of their own.
var vendorAPIs = map[string]string{"api.anthropic.com": "anthropic"}

// pathTells reports whether a URL names its API: an endpoint, or a base that
// ends in a version as OpenAI's do.
func pathTells(raw string) bool {
	path := pathOf(raw)
	return path != "" || vendorAPIs[hostOf(raw)] != ""
}

// pathOf is the path of a URL without slashes at its ends.
func pathOf(raw string) string {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		rest = raw
	}
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	return strings.Trim(path, "/")
}
