package rules

import (
	"fmt"
	"io"
	"math"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/service/slo"
)

// datadogSLO is a body of POST /api/v1/slo.
type datadogSLO struct {
	Type        string             `json:"type"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Tags        []string           `json:"tags"`
	Thresholds  []datadogThreshold `json:"thresholds"`
	Query       datadogQuery       `json:"query"`
}

type datadogThreshold struct {
	Timeframe string  `json:"timeframe"`
	Target    float64 `json:"target"`
}

type datadogQuery struct {
	Numerator   string `json:"numerator"`
	Denominator string `json:"denominator"`
}

// Datadog writes the objectives as metric-based SLOs of Datadog, a list with one
// request body each. Datadog knows windows of 7, 30 and 90 days and three
// decimals; what was changed stands in the description.
func Datadog(w io.Writer, objectives []*slo.Objective) error {
	list := []datadogSLO{}
	for _, o := range objectives {
		for _, source := range o.Sources {
			list = append(list, datadogOf(o, source))
		}
	}
	return printable.EncodeJSON(w, "  ", list)
}

func datadogOf(o *slo.Objective, source slo.Source) datadogSLO {
	frame, days := "30d", 30.
	switch period := o.Window.Period(); {
	case period <= 14*24*time.Hour:
		frame, days = "7d", 7
	case period > 60*24*time.Hour:
		frame, days = "90d", 90
	}
	about := said(o)
	if o.Window.Calendar != "" || o.Window.Period().Hours() != days*24 {
		about += fmt.Sprintf("; Datadog has no window like that and takes %s", frame)
	}
	target := math.Floor(o.Target*100_000+1e-6) / 1000
	if math.Abs(target-o.Target*100) > 1e-9 {
		about += fmt.Sprintf("; Datadog has three decimals and takes %v %%", target)
	}
	scope := fmt.Sprintf("{slo:%s,source:%s}", o.Name, source)
	if len(o.By) > 0 {
		scope += " by {group}"
	}
	return datadogSLO{
		Type: "metric", Name: fmt.Sprintf("%s (%s)", o.Name, source), Description: about,
		Tags:       []string{"slo:" + o.Name, "source:" + string(source), "tool:tokenmeter"},
		Thresholds: []datadogThreshold{{frame, target}},
		Query:      datadogQuery{"sum:tokenmeter.slo.good" + scope + ".as_count()", "sum:tokenmeter.slo.valid" + scope + ".as_count()"},
	}
}
