package framing

import "bytes"

// SSE frames server-sent events as the HTML standard defines them: lines end
// in LF, CR LF or CR, a blank line ends an event, a space after the colon is
// optional. The fields id and retry are read and dropped. Two things differ
// from a browser's reader, because a measurement must not lose them: comments
// are reported, and an event that the end of the body cut off is delivered as
// partial. A field called error, which some servers write instead of an event
// of that name, is read as `event: error` with the value as its data, and a comment in an
// event of that name without data is its data (NVIDIA Dynamo's, lib/llm/src/http/service/
// disconnect.rs). Lines that are no field are kept, see [SSE.Stray].
type SSE struct {
	max   int
	names names

	line []byte // start of a line whose end has not come yet
	data []byte // data of the open event, unless it is all in view
	view []byte // the open event's only data line, within the current read

	stray []byte // lines that are no field
	told  []byte // comments within an event called error, a line each

	name    string
	hasData bool
	afterCR bool // an LF that comes next belongs to the line end before
	bom     int  // bytes of a byte-order mark seen so far; bomDone after that
	size    int  // bytes since the last event
	open    int  // bytes of the open event's lines, comments not counted
	err     error
}

// NewSSE returns a framer whose events hold at most max bytes (0: the default).
func NewSSE(max int) *SSE { return &SSE{max: limit(max)} }

// Feed implements Framer.
func (f *SSE) Feed(p []byte, yield func(Event) error) error {
	if f.err != nil {
		return f.err
	}
	if f.bom != bomDone {
		p = f.skipBOM(p)
	}
	if err := f.lines(p, yield); err != nil {
		return f.fail(err)
	}
	if f.view != nil { // the caller's buffer is about to be used again
		f.data = append(f.data[:0], f.view...)
		f.view = nil
	}
	return nil
}

// Held implements Framer.
func (f *SSE) Held() int { return cap(f.line) + cap(f.data) + cap(f.stray) + cap(f.told) }

// KeepStray adds a line to those that were no event, of which it keeps 8 KiB.
//
//go:noinline
func KeepStray(kept, line []byte) []byte {
	const most = 8 << 10
	if n := min(len(line), most-len(kept)); n > 0 {
		kept = append(append(kept, line[:n]...), '\n')
	}
	return kept
}

// Stray is the lines that are no field of an event, as an error page or the JSON of an
// error are that a server or a gateway wrote into a stream that had begun; the first
// 8 KiB of them. It has the last line once Close was called.
func (f *SSE) Stray() []byte { return f.stray }

func (f *SSE) lines(p []byte, yield func(Event) error) error {
	lf := -1 // index of the first LF at or after i, len(p) if there is none
	for i := 0; i < len(p); {
		if f.afterCR {
			f.afterCR = false
			if p[i] == '\n' {
				f.size++
				i++
				continue
			}
		}
		if lf < i {
			lf = indexFrom(p, i, '\n')
		}
		end := i + indexFrom(p[i:lf], 0, '\r')
		if end == len(p) {
			return f.hold(p[i:])
		}
		f.afterCR = p[end] == '\r'
		f.size += end - i + 1
		if err := f.take(p[i:end], yield); err != nil {
			return err
		}
		i = end + 1
	}
	return nil
}

// indexFrom returns the index of the first c at or after i, or len(p).
func indexFrom(p []byte, i int, c byte) int {
	if n := bytes.IndexByte(p[i:], c); n >= 0 {
		return i + n
	}
	return len(p)
}

// hold keeps the start of a line that goes on in a later read.
func (f *SSE) hold(p []byte) error {
	f.size += len(p)
	if f.pending()+len(p) > f.max {
		return &TooLargeError{f.max}
	}
	f.line = append(f.line, p...)
	return nil
}

func (f *SSE) pending() int { return len(f.line) + len(f.data) + len(f.view) }

// take handles the rest of a line whose end has come.
func (f *SSE) take(line []byte, yield func(Event) error) error {
	if f.pending()+len(line) > f.max {
		return &TooLargeError{f.max}
	}
	held := len(f.line) > 0
	if held {
		line = append(f.line, line...)
		f.line = line[:0]
	}
	if len(line) == 0 {
		return f.dispatch(yield, false)
	}
	if line[0] == ':' {
		size := f.size
		if f.open > 0 { // the lines around it belong to another event
			size = len(line) + 1
		}
		f.size -= size
		if f.name == "error" {
			f.told = KeepStray(f.told, value(line[1:]))
		}
		return yield(Event{Comment: true, Data: value(line[1:]), Size: size})
	}
	f.open += len(line) + 1
	f.field(line, held)
	return nil
}

