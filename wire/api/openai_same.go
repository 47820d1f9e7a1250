package api

import (
	"bytes"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// Most chunks of a stream differ from the one before in nothing but the text.
// Where all other bytes are the same, and the text needs no decoding, so is what
// the chunk says; it is not scanned again.
type model struct {
	chunk    []byte // the last one that was scanned; empty: it can't be a model
	from, to int    // where its text lies
	texts    int    // pieces of text found in the chunk that is scanned
}

// found notes where a piece of text lies in the chunk.
func (m *model) found(kind timeline.Kind, c *scan, t jsonscan.Text) {
	m.texts++
	m.to = c.Place() - 1
	m.from = m.to - len(t.Raw)
	if kind != timeline.Text || t.Escaped || t.Wide || m.from < 0 || &c.Whole()[m.from] != &t.Raw[0] {
		m.texts = 2 // not a model
	}
}

// learn keeps a chunk as the model of those to come, when it says nothing but one
// piece of plain text.
func (d *openaiDecoder) learn(data []byte) {
	m := &d.like
	m.chunk = m.chunk[:0]
	if m.texts != 1 || len(d.choices) != 1 || d.hasUsage || d.timings.known != 0 || d.timed || d.progress || len(d.errors) > 0 {
		return
	}
	ch := &d.choices[0]
	if d.inlineOf(ch.index).state < unmarked || ch.said.kinds != 1<<timeline.Text || !ch.finish.Empty() || d.object.Is("error") {
		return
	}
	m.chunk = append(m.chunk, data...)
}

// same reads a chunk that is like the model; false when it is not.
func (d *openaiDecoder) same(e framing.Event, s *Stream) bool {
	m := &d.like
	end := len(m.chunk) - m.to // bytes behind the text
	if len(m.chunk) == 0 || s.opts.KeepText || e.Partial || e.Name == "error" || len(e.Data) <= m.from+end {
		return false
	}
	said := e.Data[m.from : len(e.Data)-end]
	if !bytes.Equal(e.Data[len(e.Data)-end:], m.chunk[m.to:]) || !bytes.Equal(e.Data[:m.from], m.chunk[:m.from]) || jsonscan.PlainRun(said) != len(said) {
		return false
	}
	if t := d.inlineOf(d.choices[0].index); t.state == unmarked && !t.markless(said) {
		return false
	}
	d.choices[0].said.bytes = int64(len(said))
	return true
}
