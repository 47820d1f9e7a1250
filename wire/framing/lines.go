package framing

import "bytes"

// Lines frames newline-delimited JSON: one event a line, LF or CR LF, blank
// lines ignored.
type Lines struct {
	max  int
	line []byte
	bom  bool // the start has been looked at
	size int
	err  error
}

// NewLines returns a framer whose lines hold at most max bytes (0: the default).
func NewLines(max int) *Lines { return &Lines{max: limit(max)} }

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
		if len(f.line)+len(part) > f.max {
			return f.fail(&TooLargeError{f.max})
		}
		if n < 0 {
			f.line = append(f.line, part...)
			return nil
		}
		if len(f.line) > 0 {
			part = append(f.line, part...)
			f.line = part[:0]
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

// Held implements Framer.
func (f *Lines) Held() int { return cap(f.line) }

// Close implements Framer. A last line without its line end is delivered as partial.
func (f *Lines) Close(yield func(Event) error) (int, error) {
	if f.err != nil || len(f.line) == 0 {
		return 0, f.err
	}
	line := f.line
	f.line = nil
	if err := f.deliver(line, true, yield); err != nil {
		return 0, f.fail(err)
	}
	return 0, nil
}

func (f *Lines) fail(err error) error {
	f.err, f.line = err, nil
	return err
}

// Whole delivers a body as one event when it has ended.
type Whole struct {
	max  int
	body []byte
	err  error
}

// NewWhole returns a framer of a body of at most max bytes (0: the default).
func NewWhole(max int) *Whole { return &Whole{max: limit(max)} }

// Feed implements Framer.
func (f *Whole) Feed(p []byte, _ func(Event) error) error {
	if f.err != nil {
		return f.err
	}
	if len(f.body)+len(p) > f.max {
		f.body, f.err = nil, &TooLargeError{f.max}
		return f.err
	}
	f.body = append(f.body, p...)
	return nil
}

// Held implements Framer.
func (f *Whole) Held() int { return cap(f.body) }

// Close implements Framer. An empty body is no event.
func (f *Whole) Close(yield func(Event) error) (int, error) {
	if f.err != nil || len(f.body) == 0 {
		return 0, f.err
	}
	body := f.body
	f.body = nil
	return 0, yield(Event{Data: body, Size: len(body)})
}
