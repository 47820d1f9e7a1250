package main

import (
	"tokenmeter/base/limitio"
	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
)

// sounds makes the workload of --audio.
func (c *benchCmd) sounds(p *bench.Plan, check *checker) {
	for flag, text := range map[string]string{"--prompt": c.Prompt, "--prompts": c.Prompts, "--input-tokens": c.InputTokens, "--batch": c.Batch,
		"--workload": c.Workload, "--scenario": c.Scenario, "--check": c.Check} {
		if text != "" {
			check.addf("--audio says what is sent, and so does %s: leave one of them out", flag)
			return
		}
	}
	w, err := workload.NewSounds(c.Audio, p.Seed, c.Salt)
	if err != nil {
		check.addf("--audio: %w", err)
		return
	}
	p.Workload = w
}

// prompts makes the workload of --prompts: the records of a file in turn. The
// file is read as it is needed, so that a million prompts start at once; its
// times, where it has any, are not played.
func (c *benchCmd) prompts(p *bench.Plan, check *checker) {
	if f, err := limitio.Open(c.Prompts); err != nil {
		check.addf("--prompts: %w", err)
		return
	} else {
		f.Close()
	}
	p.PromptsFile = c.Prompts
	if c.Check != "" || c.Workload != "" || c.Scenario != "" || c.InputTokens != "" {
		return // made, or refused, there
	}
	spec := workload.Spec{Content: workload.Content{File: c.Prompts, Batch: c.Batch, Output: c.OutputTokens}}
	l, err := workload.FromSpec("--prompts", spec, workload.Options{Seed: p.Seed, Salt: c.Salt, Tokenizer: findTokenizer, TokenizerName: c.Tokenizer})
	if err != nil {
		check.add(prefixed("", err))
		return
	}
	l.Given()
	p.Workload, p.ReadsAnswers = l, l.ReadsAnswers()
}
