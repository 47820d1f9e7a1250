package workload

import (
	"fmt"
	"slices"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

// taskPlan is a task as it was written, checked and in an order in which every
// step comes after those that it needs.
type taskPlan struct{ steps []stepPlan }

type stepPlan struct {
	name            string
	after           []int // plans
	tool            Times
	times, parallel Lengths // zero: 1
	continues       int     // a plan; −1: a new conversation
	shape           Shape
}

// order sorts steps so that each comes after those that it needs; the names
// that are part of a circle come back where there is one.
func order(steps []StepSpec) (sorted []int, circle []string) {
	place := map[string]int{}
	for i, s := range steps {
		place[s.Name] = i
	}
	done := make([]bool, len(steps))
	for len(sorted) < len(steps) {
		before := len(sorted)
		for i, s := range steps {
			ready := !done[i] && !slices.ContainsFunc(s.After, func(name string) bool {
				j, known := place[name]
				return known && !done[j]
			})
			if ready {
				done[i] = true
				sorted = append(sorted, i)
			}
		}
		if len(sorted) == before {
			for i, s := range steps {
				if !done[i] {
					circle = append(circle, s.Name)
				}
			}
			return nil, circle
		}
	}
	return sorted, nil
}

// maxSteps bounds what times and parallel can make of a task.
const maxSteps = 1000

// steps draws the steps of task i.
func (c *class) steps(it *Item) {
	i := it.Index
	var all []Step
	last := make([][]int, len(c.task.steps)) // of each plan: the steps that it ends with
	var sums []int64                         // tokens of the conversation up to and with each step
	for p := range c.task.steps {
		plan := &c.task.steps[p]
		src := random.New(c.seed, turnsKey, uint64(i), uint64(p))
		side, row := drawOr1(plan.parallel, &src), drawOr1(plan.times, &src)
		var after []int
		for _, q := range plan.after {
			after = append(after, last[q]...)
		}
		for range side {
			needs := after
			base := timeline.Opt[int]{}
			if plan.continues >= 0 {
				base = timeline.Some(last[plan.continues][0])
			}
			for r := range row {
				k := len(all)
				if k >= maxSteps {
					it.Err = fmt.Errorf("a task of more than %d steps; lower times or parallel", maxSteps)
					return
				}
				s, sum := c.step(plan, i, k)
				if b, ok := base.Get(); ok {
					sum += sums[b]
				}
				s.After, s.Continue = needs, base
				if len(needs) > 0 {
					s.Wait = plan.tool.Draw(&src)
				}
				if side*row > 1 {
					s.Name = fmt.Sprintf("%s-%d", plan.name, len(last[p])*int(row)+int(r)+1)
				}
				all, sums = append(all, s), append(sums, sum+s.MaxTokens.Or(defaultAnswer))
				needs, base = []int{k}, timeline.Some(k)
			}
			last[p] = append(last[p], len(all)-1)
		}
	}
	it.fill(all)
}

func drawOr1(l Lengths, src *random.Source) int64 {
	if l.IsZero() {
		return 1
	}
	return l.Draw(src)
}

// step makes step k of task i; the tokens are those it adds.
func (c *class) step(plan *stepPlan, i int64, k int) (Step, int64) {
	input, output := plan.shape.Draw(random.Mix(c.seed^random.Mix(uint64(k))), i)
	units := c.unitsOf(i, k, input)
	s := Step{
		Name:      plan.name,
		Messages:  user(c.maker.make(c.salt^partKey(k), i, units)),
		MaxTokens: output,
	}
	if !c.live {
		s.Answer = c.maker.make(c.salt^partKey(k)^answerKey, i, c.maker.units(output.Or(defaultAnswer)))
	}
	if k == 0 && c.system == "" {
		s.InputTokens = timeline.Some(input)
		s.Units, s.Corpus = units, c.maker.corpus
	}
	return s, input
}
