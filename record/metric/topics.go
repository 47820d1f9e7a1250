package metric

import "strings"

// Topic is a name of the program's words that can be explained.
type Topic struct {
	Name  string
	Kind  string // metrics, outcomes, flags, warnings, …
	Title string // in a line
	Text  string // in a few lines, for a terminal
}

// Topics lists the names that this package explains, kind by kind.
func Topics() []Topic {
	var all []Topic
	for _, d := range Catalogue {
		all = append(all, Topic{d.Name, "metrics", d.Title, d.Text()})
	}
	for _, a := range OutcomeAdvice {
		all = append(all, Topic{string(a.Outcome), "outcomes", a.Means, a.Text()})
	}
	for _, f := range FlagMeanings {
		all = append(all, Topic{f.Name, "flags", f.When, f.Text()})
	}
	for _, w := range WarningMeanings {
		all = append(all, Topic{w.Name, "warnings", w.When, w.Text()})
	}
	return all
}

// Explain returns the text of a metric, by any name that people type, and of all
// topics that have the name: a flag, a check and a warning may share one. The
// error for an unknown name proposes the nearest.
func Explain(name string, topics []Topic) (string, error) {
	var texts, names []string
	d, err := Lookup(name)
	if err == nil {
		texts = append(texts, d.Text())
	}
	for _, t := range topics {
		names = append(names, t.Name)
		if t.Name == plain(name) && t.Name != d.Name {
			texts = append(texts, t.Text)
		}
	}
	if len(texts) == 0 {
		return "", unknownName(name, nearest(plain(name), names))
	}
	return strings.Join(texts, "\n"), nil
}
