// Package cost is what requests cost: by GPU hours, or by token prices of a
// user's own file. What has no price stays unknown and is never 0.
package cost

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/record/timeline"
)

// Tokens are prices in USD per million tokens. An empty one is unknown: a
// request that needs it has no known cost.
type Tokens struct {
	Input      timeline.Opt[float64] `json:"input"`       // neither read from a cache nor written to one
	CachedRead timeline.Opt[float64] `json:"cached_read"` // read from the prefix cache
	CacheWrite timeline.Opt[float64] `json:"cache_write"` // written to it
	// CacheWrite1h is for what is written to stay for an hour.
	CacheWrite1h timeline.Opt[float64] `json:"cache_write_1h,omitzero"`
	Output       timeline.Opt[float64] `json:"output"`
	Reasoning    timeline.Opt[float64] `json:"reasoning"` // empty: as output, which it is part of
	// Units are billed beside the tokens, or in their place.
	Units
	// Tiers have prices of their own, by what the server calls a class of service
	// (flex, priority, …). These prices here are those of the standard class.
	Tiers map[string]Tokens `json:"tiers,omitempty"`
	// Long are the prices of requests with long prompts, in ascending order: all of the
	// request is at them, its output too.
	Long []Long `json:"long,omitempty"`
}

// Long are prices of requests whose prompt, cached tokens included, has more than
// so many tokens.
type Long struct {
	Above int64 `json:"above"`
	Tokens
}

// Pricing is what a user says things cost.
type Pricing struct {
	// GPUHour is USD for one GPU and hour, GPUs how many serve; empty: not told.
	GPUHour timeline.Opt[float64] `json:"usd_per_gpu_hour"`
	GPUs    timeline.Opt[int64]   `json:"gpus"`
	// KWh is USD for a kilowatt-hour of electricity; empty: not told.
	KWh timeline.Opt[float64] `json:"usd_per_kwh"`
	// Models have prices of their own; Any is for those that have none. A model
	// that is in neither has no price.
	Models map[string]Tokens `json:"models"`
	Any    *Tokens           `json:"any"`
}

// file is the form of a price file.
type file struct {
	GPUHour *float64              `yaml:"gpu_hour"`
	GPUs    *int64                `yaml:"gpus"`
	KWh     *float64              `yaml:"energy_kwh"`
	Any     *fileTokens           `yaml:"per_million"`
	Models  map[string]fileTokens `yaml:"models"`
}

type fileTokens struct {
	Input      *float64 `yaml:"input"`
	CachedRead *float64 `yaml:"cached_read"`
	CacheWrite *float64 `yaml:"cache_write"`
	Write1h    *float64 `yaml:"cache_write_1h"`
	Output     *float64 `yaml:"output"`
	Reasoning  *float64 `yaml:"reasoning"`

	Image       *float64 `yaml:"image"`
	AudioMinute *float64 `yaml:"audio_minute"`
	Characters  *float64 `yaml:"million_characters"`

	Above *int64                `yaml:"above"`
	Long  []fileTokens          `yaml:"long"`
	Tiers map[string]fileTokens `yaml:"tiers"`
}

// maxFile bounds a price file, so that a wrong one does not fill the memory.
const maxFile = 1 << 20

// Read reads a price file. The error has everything that is wrong with it.
//
//	gpu_hour: 2.50          # USD for one GPU and hour
//	gpus: 8
//	energy_kwh: 0.30        # USD for a kilowatt-hour
//	per_million:            # USD per million tokens, of any model
//	  input: 2.50
//	  cached_read: 1.25
//	  output: 10
//	models:                 # or of each
//	  a-painter: {image: 0.04} # USD a picture; also audio_minute, million_characters
//	  some-model: {input: 0.15, cached_read: 0.075, output: 0.60}
//	  other-model:
//	    input: 1.25
//	    output: 10
//	    tiers:              # of classes of service but the standard one
//	      flex: {input: 0.625, output: 5}
//	    long:               # of prompts with more tokens
//	      - {above: 200000, input: 2.50, output: 15}
func Read(r io.Reader, name string) (Pricing, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return Pricing{}, fmt.Errorf("%s: %w", name, err)
	case len(data) > maxFile:
		return Pricing{}, fmt.Errorf("%s: it is larger than a price file can be (1 MB)", name)
	}
	var f file
	doc := config.Decode(name, data, &f)
	p := Pricing{GPUHour: timeline.FromPtr(f.GPUHour), GPUs: timeline.FromPtr(f.GPUs), KWh: timeline.FromPtr(f.KWh)}
	wrong := func(path, format string, args ...any) { doc.Addf(path, path+": "+format, args...) }
	if f.Any != nil {
		f.Any.check("per_million", wrong)
		t := f.Any.tokens()
		p.Any = &t
	}
	for model, t := range f.Models {
		if p.Models == nil {
			p.Models = map[string]Tokens{}
		}
		t.check("models."+model, wrong)
		p.Models[model] = t.tokens()
	}
	p.each(wrong)
	if err := doc.Err(); err != nil {
		return Pricing{}, err
	}
	return p, nil
}

// check tells of above where it would say nothing.
func (t fileTokens) check(path string, wrong func(path, format string, args ...any)) {
	if t.Above != nil {
		wrong(path+".above", "it belongs to the prices under long")
	}
	for name, tier := range t.Tiers {
		tier.check(path+".tiers."+name, wrong)
	}
}

