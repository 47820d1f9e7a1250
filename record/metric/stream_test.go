package metric

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// stream builds the timeline of one reply from a short notation, a line a write:
//
//	t=100ms x3 every 20ms C("w")
//	t=141ms FIN + U(3,3) + DONE + EOF
//
// Items of one line come in one read. C text, Z reasoning, T tool call, M
// media, each with an optional number of tokens that the protocol tells; CI
// text of a choice; ROLE, PING, FIN(reason), U(in,out), UR(in,out,reasoning),
// UT(in,out,total), UC(in,out,cached), IDS(n), TOK(n) (a local tokenizer's
// count), DONE; EOF, CUT and RST end the body.
func stream(t testing.TB, text string) *timeline.Timeline {
	t.Helper()
	tl := timeline.New()
	tl.Streamed, tl.Asked, tl.HTTPStatus, tl.Outcome = true, true, 200, timeline.OK
	b := builder{t: t, tl: tl}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.line(line)
		}
	}
	return tl
}

type builder struct {
	t    testing.TB
	tl   *timeline.Timeline
	read int64
}

var (
	lineForm = regexp.MustCompile(`^t=([\d.]+)ms (?:x(\d+) every ([\d.]+)ms )?(.+)$`)
	itemForm = regexp.MustCompile(`^([A-Z]+)(?:\((.*)\))?$`)
	argForm  = regexp.MustCompile(`"[^"]*"|[^,]+`)
)

func (b *builder) line(line string) {
	m := lineForm.FindStringSubmatch(line)
	if m == nil {
		b.t.Fatalf("bad line %q", line)
	}
	at, _ := strconv.ParseFloat(m[1], 64)
	times, _ := strconv.Atoi(m[2])
	every, _ := strconv.ParseFloat(m[3], 64)
	for i := range max(times, 1) {
		us := int64((at+float64(i)*every)*1000 + 0.5)
		if !b.tl.HeadUS.OK() {
			b.tl.HeadUS = timeline.Some(us)
		}
		for item := range strings.SplitSeq(m[4], " + ") {
			b.item(us, item)
		}
		b.read++
	}
}

func (b *builder) item(us int64, item string) {
	m := itemForm.FindStringSubmatch(item)
	if m == nil {
		b.t.Fatalf("bad item %q", item)
	}
	args := argForm.FindAllString(m[2], -1)
	num := func(i int) timeline.Opt[int64] {
		if i >= len(args) {
			return timeline.Opt[int64]{}
		}
		n, err := strconv.ParseInt(args[i], 10, 64)
		if err != nil {
			b.t.Fatalf("bad number in %q", item)
		}
		return timeline.Some(n)
	}
	ev := timeline.Event{AtUS: us, Read: b.read}
	put := func(kind timeline.Kind, text string, tokens timeline.Opt[int64]) {
		ev.Kind, ev.Tokens, ev.Bytes = kind, tokens, int64(len(strings.Trim(text, `"`)))
		b.tl.Events.Append(ev)
	}
	plain := func(kind timeline.Kind) { put(kind, "", timeline.Opt[int64]{}) }
	usage := func() {
		b.tl.Usage.Input, b.tl.Usage.Output = num(0), num(1)
		plain(timeline.UsageEvent)
	}
	switch m[1] {
	case "ROLE":
		plain(timeline.Role)
	case "PING":
		plain(timeline.Ping)
	case "C":
		put(timeline.Text, args[0], num(1))
	case "Z":
		put(timeline.Reasoning, args[0], num(1))
	case "T":
		put(timeline.Tool, args[0], num(1))
	case "M":
		put(timeline.Media, `""`, num(0))
	case "CI":
		ev.Choice = int(num(0).Or(0))
		put(timeline.Text, args[1], num(2))
	case "FIN":
		b.tl.FinishReason = "stop"
		plain(timeline.Finish)
	case "U":
		usage()
		b.tl.Usage.Total = timeline.Some(num(0).Or(0) + num(1).Or(0))
	case "UR":
		usage()
		b.tl.Usage.Reasoning = num(2)
	case "UT":
		usage()
		b.tl.Usage.Total = num(2)
	case "UC":
		usage()
		b.tl.Usage.Cached = num(2)
	case "IDS":
		b.tl.Counted = num(0)
	case "TOK":
		b.tl.Tokenized = num(0)
	case "DONE":
		plain(timeline.Done)
	case "EOF", "CUT", "RST":
		b.tl.CloseUS = timeline.Some(us)
	default:
		b.t.Fatalf("unknown item %q", item)
	}
}

// near compares with the accuracy of the printed expectations.
func near(a, b float64) bool { return a-b < 0.001 && b-a < 0.001 }

func show(v any) string {
	switch v := v.(type) {
	case timeline.Opt[float64]:
		if x, ok := v.Get(); ok {
			return fmt.Sprint(x)
		}
		return "null"
	case timeline.Opt[int64]:
		if x, ok := v.Get(); ok {
			return fmt.Sprint(x)
		}
		return "null"
	}
	return fmt.Sprint(v)
}
