package workload

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/bounded"
	"tokenmeter/check"
	"tokenmeter/config"
	"tokenmeter/random"
	"tokenmeter/workload/records"
)

// Options are what a workload is made with beside its file.
type Options struct {
	Seed uint64
	Salt string
	// Tokenizer finds one by name; nil: none is known.
	Tokenizer func(name string) (Tokenizer, error)
	// TokenizerName overrides the file's.
	TokenizerName string
	// Strict reads files of records to their end before anything is sent.
	Strict bool
	// Set replaces fields of the specification, see Spec.Set.
	Set []string
}

// Loaded is a workload with what its file says of the load.
type Loaded struct {
	*Made
	Spec Spec
	// Timed: the records have times, which Trace yields.
	Timed bool
}

// ReadSpec reads a workload file. The document knows where everything stood.
func ReadSpec(name string, data []byte) (Spec, *config.Document) {
	var s Spec
	return s, readSpec(name, data, &s)
}

func readSpec(name string, data []byte, s *Spec) *config.Document {
	return config.Decode(name, data, s)
}

// Load reads a workload file (YAML), or a file of prompts or a trace as it is.
// The error has everything that is wrong, a line each.
func Load(path string, opt Options) (*Loaded, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		data, err := bounded.File(path, 16<<20)
		if err != nil {
			return nil, bare(path, err)
		}
		return FromYAML(path, data, opt)
	}
	spec := Spec{Content: Content{File: filepath.Base(path)}}
	return compile(spec, config.Decode(path, []byte("file: x"), &Spec{}), filepath.Dir(path), opt)
}

// FromYAML is Load for a workload file that was read; files that it names are
// looked for beside name.
func FromYAML(name string, data []byte, opt Options) (*Loaded, error) {
	var s Spec
	doc := readSpec(name, data, &s)
	return compile(s, doc, filepath.Dir(name), opt)
}

// FromSpec makes the workload of a specification that is no file.
func FromSpec(name string, s Spec, opt Options) (*Loaded, error) {
	return compile(s, config.Decode(name, []byte("name: x"), &Spec{}), ".", opt)
}

func bare(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", path, p.Err)
	}
	if err != nil && !strings.Contains(err.Error(), path) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// compiler turns a Spec into classes, and notes what is wrong with it.
type compiler struct {
	*config.Document
	opt       Options
	dir       string
	tokenizer Tokenizer
	out       *Loaded
	makers    map[string]*maker
}

func compile(s Spec, doc *config.Document, dir string, opt Options) (*Loaded, error) {
	c := &compiler{Document: doc, opt: opt, dir: dir, out: &Loaded{Made: &Made{seed: opt.Seed}, Spec: s}, makers: map[string]*maker{}}
	for _, text := range opt.Set {
		if err := s.Set(text); err != nil {
			return nil, err
		}
	}
	c.out.Spec = s
	c.findTokenizer(s.Tokenizer)
	if len(s.Mix) > 0 {
		c.mix(&s)
	} else {
		c.out.classes = []*class{c.class("", &s.Content, "", opt.Seed, saltOf(opt.Salt))}
	}
	c.when(&s.When)
	if err := c.Err(); err != nil {
		c.close()
		return nil, err
	}
	c.describe(&s)
	return c.out, nil
}

func (c *compiler) close() {
	for _, k := range c.out.classes {
		if k != nil && k.source != nil {
			k.source.file.Close()
		}
	}
}

func (c *compiler) findTokenizer(name string) {
	path := "tokenizer"
	if c.opt.TokenizerName != "" {
		name, path = c.opt.TokenizerName, ""
	}
	if name == "" {
		return
	}
	if c.opt.Tokenizer == nil {
		c.Addf(path, "tokenizers are not known here")
		return
	}
	if local := filepath.Join(c.dir, name); path != "" && !filepath.IsAbs(name) {
		if _, err := os.Stat(local); err == nil {
			name = local
		}
	}
	t, err := c.opt.Tokenizer(name)
	if err != nil {
		c.Addf(path, "%v", err)
		return
	}
	c.tokenizer = t
}

