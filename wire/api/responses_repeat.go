package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// Events whose type ends in .done repeat what deltas brought. Some gateways send
// no deltas, and the answer stands in these alone.

// repeats tells texts that deltas brought from those that are new.
type repeats struct {
	item  int64 // output_index of the event, or notTold
	whole []piece

	told  [maxChoices]uint16 // kinds that an item's deltas had
	loose uint16             // the same of deltas that name no item
	all   uint16
	open  [maxKinds]int64 // bytes in deltas of a kind, since a text of that kind was done
}

// maxKinds is how many kinds of events are told apart.
const maxKinds = 16

// heard notes what a delta brought.
func (r *repeats) heard(kind timeline.Kind, bytes int64) {
	r.all |= 1 << kind
	r.open[kind] += bytes
	if r.item >= 0 && r.item < maxChoices {
		r.told[r.item] |= 1 << kind
	} else {
		r.loose |= 1 << kind
	}
}

// again reports whether a text of the event's item may have been there before: the
// item had deltas of its kind, or those since the last such text are as long, as where
// vLLM counts an item up before it is done.
func (r *repeats) again(p piece) bool {
	known, bytes := r.all, r.open[p.kind]
	if r.item >= 0 && r.item < maxChoices {
		known = r.told[r.item] | r.loose
	}
	r.open[p.kind] = 0
	return known&(1<<p.kind) != 0 || bytes > 0 && bytes == p.text.Size()
}

// wholes counts the texts of an event that is done, as far as they are new.
func (d *responsesDecoder) wholes() {
	if !bytes.HasSuffix(d.r.kind.Raw, []byte(".done")) || d.r.kind.Is("response.done") {
		return
	}
	reasoning := bytes.HasPrefix(d.r.kind.Raw, []byte("response.reasoning"))
	var told uint16 // kinds
	for _, p := range d.repeats.whole {
		if reasoning && p.kind == timeline.Text {
			p.kind = timeline.Reasoning
		}
		again := d.repeats.again(p)
		told |= 1 << p.kind
		if !again {
			d.add(p)
		}
	}
	for kind := range timeline.Kind(maxKinds) {
		if told&(1<<kind) != 0 {
			d.repeats.heard(kind, 0)
		}
	}
}

// add counts a text; the bytes of a picture are none.
func (d *responsesDecoder) add(p piece) {
	if p.kind == timeline.Media {
		d.r.said.add(p.kind, 0)
	} else {
		d.r.add(p.kind, p.text)
	}
}

func (d *responsesDecoder) whole(kind timeline.Kind) {
	t, _ := d.r.c.Text()
	d.note(kind, t)
}

// note keeps a text that deltas may have brought already.
func (d *responsesDecoder) note(kind timeline.Kind, t jsonscan.Text) {
	if !t.Empty() {
		d.repeats.whole = append(d.repeats.whole, piece{kind: kind, text: t})
	}
}

func (d *responsesDecoder) wholeParts(kind timeline.Kind) {
	for range d.r.c.Elements {
		d.wholePart(kind)
	}
}

// wholePart reads a part of a message or of a summary.
func (d *responsesDecoder) wholePart(kind timeline.Kind) {
	c, from := &d.r.c, len(d.repeats.whole)
	var is jsonscan.Text
	for name := range c.Members {
		switch string(name) {
		case "type":
			is, _ = c.Text()
		case "text":
			d.whole(kind)
		case "refusal":
			d.whole(timeline.Refusal)
		case "transcript", "audio": // as deltas brought it
		default:
			c.left(inContent, name)
		}
	}
	if is.Is("reasoning_text") || is.Is("summary_text") {
		for i := range d.repeats.whole[from:] {
			d.repeats.whole[from+i].kind = timeline.Reasoning
		}
	}
}
