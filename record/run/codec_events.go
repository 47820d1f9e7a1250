package run

import "tokenmeter/record/timeline"

// The head byte of an event: its kind in the low four bits, then what follows
// the time. Most events are a head, a time and a byte count: four bytes.
const (
	eventKind   = 0x0f
	eventJoined = 0x10 // completed by the same read as the event before
	eventTokens = 0x20 // a token count follows
	eventChoice = 0x40 // a choice other than 0 follows
	eventLag    = 0x80 // a lag follows
)

// events writes times as differences, so that an event takes a few bytes. A
// head of zero ends the list.
func (c *coder) events(v *timeline.Events) {
	if c.reading {
		c.readEvents(v)
		return
	}
	var at, read int64 = 0, -1
	for ev := range v.All() {
		c.writeEvent(ev, ev.AtUS-at, ev.Read == read)
		at, read = ev.AtUS, ev.Read
	}
	c.buf = append(c.buf, 0)
}

func (c *coder) writeEvent(ev timeline.Event, delta int64, joined bool) {
	head := byte(ev.Kind) & eventKind
	tokens, counted := ev.Tokens.Get()
	if joined {
		head |= eventJoined
	}
	if counted {
		head |= eventTokens
	}
	if ev.Choice != 0 {
		head |= eventChoice
	}
	if ev.LagUS != 0 {
		head |= eventLag
	}
	c.byte(&head)
	c.int(&delta)
	c.int(&ev.Bytes)
	if counted {
		c.int(&tokens)
	}
	if ev.Choice != 0 {
		c.smallInt(&ev.Choice)
	}
	if ev.LagUS != 0 {
		c.int(&ev.LagUS)
	}
}

func (c *coder) readEvents(v *timeline.Events) {
	var at, read int64 = 0, -1
	for c.more() {
		var head byte
		var delta, tokens int64
		var ev timeline.Event
		c.byte(&head)
		if head == 0 {
			return
		}
		c.int(&delta)
		c.int(&ev.Bytes)
		if head&eventTokens != 0 {
			c.int(&tokens)
			ev.Tokens = timeline.Some(tokens)
		}
		if head&eventChoice != 0 {
			c.smallInt(&ev.Choice)
		}
		if head&eventLag != 0 {
			c.int(&ev.LagUS)
		}
		ev.Kind = timeline.Kind(head & eventKind)
		if c.err != nil || !validEvent(ev.Kind, at, delta) {
			c.fail()
			return
		}
		if head&eventJoined == 0 {
			read++
		}
		at += delta
		ev.AtUS, ev.Read = at, read
		v.Append(ev)
	}
}

// maxEventUS bounds a time since due: ten years. A time beyond it is damage,
// and would make the packed list of events grow without need.
const maxEventUS = 10 * 366 * 24 * 3600 * 1e6

func validEvent(k timeline.Kind, at, delta int64) bool {
	return k >= timeline.Role && k <= timeline.ErrorEvent &&
		delta >= 0 && delta <= maxEventUS && at+delta <= maxEventUS
}
