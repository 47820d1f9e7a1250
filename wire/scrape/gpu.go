package scrape

// A page of a GPU exporter is read like an engine's. What differs is here.

// readsGPUs: it is no engine but stands beside one.
func (e *engine) readsGPUs() bool { return e.name == dcgm.name || e.name == amd.name }

// mostPower is more than any GPU draws, in watts.
const mostPower = 1e5

// device is which GPU a series is of; empty: it does not say.
func device(s *sample) string {
	for _, name := range []string{"UUID", "gpu_uuid"} {
		if v, ok := s.label(name); ok {
			return string(v)
		}
	}
	return ""
}

// fractions are shares that some tell as a part and its whole, or its rest.
var fractions = []struct{ as, part, whole, rest string }{
	{"kv_usage", "kv_blocks_used", "kv_blocks_all", ""},
	{"gpu_memory", "gpu_memory_used", "gpu_memory_all", "gpu_memory_free"},
}

// divide puts the fractions in place of their parts.
func divide(out map[string]float64) {
	for _, f := range fractions {
		part, told := out[f.part]
		whole := out[f.whole]
		if rest, ok := out[f.rest]; ok && whole == 0 {
			whole = part + rest
		}
		if _, direct := out[f.as]; !direct && told && whole > 0 && part <= whole {
			out[f.as] = part / whole
		}
		for _, name := range []string{f.part, f.whole, f.rest} {
			delete(out, name)
		}
	}
}
