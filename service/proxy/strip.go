package proxy

import "bytes"

// stripper removes the usage event that a server sent because the proxy asked
// for it: the one whose choices are empty and whose usage is not null. Every
// other byte passes as it came. An event that is cut by the end of a read waits
// for its rest, unless it is seen to hold a choice or grows large: nobody could
// have used a part of an event.
type stripper struct {
	held    []byte
	open    bool // the event in hand is let through to its end
	start   bool // at the start of a line
	cr      bool // the byte before was CR
	skipLF  bool // an event was removed that ended in CR
	removed int64
}

// mostHeld is how much of an unfinished event is held back.
const mostHeld = 64 << 10

func newStripper() *stripper { return &stripper{start: true} }

// feed takes the bytes of one read and calls write with what passes.
func (s *stripper) feed(data []byte, write func([]byte) error) error {
	if s.skipLF && len(data) > 0 {
		if s.skipLF = false; data[0] == '\n' {
			data = data[1:]
			s.cr = false
		}
	}
	if len(s.held) == 0 {
		n, err := s.scan(data, write)
		if err != nil {
			return err
		}
		s.held = append(s.held, data[n:]...)
		return nil
	}
	s.held = append(s.held, data...)
	from := len(s.held) - len(data)
	n, err := s.scanFrom(s.held, from, write)
	s.held = append(s.held[:0], s.held[n:]...)
	return err
}

func (s *stripper) scan(data []byte, write func([]byte) error) (done int, err error) {
	return s.scanFrom(data, 0, write)
}

// scanFrom looks for ends of events in data[from:] and returns how much of data
// is dealt with. Runs of events that stay are written at once.
func (s *stripper) scanFrom(data []byte, from int, write func([]byte) error) (done int, err error) {
	event := 0 // where the event in hand begins
	for i := from; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n' && s.cr:
			s.cr = false // the second half of a line's end
			if event == i && !s.open {
				event = i + 1 // of the event before
			}
		case c == '\n' || c == '\r':
			blank := s.start
			s.start, s.cr = true, c == '\r'
			if !blank {
				continue
			}
			if !s.open && injected(data[event:i+1]) {
				if done < event {
					if err := write(data[done:event]); err != nil {
						return done, err
					}
				}
				done = i + 1
				s.removed++
				if c == '\r' {
					if i+1 == len(data) {
						s.skipLF = true
					} else if data[i+1] == '\n' {
						i++
						done++
						s.cr = false
					}
				}
			}
			s.open = false
			event = i + 1
		default:
			s.start, s.cr = false, false
		}
	}
	if !s.open && event < len(data) && (len(data)-event > mostHeld || holdsChoice(data[event:])) {
		s.open = true
	}
	if s.open {
		event = len(data)
	}
	if done < event {
		if err := write(data[done:event]); err != nil {
			return done, err
		}
		done = event
	}
	return done, nil
}

// end returns what is still held.
func (s *stripper) end(write func([]byte) error) error {
	if len(s.held) == 0 {
		return nil
	}
	held := s.held
	s.held = nil
	return write(held)
}

// holdsChoice reports whether the start of an event can't be the usage event.
func holdsChoice(part []byte) bool {
	i := bytes.Index(part, []byte(`"choices"`))
	if i < 0 {
		return false
	}
	rest := bytes.TrimLeft(part[i+len(`"choices"`):], " :\t[")
	return len(rest) > 0 && rest[0] == '{'
}

// injected reports whether an event is the one that holds usage only.
func injected(event []byte) bool {
	if !bytes.Contains(event, []byte(`"usage"`)) {
		return false
	}
	var data []byte
	for _, line := range bytes.FieldsFunc(event, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, value...)
		}
	}
	empty, usage := false, false
	_, err := eachMember(data, 0, func(key string, v span) {
		raw := data[v.from:v.to]
		switch key {
		case "choices":
			empty = len(raw) >= 2 && raw[0] == '[' && skipSpace(raw, 1) == len(raw)-1
		case "usage":
			usage = raw[0] == '{'
		}
	})
	return err == nil && empty && usage
}
