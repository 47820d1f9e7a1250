package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// detectTime is for all look-ups together.
const detectTime = 5 * time.Second

// detect finds the API where the user named none: by the URL, else by what the
// server answers to GETs. A server that tells nothing gets openai-chat. It
// returns which API it is and how that is known, or nothing where the command
// line says it.
func (c *benchCmd) detect(p *bench.Plan) string {
	switch {
	case c.API != "" || c.Demo || c.DryRun || pathTells(c.URL), client.OverWebSocket(c.URL):
		return ""
	case c.Preflight == "none" || c.WaitReady != "":
		return fmt.Sprintf("API %s: the default, the server was not asked (--api names another)", p.Client.API.Name)
	}
	s, cl, err := ask(p.Client)
	if cl == nil {
		return "" // the run will say it
	}
	found := s.API()
	switch {
	case found != nil:
		p.Client.API = found
		return cl.Redactor().String(fmt.Sprintf("API %s: told by GET %s%s (--api names another)", found.Name, s.By, engineWords(s)))
	case err != nil:
		return "" // the run will say it
	}
	return fmt.Sprintf("API %s: the default, no GET told which one the server speaks (--api names another)", p.Client.API.Name)
}

// ask asks a server by GETs who it is. The client is nil where none can be made.
func ask(cfg client.Config) (engines.Server, *client.Client, error) {
	cl, err := client.New(cfg)
	if err != nil {
		return engines.Server{}, nil, err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), detectTime)
	defer cancel()
	s, _, err := engines.Detect(ctx, func(ctx context.Context, path string) (engines.Answer, error) {
		got, err := cl.Get(ctx, path)
		if err != nil {
			return engines.Answer{}, err
		}
		return got.Answer, nil
	})
	s.Models = cl.Redactor().Without(s.Models)
	return s, cl, err
}

// engineWords names the server in a sentence.
func engineWords(s engines.Server) string {
	name := strings.TrimSpace(s.Engine + " " + s.Version)
	if name == "" {
		return ""
	}
	return ", as " + name + " answers it"
}

// pathTells reports whether a URL names its API: an endpoint, or a base that
// ends in a version as OpenAI's do. One that ends in /api may be Ollama's own.
func pathTells(raw string) bool {
	path := "/" + pathOf(raw)
	return path != "/" && !strings.HasSuffix(path, "/api") || api.ProviderOf(hostOf(raw)) != nil
}

// model is the model that was named, or that the URL of the Realtime API names.
func (c *targetFlags) model() string {
	if c.Model == "" && api.OfPath("/"+pathOf(c.URL)) == api.Realtime {
		_, query, _ := strings.Cut(c.URL, "?")
		named, _ := url.ParseQuery(query)
		return api.ModelOf(named)
	}
	return c.Model
}

// pathOf is the path of a URL without slashes at its ends. The path of a Unix
// socket is none.
func pathOf(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	switch {
	case !ok:
		rest = raw
	case strings.EqualFold(scheme, "unix"):
		return ""
	}
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(strings.TrimSuffix(path, "#"), "?")
	return strings.Trim(path, "/")
}
