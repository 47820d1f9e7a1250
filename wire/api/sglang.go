package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// SGLang is POST /generate, the native API of SGLang.
var SGLang = &API{
	Name:    "sglang",
	Path:    "/generate",
	Build:   buildSGLang,
	Decoder: func() Decoder { return new(sglangDecoder) },
	Lists:   true,
	Signs:   []Sign{{"meta_info"}},
}

func buildSGLang(r *Request) (Call, error) {
	sampling := map[string]any{}
	r.limits(sampling, "max_new_tokens")
	return r.call("/generate", map[string]any{"text": r.Prompt(), "sampling_params": sampling, "stream": r.Stream})
}

// sglangDecoder reads the native events. Their text repeats all that came
// before, unless the server was started to send pieces; meta_info has running
// counts. An aborted request has a finish reason of type abort.
type sglangDecoder struct {
	r      reading
	text   jsonscan.Text
	before []sglangText // what each choice had said before
	reason []byte       // the finish reason, when it is abort
	ids    int64        // output_ids, all or new ones; notTold beside a text
}

// sglangText is the text of one choice so far. It is kept to see whether the
// next one repeats it.
type sglangText struct {
	raw    []byte
	pieces bool // the server sends pieces
	tokens int64
}

func (d *sglangDecoder) apply(_ framing.Event, s *Stream) {
	if i := d.r.choice; d.ids > 0 && i >= 0 && i < maxChoices {
		b := d.at(i)
		n := d.r.usage.Output.Or(b.tokens+d.ids) - b.tokens
		if b.tokens += n; n > 0 && !endsText(d.r.finish, n) {
			d.r.said.add(timeline.Text, 0)
		}
	}
	if d.r.whole {
		d.r.running = false
		d.r.add(timeline.Text, d.text)
	} else {
		d.r.add(timeline.Text, d.grown())
	}
	if d.r.hasUsage && (d.r.whole || !d.r.finish.Empty()) { // each choice has its own
		s.usage.sequence(d.r.usage, true)
		d.r.hasUsage = false
	}
	d.r.apply(s, timeline.Empty)
}

func (d *sglangDecoder) at(choice int) *sglangText {
	for len(d.before) <= choice {
		d.before = append(d.before, sglangText{})
	}
	return &d.before[choice]
}

// grown is the part of the event's text that is new.
func (d *sglangDecoder) grown() jsonscan.Text {
	i := d.r.choice
	if i < 0 || i >= maxChoices {
		return jsonscan.Text{}
	}
	b, t := d.at(i), d.text
	if b.pieces {
		return t
	}
	same := commonPrefix(b.raw, t.Raw)
	if same < len(b.raw)-revised || same == 0 && len(b.raw) > 0 {
		b.pieces, b.raw = true, nil
		return t
	}
	t.Raw = t.Raw[same:]
	b.raw = append(b.raw[:same], t.Raw...)
	return t
}

// revised is how many bytes at the end of a text the next one may change: the
// start of a character whose last tokens are still to come, as an escape.
const revised = len(`\ud83d`)

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	i := 0
	for a[i] == b[i] {
		i++
	}
	return i
}

func (d *sglangDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.text, d.reason, d.ids = jsonscan.Text{}, nil, notTold
	worded := false
	for name := range c.Members {
		switch string(name) {
		case "text":
			d.text, worded = c.Text()
		case "output_ids":
			d.ids = c.length()
		case "index":
			d.r.index()
		case "meta_info":
			d.meta()
		case "error":
			d.r.errors = c.problem()
		}
	}
	if worded {
		d.ids = notTold
	}
	if d.r.finish.Is("abort") && d.r.errors == nil {
		d.r.errors = d.reason
	}
	return c.End()
}

func (d *sglangDecoder) meta() {
	c := &d.r.c
	d.r.running = true
	for name := range c.Members {
		switch string(name) {
		case "finish_reason": // an object with a type, or a plain string
			object := c.Peek() == '{'
			from := c.Place()
			if d.r.finish = c.reason(); object && !c.Failed() {
				d.reason = c.Since(from)
			}
		case "prompt_tokens":
			d.r.count(&d.r.usage.Input)
		case "completion_tokens":
			d.r.count(&d.r.usage.Output)
		case "cached_tokens":
			d.r.count(&d.r.usage.Cached)
		case "e2e_latency":
			d.r.timings.seconds(totalMS, c)
		case "queue_time":
			d.r.timings.seconds(queueMS, c)
		case "spec_draft_token_num":
			d.r.timings.number(draftTokens, c)
		case "spec_accept_token_num":
			d.r.timings.number(draftAccepted, c)
		}
	}
}
