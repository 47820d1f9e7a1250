package objective

// Described is a metric as documents list it.
type Described struct {
	Name  string
	Of    string // what has one: each request, each gap, …
	Units string // that a limit may be written in
}

var classNames = map[class]string{
	ofRequest: "each request", ofGaps: "each gap, pooled", ofRatio: "a share of requests or tasks", ofRun: "the run", ofSession: "each session",
}

// Describe lists the metrics that objectives can be made of.
func Describe() []Described {
	all := make([]Described, len(subjects))
	for i, s := range subjects {
		all[i] = Described{s.name, classNames[s.class], unitNames[s.unit]}
		if s.turns {
			all[i].Of = "each request of a session"
		}
	}
	return all
}
