package framing

import "bytes"

// kept is what a framer has of a frame that is not whole yet.
type kept struct {
	max  int
	held []byte
	err  error // what it failed with
}

// keep begins with a cap of so many bytes; 0: the default.
func keep(max int) kept { return kept{max: limit(max)} }

// Held implements Framer.
func (k *kept) Held() int { return cap(k.held) }

func (k *kept) fail(err error) error {
	k.err, k.held = err, nil
	return err
}

// drop forgets what is held, and tells how much it was.
func (k *kept) drop() int {
	n := len(k.held)
	k.held = nil
	return n
}

// Lines frames newline-delimited JSON: one event a line, LF or CR LF, blank
// lines ignored.
type Lines struct {
	kept
	bom  bool // the start has been looked at
	size int
}

// NewLines returns a framer whose lines hold at most max bytes (0: the default).
func NewLines(max int) *Lines { return &Lines{kept: keep(max)} }

// Feed implements Framer.
func (f *Lines) Feed(p []byte, yield func(Event) error) error {
	if f.err != nil {
		return f.err
	}
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		rest := p[len(p):]
		part := p
		if n >= 0 {
			part, rest = p[:n], p[n+1:]
			f.size++
		}
		f.size += len(part)
		if len(f.held)+len(part) > f.max {
			return f.fail(&TooLargeError{f.max})
		}
		if n < 0 {
			f.held = append(f.held, part...)
			return nil
		}
		if len(f.held) > 0 {
			part = append(f.held, part...)
			f.held = part[:0]
		}
		if err := f.deliver(part, false, yield); err != nil {
			return f.fail(err)
		}
		p = rest
	}
	return nil
}

func (f *Lines) deliver(line []byte, partial bool, yield func(Event) error) error {
	if !f.bom {
		f.bom = true
		line = bytes.TrimPrefix(line, []byte(bomBytes))
	}
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return nil
	}
	e := Event{Data: line, Partial: partial, Size: f.size}
	f.size = 0
	return yield(e)
}

// Close implements Framer. A last line without its line end is delivered as partial.
func (f *Lines) Close(yield func(Event) error) (int, error) {
	if f.err != nil || len(f.held) == 0 {
		return 0, f.err
	}
	line := f.held
	f.held = nil
	if err := f.deliver(line, true, yield); err != nil {
		return 0, f.fail(err)
	}
	return 0, nil
}

// Whole delivers a body as one event when it has ended.
type Whole struct{ kept }

// NewWhole returns a framer of a body of at most max bytes (0: the default).
func NewWhole(max int) *Whole { return &Whole{keep(max)} }

// Feed implements Framer.
func (f *Whole) Feed(p []byte, _ func(Event) error) error {
	switch {
	case f.err != nil:
		return f.err
	case len(f.held)+len(p) > f.max:
		return f.fail(&TooLargeError{f.max})
	}
	f.held = append(f.held, p...)
	return nil
}

// Close implements Framer. An empty body is no event.
func (f *Whole) Close(yield func(Event) error) (int, error) {
	body := f.held
	if f.err != nil || f.drop() == 0 {
		return 0, f.err
	}
	return 0, yield(Event{Data: body, Size: len(body)})
}
