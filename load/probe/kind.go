// Package probe asks servers the same few things at times spread over the day,
// so that their medians and trends can be told: long and short prompts, several
// at once, a picture, a cold start. Every prompt is new, what may be spent in a
// day is counted before it is sent, and no probe counts as users' traffic.
package probe

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Kind is one thing that is asked again and again.
type Kind struct {
	Name   string `yaml:"name" required:"true" doc:"what rows and tables call it (workload_class)"`
	Input  int64  `yaml:"input" doc:"tokens of the prompt, by o200k_base; default 100"`
	Output int64  `yaml:"output" doc:"the most tokens of the answer; default 64"`
	PerDay int    `yaml:"per_day" doc:"how often a day, one in each of as many equal parts of it; default 8"`
	// Ask is a question whose answer is known; else a text of about Output tokens
	// is asked for.
	Ask      bool          `yaml:"ask" doc:"end the prompt with a sum to work out, and check the answer; else a long text is asked for"`
	Parallel int           `yaml:"parallel" doc:"so many requests at once; default 1"`
	Images   int           `yaml:"images" doc:"so many made pictures of a megapixel in the prompt"`
	Idle     time.Duration `yaml:"idle" doc:"a cold start: nothing else is asked for so long before; then the same is asked again at once, as NAME-again"`
}

// Again ends the name of what follows a cold start: the difference between the
// two is what the start took.
const Again = "-again"

// Default is the suite of published rankings: 1,000, 10,000 and 100,000 tokens
// in, eight times a day, with answers of 1,000 to 2,000 tokens; ten at once and a
// cold start once a day (Artificial Analysis, methodology of its performance
// benchmarks); beside each long answer a short one that is checked, and a light
// probe every minute, which shows when something happened.
func Default() []Kind {
	kinds := []Kind{{Name: "light", Input: 100, Output: 64, PerDay: 1440, Ask: true}}
	for _, size := range []struct {
		name          string
		input, output int64
	}{{"1k", 1000, 1000}, {"10k", 10_000, 1500}, {"100k", 100_000, 2000}} {
		kinds = append(kinds,
			Kind{Name: size.name + "-short", Input: size.input, Output: 64, PerDay: 8, Ask: true},
			Kind{Name: size.name + "-long", Input: size.input, Output: size.output, PerDay: 8})
	}
	return append(kinds,
		Kind{Name: "image", Input: 1000, Output: 64, PerDay: 8, Ask: true, Images: 1},
		Kind{Name: "parallel", Input: 1000, Output: 1000, PerDay: 1, Parallel: 10},
		Kind{Name: "cold", Input: 100, Output: 64, PerDay: 1, Ask: true, Idle: 20 * time.Minute})
}

// most bounds what a kind may ask for: beyond it lies a slip of the pen.
const (
	mostTokens   = 4_000_000
	mostPerDay   = 86_400
	mostParallel = 1000
	mostImages   = 100
)

// Check says all that is wrong with a suite; an empty one is the default.
func Check(kinds []Kind) error {
	if len(kinds) == 0 {
		return nil
	}
	_, err := settle(kinds)
	return err
}

// settle fills in what was left out and says all that is wrong.
func settle(kinds []Kind) ([]Kind, error) {
	out := make([]Kind, len(kinds))
	seen := map[string]bool{}
	var wrong []error
	for i, k := range kinds {
		k.Input, k.Output = cmp.Or(k.Input, 100), cmp.Or(k.Output, 64)
		k.PerDay, k.Parallel = cmp.Or(k.PerDay, 8), cmp.Or(k.Parallel, 1)
		bad := func(what string) { wrong = append(wrong, fmt.Errorf("probe %q: %s", k.Name, what)) }
		switch {
		case k.Name == "":
			bad("it needs a name")
		case seen[k.Name] || seen[k.Name+Again] && k.Idle > 0:
			bad("the name is taken")
		}
		seen[k.Name] = true
		if k.Idle > 0 {
			seen[k.Name+Again] = true
		}
		for _, limit := range []struct {
			name     string
			n, least int64
			most     int64
		}{
			{"input", k.Input, 1, mostTokens}, {"output", k.Output, 1, mostTokens}, {"per_day", int64(k.PerDay), 1, mostPerDay},
			{"parallel", int64(k.Parallel), 1, mostParallel}, {"images", int64(k.Images), 0, mostImages},
		} {
			if limit.n < limit.least || limit.n > limit.most {
				bad(fmt.Sprintf("%s is %d; it is from %d to %d", limit.name, limit.n, limit.least, limit.most))
			}
		}
		switch {
		case k.Idle < 0 || k.Idle > 12*time.Hour:
			bad("idle is from 0 to 12h")
		case k.Idle > 0 && k.Parallel > 1:
			bad("a cold start is one request: leave out idle or parallel")
		case k.Idle > 0 && 2*k.Idle > k.part():
			bad("idle leaves no time for the other probes: ask less often")
		}
		out[i] = k
	}
	if len(kinds) == 0 {
		wrong = append(wrong, errors.New("there is nothing to ask: name at least one probe"))
	}
	return out, errors.Join(wrong...)
}

// part is the length of the part of a day that holds one probe of the kind.
func (k *Kind) part() time.Duration { return 24 * time.Hour / time.Duration(k.PerDay) }

// requests is how many requests one probe of the kind sends.
func (k *Kind) requests() int {
	if k.Idle > 0 {
		return 2
	}
	return k.Parallel
}

// Load is what a day asks.
type Load struct {
	Requests      int
	Input, Output int64 // tokens: as asked, and at most
}

// Day is what a whole day asks of all targets, within any budget.
func (p *Prober) Day() (l Load) {
	for i := range p.kinds {
		k := &p.kinds[i]
		n := k.PerDay * k.requests() * len(p.targets)
		l.Requests += n
		l.Input += int64(n) * k.Input
		l.Output += int64(n) * k.Output
	}
	return l
}
