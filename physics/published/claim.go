package published

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"tokenmeter/physics/sim"
)

// Claim is what people say of serving, and what a trial of it shows.
type Claim struct {
	Name  string
	Said  string // as it is said
	True  string // what is so, and why
	Shows []Show
	Holds []Ratio
}

// Show is one command of the simulator.
type Show struct {
	Preset     string
	As         sim.Scheduling
	Streams    []int
	Input, Out int
}

// Ratio is what the rows of a claim's trials, counted through from 0, must show:
// the figure of one row divided by that of another lies between two numbers.
type Ratio struct {
	Says     string // in words, behind "row 2 against row 1:"
	Figure   string // by its name in JSON
	Row      int
	Over     string // the figure below the line; empty: the same
	To       int
	Min, Max float64
}

// Command is what to type for a show.
func (s Show) Command() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tokenmeter sim --preset %s", s.Preset)
	flag := func(name, value string) {
		if value != "" && value != "0" {
			fmt.Fprintf(&b, " --%s %s", name, value)
		}
	}
	flag("tensor-parallel", strconv.Itoa(s.As.TensorParallel))
	flag("quantization", s.As.Quantization)
	flag("batching", s.As.Batching)
	flag("max-sequences", strconv.Itoa(s.As.MaxSequences))
	flag("speculate", strconv.Itoa(s.As.Speculate))
	flag("acceptance", strconv.FormatFloat(s.As.Acceptance, 'g', -1, 64))
	flag("draft", s.As.Draft)
	flag("beam-width", strconv.Itoa(s.As.BeamWidth))
	flag("split", s.As.Split)
	streams := make([]string, len(s.Streams))
	for i, n := range s.Streams {
		streams[i] = strconv.Itoa(n)
	}
	flag("try", strings.Join(streams, ","))
	flag("input-tokens", strconv.Itoa(s.Input))
	flag("output-tokens", strconv.Itoa(s.Out))
	return b.String()
}

// Run is what the command prints.
func (s Show) Run() ([]sim.Trial, error) {
	cfg, err := sim.PairAs(s.Preset, s.As)
	if err != nil {
		return nil, err
	}
	cfg.Seed = 1 // the command's default
	return sim.TryAll(cfg, s.Streams, s.Input, s.Out)
}

// Check says which ratios the rows of all shows, in order, do not hold.
func (c Claim) Check(rows []sim.Trial) (wrong []string) {
	for _, r := range c.Holds {
		got, ok := r.of(rows)
		if !ok || got < r.Min || got > r.Max {
			wrong = append(wrong, fmt.Sprintf("%s: %v, want %v to %v", r.Says, got, r.Min, r.Max))
		}
	}
	return wrong
}

func (r Ratio) of(rows []sim.Trial) (float64, bool) {
	below := cmp.Or(r.Over, r.Figure)
	if max(r.Row, r.To) >= len(rows) {
		return 0, false
	}
	a, b := value(rows[r.Row], r.Figure), value(rows[r.To], below)
	if a == nil || b == nil || *b == 0 {
		return 0, false
	}
	return *a / *b, true
}

// text is what must hold, in words.
func (r Ratio) text() string {
	switch {
	case r.Min == 0:
		return fmt.Sprintf("%s: at most %s times", r.Says, short(r.Max))
	case r.Max >= unbounded:
		return fmt.Sprintf("%s: at least %s times", r.Says, short(r.Min))
	}
	return fmt.Sprintf("%s: %s to %s times", r.Says, short(r.Min), short(r.Max))
}

const unbounded = 1e9

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
