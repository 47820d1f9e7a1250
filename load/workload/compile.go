package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/base/random"
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
	// OneModel is the run's own model, where all requests are for it; else empty. Records' own are not sent, unless
	// columns says where they are.
	OneModel string
	// Checks: the specification is one of WithChecks, whose file was given for its answers.
	Checks bool
	// Dir is where the files are that a specification names, which is no file itself;
	// empty: the current folder.
	Dir string
	// Set replaces fields of the specification, see Spec.Set.
	Set []string
}

// Loaded is a workload with what its file says of the load.
type Loaded struct {
	*Made
	Spec Spec
	// Timed: the records have times, which Trace yields.
	Timed bool
	// Tokenizer is the one that lengths are made exact with; nil: none was named.
	Tokenizer Tokenizer
}

// Load reads a workload file (YAML), or a file of prompts or a trace as it is.
// The error has everything that is wrong, a line each.
func Load(path string, opt Options) (*Loaded, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		data, err := limitio.File(path, 16<<20)
		if err != nil {
			return nil, bare(path, err)
		}
		return FromYAML(path, data, opt)
	}
	spec := Spec{Content: Content{File: filepath.Base(path)}}
	return compile(spec, config.NoFile(path), filepath.Dir(path), opt)
}

// FromYAML is Load for a workload file that was read; files that it names are
// looked for beside name.
func FromYAML(name string, data []byte, opt Options) (*Loaded, error) {
	var s Spec
	doc := config.Decode(name, data, &s)
	return compile(s, doc, filepath.Dir(name), opt)
}

// FromSpec makes the workload of a specification that is no file.
func FromSpec(name string, s Spec, opt Options) (*Loaded, error) {
	return compile(s, config.NoFile(name), cmp.Or(opt.Dir, "."), opt)
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
		c.out.Close()
		return nil, err
	}
	c.describe(&s)
	return c.out, nil
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
	c.tokenizer, c.out.Tokenizer = t, t
}

func (c *compiler) mix(s *Spec) {
	for _, name := range given(&s.Content) {
		c.Addf(name, "%s stands beside mix; put it into each class of the mix", name)
	}
	var shares []float64
	names := map[string]bool{}
	for i := range s.Mix {
		m, path := &s.Mix[i], fmt.Sprintf("mix[%d]", i)
		c.refuse(!(m.Share > 0) || math.IsInf(m.Share, 0), path+".share", "a share of %v; want a number above 0", m.Share)
		c.refuse(names[m.Name], path+".name", "two classes are named %q", m.Name)
		names[m.Name] = true
		key := random.Mix(uint64(i) + classKey)
		c.out.classes = append(c.out.classes, c.class(path, &m.Content, m.Name, random.Mix(c.opt.Seed^key), saltOf(c.opt.Salt)^key))
		shares = append(shares, m.Share)
	}
	c.out.of = newChoice(shares)
}

// refuse notes what is wrong, where it is so.
func (c *compiler) refuse(wrong bool, path, format string, args ...any) {
	if wrong {
		c.Addf(path, format, args...)
	}
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
	if out.bust == "off" {
		out.salt = salt ^ saltOf(c.opt.Salt)
	}
	out.maker = c.maker(k.Corpus, at("corpus"))
	c.ofFiles(k, at)
	if k.Audio != "" {
		c.audio(out, k, at)
		return out
	}
	c.lengths(out, k, at)
	c.openRecording(out, k, at)
	c.kinds(out, k, at)
	c.extras(out, k, at)
	if k.File != "" && out.recording == nil {
		c.file(out, k, at)
	}
	return out
}

func (c *compiler) maker(corpus, path string) *maker {
	corpus = cmp.Or(corpus, Words)
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

// describe fills what a run folder says.
func (c *compiler) describe(s *Spec) {
	i := &c.out.info
	i.Name = s.Name
	i.Made, i.UniquePrompts = true, true
	for _, k := range c.out.classes {
		i.Made = i.Made && k.sounds == nil && k.recording == nil && (k.source == nil || k.source.lengths)
		i.SharedPrefix = i.SharedPrefix || k.prefix != nil || k.system != "" || k.kind == Conversation || k.task != nil || k.recording != nil
		if k.recording != nil {
			i.Source = k.recording.file.Name
		}
		if k.sounds != nil {
			sound := k.sounds.Info()
			i.UniquePrompts, i.Source = i.UniquePrompts && sound.UniquePrompts, sound.Source
		} else if k.source != nil {
			i.UniquePrompts = false
			i.Source = k.source.file.Name
		} else if k.bust == "off" {
			i.UniquePrompts = false
		}
		if k.users != "" {
			if i.Users != "" {
				i.Users += "; "
			}
			if k.name != "" {
				i.Users += k.name + ": "
			}
			i.Users += k.users
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
	i.Batch = s.Batch
	for k := range s.Mix {
		i.Batch = cmp.Or(i.Batch, s.Mix[k].Batch)
	}
	first := c.out.classes[0]
	switch {
	case len(c.out.classes) > 1:
		i.Kind = "mix"
	case first.sounds != nil:
		i.Kind = first.sounds.Info().Kind
	case first.recording != nil:
		i.Kind = first.recording.file.Format
		c.out.Timed = first.recording.file.Timed
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
	if len(c.out.classes) == 1 && first.source == nil && first.task == nil && first.recording == nil && first.sounds == nil {
		i.InputTokens, i.OutputTokens = first.shape.String(), first.shape.Output()
	}
}
