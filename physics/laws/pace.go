package laws

import (
	"sort"

	"tokenmeter/base/random"
)

// pace is a speed that changes over time in steps, made as far as it is asked for.
type pace struct {
	ends   []float64 // of the steps, in seconds
	speeds []float64
	next   func(n int) (length, speed float64) // the step n
}

// step is the one that a time lies in.
func (p *pace) step(t float64) int {
	for len(p.ends) == 0 || p.ends[len(p.ends)-1] <= t {
		p.grow()
	}
	// Nearly always one of the last.
	n := len(p.ends)
	if n < 8 || p.ends[n-8] > t {
		return sort.Search(n, func(i int) bool { return p.ends[i] > t })
	}
	i := n - 1
	for i > 0 && p.ends[i-1] > t {
		i--
	}
	return i
}

func (p *pace) grow() {
	last := 0.0
	if n := len(p.ends); n > 0 {
		last = p.ends[n-1]
	}
	length, speed := p.next(len(p.ends))
	p.ends, p.speeds = append(p.ends, last+length), append(p.speeds, speed)
}

// at is the speed at a time.
func (p *pace) at(t float64) float64 { return p.speeds[p.step(t)] }

// finish is when work ends that begins at a time. Without a pace all is at full speed.
func (p *pace) finish(start, work float64) float64 {
	if p == nil {
		return start + work
	}
	if work <= 0 {
		return start
	}
	for i, t := p.step(start), start; ; i++ {
		if i == len(p.ends) {
			p.grow()
		}
		if done := (p.ends[i] - t) * p.speeds[i]; done < work {
			work, t = work-done, p.ends[i]
			continue
		}
		return t + work/p.speeds[i]
	}
}

// stalls stop the server for some time in every period, from anywhere in it.
func stalls(period, length float64) func(*random.Source) *pace {
	return func(r *random.Source) *pace {
		phase := r.Float64() * period // until the end of the first one
		return &pace{next: func(n int) (float64, float64) {
			switch {
			case n == 0 && phase > length:
				return phase - length, 1
			case n == 0:
				return phase, 0
			case (n%2 == 1) == (phase > length):
				return length, 0
			}
			return period - length, 1
		}}
	}
}

// switches go between two speeds after times that are exponential with these means.
func switches(mean, speed [2]float64) func(*random.Source) *pace {
	return func(r *random.Source) *pace {
		first := 0
		if r.Float64()*(mean[0]+mean[1]) >= mean[0] {
			first = 1
		}
		return &pace{next: func(n int) (float64, float64) {
			state := (first + n) % 2
			return r.Exp() * mean[state], speed[state]
		}}
	}
}

// slower works ever more slowly: each second of work takes share more of a second
// after every minute.
func slower(share float64) func(*random.Source) *pace {
	return func(*random.Source) *pace {
		return &pace{next: func(n int) (float64, float64) { return 1, 1 / (1 + share*(float64(n)+0.5)/60) }}
	}
}
