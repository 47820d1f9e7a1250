package timeline

import (
	"iter"
	"math"
	"unsafe"
)

// Kind says what an event of the stream was.
type Kind uint8

// The kinds. Text to Media bear tokens ("generation events"). Empty is what bears none
// and is no other; one beside a finish reason is an event before the Finish.
const (
	kindFiller Kind = iota // internal: carries a gap too long for one delta
	Role
	Text
	Reasoning
	Refusal
	Tool
	Media
	Empty
	Progress
	Ping
	Finish
	UsageEvent
	Done
	ErrorEvent
)

var kindNames = [...]string{"", "role", "text", "reasoning", "refusal", "tool",
	"media", "empty", "progress", "ping", "finish", "usage", "done", "error"}

// String returns the kind's name in files.
func (k Kind) String() string { return kindNames[k] }

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name && k > 0 {
			return Kind(k), true
		}
	}
	return 0, false
}

// Bears reports whether events of this kind carry generated tokens.
func (k Kind) Bears() bool { return k >= Text && k <= Media }

// Event is one event of the stream: its bytes became complete AtUS
// microseconds after the request was due.
type Event struct {
	AtUS   int64
	LagUS  int64 // from the kernel's stamp to our read; 0 with the user clock
	Kind   Kind
	Tokens Opt[int64] // output tokens it carried, when the protocol tells
	Choice int
	Bytes  int64 // UTF-8 bytes of generated text in it, or bytes of sound; 0 for other kinds, and where no file tells
	Read   int64 // ordinal of the read that completed it
}

// Events is the append-only list of a request's events, packed to 16 bytes an
// event, so that what is in flight stays small. The zero value is empty and
// keeps every event; see Keep.
type Events struct {
	packed []Packed
	lastUS int64
	read   int64
	any    bool

	most   int  // events that are kept; 0: all
	rest   Rest // takes the others
	handed bool // it has taken some
}

// Packed is an event as it is kept. A few are no events and only carry a part of
// a long gap; they bear nothing.
type Packed struct {
	delta  uint32 // µs since the event before
	lag    uint32 // µs
	bytes  uint32
	tokens uint16 // 0 unknown, else count+1
	choice uint8
	kind   uint8 // Kind, top bit: same read as the event before
}

const sameRead = 0x80

// DeltaUS is the time since the one before, in µs.
func (p *Packed) DeltaUS() int64 { return int64(p.delta) }

// LagUS is Event.LagUS.
func (p *Packed) LagUS() int64 { return int64(p.lag) }

// Bytes is Event.Bytes.
func (p *Packed) Bytes() int64 { return int64(p.bytes) }

// Choice is Event.Choice.
func (p *Packed) Choice() int { return int(p.choice) }

// Kind is Event.Kind.
func (p *Packed) Kind() Kind { return Kind(p.kind &^ sameRead) }

// NewRead reports whether a read completed it that completed none before.
func (p *Packed) NewRead() bool { return p.kind&sameRead == 0 && p.kind != uint8(kindFiller) }

// Tokens is Event.Tokens.
func (p *Packed) Tokens() Opt[int64] { return Opt[int64]{max(int64(p.tokens)-1, 0), p.tokens > 0} }

// Packed returns the events as they are kept, to be read only: going over many
// is faster this way than by All.
func (e *Events) Packed() []Packed {
	if e.most > 0 && len(e.packed) > e.most {
		return e.packed[:e.most]
	}
	return e.packed
}

// Rest takes the events that are not kept, in order. The slice is its own only
// during the call. Bytes is how much memory it takes.
type Rest interface {
	Take([]Packed)
	Bytes() int64
}

// waiting is how many events are handed to a Rest at once.
const waiting = 256

// Keep makes the list keep the first most events (above 0) that are appended;
// those after them go to rest, some at a time, so that a reply without end
// needs bounded memory. Seal must be called when the last event has come. Reset
// and AppendColumns know nothing of it.
func (e *Events) Keep(most int, rest Rest) { e.most, e.rest = most, rest }

// Seal hands on what still waits.
func (e *Events) Seal() {
	if e.most > 0 && len(e.packed) > e.most {
		over := e.packed[e.most:]
		e.packed, e.handed = e.packed[:e.most], true
		e.rest.Take(over)
	}
}

// Rest returns what has taken the events that were not kept; nil when every
// event was.
func (e *Events) Rest() Rest {
	if !e.handed {
		return nil
	}
	return e.rest
}

// Append adds an event. Times never run backwards: an event stamped before its
// predecessor is moved to it. Counts beyond the packed range are cut off.
func (e *Events) Append(ev Event) {
	delta := max(ev.AtUS-e.lastUS, 0)
	for delta > math.MaxUint32 {
		e.packed = append(e.packed, Packed{delta: math.MaxUint32, kind: uint8(kindFiller)})
		e.lastUS += math.MaxUint32
		delta -= math.MaxUint32
	}
	p := Packed{
		delta:  uint32(delta),
		lag:    uint32(min(max(ev.LagUS, 0), math.MaxUint32)),
		bytes:  uint32(min(max(ev.Bytes, 0), math.MaxUint32)),
		choice: uint8(min(max(ev.Choice, 0), math.MaxUint8)),
		kind:   uint8(ev.Kind),
	}
	if n, ok := ev.Tokens.Get(); ok {
		p.tokens = uint16(min(max(n, 0), math.MaxUint16-1)) + 1
	}
	if e.any && ev.Read == e.read {
		p.kind |= sameRead
	}
	e.any, e.read = true, ev.Read
	e.lastUS += delta
	e.packed = append(e.packed, p)
	if e.most > 0 && len(e.packed) >= e.most+waiting {
		e.Seal()
	}
}

