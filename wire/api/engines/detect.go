package engines

import (
	"context"
	"net/http"

	"tokenmeter/wire/api"
)

// Getter sends a GET to a path below the server's root. Any status is an answer.
type Getter func(ctx context.Context, path string) (Answer, error)

// Detect asks the probes in turn until one names an API that package api
// speaks, and then for version and models where these are told elsewhere. It
// returns what was learnt and the answers by path. A refused key ends it, as
// further probes would be refused too. The error is the getter's, of the first
// probe that got no answer at all; what was learnt before it is returned.
func Detect(ctx context.Context, get Getter) (Server, map[string]Answer, error) {
	answers := map[string]Answer{}
	ask := func(path string) error {
		a, err := get(ctx, path)
		if err == nil {
			answers[path] = a
		}
		return err
	}
	for _, path := range api.Probes {
		if err := ask(path); err != nil {
			return Sniff(answers), answers, err
		}
		status := answers[path].Status
		if Sniff(answers).API() != nil || status == http.StatusUnauthorized || status == http.StatusForbidden {
			break
		}
	}
	s := Sniff(answers)
	further := []string{s.VersionPath()}
	if len(s.Models) == 0 {
		further = append(further, engineNamed(s.Engine).models)
	}
	for _, path := range further {
		if _, asked := answers[path]; path == "" || asked {
			continue
		}
		if err := ask(path); err != nil {
			return s, answers, err
		}
	}
	return Sniff(answers), answers, nil
}

// ModelPath is where a server of this API names its models when it has no
// /v1/models; empty: nowhere that is known. Sniff reads the answer.
func ModelPath(a *api.API) string {
	switch a {
	case api.OllamaChat, api.OllamaGenerate:
		return ollamaEngine.models
	case api.SGLang:
		return sglangEngine.models
	case api.TGI, api.TEIRerank:
		return tgiEngine.models
	}
	return ""
}

// API is the first API of the server that package api speaks; nil: none is known.
func (s Server) API() *api.API {
	for _, name := range s.APIs {
		if known, err := api.ByName(name); err == nil {
			return known
		}
	}
	return nil
}
