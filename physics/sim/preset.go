package sim

import (
	"slices"
	"time"
)

// Preset is a named configuration.
type Preset struct {
	Name   string
	About  string // one line for a list
	Config Config
}

// Presets are the configurations that have a name, in the order of a list.
func Presets() []Preset { return append(slices.Clone(named), pairPresets()...) }

var named = []Preset{
	{"default", "a small model on a modern accelerator: about 30 ms to the first token, 8 ms a token", Config{
		Slots: 64, Overhead: 18 * time.Millisecond, PrefillPerToken: 45 * time.Microsecond,
		DecodeBase: 7500 * time.Microsecond, DecodePerSeq: 60 * time.Microsecond, Jitter: 0.03,
		OutputSpread: 0.3,
	}},
	{"demo", "what bench --demo measures: the default with some queueing and longer tails", Config{
		Model: "demo-8b", Slots: 16, Overhead: 16 * time.Millisecond, PrefillPerToken: 50 * time.Microsecond,
		DecodeBase: 6500 * time.Microsecond, DecodePerSeq: 140 * time.Microsecond, Jitter: 0.08,
		OutputSpread: 0.3,
	}},
	{"slow", "a large model on few accelerators: 0.3 s to the first token, 45 ms a token", Config{
		Slots: 16, Overhead: 200 * time.Millisecond, PrefillPerToken: 400 * time.Microsecond,
		DecodeBase: 42 * time.Millisecond, DecodePerSeq: 400 * time.Microsecond, Jitter: 0.03,
	}},
	{"fast", "a tiny model: 3 ms to the first token, 1 ms a token", Config{
		Slots: 256, Overhead: 2 * time.Millisecond, PrefillPerToken: 4 * time.Microsecond,
		DecodeBase: time.Millisecond, DecodePerSeq: 2 * time.Microsecond,
	}},
	{"exact", "fixed times whatever the load: 50 ms to the first token, 10 ms a token", Config{
		Overhead: 50 * time.Millisecond, DecodeBase: 10 * time.Millisecond, OutputTokens: 100,
	}},
	{"null", "no delay at all: the client is what is measured", Config{OutputTokens: 100}},
	{"flaky", "the default with one request in five going wrong, each in its own way", Config{
		Slots: 64, Overhead: 18 * time.Millisecond, PrefillPerToken: 45 * time.Microsecond,
		DecodeBase: 7500 * time.Microsecond, DecodePerSeq: 60 * time.Microsecond, Jitter: 0.1,
		Faults: []Fault{
			{Kind: "429", Rate: 0.03}, {Kind: "503", Rate: 0.02}, {Kind: FaultReset, Rate: 0.02, After: -1},
			{Kind: FaultCut, Rate: 0.02, After: -1}, {Kind: FaultError, Rate: 0.02, After: -1},
			{Kind: FaultStall, Rate: 0.03, After: -1, For: 1500 * time.Millisecond},
			{Kind: FaultSplit, Rate: 0.03}, {Kind: FaultEmpty, Rate: 0.01}, {Kind: FaultNoDone, Rate: 0.02},
			{Kind: FaultMalformed, Rate: 0.01, After: -1}, {Kind: FaultClose, Rate: 0.02},
		},
	}},
}

// FindPreset returns the preset of a name. Any model/accelerator of the engine's
// tables is one, whether it is in the list or not: see Pair.
func FindPreset(name string) (Preset, bool) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, true
		}
	}
	if c, err := Pair(name); err == nil {
		return Preset{name, "a pair of the engine's tables", c}, true
	}
	return Preset{}, false
}
