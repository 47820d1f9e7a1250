package chart

import (
	"fmt"
	"strings"

	"tokenmeter/reader/report/gather"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/timeline"
)

// partNames are the parts of a request in words, in their order.
var partNames = []struct{ kind, text string }{
	{"late", "client late"},
	{"connect", "connecting"},
	{"network", "network"},
	{"queue", "queued"},
	{"prefill", "prefill"},
	{"wait", "waiting for the first token, not split by the server"},
	{"decode", "decoding; each tick a chunk"},
}

// WorstFigure is the slowest requests, each as a bar of its parts.
func WorstFigure(c *gather.Gathered) Figure {
	f := Figure{ID: "worst", Title: "The slowest requests",
		Sub: "from when each was due; slowest first"}
	if len(c.Worst.Items) == 0 {
		f.Empty = "No successful request to show."
		return f
	}
	strips := make([]*gather.Strip, len(c.Worst.Items))
	for i, it := range c.Worst.Items {
		strips[i] = it.Strip
	}
	first := strips[0]
	f.Title = fmt.Sprintf("The slowest requests: #%d took %s", first.ID, typeset.Span(first.End, typeset.Digits{}))
	stripsInto(&f, strips)
	return f
}

// FailedFigure is the first failures, as far as they came.
func FailedFigure(c *gather.Gathered) Figure {
	f := Figure{ID: "failed-requests", Title: "The first failed requests",
		Sub: "from when each was due to when it failed"}
	if len(c.Failed) == 0 {
		f.Empty = "No measured request failed."
		return f
	}
	stripsInto(&f, c.Failed)
	return f
}

const (
	stripHeight = 26.0
	barHeight   = 12.0
)

func stripsInto(f *Figure, strips []*gather.Strip) {
	end := 0.001
	for _, s := range strips {
		end = max(end, s.End)
	}
	scale, unit := 1.0, "ms"
	if end >= 10_000 {
		scale, unit = 1e3, "s"
	}
	room := 1.0
	if strips[0].Class.Failed() {
		room = 1.4 // for the class behind the bar
	}
	p := NewPlot(22+float64(len(strips))*stripHeight+24, LinearAxis(0, end*room/scale), LinearAxis(0, 1))
	p.wide = true
	p.labels.Put(`<text x="100%%" y="12" class="u">request</text>`)
	for _, v := range p.X.Ticks(6) {
		p.XLabel(v, p.Height-8, typeset.AxisNumber(v)+" "+unit, true)
	}
	p.Frame()
	used := map[string]bool{}
	for i, s := range strips {
		drawStrip(p, s, p.top+float64(i)*stripHeight, scale, used)
	}
	f.Chart = HTML(p, stripSentence(strips))
	for _, n := range partNames {
		if used[n.kind] {
			if n.kind == "wait" && strips[0].Wordless {
				n.text = "waiting for the answer, not split by the server"
			}
			f.Keys = append(f.Keys, Key{"k-" + n.kind, n.text})
		}
	}
	f.Table = stripTable(strips)
}

func drawStrip(p *Plot, s *gather.Strip, y, scale float64, used map[string]bool) {
	p.labels.Put(`<text x="100%%" y="%s" class="t">#%d</text>`, Coordinate(y+15), s.ID)
	p.Front.Put(`<g><title>%s</title>`, Escape(stripWords(s)))
	for _, part := range s.Parts {
		if (part.To-part.From)/scale > 0.003*p.X.Hi {
			used[part.Kind] = true
		}
		x := p.XAt(part.From / scale)
		w := coordinate2((part.To-part.From)/scale/p.X.Hi*100) + "%"
		h, top := barHeight, y+5
		if part.Kind == "decode" {
			h, top = 2, y+5+barHeight/2-1
		}
		p.Front.Put(`<rect x="%s" y="%s" width="%s" height="%s" class="p-%s"/>`, x, Coordinate(top), w, Coordinate(h), part.Kind)
	}
	p.Front.WriteString(`</g>`)
	p.Path("tick", tickPath(p, s, y, scale))
	if s.Class.Failed() {
		drawClass(p, s, y+15, scale)
	}
}

