package metric

// served is, by the model that was asked for, the one that answered, and several where
// another did, too. A load of several models is no mixture by itself.
type served map[string]string

const several = "\x00"

func (s served) add(asked, model string) {
	const most = 16
	before, known := s[asked]
	switch {
	case model == "", !known && len(s) >= most:
	case !known:
		s[asked] = model
	case before != model:
		s[asked] = several
	}
}

func (s served) merge(o served) {
	for asked, model := range o {
		s.add(asked, model)
	}
}

// mixed reports whether some model's requests were answered by several.
func (s served) mixed() bool {
	for _, model := range s {
		if model == several {
			return true
		}
	}
	return false
}
