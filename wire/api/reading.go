package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// reading is what one event said, collected until all of it is known to be
// JSON. It serves the APIs whose events carry one choice at a time.
type reading struct {
	c      scan
	keep   bool
	whole  bool          // it is no event, but a whole reply
	kind   jsonscan.Text // of an event: its type
	choice int
	said   saying
	pieces []piece

	finish   jsonscan.Text
	stops    string // finish reason in our own words, where the API has none
	ids      int64
	usage    usage
	hasUsage bool
	running  bool // the usage is a running count: its differences are tokens
	timings  serverTimings
	errors   []byte
	model    jsonscan.Text
}

// It is not inlined: the copies made the lean binary 10 kB larger.
//
//go:noinline
func (r *reading) start(e framing.Event, s *Stream) *scan {
	pieces, key := r.pieces[:0], r.c.Key
	*r = reading{keep: s.opts.KeepText, whole: s.form == whole, pieces: pieces, ids: notTold, choice: s.item}
	r.c.Key, r.c.unread = key, &s.unread
	r.c.Reset(e.Data)
	return &r.c
}

// typed reads the type of an event. That of a whole reply says nothing.
func (r *reading) typed() {
	if t, _ := r.c.Text(); !r.whole {
		r.kind = t
	}
}

func (r *reading) member(name []byte) {
	switch string(name) {
	case "model":
		r.model, _ = r.c.Text()
	case "error":
		r.errors = r.c.problem()
	}
}

// account is member, and what tells how a reply is billed.
func (r *reading) account(name []byte) {
	switch string(name) {
	case "service_tier":
		r.c.tier(&r.usage)
	case "usage":
		r.counts()
	default:
		r.member(name)
	}
}

// counts reads a usage object.
func (r *reading) counts() {
	r.hasUsage = r.c.Peek() == '{'
	r.c.usage(&r.usage, &r.timings)
}

// count reads a count that stands among the members of a reply.
func (r *reading) count(field *timeline.Opt[int64]) {
	r.hasUsage = true
	r.c.count(field)
}

// index reads the number of the choice.
func (r *reading) index() {
	if n, ok := r.c.Integer(); ok {
		r.choice = int(n)
	}
}

// piece reads a string of generated text; true when there was some.
func (r *reading) piece(kind timeline.Kind) bool {
	_, some := r.read(kind)
	return some
}

func (r *reading) read(kind timeline.Kind) (jsonscan.Text, bool) {
	t, _ := r.c.Text()
	return t, r.add(kind, t)
}

// add takes generated text; true when there is some.
func (r *reading) add(kind timeline.Kind, t jsonscan.Text) bool {
	if t.Empty() {
		return false
	}
	r.said.add(kind, t.Size())
	if r.keep {
		r.pieces = append(r.pieces, piece{kind: kind, text: t})
	}
	return true
}

func (r *reading) arguments() { r.add(timeline.Tool, r.c.written()) }

// call reads a tool's call: its name, and its arguments, under the API's name for them.
// Google's may come in parts (streamFunctionCallArguments).
func (r *reading) call(arguments string) {
	for name := range r.c.Members {
		switch string(name) {
		case "name":
			r.piece(timeline.Tool)
		case arguments:
			r.arguments()
		case "partialArgs":
			r.partialArguments()
		}
	}
}

// partialArguments reads a list of {jsonPath, stringValue and its like}. What only says
// that a value is at its end brought nothing.
func (r *reading) partialArguments() {
	c, some := &r.c, false
	c.Space()
	from := c.Place()
	for range c.Elements {
		for name := range c.Members {
			switch string(name) {
			case "stringValue":
				t, _ := c.Text()
				some = some || !t.Empty()
			case "numberValue", "boolValue", "nullValue":
				some = true
			}
		}
	}
	if some && !c.Failed() {
		r.add(timeline.Tool, jsonscan.Text{Raw: c.Since(from)})
	}
}

// calledFunction reads a call that stands in a member function, as OpenAI's do.
func (r *reading) calledFunction() { r.c.under("function", func() { r.call("arguments") }) }

// other reads a member of a part that no reader knows by its name.
func (r *reading) other(place, name []byte) {
	if isMedia(name) {
		r.media()
	} else {
		r.c.left(place, name)
	}
}

// media counts what was generated and is no text: pictures, sound.
func (r *reading) media() {
	if r.c.media() {
		r.said.add(timeline.Media, 0)
	}
}

// apply tells the stream what the event said. An event that bears no token and
// ends nothing is recorded as what it otherwise is.
func (r *reading) apply(s *Stream, otherwise timeline.Kind) {
	s.named(r.model)
	s.served(r.usage.tier)
	s.server.merge(&r.timings)
	if r.hasUsage {
		s.usage.merge(r.usage)
	}
	for _, p := range r.pieces {
		s.keep(p.kind, r.choice, p.text)
	}
	kind := r.said.kind()
	ended := !r.finish.Empty() || r.stops != ""
	var tokens timeline.Opt[int64]
	if ended {
		tokens = s.count.last(kind.Bears(), r.finish, r.ids, r.runningCount(s))
	} else {
		tokens = s.count.of(kind.Bears(), r.ids, r.runningCount(s))
	}
	if kind == timeline.Empty && otherwise == timeline.Empty && !ended && !r.hasUsage && len(r.errors) == 0 {
		r.errors = refusal(r.c.Whole())
		s.unread.strange = s.unread.strange || s.api.knowsNot(r.kind)
	}
	switch {
	case kind.Bears():
	case len(r.errors) > 0:
		kind = timeline.ErrorEvent
	case ended:
		kind = timeline.Finish
	case otherwise != timeline.Empty:
		kind = otherwise
	}
	s.add(kind, r.choice, r.said.bytes, tokens)
	if len(r.errors) > 0 {
		s.failQuietly(wordsOf(r.errors))
	}
	if !r.finish.Empty() {
		s.finish(r.choice, r.finish)
	} else if r.stops != "" {
		s.finishWord(r.choice, r.stops)
	}
}

// runningCount is the running usage count, where it covers one choice only.
func (r *reading) runningCount(s *Stream) timeline.Opt[int64] {
	if r.running && r.choice == 0 && s.progress.seen&^1 == 0 {
		return r.usage.Output
	}
	return none
}

// wordsOf is the words of an error, or its start where they are not found.
func wordsOf(data []byte) string {
	if words := errorWords(data); words != "" {
		return words
	}
	return quote(data)
}