// drawClass writes the class of a failure behind its bar, or over its end where
// there is no room behind it.
func drawClass(p *Plot, s *gather.Strip, y, scale float64) {
	text := Escape("✗ " + typeset.Short(string(s.Class), 24))
	if at := p.X.At(s.End / scale); at < 0.55 {
		p.Front.Put(`<text x="%s%%" y="%s" class="fail" dx="6">%s</text>`, coordinate2(at*100), Coordinate(y), text)
		return
	}
	p.Front.Put(`<text x="100%%" y="%s" class="fail e">%s</text>`, Coordinate(y), text)
}

// tickPath is the arrivals of a request, one stroke each.
func tickPath(p *Plot, s *gather.Strip, y, scale float64) string {
	field := p.Height - p.top - p.Bottom
	from, to := (y+6-p.top)/field*1000, (y+4+barHeight-p.top)/field*1000
	var b strings.Builder
	for _, at := range thin(s.Ticks, p.X.Hi*scale) {
		fmt.Fprintf(&b, "M%s %sV%s", Coordinate(p.X.At(at/scale)*1000), Coordinate(from), Coordinate(to))
	}
	return b.String()
}

// thin drops ticks that would lie on one another: at most 250 across.
func thin(ticks []float64, end float64) []float64 {
	var kept []float64
	last := -end
	for _, t := range ticks {
		if t-last >= end/250 {
			kept = append(kept, t)
			last = t
		}
	}
	return kept
}

// stripWords is a strip in a sentence.
func stripWords(s *gather.Strip) string {
	text := fmt.Sprintf("#%d, due at %s", s.ID, typeset.Clock(s.DueS))
	for _, p := range s.Parts {
		text += fmt.Sprintf("; %s %s ms", p.Kind, typeset.Digits{}.Value(p.To-p.From))
	}
	if s.Class != timeline.OK {
		text += "; " + string(s.Class)
	}
	return text
}

func stripSentence(strips []*gather.Strip) string {
	text := fmt.Sprintf("%s as bars of their parts.", typeset.Plural(int64(len(strips)), "request"))
	return text + " " + stripWords(strips[0]) + "."
}

// column is one of the table beside the chart.
type column struct {
	head  string
	shown bool
	of    func(*gather.Strip) string
}

// stripTable is the figures of the strips; of answers without words those that they
// can have.
func stripTable(strips []*gather.Strip) *Table {
	opt := func(o timeline.Opt[float64]) string {
		if v, ok := o.Get(); ok {
			return typeset.Digits{}.Value(v)
		}
		return typeset.Missing
	}
	words, sound, pictures := false, false, false
	for _, s := range strips {
		words, sound, pictures = words || !s.Wordless, sound || s.TTFA.OK(), pictures || s.TTFI.OK()
	}
	columns := []column{
		{"request", true, func(s *gather.Strip) string { return fmt.Sprintf("#%d", s.ID) }},
		{"due at", true, func(s *gather.Strip) string { return typeset.Clock(s.DueS) }},
		{"TTFT ms", words, func(s *gather.Strip) string { return opt(s.TTFT) }},
		{"TTFA ms", sound, func(s *gather.Strip) string { return opt(s.TTFA) }},
		{"TTFI ms", pictures, func(s *gather.Strip) string { return opt(s.TTFI) }},
		{"end ms", true, func(s *gather.Strip) string { return typeset.Digits{}.Value(s.End) }},
		{"longest gap ms", words, func(s *gather.Strip) string { return opt(s.MaxGap) }},
		{"output tokens", words, func(s *gather.Strip) string {
			if n, ok := s.Output.Get(); ok {
				return typeset.Exact(n)
			}
			return typeset.Missing
		}},
		{"outcome", true, func(s *gather.Strip) string {
			if s.Message != "" {
				return string(s.Class) + ": " + typeset.Short(s.Message, 200)
			}
			return string(s.Class)
		}},
	}
	t := &Table{Rows: make([][]string, len(strips))}
	for _, c := range columns {
		if !c.shown {
			continue
		}
		t.Head = append(t.Head, c.head)
		for i, s := range strips {
			t.Rows[i] = append(t.Rows[i], c.of(s))
		}
	}
	return t
}
