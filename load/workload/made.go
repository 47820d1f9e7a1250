package workload

import (
	"slices"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

// Made is a workload of one or several classes.
type Made struct {
	classes []*class
	of      choice // which class an item is of
	seed    uint64
	info    Info
}

// Calibration is how a server counts the units (words) of a made prompt:
// tokens = Overhead + PerWord · units. The zero value counts a word as a token.
type Calibration struct {
	PerWord  float64 // tokens a unit; 0 means 1
	Overhead float64 // tokens that a chat template adds, where they are to be made up for
}

// NewMade returns a workload of made prompts of asked lengths, each different
// from its first token on, so that a prefix cache has nothing to give. The seed
// fixes the lengths; the salt, new for each run, the words: a repetition with
// the same seed sends the same load without meeting the cache that the first run
// filled. Without an output length the server decides. With a tokenizer, lengths
// are exact in its tokens.
func NewMade(shape Shape, corpus string, tokenizer Tokenizer, seed uint64, salt string) (*Made, error) {
	m, err := newMaker(corpus, tokenizer)
	if err != nil {
		return nil, err
	}
	c := &class{seed: seed, salt: saltOf(salt), maker: m, shape: shape}
	return &Made{classes: []*class{c}, seed: seed, info: Info{Kind: "synthetic", InputTokens: shape.String(),
		OutputTokens: shape.Output(), Salt: salt, Made: true, UniquePrompts: true}}, nil
}

// Batch makes each request of several texts, as many as a distribution says.
func (w *Made) Batch(texts Lengths) {
	for _, c := range w.classes {
		c.batch = &batch{texts: texts}
	}
	w.info.Batch = texts.String()
}

// class returns the one that item i is of.
func (w *Made) class(i int64) *class {
	if len(w.classes) == 1 {
		return w.classes[0]
	}
	src := random.New(w.seed, classKey, uint64(i))
	return w.classes[w.of.draw(&src)]
}

// Item implements Workload.
func (w *Made) Item(i int64) Item { return w.class(i).item(i) }

// Unique implements Workload. Of files it can't know: see Step.Print.
func (w *Made) Unique(warm, n int64) int64 {
	all := warm + n
	if w.Several() {
		return all
	}
	c := w.classes[0]
	if tokens, fixed := c.shape.Fixed(); fixed && c.maker.plain {
		if bits := int64(wordBits*c.maker.units(tokens) + 1); bits < 62 {
			return min(all, 1<<bits)
		}
	}
	return all
}

// Several implements Repeating.
func (w *Made) Several() bool {
	return slices.ContainsFunc(w.classes, func(c *class) bool { return c.kind != Request || c.source != nil || c.recording != nil }) || len(w.classes) > 1
}

// Sessions reports whether some items hold several requests that belong together.
func (w *Made) Sessions() bool {
	return slices.ContainsFunc(w.classes, func(c *class) bool {
		return c.kind == Conversation || c.kind == Task || c.recording != nil || c.source != nil && (c.source.sessions != nil || !c.turns.IsZero())
	})
}

// Info implements Workload.
func (w *Made) Info() Info { return w.info }

// Calibrate implements Calibrated.
func (w *Made) Calibrate(corpus string, c Calibration) {
	for _, class := range w.classes {
		if m := class.maker; m != nil && m.corpus == corpus {
			m.now.Store(&c)
		}
	}
}

// Corpora implements Calibrated.
func (w *Made) Corpora() (names []string) {
	for _, c := range w.classes {
		given := c.source != nil && !c.source.lengths || c.batch.ranks()
		if c.maker != nil && !given && !slices.Contains(names, c.maker.corpus) {
			names = append(names, c.maker.corpus)
		}
	}
	return names
}

// Exact reports whether the texts of a corpus were made with a tokenizer.
func (w *Made) Exact(corpus string) bool {
	return slices.ContainsFunc(w.classes, func(c *class) bool {
		return c.maker != nil && c.maker.corpus == corpus && c.maker.tokenizer != nil
	})
}

// Probe implements Calibrated.
func (w *Made) Probe(corpus string, i int64, units int) Item {
	for _, c := range w.classes {
		if m := c.maker; m != nil && m.corpus == corpus {
			return Item{Index: i, Step: Step{Messages: user(m.make(c.salt, i, units)),
				MaxTokens: timeline.Some[int64](probeTokens), Units: units, Corpus: corpus}}
		}
	}
	return w.Item(i)
}

// probeTokens is the length of answer that a probe asks for.
const probeTokens = 4