func (t fileTokens) tokens() Tokens {
	prices := Tokens{Input: timeline.FromPtr(t.Input), CachedRead: timeline.FromPtr(t.CachedRead), CacheWrite: timeline.FromPtr(t.CacheWrite),
		CacheWrite1h: timeline.FromPtr(t.Write1h), Output: timeline.FromPtr(t.Output), Reasoning: timeline.FromPtr(t.Reasoning),
		Units: Units{timeline.FromPtr(t.Image), timeline.FromPtr(t.AudioMinute), timeline.FromPtr(t.Characters)}}
	for name, tier := range t.Tiers {
		if prices.Tiers == nil {
			prices.Tiers = map[string]Tokens{}
		}
		prices.Tiers[name] = tier.tokens()
	}
	for _, long := range t.Long {
		above := int64(-1) // it must be said
		if long.Above != nil {
			above = *long.Above
		}
		prices.Long = append(prices.Long, Long{above, long.tokens()})
	}
	sort.SliceStable(prices.Long, func(i, k int) bool { return prices.Long[i].Above < prices.Long[k].Above })
	return prices
}

// Check says what is wrong with the prices.
func (p *Pricing) Check() error {
	var errs []error
	p.each(func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf(path+": "+format, args...))
	})
	return errors.Join(errs...)
}

// each tells what is wrong, and where it stands in a price file.
func (p *Pricing) each(wrong func(path, format string, args ...any)) {
	price := func(path string, v timeline.Opt[float64]) {
		if x, ok := v.Get(); ok && (!(x >= 0) || math.IsInf(x, 0)) {
			wrong(path, "%v is no price: want 0 or more", x)
		}
	}
	price("gpu_hour", p.GPUHour)
	price("energy_kwh", p.KWh)
	if n, ok := p.GPUs.Get(); ok && n < 1 {
		wrong("gpus", "%d is too few: want at least 1", n)
	}
	var model func(path string, t Tokens, tier, long bool)
	model = func(path string, t Tokens, tier, long bool) {
		price(path+".input", t.Input)
		price(path+".cached_read", t.CachedRead)
		price(path+".cache_write", t.CacheWrite)
		price(path+".cache_write_1h", t.CacheWrite1h)
		price(path+".output", t.Output)
		price(path+".reasoning", t.Reasoning)
		price(path+".image", t.Image)
		price(path+".audio_minute", t.AudioMinute)
		price(path+".million_characters", t.Characters)
		if !t.Input.OK() && !t.Output.OK() && !t.any() {
			wrong(path, "there is neither an input nor an output price, nor one of pictures, sound or characters")
		}
		if long && t.any() {
			wrong(path, "pictures, sound and characters have no price by the length of a prompt")
		}
		if long && (len(t.Tiers) > 0 || len(t.Long) > 0) {
			wrong(path, "prices of long prompts have no tiers and no long of their own; a tier may have long")
			return
		}
		for i, l := range t.Long {
			if l.Above < 1 {
				wrong(path+".long", "each needs above: prompts of more tokens are at its prices")
			} else if i > 0 && l.Above == t.Long[i-1].Above {
				wrong(path+".long", "above %d is there twice", l.Above)
			}
			model(path+".long", l.Tokens, false, true)
		}
		if tier && len(t.Tiers) > 0 {
			wrong(path+".tiers", "a tier has no tiers of its own")
			return
		}
		folded := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(t.Tiers)) {
			if twin, ok := folded[strings.ToLower(name)]; ok {
				wrong(path+".tiers."+name, "it is the same class as %q: case says nothing", twin)
			}
			folded[strings.ToLower(name)] = name
			model(path+".tiers."+name, t.Tiers[name], true, false)
		}
	}
	if p.Any != nil {
		model("per_million", *p.Any, false, false)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		model("models."+name, p.Models[name], false, false)
	}
}

// Hourly is what the GPUs cost together in an hour; empty where it is not told.
func (p *Pricing) Hourly() timeline.Opt[float64] {
	usd, ok := p.GPUHour.Get()
	return timeline.Maybe(usd*float64(p.GPUs.Or(1)), ok)
}

// tier are the prices of a class of service; false where it has none.
func (t Tokens) tier(name string) (Tokens, bool) {
	for own, prices := range t.Tiers {
		if strings.EqualFold(own, name) {
			return prices, true
		}
	}
	switch strings.ToLower(name) {
	case "", "default", "standard", "on_demand": // what OpenAI, Anthropic, Groq and Vertex AI call the standard one
		return t, true
	}
	return Tokens{}, false
}

// at are the prices of a prompt of so many tokens.
func (t Tokens) at(input int64) Tokens {
	for _, l := range slices.Backward(t.Long) {
		if input > l.Above {
			return l.Tokens
		}
	}
	return t
}

// For are the token prices of a model; false: it has none.
func (p *Pricing) For(model string) (Tokens, bool) {
	if t, ok := p.Models[model]; ok {
		return t, true
	}
	if p.Any != nil {
		return *p.Any, true
	}
	return Tokens{}, false
}

// Priced reports whether there are any token prices.
func (p *Pricing) Priced() bool { return p.Any != nil || len(p.Models) > 0 }

// Empty reports whether nothing has a price.
func (p *Pricing) Empty() bool { return !p.Priced() && !p.GPUHour.OK() && !p.KWh.OK() }

// Blend is the price of a million tokens at somebody's mix of input that a cache knows,
// other input, and output, as rankings print it; it belongs together with its ratio.
// Without a price of their own, known tokens cost what others do.
func (t Tokens) Blend(cached, input, output float64) timeline.Opt[float64] {
	in, okIn := t.Input.Get()
	out, okOut := t.Output.Get()
	all := cached + input + output
	return timeline.Maybe((t.CachedRead.Or(in)*cached+in*input+out*output)/all, okIn && okOut && all > 0)
}
