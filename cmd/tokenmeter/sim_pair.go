//go:build !lean

package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tokenmeter/physics/published"
	"tokenmeter/physics/sim"
)

// simPair are the flags of sim that need a pair of model and hardware.
type simPair struct {
	Try            []int   `group:"pair" placeholder:"STREAMS" help:"Serve nothing: print what a closed loop of so many streams would see, from virtual time. Several numbers with commas."`
	InputTokens    int     `group:"pair" placeholder:"N" help:"Length of the prompts that --try tries. Default: 1000. --output-tokens is that of its answers."`
	TensorParallel int     `group:"pair" placeholder:"N" help:"Devices that share each layer. Default: the pair's."`
	Quantization   string  `group:"pair" placeholder:"P" help:"Precision of the weights: bf16, fp8, int8, fp4, mxfp4, int4, q8_0 or q4_k_m. Default: the pair's."`
	Batching       string  `group:"pair" placeholder:"HOW" help:"chunked (prompts in pieces beside decoding), prefill-first, or static (a batch is filled and run to its end). Default: chunked."`
	MaxSequences   int     `group:"pair" placeholder:"N" help:"Requests in a batch. Default: 256."`
	Speculate      int     `group:"pair" placeholder:"N" help:"Tokens that are guessed for each step of a sequence and checked in it."`
	Acceptance     float64 `group:"pair" placeholder:"SHARE" help:"With --speculate: chance that a guess is right if those before it were. Default: 0.7."`
	Draft          string  `group:"pair" placeholder:"MODEL" help:"With --speculate: the model that guesses, on the same devices. Default: guesses cost nothing."`
	BeamWidth      int     `group:"pair" placeholder:"N" help:"Every request is a beam search of this width. Default: those that ask for one."`
	Split          string  `group:"pair" placeholder:"P:D" help:"P copies of the pair only prefill, and D only decode."`
}

// schedule applies the flags to the configuration of a preset.
func (c *simPair) schedule(preset string, cfg *sim.Config) error {
	if c.InputTokens != 0 && !c.tries() {
		return errors.New("--input-tokens is the length of what --try tries; a server takes what it is sent")
	}
	s := sim.Scheduling{
		TensorParallel: c.TensorParallel, Quantization: c.Quantization, Batching: c.Batching, MaxSequences: c.MaxSequences,
		Speculate: c.Speculate, Acceptance: c.Acceptance, Draft: c.Draft, BeamWidth: c.BeamWidth, Split: c.Split,
	}
	if s == (sim.Scheduling{}) {
		return nil
	}
	if cfg.Engine == nil {
		return fmt.Errorf("--preset %s has no scheduler to change; give a pair of model and hardware, like --preset llama-3.1-8b/h100", preset)
	}
	as, err := sim.PairAs(preset, s)
	if err != nil {
		return errors.New(plainly(err))
	}
	*cfg = as
	return nil
}

func (c *simPair) tries() bool { return len(c.Try) > 0 }

// try prints what clients would see.
func (c *simPair) try(a *app, cfg sim.Config) error {
	in, out := cmp.Or(c.InputTokens, 1000), cfg.OutputTokens
	trials, err := sim.TryAll(cfg, c.Try, in, out)
	if err != nil {
		return fmt.Errorf("--try: %s", plainly(err))
	}
	table := published.TrialTable(trials)
	switch a.flags.Format {
	case "json":
		data, err := json.Marshal(struct {
			InputTokens  int         `json:"input_tokens"`
			OutputTokens int         `json:"output_tokens"`
			Trials       []sim.Trial `json:"trials"`
		}{in, out, trials})
		if err != nil {
			return err
		}
		return a.print(string(data) + "\n")
	case "csv":
		var b strings.Builder
		_ = csv.NewWriter(&b).WriteAll(published.TrialRecords(trials)) // into memory
		return a.print(b.String())
	case "markdown":
		return a.print(table.Markdown())
	}
	return a.print(fmt.Sprintf("%d tokens in, about %d out; virtual time, no network\n\n", in, out) + table.Text())
}
