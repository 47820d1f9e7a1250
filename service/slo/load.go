package slo

import (
	"fmt"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/base/pattern"
)

// Load reads a file of objectives. A file with a top-level `slo:`, such as
// tokenmeter.yaml, is read from there and its other parts are left alone. The
// error has everything that is wrong, a line each.
func Load(name string, data []byte) ([]*Objective, *Spec, error) {
	var whole struct {
		SLO *Spec `yaml:"slo"`
	}
	var doc *config.Document
	at, spec := "", &Spec{}
	if part, ok := section(data); ok {
		doc, at = config.Decode(name, part, &whole), "slo"
		if whole.SLO != nil {
			spec = whole.SLO
		}
	} else if daemonForm().Match(data) {
		return nil, spec, fmt.Errorf("%s: there is no slo: part in this file of tokenmeter serve; objectives with budgets stand there (docs/slo.md), the objectives: beside it are only counted", name)
	} else {
		doc = config.Decode(name, data, spec)
	}
	objectives := Compile(spec, doc, at)
	return objectives, spec, doc.Err()
}

// daemonForm tells a configuration of the daemon from a file of objectives.
var daemonForm = pattern.Lazy(`(?m)^["']?(listeners|upstreams)["']?\s*:`)

var sectionForm = pattern.Lazy(`^["']?slo["']?\s*:`)

// section blanks every line outside the top-level slo, so that places stay.
func section(data []byte) ([]byte, bool) {
	lines := strings.SplitAfter(string(data), "\n")
	inside, found := false, false
	for i, line := range lines {
		if bare := strings.TrimPrefix(line, "\ufeff"); bare != "" && !strings.ContainsAny(bare[:1], " \t#\r\n-") {
			inside = sectionForm().MatchString(bare)
			found = found || inside
		}
		if !inside && strings.HasSuffix(line, "\n") {
			lines[i] = "\n"
		} else if !inside {
			lines[i] = ""
		}
	}
	return []byte(strings.Join(lines, "")), found
}
