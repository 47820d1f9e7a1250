package workload

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"strings"
	"sync"
	"time"

	"tokenmeter/api"
	"tokenmeter/random"
	"tokenmeter/timeline"
	"tokenmeter/workload/records"
)

// source is a class's file.
type source struct {
	file   *records.File
	format *format
	reading
	block   int64
	timed   bool
	answers bool          // the first record has a known answer
	lengths bool          // and a length, for a text to be made
	zero    time.Duration // the time of the first record

	shuffle *uint64 // the seed of a random order; nil: as in the file

	mu    sync.Mutex
	kept  []uint32 // record of entry k, as far as the file was passed; identity while nothing was skipped
	next  int64    // record that was not looked at yet
	skips int64
	total int64 // entries; −1: not known yet

	// sessions are the entries that wait for each other, by their numbers; nil:
	// each is sent on its own.
	sessions [][]uint32
	speed    float64 // at which times are played; 0: 1

	seen     hashSet // of prompts
	again    int64   // prompts that were seen before
	hashSeed maphash.Seed
}

// openSource looks at the first record that holds something.
func openSource(file *records.File, name, unit string, block int64, columns map[string]string) (*source, error) {
	s := &source{file: file, total: -1, hashSeed: maphash.MakeSeed()}
	first, _, err := file.Row(0)
	if err == io.EOF {
		return nil, fmt.Errorf("%s: %w", file.Name, records.ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	if s.format, err = formatOf(name, file.Form, first); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	s.reading = reading{columns: columns, unit: unit}
	if unit == "" {
		s.unit = s.format.unit
	}
	if s.block = block; block == 0 {
		s.block = s.format.block
	}
	e, err := s.entry(0)
	if err != nil {
		return nil, err
	}
	s.zero, s.timed = e.at.Get()
	s.answers = e.check != nil
	s.lengths = e.messages == nil && e.turns == nil
	return s, nil
}

// ahead is how many records are looked at before a run starts: mistakes mostly
// show in the first ones.
const ahead = 1000

// check reads the first records, or all of them.
func (s *source) check(all bool) error {
	for i := int64(0); all || i < ahead; i++ {
		_, err := s.at(i)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// at returns entry i from the front; io.EOF behind the last.
func (s *source) at(i int64) (entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for int64(len(s.kept)) <= i {
		if s.total >= 0 {
			return entry{}, io.EOF
		}
		if s.next > math.MaxUint32-1 {
			return entry{}, fmt.Errorf("%s: more than 4 billion records", s.file.Name)
		}
		e, err := s.record(s.next)
		switch {
		case err == io.EOF:
			if s.total = int64(len(s.kept)); s.total == 0 {
				return entry{}, fmt.Errorf("%s: none of its %d records holds anything to send", s.file.Name, s.next)
			}
			return entry{}, io.EOF
		case errors.Is(err, errSkip):
			s.next++
			s.skips++
			continue
		case err != nil:
			return entry{}, err
		}
		s.kept = append(s.kept, uint32(s.next))
		s.next++
		if int64(len(s.kept)) == i+1 {
			return e, nil
		}
	}
	return s.record(int64(s.kept[i]))
}

// record reads one record of the file.
func (s *source) record(i int64) (entry, error) {
	row, line, err := s.file.Row(i)
	if err != nil {
		return entry{}, err
	}
	e, err := s.format.read(&s.reading, row)
	if err != nil && !errors.Is(err, errSkip) {
		err = fmt.Errorf("%s:%d: %w", s.file.Name, line, err)
	}
	return e, err
}

// entry returns what item i sends: the file from its front, again and again;
// for the warm-up from its end, so that what is measured was not seen before.
func (s *source) entry(i int64) (entry, error) {
	if s.shuffle != nil {
		return s.shuffled(i)
	}
	if i < 0 {
		return s.fromEnd(-i)
	}
	e, err := s.at(i)
	if err == io.EOF {
		s.mu.Lock()
		n := s.total
		s.mu.Unlock()
		return s.at(i % n)
	}
	return e, err
}

// fromEnd returns the k-th entry from the end.
func (s *source) fromEnd(k int64) (entry, error) {
	s.mu.Lock()
	n := s.total
	s.mu.Unlock()
	skipped := int64(0)
	for j := int64(1); n < 0; j++ {
		row, _, err := s.file.Last(j)
		if err == io.EOF {
			break
		}
		if err != nil {
			return entry{}, err
		}
		e, err := s.format.read(&s.reading, row)
		switch {
		case errors.Is(err, errSkip):
			skipped++
		case err != nil:
			return entry{}, fmt.Errorf("%s, record %d from the end: %w", s.file.Name, j, err)
		case j-skipped == k:
			return e, nil
		}
	}
	n, err := s.count()
	if err != nil {
		return entry{}, err
	}
	return s.at(((n-k)%n + n) % n)
}

// count returns the number of items: entries or sessions, reading to the end
// where it must.
func (s *source) count() (int64, error) {
	if s.sessions != nil {
		return int64(len(s.sessions)), nil
	}
	return s.entries()
}

// entries returns the number of entries, reading to the end where it must.
func (s *source) entries() (int64, error) {
	for i := int64(0); ; i += 1000 {
		s.mu.Lock()
		n := s.total
		i = max(i, int64(len(s.kept)))
		s.mu.Unlock()
		if n >= 0 {
			return n, nil
		}
		if _, err := s.at(i); err != nil && err != io.EOF {
			return 0, err
		}
	}
}

// shuffled returns entry i of a random order: every entry once, then all again
// in another order.
func (s *source) shuffled(i int64) (entry, error) {
	n, err := s.count()
	if err != nil {
		return entry{}, err
	}
	round := i / n
	if i < 0 {
		round = (i+1)/n - 1
	}
	src := random.New(*s.shuffle, orderKey, uint64(round))
	return s.at(permuted(uint64(i-round*n), uint64(n), src.Uint64()))
}

// permuted is where a permutation of 0 … n−1 puts x: a Feistel network over the
// next power of four, walked until it falls below n.
func permuted(x, n, key uint64) int64 {
	half := uint(1)
	for uint64(1)<<(2*half) < n {
		half++
	}
	mask := uint64(1)<<half - 1
	for {
		l, r := x>>half, x&mask
		for round := range uint64(4) {
			l, r = r, (l^random.Mix(key^r<<8^round))&mask
		}
		if x = l<<half | r; x < n {
			return int64(x)
		}
	}
}

// times yields when each entry is due, since the first.
func (s *source) times() iter.Seq2[time.Duration, error] {
	return func(yield func(time.Duration, error) bool) {
		for k := int64(0); ; k++ {
			i := k
			if s.sessions != nil {
				if k >= int64(len(s.sessions)) {
					return
				}
				i = int64(s.sessions[k][0])
			}
			e, err := s.at(i)
			if err == io.EOF {
				return
			}
			at, ok := e.at.Get()
			if err == nil && !ok {
				err = fmt.Errorf("%s: record %d has no time, the first one has", s.file.Name, i+1)
			}
			if !yield(at-s.zero, err) || err != nil {
				return
			}
		}
	}
}

// note remembers a prompt, to know later how many were sent twice.
func (s *source) note(messages []api.Message) {
	var h maphash.Hash
	h.SetSeed(s.hashSeed)
	for _, m := range messages {
		h.WriteString(m.Role)
		h.WriteByte(0)
		h.WriteString(m.Content)
		h.WriteByte(0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen.add(h.Sum64()) {
		s.again++
	}
}

func (s *source) repeats() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// given makes an item of the file's entry.
func (c *class) given(it *Item) {
	if c.source.sessions != nil {
		c.session(it)
		return
	}
	e, err := c.source.entry(it.Index)
	if err != nil {
		it.Err = err
		return
	}
	c.entry(it, &e)
}

// entry makes an item of an entry.
func (c *class) entry(it *Item, e *entry) {
	if e.messages != nil && !c.turns.IsZero() {
		e.turns = turnsOf(e.messages)
	}
	switch {
	case e.messages != nil && e.turns == nil:
		it.Messages = e.messages
		it.MaxTokens = e.output
		if c.shape.Output() != "" || !e.output.OK() {
			it.MaxTokens = outputLength(c.output(), c.seed, it.Index)
		}
	case e.turns != nil:
		c.recorded(it, e.turns)
	default:
		c.fromLengths(it, e)
	}
	it.Model, it.Check = e.model, e.check
	if e.extra != nil {
		it.Extra = merged(c.extra, e.extra)
	}
	c.source.note(it.Messages)
}

// output is the distribution of output lengths that was asked for; zero: none.
func (c *class) output() Lengths {
	if len(c.shape.parts) == 1 {
		return c.shape.parts[0].output
	}
	return Lengths{}
}

func merged(a, b map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range []map[string]any{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// recorded makes the turns of a recorded conversation. The answers' lengths are
// what was answered then, as our tokenizer counts them.
func (c *class) recorded(it *Item, turns []turn) {
	most := 1
	if !c.turns.IsZero() {
		src := random.New(c.seed, turnsKey, uint64(it.Index))
		most = int(c.turns.Draw(&src))
	}
	turns = turns[:min(len(turns), most)]
	if len(turns) > 1 {
		it.Kind = Conversation
		it.More = make([]Step, len(turns)-1)
	}
	think := random.New(c.seed, thinkKey, uint64(it.Index))
	for k, t := range turns {
		s := it.Nth(k)
		if s.Messages = t.messages; s.Messages == nil {
			s.Messages = user(t.user)
		}
		s.Answer, s.Calls = t.answer, t.calls
		said := t.answer
		for _, call := range t.calls {
			said += call.Function.Name + call.Function.Arguments
		}
		if s.MaxTokens = outputLength(c.output(), random.Mix(c.seed^uint64(k)), it.Index); !s.MaxTokens.OK() && said != "" {
			s.MaxTokens = timeline.Some(max(int64(c.maker.count(said)), 1))
		}
		if k > 0 {
			s.After, s.Continue = []int{k - 1}, timeline.Some(k-1)
			s.Wait = c.think.Draw(&think)
		}
	}
}

// fromLengths makes a prompt of a recorded length. Equal hash ids become equal
// stretches of text, so that prompts share what the recorded ones shared.
func (c *class) fromLengths(it *Item, e *entry) {
	n := e.input.Or(1)
	it.InputTokens, it.MaxTokens = timeline.Some(n), e.output
	if !e.output.OK() {
		it.MaxTokens = outputLength(c.output(), c.seed, it.Index)
	}
	if len(e.hashes) == 0 || c.source.block <= 0 {
		it.Units, it.Corpus = c.maker.units(n), c.maker.corpus
		it.Messages = user(c.maker.make(c.salt, it.Index, it.Units))
		return
	}
	var b strings.Builder
	add := func(text string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	left, units := n, 0
	for _, id := range e.hashes {
		if left <= 0 {
			break
		}
		whole := c.maker.units(c.source.block)
		part := whole
		if left < c.source.block {
			part = min(c.maker.units(left), whole)
		}
		add(c.stretch(id, whole, part))
		left -= c.source.block
		units += part
	}
	if left > 0 { // more tokens than ids: the rest is its own
		part := c.maker.units(left)
		add(c.maker.make(c.salt, it.Index, part))
		units += part
	}
	it.Messages = user(b.String())
	if c.system == "" {
		it.Units, it.Corpus = units, c.maker.corpus
	}
}

// stretch is the text of a hash id, or its beginning.
func (c *class) stretch(id int64, whole, part int) string {
	if part == whole || c.maker.corpus == Words && c.maker.plain {
		return c.maker.make(c.salt^prefixKey, id, part)
	}
	return c.maker.make(c.salt^prefixKey^uint64(part), id, part)
}

// hashSet is a set of hashes, 8 bytes each and some air.
type hashSet struct {
	slots []uint64
	n     int
}

// add reports whether h is new. The hash 0 counts as 1.
func (s *hashSet) add(h uint64) bool {
	h = max(h, 1)
	if 2*(s.n+1) > len(s.slots) {
		old := s.slots
		s.slots, s.n = make([]uint64, max(2*len(old), 64)), 0
		for _, x := range old {
			if x != 0 {
				s.add(x)
			}
		}
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = h
			s.n++
			return true
		case h:
			return false
		}
	}
}
