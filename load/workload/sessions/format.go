package sessions

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// format is one way to record sessions.
type format struct {
	name string
	fits func(names []string) bool            // the names in the first objects
	one  func(*scanner) (*Session, error)     // a session stands by itself
	all  func([]*os.File) ([]*Session, error) // or they are spread over all files
	// timed: sessions are played when they began.
	timed bool
}

// formats is the table of formats.
var formats = []format{
	{name: "weka", fits: Has("requests", "id"), one: weka},
	{name: "otlp", fits: isOTLP, all: otlp},
	{name: "claude-code", fits: Has("type", "sessionId", "timestamp"), all: claude},
	{name: "codex", fits: Has("type", "timestamp", "payload"), all: codex},
	{name: "traffic", fits: Has("at", "in", "out", "took_ms"), all: live, timed: true},
}

// Formats lists the names of the formats.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Has tells whether all of some names are there.
func Has(want ...string) func([]string) bool {
	return func(names []string) bool {
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(names, w) })
	}
}

// formatOf finds a format by name, or by how the file begins.
func formatOf(in *os.File, name string) (*format, error) {
	if name != "" {
		for i := range formats {
			if formats[i].name == name {
				return &formats[i], nil
			}
		}
		return nil, fmt.Errorf("%q is none of %s: %w", name, strings.Join(Formats(), ", "), ErrUnknown)
	}
	names := beginning(in)
	for i := range formats {
		if formats[i].fits(names) {
			return &formats[i], nil
		}
	}
	return nil, ErrUnknown
}

// beginning lists the names in the file's first objects, as far as its first bytes
// tell.
func beginning(in io.ReaderAt) (names []string) {
	head := make([]byte, 256<<10)
	n, _ := in.ReadAt(head, 0)
	s := newScanner(bytes.NewReader(head[:n]))
	if s.peek() == '[' {
		s.i++
	}
	for s.peek() == '{' {
		s.object(func(name string) {
			names = append(names, name)
			s.skip()
		})
		if s.peek() == ',' {
			s.i++
		}
	}
	return names
}
