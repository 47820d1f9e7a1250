package stat

import "sort"

// Counted is an ordered sample with multiplicities.
type Counted struct {
	values []float64
	upto   []int64 // values up to and including this one
}

func (c *Counted) push(v float64, times int64) {
	if last := len(c.values) - 1; last >= 0 && c.values[last] == v {
		c.upto[last] += times
		return
	}
	c.values = append(c.values, v)
	c.upto = append(c.upto, c.Len()+times)
}

// Append adds a value that is not below any before it, times over. Failures
// join a sample as +Inf this way.
func (c *Counted) Append(v float64, times int64) {
	if times > 0 && (len(c.values) == 0 || v >= c.values[len(c.values)-1]) {
		c.push(v, times)
	}
}

// Len returns the number of values, with their multiplicity.
func (c *Counted) Len() int64 {
	if len(c.upto) == 0 {
		return 0
	}
	return c.upto[len(c.upto)-1]
}

// At returns the i-th smallest value, from 0.
func (c *Counted) At(i int64) float64 {
	return c.values[sort.Search(len(c.upto), func(j int) bool { return c.upto[j] > i })]
}

// AtMost returns how many values do not exceed v.
func (c *Counted) AtMost(v float64) int64 {
	j := sort.Search(len(c.values), func(j int) bool { return c.values[j] > v })
	if j == 0 {
		return 0
	}
	return c.upto[j-1]
}

// Moments returns mean and standard deviation; ok is false for an empty sample.
func (c *Counted) Moments() (m Moments, ok bool) {
	return moments(c.Len(), func(yield func(v float64, count int64)) {
		before := int64(0)
		for i, v := range c.values {
			yield(v, c.upto[i]-before)
			before = c.upto[i]
		}
	})
}
