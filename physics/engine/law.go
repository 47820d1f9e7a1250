package engine

import "time"

// Batch is what one step has to do, summed over its sequences.
type Batch struct {
	Sequences int // of all kinds
	Decode    int // sequences that extend their output
	// DecodeTokens is the number of positions computed for them: one each, more
	// with speculation.
	DecodeTokens  int
	DecodeContext int64 // cached tokens that they read
	DecodeWindow  int64 // the same, no more than Config.Window for each

	Prefills       int     // sequences whose prompt is worked on
	PrefillTokens  int     // prompt tokens computed
	PrefillContext int64   // cached tokens read by them: each chunk reads what is before it
	PrefillPairs   float64 // query and key positions that meet, causal
}

// Tokens is the number of positions the step computes.
func (b *Batch) Tokens() int { return b.DecodeTokens + b.PrefillTokens }

// addPrefill counts a chunk of n prompt tokens after done ones.
func (b *Batch) addPrefill(done, n int) {
	b.Sequences++
	b.Prefills++
	b.PrefillTokens += n
	b.PrefillContext += int64(done)
	b.PrefillPairs += float64(n)*float64(done) + float64(n)*float64(n+1)/2
}

// addDecode counts width sequences that read context tokens and compute positions each.
func (b *Batch) addDecode(width, positions, context, window int) {
	b.Sequences += width
	b.Decode += width
	b.DecodeTokens += width * positions
	b.DecodeContext += int64(width) * int64(context)
	if window > 0 {
		b.DecodeWindow += int64(width) * int64(min(context, window))
	}
}

// Decoding is the batch of a step in which n sequences make a token each behind
// context tokens, of a model with a sliding window (0: none).
func Decoding(n, context, window int) *Batch {
	var b Batch
	b.addDecode(n, 1, context, window)
	return &b
}

// Law says how long a step takes.
type Law interface {
	Step(b *Batch) time.Duration
}

// LawFunc makes a function a Law.
type LawFunc func(b *Batch) time.Duration

// Step calls the function.
func (f LawFunc) Step(b *Batch) time.Duration { return f(b) }

// Linear is a law of a few measured numbers.
type Linear struct {
	Base            time.Duration // every step
	PerSequence     time.Duration // each decoding sequence
	PerPrefillToken time.Duration
	PerContextToken time.Duration // each cached token read while decoding
	Prefill         time.Duration // added to a step that works on a prompt
}

// Step is the sum of the terms.
func (l Linear) Step(b *Batch) time.Duration {
	t := l.Base + time.Duration(b.Decode)*l.PerSequence + time.Duration(b.PrefillTokens)*l.PerPrefillToken +
		time.Duration(b.DecodeContext)*l.PerContextToken
	if b.Prefills > 0 {
		t += l.Prefill
	}
	return t
}
