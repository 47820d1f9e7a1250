package workload

import (
	"hash/fnv"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/answer"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// class makes the items of one kind. Everything of item i is a function of the
// seed, the salt and i.
type class struct {
	name string
	seed uint64 // lengths, choices, pauses
	salt uint64 // words
	kind Kind

	maker  *maker
	shape  Shape
	next   Shape // of later turns; zero: shape
	prefix *prefixes
	system string

	turns Lengths // zero: 1
	think Times
	live  bool

	task      *taskPlan
	deadline  time.Duration
	segment   time.Duration
	images    []*images  // pictures and videos to look at
	sounds    *Sounds    // to be written down; nil: prompts are sent
	batch     *batch     // nil: a request is one text
	source    *source    // nil: prompts are made
	recording *recording // nil: no sessions of agents

	bust    string
	extra   map[string]any
	models  []string
	ofModel choice
	check   *answer.Check
	leave   *leave
	slow    *slow
	users   string // both in words
}

type leave struct {
	share  float64
	after  Times
	tokens Lengths
}

type slow struct {
	share float64
	rate  int64
}

// Further keys of the streams of random numbers of a class.
const (
	turnsKey  = 0x7475726e73
	thinkKey  = 0x7468696e6b
	prefixKey = 0x707265666978
	modelKey  = 0x6d6f64656c
	leaveKey  = 0x6c65617665
	slowKey   = 0x736c6f77
	answerKey = 0x616e73776572
	orderKey  = 0x6f72646572
	classKey  = 0x636c617373
	imageKey  = 0x696d616765
	unitsKey  = 0x756e697473
)

// saltOf is a number that stands for a text.
func saltOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// item makes item i.
func (c *class) item(i int64) Item {
	if c.batch != nil {
		return c.batched(i)
	}
	return c.single(i)
}

// single makes item i as one that is sent by itself.
func (c *class) single(i int64) Item {
	it := Item{Index: i, Class: c.name, Kind: c.kind, Live: c.live}
	switch {
	case c.sounds != nil:
		heard := c.sounds.Item(i)
		it.Messages, it.Err = heard.Messages, heard.Err
	case c.recording != nil:
		c.recording.item(c, &it)
	case c.source != nil:
		c.given(&it)
	case c.task != nil:
		c.steps(&it)
	default:
		c.made(&it)
	}
	c.complete(&it)
	return it
}

// complete adds to all steps what does not depend on where the text came from.
func (c *class) complete(it *Item) {
	if it.Err != nil {
		return
	}
	for k := range it.Len() {
		c.finish(it, k)
	}
	if c.source != nil {
		c.prints(it)
	}
}

// prints tells the requests of a file apart by all that they send, what came before in
// their conversation too; of a live one the server decides that.
func (c *class) prints(it *Item) {
	for k := range it.Len() {
		s := it.Nth(k)
		base, goesOn := s.Continue.Get()
		switch {
		case !goesOn:
			s.Print = c.source.print(0, s.Messages)
		case !it.Live:
			before, said := it.Nth(base), s.Messages
			if !s.Replays {
				said = append([]api.Message{{Role: "assistant", Content: before.Answer, ToolCalls: before.Calls}}, said...)
			}
			s.Print = c.source.print(before.Print, said)
		}
	}
}

func (c *class) finish(it *Item, k int) {
	s := it.Nth(k)
	i := it.Index
	if k == 0 && c.bust == "request" {
		bust(s, text(c.salt^orderKey, i, nonceWords))
	}
	if c.system != "" && !s.Continue.OK() && (len(s.Messages) == 0 || s.Messages[0].Role != "system") {
		s.Messages = append([]api.Message{{Role: "system", Content: c.system}}, s.Messages...)
	}
	for _, m := range c.images {
		if s.Continue.OK() {
			break
		}
		if err := m.into(s, c.salt, c.seed, i); err != nil {
			it.Err = err
		}
	}
	if s.Extra == nil {
		s.Extra = c.extra
	}
	if s.Model == "" && len(c.models) > 0 && c.recording == nil {
		src := random.New(c.seed, modelKey, uint64(i)) // one model for a whole conversation
		s.Model = c.models[c.ofModel.draw(&src)]
	}
	if s.Check == nil {
		s.Check = c.check
	} else {
		s.Check = s.Check.JudgedBy(c.check)
	}
	if l := c.leave; l != nil {
		src := random.New(c.seed, leaveKey, uint64(i), uint64(k))
		if src.Float64() < l.share {
			s.LeaveAfter = l.after.Draw(&src)
			if !l.tokens.IsZero() {
				s.LeaveTokens = l.tokens.Draw(&src)
			}
		}
	}
	if w := c.slow; w != nil {
		src := random.New(c.seed, slowKey, uint64(i), uint64(k))
		if src.Float64() < w.share {
			s.ReadRate = w.rate
		}
	}
}

// bust puts words of its own in front of a request.
func bust(s *Step, nonce string) {
	if make := s.Make; make != nil {
		s.Make = func(last bool) []api.Message {
			whole := Step{Messages: make(last)}
			bust(&whole, nonce)
			return whole.Messages
		}
	}
	if len(s.Messages) == 0 {
		return
	}
	messages := append([]api.Message{}, s.Messages...)
	messages[0].Content = nonce + "\n" + messages[0].Content
	s.Messages = messages
}

// made makes a prompt, or the turns of a conversation.
func (c *class) made(it *Item) {
	i := it.Index
	turns := 1
	if !c.turns.IsZero() {
		src := random.New(c.seed, turnsKey, uint64(i))
		turns = int(c.turns.Draw(&src))
	}
	var sum int64 // tokens of all that was said
	known := c.system == "" && c.images == nil
	if turns > 1 {
		it.More = make([]Step, turns-1)
	}
	think := random.New(c.seed, thinkKey, uint64(i))
	for k := range turns {
		s := it.Nth(k)
		shape, seed := c.shape, c.seed
		if k > 0 {
			seed = random.Mix(c.seed ^ random.Mix(uint64(k)))
			if c.next.text != "" {
				shape = c.next
			}
		}
		input, output := shape.Draw(seed, i)
		var prefix string
		units, shared := c.unitsOf(i, k, input), 0
		if k == 0 {
			var tokens int64
			prefix, tokens, shared = c.prefix.draw(c, i)
			sum += tokens
		}
		body := c.maker.make(c.salt^partKey(k), i, units)
		s.Messages = c.prefix.messages(prefix, body)
		s.MaxTokens = output
		sum += input
		if known {
			s.InputTokens = timeline.Some(sum)
		}
		if k == 0 && known {
			s.Units, s.Corpus = shared+units, c.maker.corpus
		}
		switch c.kind {
		case Segments:
			s.At = timeline.Some(time.Duration(k+1) * c.segment)
			if k > 0 {
				s.After = []int{k - 1}
			}
			sum = 0 // each segment is a request of its own
		default:
			if k > 0 {
				s.After, s.Continue = []int{k - 1}, timeline.Some(k-1)
				s.Wait = c.think.Draw(&think)
			}
			if k == turns-1 {
				return
			}
			n := output.Or(defaultAnswer)
			if c.live {
				known = false
			} else {
				s.Answer = c.maker.make(c.salt^partKey(k)^answerKey, i, c.maker.units(n))
				sum += n
			}
		}
	}
}

// unitsOf is how many units the text of step k of item i takes for n tokens.
func (c *class) unitsOf(i int64, k int, n int64) int {
	src := random.New(c.seed, unitsKey, uint64(i), uint64(k))
	return c.maker.unitsAt(n, src.Float64())
}

// defaultAnswer is how long a recorded answer is where no length was asked for.
const defaultAnswer = 128

// partKey tells the texts of one item apart; the first is that of a plain prompt.
func partKey(k int) uint64 {
	if k == 0 {
		return 0
	}
	return random.Mix(uint64(k) ^ 0x7475726e)
}