func (c *compiler) mix(s *Spec) {
	if name := firstGiven(&s.Content); name != "" {
		c.Addf(name, "%s stands beside mix; put it into each class of the mix", name)
	}
	var shares []float64
	names := map[string]bool{}
	for i := range s.Mix {
		m, path := &s.Mix[i], fmt.Sprintf("mix[%d]", i)
		if !(m.Share > 0) || math.IsInf(m.Share, 0) {
			c.Addf(path+".share", "a share of %v; want a number above 0", m.Share)
		}
		if names[m.Name] {
			c.Addf(path+".name", "two classes are named %q", m.Name)
		}
		names[m.Name] = true
		key := random.Mix(uint64(i) + classKey)
		c.out.classes = append(c.out.classes, c.class(path, &m.Content, m.Name, random.Mix(c.opt.Seed^key), saltOf(c.opt.Salt)^key))
		shares = append(shares, m.Share)
	}
	c.out.of = newChoice(shares)
}

// firstGiven names a field of the content that is set.
func firstGiven(k *Content) string {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"input", k.Input != ""}, {"output", k.Output != ""}, {"file", k.File != ""}, {"turns", k.Turns != ""}, {"corpus", k.Corpus != ""},
		{"task", k.Task != nil}, {"segments", k.Segments != nil}, {"prefix", k.Prefix != nil}, {"images", k.Images != nil},
		{"system", k.System != ""}, {"check", k.Check != nil}, {"parameters", k.Parameters != nil}, {"models", k.Models != nil},
		{"leave", k.Leave != nil}, {"slow", k.Slow != nil},
	} {
		if f.set {
			return f.name
		}
	}
	return ""
}

// class compiles one; what is wrong is noted under the path.
func (c *compiler) class(path string, k *Content, name string, seed, salt uint64) *class {
	at := func(field string) string {
		if path == "" {
			return field
		}
		return path + "." + field
	}
	out := &class{name: name, seed: seed, salt: salt, extra: k.Parameters, system: k.System, live: k.History == "live"}
	out.bust = k.CacheBust
	if out.bust == "off" && k.File == "" {
		out.salt = salt ^ saltOf(c.opt.Salt)
	}
	out.maker = c.maker(k.Corpus, at("corpus"))
	c.lengths(out, k, at)
	c.kinds(out, k, at)
	c.extras(out, k, at)
	if k.File != "" {
		c.file(out, k, at)
	}
	return out
}

func (c *compiler) maker(corpus, path string) *maker {
	if corpus == "" {
		corpus = Words
	}
	if m := c.makers[corpus]; m != nil {
		return m
	}
	m, err := newMaker(corpus, c.tokenizer)
	if err != nil {
		c.Addf(path, "%v", err)
		return &maker{corpus: corpus}
	}
	c.makers[corpus] = m
	return m
}

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
	out.shape = c.shape(input, output, at("input"), at("output"), k.File == "")
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

func (c *compiler) openText(name string) (io.ReadCloser, error) {
	f, err := os.Open(c.beside(name))
	if err != nil {
		return nil, bare(c.beside(name), err)
	}
	return f, nil
}

// beside finds a file that a workload file names.
func (c *compiler) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

func (c *compiler) count(text, path string, most int64) Lengths {
	if text == "" {
		return Lengths{}
	}
	l, err := ParseLengths(text)
	if err != nil {
		c.Addf(path, "%v", err)
		return Lengths{}
	}
	if l.lo > most || l.draw == nil && l.hi > most {
		c.Addf(path, "%s; want at most %d", text, most)
	}
	l.hi = min(l.hi, most)
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
	if k.Turns == "" {
		for field, given := range map[string]bool{"think": k.Think != "", "next_input": k.NextInput != "", "history": k.History != "" && k.Task == nil} {
			if given {
				c.Addf(at(field), "%s is for conversations: add turns", field)
			}
		}
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
		if k.Prefix != nil {
			c.Addf(at("prefix"), "tasks have no shared prefix yet: use system")
		}
		if k.File != "" {
			c.Addf(at("file"), "a task is made, not read from a file")
		}
	}
	if several > 1 {
		c.Addf(at("turns"), "turns, task and segments exclude each other")
	}
	if k.Segments != nil && k.File != "" {
		c.Addf(at("segments"), "segments are made, not read from a file")
	}
}

