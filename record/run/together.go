//go:build !lean

package run

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// together is the load that runs made which were merged. Streams, caps and rates add up,
// stages of the same lengths too. What does not add up to one load (a trace played twice
// is none of twice the speed, constant arrivals beside random ones are neither) is told
// as what each run did.
func together(loads []*Load) Load {
	sum := *loads[0]
	one := !sum.Speed.OK() && len(sum.Together) == 0
	for _, l := range loads[1:] {
		stages, fit := addStages(sum.Stages, l.Stages)
		one = one && fit && l.Arrival == sum.Arrival && l.Burstiness == sum.Burstiness && l.PaceS == sum.PaceS && !l.Speed.OK() && len(l.Together) == 0 &&
			l.RatePerS.OK() == sum.RatePerS.OK() && l.Concurrency.OK() == sum.Concurrency.OK() && l.PrefillConcurrency.OK() == sum.PrefillConcurrency.OK()
		sum.Stages = stages
		sum.RatePerS = plus(sum.RatePerS, l.RatePerS)
		sum.Concurrency = plus(sum.Concurrency, l.Concurrency)
		sum.PrefillConcurrency = plus(sum.PrefillConcurrency, l.PrefillConcurrency)
		sum.Requests = plus(sum.Requests, l.Requests)
		sum.Workers += l.Workers
		sum.DurationS, sum.RampS, sum.CooldownS = both(sum.DurationS, l.DurationS), both(sum.RampS, l.RampS), both(sum.CooldownS, l.CooldownS)
		if l.Warmup != sum.Warmup {
			sum.Warmup = ""
		}
		sum.NoKeepAlive, sum.PerSession = sum.NoKeepAlive || l.NoKeepAlive, sum.PerSession || l.PerSession
		if l.Retries != sum.Retries || l.RetryBudget != sum.RetryBudget && l.RetryBudget.OK() && sum.RetryBudget.OK() {
			sum.Retries = timeline.Opt[int64]{}
		}
		sum.RetryBudget = both(sum.RetryBudget, l.RetryBudget)
	}
	if one {
		return sum
	}
	none := timeline.Opt[float64]{}
	sum.Together, sum.Arrival, sum.Stages = nil, "", ""
	sum.Burstiness, sum.Speed, sum.FromS, sum.ToS, sum.PaceS = none, none, none, none, none
	for _, l := range loads {
		if len(l.Together) > 0 {
			sum.Together = append(sum.Together, l.Together...)
		} else if words := l.Words(); words != "" {
			sum.Together = append(sum.Together, words)
		}
	}
	sort.Strings(sum.Together) // whichever was named first
	return sum
}

// both is what two loads have in common.
func both(a, b timeline.Opt[float64]) timeline.Opt[float64] {
	if a != b {
		return timeline.Opt[float64]{}
	}
	return a
}

// addStages adds the levels of stages that last as long; false where they don't.
func addStages(a, b string) (string, bool) {
	if a == "" || b == "" {
		return "", a == b
	}
	as, bs := strings.Split(a, ","), strings.Split(b, ",")
	if len(as) != len(bs) {
		return "", false
	}
	for i := range as {
		length, x, _ := strings.Cut(as[i], "@")
		other, y, _ := strings.Cut(bs[i], "@")
		x1, x2, rises := strings.Cut(x, "..")
		y1, y2, too := strings.Cut(y, "..")
		if d, err := time.ParseDuration(length); length != other {
			if same, bad := time.ParseDuration(other); err != nil || bad != nil || d != same {
				return "", false
			}
		}
		if !rises {
			x2 = x1
		}
		if !too {
			y2 = y1
		}
		from, to := addTexts(x1, y1), addTexts(x2, y2)
		if from == "" || to == "" {
			return "", false
		}
		as[i] = length + "@" + from
		if from != to {
			as[i] += ".." + to
		}
	}
	return strings.Join(as, ","), true
}

// addTexts adds two numbers; empty where one is none.
func addTexts(a, b string) string {
	x, err := strconv.ParseFloat(a, 64)
	y, bad := strconv.ParseFloat(b, 64)
	if err != nil || bad != nil {
		return ""
	}
	return strconv.FormatFloat(x+y, 'g', 12, 64)
}
