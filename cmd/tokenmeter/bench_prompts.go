package main

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
)

// sounds makes the workload of --audio.
func (c *benchCmd) sounds(p *bench.Plan, check *checker) {
	for flag, text := range map[string]string{"--prompt": c.Prompt, "--prompts": c.Prompts, "--input-tokens": c.InputTokens, "--batch": c.Batch,
		"--images": c.Images, "--video": c.Video, "--workload": c.Workload, "--scenario": c.Scenario, "--check": c.Check} {
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

// contentOf is what the flags say of each request.
func (c *benchCmd) contentOf(check *checker) workload.Content {
	k := workload.Content{Input: c.InputTokens, Batch: c.Batch, Output: c.OutputTokens, File: c.Prompts}
	if c.Images != "" {
		n, files := sizes(c.Images, check, "--images", "2x1024x1024, 1024x1024")
		k.Images = &workload.ImagesSpec{Files: files, Width: n[1], Height: n[2]}
		if n[0] > 0 {
			k.Images.Count = strconv.Itoa(n[0])
		}
	}
	if c.Video != "" {
		n, files := sizes(c.Video, check, "--video", "8x640x360")
		k.Video = &workload.VideoSpec{Seconds: n[0], ImagesSpec: workload.ImagesSpec{Files: files, Width: n[1], Height: n[2]}}
	}
	return k
}

// sizes reads two or three numbers like 2x1024x768, the first of three ahead; what is
// there as a file or a folder, or is a pattern, is none.
func sizes(text string, check *checker, flag, like string) (n [3]int, files string) {
	if _, err := os.Stat(text); err == nil || strings.ContainsAny(text, "*?[/\\") {
		return n, text
	}
	parts := strings.Split(strings.ReplaceAll(text, "×", "x"), "x")
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil || v < 1 || len(parts) < 2 || len(parts) > 3 {
			check.addf("%s %s: write %s, or name a folder that is there", flag, text, like)
			return n, ""
		}
		n[3-len(parts)+i] = v
	}
	return n, ""
}

// prompts makes the workload of --prompts, the records of a file in turn, and of
// prompts with something to look at. The file is read as it is needed, so that a
// million prompts start at once; its times, where it has any, are not played.
func (c *benchCmd) prompts(p *bench.Plan, check *checker) {
	if c.Prompts != "" {
		f, err := limitio.Open(c.Prompts)
		if err != nil {
			check.addf("--prompts: %w", err)
			return
		}
		f.Close()
	}
	if c.Check != "" || c.Workload != "" || c.Scenario != "" || c.InputTokens != "" && c.Prompts != "" {
		return // made, or refused, there
	}
	if c.Prompt != "" {
		if c.Prompts == "" {
			check.addf("--images and --video go with made prompts, --prompts and --check, not with one --prompt: put it into a file")
		}
		return
	}
	spec := workload.Spec{Content: c.contentOf(check)}
	if spec.File == "" {
		spec.Input = cmp.Or(spec.Input, "256")
	}
	salt := c.Salt
	if salt == "" && spec.File == "" {
		salt = newSalt()
	}
	l, err := workload.FromSpec(c.promptsFlag(), spec, workload.Options{Seed: p.Seed, Salt: salt, Tokenizer: findTokenizer, TokenizerName: c.Tokenizer, OneModel: c.Model})
	if err != nil {
		check.add(prefixed("", err))
		return
	}
	if spec.File != "" {
		l.Given()
	}
	p.Workload, p.ReadsAnswers = l, l.ReadsAnswers()
}

// promptsFlag is the flag that makes the workload, as errors name it.
func (c *benchCmd) promptsFlag() string {
	switch {
	case c.Prompts != "":
		return "--prompts"
	case c.Images == "":
		return "--video"
	case c.Video == "":
		return "--images"
	}
	return "--images and --video"
}
