package slo

// Metrics are the figures of requests that the objective is about; an empty
// name stands for anything else.
func (o *Objective) Metrics() []string {
	var list []string
	for i := range o.Promises {
		if m := o.Promises[i].Metric; m != "goodput" {
			list = append(list, m)
		}
	}
	if o.Figure != nil {
		list = append(list, o.Figure.Name)
	}
	if list == nil {
		return []string{""}
	}
	return list
}
