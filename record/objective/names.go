package objective

import (
	"fmt"
	"strings"
	"unicode"

	"tokenmeter/record/metric"
)

// lookup finds a metric by any name that people type.
func (p *parser) lookup(name string, at int) (*subject, bool) {
	if s, ok := named(name); ok {
		return s, true
	}
	hint := "`tokenmeter explain` lists the metrics"
	if len(name) < 40 {
		if near := metric.Nearest(name, Names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	p.fail(at, hint, "no metric is called %q", strings.TrimSpace(name))
	return nil, false
}

// named tries the own table, then the aliases of the catalogue.
func named(name string) (*subject, bool) {
	plain := plainName(name)
	if s, ok := byName(plain); ok {
		return s, true
	}
	if s, ok := byName(strings.TrimSuffix(plain, "_ms")); ok {
		return s, true
	}
	if d, err := metric.Lookup(plain); err == nil {
		return byName(d.Name)
	}
	return nil, false
}

func plainName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '\t':
			return '_'
		}
		return unicode.ToLower(r)
	}, strings.TrimSpace(name)), "_")
}
