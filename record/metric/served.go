package metric

// served counts requests by the model that was asked for and the one that answered. A load
// of several models is no mixture by itself.
type served map[string]map[string]int64

func (s served) add(asked, model string) {
	if model != "" {
		CountName(s.of(asked), model)
	}
}

// of are the counts of a model that was asked for; of too many to be kept, nobody's.
func (s served) of(asked string) map[string]int64 {
	const most = 16
	counts, known := s[asked]
	if !known {
		counts = map[string]int64{}
		if len(s) < most {
			s[asked] = counts
		}
	}
	return counts
}

func (s served) merge(o served) {
	for asked, counts := range o {
		addAll(s.of(asked), counts)
	}
}

// mixed counts the requests for models that several answered for, by these.
func (s served) mixed() map[string]int64 {
	all := map[string]int64{}
	for _, counts := range s {
		if len(counts) > 1 {
			addAll(all, counts)
		}
	}
	return all
}
