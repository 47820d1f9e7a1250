package framing

import "bytes"

// Elements frames one JSON array that arrives in pieces: an event an element.
// It finds where elements end and does not check them otherwise.
type Elements struct {
	kept         // of an element
	begun   bool // the array's bracket came
	ended   bool // its closing bracket came
	within  bool // an element has begun
	depth   int  // brackets that are open within it
	text    bool // inside a string
	escaped bool // after a backslash in it
	size    int  // bytes since the event before
	garbage int  // bytes outside of the array
}

// NewElements returns a framer whose elements hold at most max bytes (0: the
// default).
func NewElements(max int) *Elements { return &Elements{kept: keep(max)} }

// Feed implements Framer.
func (f *Elements) Feed(p []byte, yield func(Event) error) error {
	if f.err != nil {
		return f.err
	}
	from := 0 // where the element starts in p, or goes on
	for i, b := range p {
		f.size++
		if !f.within && !f.starts(b) {
			continue
		}
		if !f.within {
			f.within, from = true, i
		}
		if whole, after := f.ends(b); whole || after {
			element := p[from : i+1]
			if after {
				element = p[from:i]
			}
			if err := f.deliver(element, yield); err != nil {
				return f.fail(err)
			}
			f.ended = after && b == ']'
		}
	}
	if f.within {
		if len(f.held)+len(p)-from > f.max {
			return f.fail(&TooLargeError{f.max})
		}
		f.held = append(f.held, p[from:]...)
	}
	return nil
}

// starts reports whether a byte between elements begins one.
func (f *Elements) starts(b byte) bool {
	switch {
	case b == ' ', b == '\t', b == '\r', b == '\n':
		return false
	case f.ended || !f.begun && b != '[':
		f.garbage++
		return false
	case !f.begun:
		f.begun = true
		return false
	case b == ']':
		f.ended = true
		return false
	}
	return b != ','
}

// ends takes a byte of an element: the element is whole with it, or was before
// it, where a comma or the array's bracket follows a value without an end of its
// own.
func (f *Elements) ends(b byte) (whole, after bool) {
	switch {
	case f.escaped:
		f.escaped = false
	case f.text:
		f.escaped = b == '\\'
		f.text = b != '"'
	case b == '"':
		f.text = true
	case b == '{', b == '[':
		f.depth++
	case f.depth == 0:
		return false, b == ',' || b == ']'
	case b == '}', b == ']':
		f.depth--
		return f.depth == 0, false
	}
	return false, false
}

func (f *Elements) deliver(element []byte, yield func(Event) error) error {
	if len(f.held)+len(element) > f.max {
		return &TooLargeError{f.max}
	}
	if len(f.held) > 0 {
		element = append(f.held, element...)
		f.held = element[:0]
	}
	e := Event{Data: bytes.TrimSpace(element), Size: f.size}
	f.within, f.size = false, 0
	return yield(e)
}

// Close implements Framer.
func (f *Elements) Close(func(Event) error) (int, error) { return f.garbage + f.drop(), f.err }
