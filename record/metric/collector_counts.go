package metric

import (
	"cmp"
	"strings"

	"tokenmeter/record/timeline"
)

func (c *Collector) countRequest(tl *timeline.Timeline, v *Values) {
	r := &c.requests
	if tl.Outcome == timeline.OK {
		if !tl.Wordless() { // an answer without words has no token to be counted
			r.TokenSources[cmp.Or(string(v.TokenSource), "unknown")]++
		}
		if v.LeftOut != "" {
			r.ITLLeftOut[v.LeftOut]++
		}
	} else if !tl.Outcome.Cancelled() {
		c.noteError(tl)
	}
	r.Clocks[tl.Clock]++
	CountName(r.ServedModels, tl.ServedModel)
	c.served.add(tl.Model, tl.ServedModel)
	CountName(r.ServiceTiers, tl.ServiceTier)
	for name := range strings.FieldsSeq(string(tl.Unread)) {
		CountName(r.Unread, name)
	}
	if v.Flags != 0 {
		for _, name := range v.Flags.Names() {
			r.Flags[name]++
		}
	}
}

// CountName counts a name of a server's, if it gave one: its class of service, its model. A
// server that makes up a new name for each request does not fill the memory: names beyond
// the first 16 are counted as "others".
func CountName(counts map[string]int64, name string) {
	const most = 16
	if name == "" {
		return
	}
	if _, known := counts[name]; !known && len(counts) >= most {
		name = "others"
	}
	counts[name]++
}

// noteError keeps the words of the failure that was due first.
func (c *Collector) noteError(tl *timeline.Timeline) {
	f := firstError{tl.DueUS, tl.Request, true}
	if c.first.any && !f.before(c.first) {
		return
	}
	words := string(tl.Outcome)
	if tl.Error != nil && tl.Error.Message != "" {
		words = tl.Error.Message
	}
	c.first, c.requests.FirstError = f, &words
}

func (f firstError) before(g firstError) bool {
	if f.due != g.due {
		return f.due < g.due
	}
	return f.request < g.request
}

func (c *Collector) countTokens(tl *timeline.Timeline, v *Values, s *seen) {
	t := &c.tokens
	ok := tl.Outcome == timeline.OK
	n, known := v.OutputTokens.Get()
	if known {
		t.byOutcome[tl.Outcome] += n
	} else if ok && !tl.Wordless() {
		t.unknown++
	}
	if ok {
		t.inputs += tl.Inputs.Or(0)
		t.chars += tl.Chars.Or(0)
		t.audioUS += tl.AudioUS.Or(0)
		t.images += tl.Images.Or(0)
	}
	if streamed, has := v.StreamedTokens.Get(); has {
		t.streamed += streamed
		t.streamedKnown = true
	}
	input, hasInput := tl.Usage.Input.Get()
	if hasInput && input >= 0 {
		t.input += input
		t.inputKnown = true
		if cached, told := tl.Usage.Cached.Get(); ok && told {
			t.cached += cached
			t.seen += max(cached-c.Opts.TemplateTokens, 0)
			t.cacheTold = true
		}
		if ok {
			t.cachedOf += input
			t.seenOf += max(input-c.Opts.TemplateTokens, 0)
		}
	} else if ok {
		t.inputUnknown++
	}
	if asked, has := tl.Requested.Get(); has && ok && known && asked > 0 {
		if s.severalChoices || !tl.Streamed {
			asked *= choicesOf(tl) // it was asked for each
		}
		t.asked += asked
		t.got += n
		t.askedN++
		if float64(n) < 0.95*float64(asked) {
			t.short++
			t.shortBy.add(tl, v.TokenSource)
		}
		if n > asked+1 {
			t.far++
		}
	}
}

// choicesOf is how many sequences an answer holds, 1 at least.
func choicesOf(tl *timeline.Timeline) int64 {
	var seen [256]bool
	n := int64(0)
	for ev := range tl.Events.Generation() {
		if !seen[ev.Choice] {
			seen[ev.Choice] = true
			n++
		}
	}
	return max(n, 1)
}
