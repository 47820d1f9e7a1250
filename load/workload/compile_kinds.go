package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/load/answer"
)

const maxTurns = 1000

// kinds compiles what makes an item of several requests.
func (c *compiler) kinds(out *class, k *Content, at func(string) string) {
	several := 0
	if k.Turns != "" {
		several++
		if out.turns = c.count(k.Turns, at("turns"), maxTurns); !out.turns.IsZero() && k.File == "" {
			out.kind = Conversation
		}
	}
	out.think = c.pause(k.Think, at("think"))
	c.refuse(k.NextInput != "" && k.File != "", at("next_input"), "next_input is of made turns, and file gives them: leave it out")
	if k.Turns == "" {
		for field, given := range map[string]bool{"think": k.Think != "", "next_input": k.NextInput != "", "history": k.History != "" && k.Task == nil && out.recording == nil && !k.Sessions} {
			c.refuse(given, at(field), "%s is for conversations: add turns", field)
		}
	}
	if k.Batch != "" || k.Query != "" {
		c.batch(out, k, at)
	}
	if k.Segments != nil {
		several++
		out.kind = Segments
		if out.segment = k.Segments.Every; out.segment <= 0 || out.segment > maxTime {
			c.Addf(at("segments.every"), "a segment of %v; want a time above 0", out.segment)
		}
		out.turns = c.count(k.Segments.Count, at("segments.count"), 100_000)
	}
	if k.Task != nil {
		several++
		out.kind = Task
		out.deadline = k.Task.Deadline
		c.task(out, k.Task, at)
		c.refuse(k.Prefix != nil, at("prefix"), "tasks have no shared prefix yet: use system")
		c.refuse(k.File != "", at("file"), "a task is made, not read from a file")
	}
	c.refuse(several > 1, at("turns"), "turns, task and segments exclude each other")
	if k.Segments != nil && k.File != "" {
		c.Addf(at("segments"), "segments are made, not read from a file")
	}
}

// batch compiles requests of several texts.
func (c *compiler) batch(out *class, k *Content, at func(string) string) {
	out.batch = &batch{texts: c.count(k.Batch, at("batch"), maxBatch), query: c.count(k.Query, at("query"), MaxTokens)}
	names := given(k)
	for _, name := range names {
		if !slices.Contains([]string{"batch", "query", "input", "file", "format", "columns", "time_in", "block", "order", "corpus", "cache_bust", "parameters", "models", "leave", "slow"}, name) {
			c.Addf(at(name), "a batch is of single texts, which are answered without words: leave out %s", name)
		}
	}
	c.refuse(out.recording != nil, at("batch"), "sessions of agents are sent as they were recorded: leave out batch")
	c.refuse(k.Query != "" && k.File != "", at("query"), "of a file the first text of each request is the query: leave out query")
}

func (c *compiler) task(out *class, t *TaskSpec, at func(string) string) {
	c.refuse(t.Deadline < 0, at("task.deadline"), "a deadline of %v", t.Deadline)
	names := map[string]int{}
	for i, s := range t.Steps {
		path := at(fmt.Sprintf("task.steps[%d]", i))
		if _, twice := names[s.Name]; twice {
			c.Addf(path+".name", "two steps are named %q", s.Name)
		}
		c.refuse(s.Name == "none", path+".name", "no step can be named none")
		names[s.Name] = i
	}
	sorted, circle := order(t.Steps)
	if circle != nil {
		c.Addf(at("task.steps"), "the steps %s wait for each other", strings.Join(circle, ", "))
		return
	}
	if len(sorted) == 0 {
		c.Addf(at("task.steps"), "a task needs at least one step")
		return
	}
	place := map[string]int{} // in the order of the plan
	plan := &taskPlan{}
	for _, i := range sorted {
		path := at(fmt.Sprintf("task.steps[%d]", i))
		plan.steps = append(plan.steps, c.step(&t.Steps[i], path, place))
		place[t.Steps[i].Name] = len(plan.steps) - 1
	}
	out.task = plan
}