// field takes one field line. A held line's memory is used again, so its value
// is copied.
func (f *SSE) field(line []byte, held bool) {
	name, val, _ := bytes.Cut(line, colon)
	val = value(val)
	switch string(name) {
	case "data":
		f.addData(val, held)
	case "event":
		f.name = f.names.get(val)
	case "error":
		f.name = "error"
		f.addData(val, held)
	case "id", "retry":
	default:
		f.stray = KeepStray(f.stray, line)
	}
}

var colon = []byte{':'}

// value drops the one optional space after the colon.
func value(p []byte) []byte {
	if len(p) > 0 && p[0] == ' ' {
		return p[1:]
	}
	return p
}

func (f *SSE) addData(val []byte, held bool) {
	switch {
	case !f.hasData && !held:
		f.view = val[:len(val):len(val)]
	case !f.hasData:
		f.data = append(f.data[:0], val...)
	default:
		if f.view != nil {
			f.data = append(f.data[:0], f.view...)
			f.view = nil
		}
		f.data = append(f.data, '\n')
		f.data = append(f.data, val...)
	}
	f.hasData = true
}

// words are what comments say within an event called error that has no data.
func (f *SSE) words() []byte {
	if f.hasData || f.name != "error" {
		return nil
	}
	return bytes.Trim(f.told, "\n")
}

// dispatch ends the open event. Without data there is none, as the standard says.
func (f *SSE) dispatch(yield func(Event) error, partial bool) error {
	f.open = 0
	if words := f.words(); len(words) > 0 {
		f.view, f.hasData = words, true
	}
	f.told = f.told[:0]
	if !f.hasData {
		f.name = ""
		return nil
	}
	e := Event{Name: f.name, Data: f.data, Partial: partial, Size: f.size}
	if f.view != nil {
		e.Data = f.view
	}
	f.name, f.hasData, f.view, f.size = "", false, nil, 0
	f.data = f.data[:0]
	return yield(e)
}

// Close implements Framer.
func (f *SSE) Close(yield func(Event) error) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.bom != bomDone && f.bom > 0 {
		f.line = append(f.line, bomBytes[:f.bom]...)
		f.size += f.bom
		f.bom = bomDone
	}
	if n := len(f.line); n > 0 {
		f.open += n
		line := f.line
		f.line = nil
		if line[0] == ':' {
			if f.name == "error" {
				f.told = KeepStray(f.told, value(line[1:]))
			}
		} else {
			stray := len(f.stray)
			if f.field(line, true); n < len("event") { // the start of a field's name
				f.stray = f.stray[:stray]
			}
		}
	}
	if !f.hasData && len(f.words()) == 0 {
		return f.open, nil
	}
	if err := f.dispatch(yield, true); err != nil {
		return 0, f.fail(err)
	}
	return 0, nil
}

func (f *SSE) fail(err error) error {
	f.err = err
	f.line, f.data, f.view = nil, nil, nil
	return err
}

const bomDone = len(bomBytes)

const bomBytes = "\xef\xbb\xbf"

// skipBOM drops a byte-order mark at the very start, however it is split.
func (f *SSE) skipBOM(p []byte) []byte {
	i := 0
	for f.bom < bomDone && i < len(p) {
		if p[i] != bomBytes[f.bom] {
			if seen := f.bom; seen > 0 { // no mark after all: its first bytes are text
				f.bom = bomDone
				return append([]byte(bomBytes[:seen]), p[i:]...)
			}
			f.bom = bomDone
			return p
		}
		f.bom++
		i++
	}
	if f.bom == bomDone {
		f.size += bomDone
	}
	return p[i:]
}

// names keeps one string per event name, so that no event allocates its own.
type names struct{ known map[string]string }

const maxNames = 64

func (n *names) get(b []byte) string {
	if s, ok := n.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if n.known == nil {
		n.known = make(map[string]string)
	}
	if len(n.known) < maxNames {
		n.known[s] = s
	}
	return s
}
