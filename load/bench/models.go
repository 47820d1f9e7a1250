package bench

import (
	"maps"
	"slices"
	"sync"

	"tokenmeter/record/timeline"
)

// otherModels are those that requests were for, beside the run's own: the workload's, or
// its records'. The zero value has none.
type otherModels struct {
	mu    sync.Mutex
	names map[string]bool
}

// mostModels bounds how many are kept.
const mostModels = 20

func (o *otherModels) see(name, own string) {
	if name == own {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil {
		o.names = map[string]bool{}
	}
	if len(o.names) < mostModels {
		o.names[name] = true
	}
}

// tellModels says whose figures those of the run are, where it names another.
func (r *runner) tellModels() {
	r.others.mu.Lock()
	defer r.others.mu.Unlock()
	if len(r.others.names) > 0 {
		r.log.notice("other_models", timeline.Opt[float64]{}, "The workload, or its records, name models of their own, and requests were for these, beside or in place of %s: %s.",
			listed([]string{r.model}), listed(slices.Sorted(maps.Keys(r.others.names))))
	}
}