func (c *compiler) task(out *class, t *TaskSpec, at func(string) string) {
	if t.Deadline < 0 {
		c.Addf(at("task.deadline"), "a deadline of %v", t.Deadline)
	}
	names := map[string]int{}
	for i, s := range t.Steps {
		path := at(fmt.Sprintf("task.steps[%d]", i))
		if _, twice := names[s.Name]; twice {
			c.Addf(path+".name", "two steps are named %q", s.Name)
		}
		if s.Name == "none" {
			c.Addf(path+".name", "no step can be named none")
		}
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
	if s.Tool != "" && len(s.After) == 0 {
		c.Addf(path+".tool", "a tool works between steps: say after which (after)")
	}
	return p
}

// extras compiles what goes with any request.
func (c *compiler) extras(out *class, k *Content, at func(string) string) {
	if p := k.Prefix; p != nil {
		lengths := c.count(p.Tokens, at("prefix.tokens"), MaxTokens)
		switch {
		case p.Count < 0 || p.Count > maxPrefixes:
			c.Addf(at("prefix.count"), "%d prefixes; want 1 to %d", p.Count, maxPrefixes)
		case !validSkew(p.Skew):
			c.Addf(at("prefix.skew"), "a skew of %v; want 0 to 10", p.Skew)
		default:
			out.prefix = newPrefixes(lengths, p.Count, p.Skew, p.As)
		}
		if k.System != "" && p.As != "user" {
			c.Addf(at("prefix"), "the prefix is said by the system, and so is system: leave one out, or say as: user")
		}
		if k.File != "" {
			c.Addf(at("prefix"), "a prefix is for made prompts; file gives them")
		}
	}
	if m := k.Images; m != nil {
		out.images = &images{count: c.count(m.Count, at("images.count"), 100), width: m.Width, height: m.Height}
		if m.Files != "" {
			files, err := ownPictures(c.beside(m.Files))
			if err != nil {
				c.Addf(at("images.files"), "%v", bare(c.beside(m.Files), err))
			}
			if m.Width != 0 || m.Height != 0 {
				c.Addf(at("images.files"), "width and height are of made pictures: leave them out")
			}
			out.images.files = files
		}
		for field, side := range map[string]*int{"width": &out.images.width, "height": &out.images.height} {
			if *side == 0 {
				*side = 512
			}
			if *side < 1 || *side > 8192 {
				c.Addf(at("images."+field), "%d pixels; want 1 to 8192", *side)
			}
		}
	}
	var shares []float64
	for i, m := range k.Models {
		if m.Share == 0 {
			m.Share = 1
		}
		if !(m.Share > 0) || math.IsInf(m.Share, 0) {
			c.Addf(at(fmt.Sprintf("models[%d].share", i)), "a share of %v; want a number above 0", m.Share)
		}
		out.models, shares = append(out.models, m.Name), append(shares, m.Share)
	}
	if shares != nil {
		out.ofModel = newChoice(shares)
	}
	if k.Check != nil {
		checked, err := check.Compile(*k.Check)
		if err != nil {
			c.Addf(at("check"), "%v", err)
		} else if checked == nil {
			c.Addf(at("check"), "nothing is checked: give exact, contains, regex, number, json_schema or judge")
		}
		out.check = checked
	}
	c.users(out, k, at)
}

func (c *compiler) users(out *class, k *Content, at func(string) string) {
	if l := k.Leave; l != nil {
		if l.After == "" && l.Tokens == "" {
			c.Addf(at("leave"), "when do they leave? Give after, tokens, or both")
		}
		out.leave = &leave{share: float64(l.Share), after: c.pause(l.After, at("leave.after")), tokens: c.count(l.Tokens, at("leave.tokens"), MaxTokens)}
	}
	if s := k.Slow; s != nil {
		if s.BytesPerSec < 1 {
			c.Addf(at("slow.bytes_per_s"), "%d bytes a second; want at least 1", s.BytesPerSec)
		}
		out.slow = &slow{share: float64(s.Share), rate: s.BytesPerSec}
	}
}

// file opens a class's file and looks at its first records.
func (c *compiler) file(out *class, k *Content, at func(string) string) {
	for name := range k.Columns {
		if !slices.Contains(fieldNames(), name) {
			c.Addf(at("columns."+name), "%q is no column of ours; want %s", name, strings.Join(fieldNames(), ", "))
		}
	}
	if k.Sessions && (k.Order == "random" || k.Turns != "") {
		c.Addf(at("sessions"), "sessions are sent as they were recorded: leave out order and turns")
	}
	path := c.beside(k.File)
	f, name, err := records.OpenFile(path)
	if err != nil {
		c.Addf(at("file"), "%v", bare(path, err))
		return
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		c.Addf(at("file"), "%v", bare(path, err))
		return
	}
	var form records.Form
	switch k.Format {
	case "text":
		form = records.Text
	case "csv", "burstgpt", "azure":
		form = records.CSV
	case "parquet":
		form = records.Parquet
	case "jsonl", "mooncake", "bailian":
		if strings.ToLower(filepath.Ext(name)) != ".json" {
			form = records.JSONL
		}
	}
	file, err := records.Open(name, f, info.Size(), form)
	if err == nil {
		out.source, err = openSource(file, k.Format, k.TimeIn, k.Block, k.Columns)
	}
	if err == nil {
		if k.Order == "random" {
			seed := out.seed
			out.source.shuffle = &seed
			_, err = out.source.count()
		} else {
			err = out.source.check(c.opt.Strict)
		}
		if err == nil && k.Sessions {
			err = out.source.group()
		}
	}
	if err != nil {
		out.source = nil
		f.Close()
		c.Addf(at("file"), "%v", err)
	}
}

// when checks the load as far as it can be told without flags.
func (c *compiler) when(w *When) {
	for field, bad := range map[string]bool{
		"when.concurrency": w.Concurrency < 0, "when.requests": w.Requests < 0, "when.duration": w.Duration < 0,
		"when.ramp": w.Ramp < 0, "when.cooldown": w.Cooldown < 0, "when.grace": w.Grace < 0, "when.pace": w.Pace < 0,
		"when.prefill_concurrency": w.Prefills < 0, "when.rate": w.Rate < 0 || math.IsNaN(w.Rate) || math.IsInf(w.Rate, 0),
	} {
		if bad {
			c.Addf(field, "%s can't be negative", strings.TrimPrefix(field, "when."))
		}
	}
	if w.Rate > 0 && w.Stages != "" {
		c.Addf("when.stages", "rate and stages exclude each other")
	}
	if w.Closed && w.Stages == "" {
		c.Addf("when.closed", "closed belongs to stages; a closed loop of one size is concurrency")
	}
	if w.Trace != nil && !slices.ContainsFunc(c.out.classes, func(k *class) bool { return k != nil && k.source != nil }) {
		c.Addf("when.trace", "there is no file whose times could be played")
	}
}

// describe fills what a run folder says.
func (c *compiler) describe(s *Spec) {
	i := &c.out.info
	i.Name = s.Name
	i.Exact = c.tokenizer != nil
	i.UniquePrompts = true
	for _, k := range c.out.classes {
		i.SharedPrefix = i.SharedPrefix || k.prefix != nil || k.system != "" || k.kind == Conversation || k.task != nil
		if k.source != nil {
			i.UniquePrompts = false
			i.Source = k.source.file.Name
		} else if k.bust == "off" {
			i.UniquePrompts = false
		}
		if k.segment > 0 {
			i.SegmentS = k.segment.Seconds()
		}
		i.Deadline = max(i.Deadline, k.deadline)
		if k.name != "" {
			i.Classes = append(i.Classes, k.name)
		}
	}
	if i.SharedPrefix {
		i.UniquePrompts = false
	}
	if slices.ContainsFunc(c.out.classes, func(k *class) bool {
		return k.source == nil && k.bust != "off" || k.bust != "" && k.bust != "off" || k.source != nil && k.source.block > 0
	}) {
		i.Salt = c.opt.Salt
	}
	first := c.out.classes[0]
	switch {
	case len(c.out.classes) > 1:
		i.Kind = "mix"
	case first.source != nil:
		i.Kind = first.source.format.name
		c.out.Timed = first.source.timed
	case first.task != nil:
		i.Kind = "task"
	case first.kind == Segments:
		i.Kind = "segments"
	case first.kind == Conversation:
		i.Kind = "conversation"
	default:
		i.Kind = "synthetic"
	}
	if len(c.out.classes) == 1 && first.source == nil && first.task == nil {
		i.InputTokens, i.OutputTokens = first.shape.String(), first.shape.Output()
	}
}
