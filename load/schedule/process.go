package schedule

import (
	"cmp"
	"tokenmeter/base/random"
)

// process is one kind of arrivals. It works in unit time, where requests come
// once a second on average: a curve of rates only stretches it.
type process struct {
	name   string
	shaped bool // --burstiness means something
	// start returns the function that gives the due time of request 0, 1, 2, …
	// in unit time. It is called once per request, in order.
	start func(seed uint64, shape float64) func(i int64) float64
}

// processes is the table of arrival processes.
var processes = []process{
	{name: "constant", start: constant},
	{name: "poisson", start: poisson},
	{name: "gamma", shaped: true, start: gamma},
	{name: "uniform", start: uniform},
}

func (o Open) process() *process {
	name := cmp.Or(o.Arrival, "constant")
	for i := range processes {
		if processes[i].name == name {
			return &processes[i]
		}
	}
	return nil
}

// scheduleKey keeps arrival times apart from other uses of the same seed.
const scheduleKey = 0x7363686564756c65

// constant computes every moment from the ordinal, so that no error adds up.
func constant(uint64, float64) func(int64) float64 {
	return func(i int64) float64 { return float64(i) }
}

// poisson draws gaps by the inverse of their distribution: −ln(1 − u). The
// first request comes after a gap too, as in a true Poisson process.
func poisson(seed uint64, _ float64) func(int64) float64 {
	src, at := random.New(seed, scheduleKey), 0.0
	return func(int64) float64 {
		at += src.Exp()
		return at
	}
}

// gamma draws gaps of mean 1 whose squared coefficient of variation is 1/shape.
func gamma(seed uint64, shape float64) func(int64) float64 {
	src, at := random.New(seed, scheduleKey), 0.0
	return func(int64) float64 {
		at += src.Gamma(shape)
		return at
	}
}

// uniform draws gaps that are equally likely between nothing and twice the mean.
func uniform(seed uint64, _ float64) func(int64) float64 {
	src, at := random.New(seed, scheduleKey), 0.0
	return func(int64) float64 {
		at += float64(2 * src.Float64())
		return at
	}
}
