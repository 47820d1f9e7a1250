package workload

import (
	"cmp"
	"sync"

	"tokenmeter/base/random"
	"tokenmeter/wire/api"
)

// prefixes is a pool of beginnings that prompts share. A nil one is none.
type prefixes struct {
	lengths Lengths
	use     choice // which is used how often
	role    string

	mu   sync.Mutex
	text map[int]string // those that were used so far
	of   Calibration    // that they were made with
}

func newPrefixes(lengths Lengths, count int64, skew float64, role string) *prefixes {
	shares := make([]float64, max(count, 1))
	for k := range shares {
		shares[k] = random.Exp(-float64(skew * random.Ln(float64(k+1))))
	}
	return &prefixes{lengths: lengths, use: newChoice(shares), role: cmp.Or(role, "system"), text: map[int]string{}}
}

// maxPrefixes bounds a pool: all that were used are kept.
const maxPrefixes = 100_000

// draw returns the beginning of item i, its tokens, and the units that these are made of.
func (p *prefixes) draw(c *class, i int64) (string, int64, int) {
	if p == nil {
		return "", 0, 0
	}
	src := random.New(c.seed, prefixKey, uint64(i))
	k := p.use.draw(&src)
	src = random.New(c.seed, prefixKey^shapeKey, uint64(k))
	tokens := p.lengths.Draw(&src)
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := c.maker.get(); now != p.of {
		p.text, p.of = map[int]string{}, now
	}
	units := c.maker.span(tokens) // the template's part is the rest's
	s, known := p.text[k]
	if !known {
		s = c.maker.make(c.salt^prefixKey, int64(k), units)
		p.text[k] = s
	}
	return s, tokens, units
}

// messages puts the beginning and the rest of a prompt together.
func (p *prefixes) messages(prefix, body string) []api.Message {
	switch {
	case prefix == "":
		return user(body)
	case p.role == "user":
		return user(prefix + " " + body)
	}
	return []api.Message{{Role: "system", Content: prefix}, {Role: "user", Content: body}}
}