// Absent stands for a number of tokens that the protocol did not tell, in Columns.
const Absent = math.MinInt64

// Columns are events as columns of a file, all of one length.
type Columns struct {
	AtUS, Kind, Tokens, Choice, Bytes, Read, LagUS []int64
}

// AppendColumns adds events as Append does, one after the other.
func (e *Events) AppendColumns(c Columns) {
	n := len(c.AtUS)
	e.Reserve(len(e.packed) + n)
	kinds, tokens, choices, bytes, reads, lags := c.Kind[:n], c.Tokens[:n], c.Choice[:n], c.Bytes[:n], c.Read[:n], c.LagUS[:n]
	for i, at := range c.AtUS {
		delta := at - e.lastUS
		count := tokens[i] + 1
		if tokens[i] == Absent {
			count = 0
		} else if tokens[i] < 0 || count > math.MaxUint16 {
			count = -1
		}
		if (uint64(delta)|uint64(lags[i])|uint64(bytes[i]))>>32 != 0 || uint64(choices[i]) > math.MaxUint8 || count < 0 {
			ev := Event{AtUS: at, LagUS: lags[i], Kind: Kind(kinds[i]), Choice: int(choices[i]), Bytes: bytes[i], Read: reads[i]}
			if tokens[i] != Absent {
				ev.Tokens = Some(tokens[i])
			}
			e.Append(ev)
			continue
		}
		p := Packed{delta: uint32(delta), lag: uint32(lags[i]), bytes: uint32(bytes[i]),
			tokens: uint16(count), choice: uint8(choices[i]), kind: uint8(kinds[i])}
		if e.any && reads[i] == e.read {
			p.kind |= sameRead
		}
		e.any, e.read, e.lastUS = true, reads[i], at
		e.packed = append(e.packed, p)
	}
}

// Len returns the number of events that are kept, or one more for each gap over
// 71 minutes.
func (e *Events) Len() int { return len(e.Packed()) }

// Bytes is how much memory the list takes, and what is known of the events that it does not keep.
func (e *Events) Bytes() int64 {
	n := int64(cap(e.packed)) * int64(unsafe.Sizeof(Packed{}))
	if e.handed {
		n += e.rest.Bytes()
	}
	return n
}

// LastUS returns the time of the last event, kept or not; 0 without events.
func (e *Events) LastUS() int64 { return e.lastUS }

// All yields the events that are kept, in order. Read ordinals are renumbered from 0.
func (e *Events) All() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var at, read int64 = 0, -1
		for _, p := range e.Packed() {
			at += int64(p.delta)
			kind := Kind(p.kind &^ sameRead)
			if kind == kindFiller {
				continue
			}
			if p.kind&sameRead == 0 {
				read++
			}
			ev := Event{AtUS: at, LagUS: int64(p.lag), Kind: kind,
				Choice: int(p.choice), Bytes: int64(p.bytes), Read: read}
			if p.tokens > 0 {
				ev.Tokens = Some(int64(p.tokens) - 1)
			}
			if !yield(ev) {
				return
			}
		}
	}
}

// Amend lets change alter the kind, tokens and bytes of the events that are kept, in
// order, until it returns false. It is told nothing else of them.
func (e *Events) Amend(change func(*Event) bool) {
	for i := range e.Packed() {
		p := &e.packed[i]
		if p.Kind() == kindFiller {
			continue
		}
		ev := Event{Kind: p.Kind(), Tokens: p.Tokens(), Choice: p.Choice(), Bytes: p.Bytes()}
		more := change(&ev)
		p.kind, p.bytes, p.tokens = p.kind&sameRead|uint8(ev.Kind), uint32(ev.Bytes), 0
		if n, ok := ev.Tokens.Get(); ok {
			p.tokens = uint16(n) + 1
		}
		if !more {
			return
		}
	}
}

// Generation yields the token-bearing events that are kept, in order.
func (e *Events) Generation() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for ev := range e.All() {
			if ev.Kind.Bears() && !yield(ev) {
				return
			}
		}
	}
}

// Reserve makes room for n events in all, so that a reply of known length is not
// copied while it grows.
func (e *Events) Reserve(n int) {
	if n > cap(e.packed) {
		e.packed = append(make([]Packed, 0, n), e.packed...)
	}
}

// OneChoice makes all events that are kept belong to the first choice.
func (e *Events) OneChoice() {
	for i := range e.packed {
		e.packed[i].choice = 0
	}
}

// TakeBack makes the last generation event of a choice an empty one, if it is text of
// so many bytes; false when it is not, or was handed on.
func (e *Events) TakeBack(choice int, bytes int64) bool {
	if e.handed {
		return false
	}
	for i := len(e.packed) - 1; i >= 0; i-- {
		p := &e.packed[i]
		if !p.Kind().Bears() || p.Choice() != choice {
			continue
		}
		if p.Kind() != Text || p.Bytes() != bytes {
			return false
		}
		p.kind, p.tokens, p.bytes = uint8(Empty)|p.kind&sameRead, 0, 0
		return true
	}
	return false
}

// Reset empties the list and keeps its memory; Keep no longer holds.
func (e *Events) Reset() { *e = Events{packed: e.packed[:0]} }
