// Package engines tells from a server's answers to a few GETs which engine it is
// (vLLM, SGLang, …), its version and models, and which APIs it speaks. An engine is
// one file with its description and a line in the table of this one.
package engines

import (
	"net/http"
	"slices"
	"strings"

	"tokenmeter/wire/api"
)

// engine is how a server's software makes itself known to a GET. A new one is a
// file with its description and a line in engines.
type engine struct {
	name   string  // as this program's output names it
	title  string  // as its makers write it
	signs  []trait // only this engine has them
	owners []trait // what it says in OpenAI's list of models, where gateways may imitate it

	speaks  []string // names of its APIs, the best first
	version struct{ path, name string }
	models  string // where models are named when /v1/models is not there; empty: nowhere
	control Control
}

// engines are tried in this order.
var engines = []*engine{
	ollamaEngine, llamaEngine, sglangEngine, tgiEngine, tritonEngine, vllmEngine,
	lmdeployEngine, tensorRTEngine, nodeLlamaEngine, anthropicServer,
}

// trait is a sign of an engine in the answer to a probe.
type trait struct {
	path   string
	sign   api.Sign // conditions on the answer's JSON
	alone  bool     // which has no further members
	text   string   // or the start of its body
	header string   // or its Server header
}

// owner is the sign of an engine in OpenAI's list of models.
func owner(name string) trait {
	return trait{path: api.Probes[0], sign: api.Sign{"data/owned_by=" + name}}
}

func (t *trait) holds(a Answer, body any) bool {
	switch {
	case t.header != "":
		return strings.EqualFold(a.Header.Get("Server"), t.header)
	case a.Status != http.StatusOK:
		return false
	case t.text != "":
		return strings.HasPrefix(strings.TrimSpace(string(a.Body)), t.text)
	}
	object, _ := body.(map[string]any)
	return body != nil && t.sign.Holds(body) && !(t.alone && len(object) > len(t.sign))
}

// engineOf finds the engine that the answers are of, and the probe that told;
// nil: it is unknown. What only one engine has counts before what others imitate.
func engineOf(answers map[string]Answer, bodies map[string]any) (e *engine, by string) {
	for _, signs := range []func(*engine) []trait{
		func(e *engine) []trait { return e.signs },
		func(e *engine) []trait { return e.owners },
	} {
		for _, e := range engines {
			for _, t := range signs(e) {
				if t.holds(answers[t.path], bodies[t.path]) {
					return e, t.path
				}
			}
		}
	}
	return nil, ""
}

// engineNamed finds an engine; the zero engine: there is none of that name.
func engineNamed(name string) *engine {
	if i := slices.IndexFunc(engines, func(e *engine) bool { return e.name == name }); i >= 0 {
		return engines[i]
	}
	return &engine{}
}

// VersionPath is the GET below the server's root that tells the version of a
// server that Sniff has named; empty: nothing tells it.
func (s Server) VersionPath() string { return engineNamed(s.Engine).version.path }
