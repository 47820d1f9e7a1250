package workload

// lengths compiles what says how long texts are.
func (c *compiler) lengths(out *class, k *Content, at func(string) string) {
	input, output := k.Input, k.Output
	switch {
	case k.File != "" && k.Input != "":
		c.Addf(at("input"), "input makes prompts, and file gives them: leave one of them out")
	case k.Task != nil && (k.Input != "" || k.Output != ""):
		c.Addf(at("task"), "the steps of a task have lengths of their own: leave input and output out")
		return
	case k.Task != nil:
		return
	case k.File != "":
		input = "1"
	case k.Input == "":
		c.Addf(at("input"), "input is missing: how many tokens prompts have (or file, or task)")
		return
	}
	out.shape = c.shape(input, output, at("input"), at("output"), k.File == "" && k.Batch == "" && k.Query == "")
	if k.NextInput != "" {
		out.next = c.shape(k.NextInput, output, at("next_input"), at("output"), true)
	}
}

// shape reads lengths. Made prompts ask for 128 tokens where nothing is said.
func (c *compiler) shape(input, output, inPath, outPath string, made bool) Shape {
	if output == "" && made {
		if s, err := ParseShape(input, "128", c.openText); err == nil {
			return s
		}
	}
	if output != "" {
		if _, err := ParseLengths(output); err != nil {
			c.Addf(outPath, "%v", err)
			output = ""
		}
	}
	s, err := ParseShape(input, output, c.openText)
	if err != nil {
		c.Addf(inPath, "%v", err)
		return Shape{}
	}
	return s
}

func (c *compiler) count(text, path string, most int64) Lengths {
	if text == "" {
		return Lengths{}
	}
	l, err := ParseLengths(text)
	if err == nil {
		l, err = l.atMost(most)
	}
	if err != nil {
		c.Addf(path, "%v", err)
	}
	return l
}

func (c *compiler) pause(text, path string) Times {
	if text == "" {
		return Times{}
	}
	t, err := ParseTimes(text)
	if err != nil {
		c.Addf(path, "%v", err)
	}
	return t
}
