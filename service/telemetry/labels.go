package telemetry

import (
	"cmp"
	"sync"

	"tokenmeter/service/traffic"
)

// DefaultModels is how many distinct models may be labels.
const DefaultModels = 100

// Set is the values of RequestLabels, in their order.
type Set [5]string

// Limit keeps the number of models in check: those after so many are
// traffic.Other. Routes, upstreams and APIs come from the configuration.
type Limit struct {
	mu   sync.RWMutex
	most int
	seen map[string]bool
}

// NewLimit lets so many models be labels; 0: DefaultModels.
func NewLimit(models int) *Limit {
	models = cmp.Or(models, DefaultModels)
	return &Limit{most: models, seen: map[string]bool{}}
}

// Set returns the values of a request's labels.
func (l *Limit) Set(labels traffic.Labels) Set {
	return Set{string(labels.Source), labels.Route, labels.Upstream, l.model(labels.Model), labels.API}
}

func (l *Limit) model(name string) string {
	if name == "" || name == traffic.Other {
		return name
	}
	l.mu.RLock()
	known, full := l.seen[name], len(l.seen) >= l.most
	l.mu.RUnlock()
	switch {
	case known:
		return name
	case full:
		return traffic.Other
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[name] && len(l.seen) >= l.most {
		return traffic.Other
	}
	l.seen[name] = true
	return name
}