func (c *compiler) step(s *StepSpec, path string, place map[string]int) stepPlan {
	p := stepPlan{name: s.Name, tool: c.pause(s.Tool, path+".tool"), continues: -1,
		times: c.count(s.Times, path+".times", maxSteps), parallel: c.count(s.Parallel, path+".parallel", maxSteps),
		shape: c.shape(s.Input, s.Output, path+".input", path+".output", true)}
	for k, name := range s.After {
		q, known := place[name]
		if !known {
			c.Addf(fmt.Sprintf("%s.after[%d]", path, k), "no step is named %q", name)
			continue
		}
		p.after = append(p.after, q)
	}
	switch name := s.Continues; {
	case name == "none":
	case name != "":
		q, known := place[name]
		if !known {
			c.Addf(path+".continues", "no step that comes before is named %q", name)
			break
		}
		p.continues = q
	case len(p.after) == 1:
		p.continues = p.after[0]
	}
	c.refuse(s.Tool != "" && len(s.After) == 0, path+".tool", "a tool works between steps: say after which (after)")
	return p
}

// images compiles what there is to look at: videos of so many seconds, or pictures.
func (c *compiler) images(m *ImagesSpec, seconds int, at func(string) string, name string) *images {
	out := &images{count: c.count(m.Count, at(name+".count"), 100), width: m.Width, height: m.Height, seconds: seconds}
	if m.Files != "" {
		files, err := ownPictures(c.beside(m.Files), seconds > 0)
		if err != nil {
			c.Addf(at(name+".files"), "%v", bare(c.beside(m.Files), err))
		}
		c.refuse(m.Width != 0 || m.Height != 0, at(name+".files"), "width and height are of made ones: leave them out")
		out.files = files
	}
	for field, side := range map[string]*int{"width": &out.width, "height": &out.height} {
		if *side == 0 {
			*side = 512
		}
		if *side < 1 || *side > 8192 {
			c.Addf(at(name+"."+field), "%d pixels; want 1 to 8192", *side)
			*side = 1
		}
	}
	most := max(out.count.hi, 1)
	if all := most * int64(pngPixels(out.width, out.height)*max(seconds, 1)); m.Files == "" && all > maxPicture {
		c.Addf(at(name), "up to %d of them are %d MB in one request; want at most %d MB: fewer, smaller or shorter ones",
			most, all/1e6, maxPicture/1_000_000)
	}
	return out
}

// extras compiles what goes with any request.
func (c *compiler) extras(out *class, k *Content, at func(string) string) {
	if p := k.Prefix; p != nil {
		lengths := c.count(p.Tokens, at("prefix.tokens"), MaxTokens)
		switch {
		case p.Count < 0 || p.Count > maxPrefixes:
			c.Addf(at("prefix.count"), "%d prefixes; want 1 to %d", p.Count, maxPrefixes)
		case !(p.Skew >= 0 && p.Skew <= 10):
			c.Addf(at("prefix.skew"), "a skew of %v; want 0 to 10", p.Skew)
		default:
			out.prefix = newPrefixes(lengths, p.Count, p.Skew, p.As)
		}
		c.refuse(k.System != "" && p.As != "user", at("prefix"), "the prefix is said by the system, and so is system: leave one out, or say as: user")
		c.refuse(k.File != "", at("prefix"), "a prefix is for made prompts; file gives them")
	}
	if m := k.Images; m != nil {
		out.images = append(out.images, c.images(m, 0, at, "images"))
	}
	if m := k.Video; m != nil {
		seconds := cmp.Or(m.Seconds, defaultVideoS)
		if seconds < 1 || seconds > maxVideoS {
			c.Addf(at("video.seconds"), "%d seconds; want 1 to %d", seconds, maxVideoS)
			seconds = 1
		}
		c.refuse(m.Files != "" && m.Seconds != 0, at("video.files"), "seconds are of made videos: leave them out")
		out.images = append(out.images, c.images(&m.ImagesSpec, seconds, at, "video"))
	}
	var shares []float64
	for i, m := range k.Models {
		m.Share = cmp.Or(m.Share, 1)
		c.refuse(!(m.Share > 0) || math.IsInf(m.Share, 0), at(fmt.Sprintf("models[%d].share", i)), "a share of %v; want a number above 0", m.Share)
		out.models, shares = append(out.models, m.Name), append(shares, m.Share)
	}
	if shares != nil {
		out.ofModel = newChoice(shares)
	}
	if k.Check != nil {
		checked, err := answer.Compile(*k.Check)
		if err != nil {
			c.Addf(at("check"), "%v", err)
		} else if checked == nil {
			c.Addf(at("check"), "nothing is checked: give exact, contains, regex, number, json_schema or judge")
		}
		out.check = checked
	}
	c.users(out, k, at)
}
