package datadog

import (
	"strconv"
	"strings"
	"tokenmeter/service/telemetry"
)

// packets writes lines of DogStatsD, several a packet and several values a line.
type packets struct {
	e   *Exporter
	buf []byte
}

func (p *packets) flush() {
	if len(p.buf) > 0 {
		p.e.write(p.buf)
		p.buf = p.buf[:0]
	}
}

// single writes NAME:VALUE|KIND|#TAGS.
func (p *packets) single(at series, v float64, kind string) {
	p.line(at, strconv.FormatFloat(v, 'g', -1, 64), kind)
}

// many writes NAME:VALUE:VALUE|d|#TAGS, in as many lines as packets need.
func (p *packets) many(at series, values []float64) {
	const room = 64 // of separators
	fixed := len(at.m.Dotted()) + len(at.tags) + room
	var b strings.Builder
	for _, v := range values {
		text := strconv.FormatFloat(v, 'g', 10, 64)
		if b.Len() > 0 && fixed+b.Len()+1+len(text) > p.e.most {
			p.line(at, b.String(), "d")
			b.Reset()
		}
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(text)
	}
	if b.Len() > 0 {
		p.line(at, b.String(), "d")
	}
}

func (p *packets) line(at series, values, kind string) {
	line := at.m.Dotted() + ":" + values + "|" + kind
	if at.tags != "" {
		line += "|#" + at.tags
	}
	if len(p.buf) > 0 && len(p.buf)+1+len(line) > p.e.most {
		p.flush()
	}
	if len(p.buf) > 0 {
		p.buf = append(p.buf, '\n')
	}
	p.buf = append(p.buf, line...)
}

// tags are those of everything, and a label each that has a value.
func (e *Exporter) tags(names, values []string) string {
	text := ""
	for _, t := range e.opt.Tags {
		text = join(text, clean.Replace(t))
	}
	for i, name := range names {
		// A run tells counters apart that are read; what is sent here is growth.
		if i < len(values) && values[i] != "" && name != telemetry.Run {
			text = join(text, tag(name, values[i]))
		}
	}
	return text
}

func tag(name, value string) string {
	const most = 200 // characters that Datadog keeps
	text := name + ":" + clean.Replace(strings.ToValidUTF8(value, "_"))
	if r := []rune(text); len(r) > most {
		text = string(r[:most])
	}
	return text
}

// clean keeps a value from ending its tag, its tags or its line.
var clean = strings.NewReplacer(",", "_", "|", "_", "#", "_", "\n", "_", "\r", "_")

func join(tags, one string) string {
	if tags == "" {
		return one
	}
	return tags + "," + one
}
