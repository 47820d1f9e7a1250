package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

// sample is a line of a page that is no comment.
type sample struct {
	name   []byte
	labels []byte // as written, without braces
	value  float64
	at     int64 // Unix time in ms; 0: none was given
}

// errPage says that a page is not in Prometheus's text format.
var errPage = errors.New("it is no page in Prometheus's text format")

// samples reads a page in Prometheus's text format, version 0.0.4. A page with a
// line that is none is refused as a whole: who knows what it lost. It allocates
// nothing a line, so that a large page once a second costs the run nothing.
func samples(page []byte, each func(s *sample)) error {
	var s sample
	for line := 1; len(page) > 0; line++ {
		text, rest, _ := bytes.Cut(page, []byte("\n"))
		page = rest
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if !s.read(text) {
			return fmt.Errorf("%w: line %d is not", errPage, line)
		}
		each(&s)
	}
	return nil
}

// read takes a line apart: name{label="value",…} value [time].
func (s *sample) read(line []byte) bool {
	n := 0
	for n < len(line) && nameByte(line[n], n == 0) {
		n++
	}
	if n == 0 {
		return false
	}
	s.name, s.labels, line = line[:n], nil, bytes.TrimLeft(line[n:], " \t")
	if len(line) > 0 && line[0] == '{' {
		end := endOfLabels(line)
		if end < 0 {
			return false
		}
		s.labels, line = line[1:end], line[end+1:]
	}
	fields := bytes.Fields(line)
	if len(fields) < 1 || len(fields) > 2 {
		return false
	}
	var err error
	if s.value, err = strconv.ParseFloat(string(fields[0]), 64); err != nil {
		return false
	}
	s.at = 0
	if len(fields) == 2 {
		if s.at, err = strconv.ParseInt(string(fields[1]), 10, 64); err != nil {
			return false
		}
	}
	return true
}

func nameByte(b byte, first bool) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == ':' || !first && b >= '0' && b <= '9'
}

// endOfLabels is where the brace closes that opens the line; below 0: nowhere.
func endOfLabels(line []byte) int {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case quoted && line[i] == '\\':
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}

// label is the value of a label as it is written; false where there is none.
func (s *sample) label(name string) ([]byte, bool) {
	for rest := s.labels; len(rest) > 0; {
		rest = bytes.TrimLeft(rest, ", \t")
		key, after, ok := bytes.Cut(rest, []byte("="))
		after = bytes.TrimLeft(after, " \t")
		if !ok || len(after) == 0 || after[0] != '"' {
			return nil, false
		}
		end := 1
		for end < len(after) && after[end] != '"' {
			if after[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(after) {
			return nil, false
		}
		if string(bytes.TrimSpace(key)) == name {
			return after[1:end], true
		}
		rest = after[end+1:]
	}
	return nil, false
}

// finite reports whether a value can be reckoned with: exporters show what they
// can't measure as NaN, as an infinity, or as a huge number.
func finite(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e15 }

// get asks for a page once. It follows no redirect, and an answer that is too
// large is none.
func get(ctx context.Context, client *http.Client, url string, header http.Header) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "text/plain; version=0.0.4")
	request.Header.Set("User-Agent", "tokenmeter")
	response, err := client.Do(request)
	if err != nil {
		return nil, bare(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{response.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, bare(err)
	case len(body) > MaxBody:
		return nil, fmt.Errorf("its answer is over %d MiB", MaxBody>>20)
	}
	return body, nil
}

// statusError is an answer that is no page.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("it answered HTTP %d %s", e.code, http.StatusText(e.code))
}

// newClient returns one for pages: no redirects, no proxy of the environment.
func newClient(transport *http.Transport, timeout time.Duration) *http.Client {
	transport.MaxIdleConnsPerHost, transport.ResponseHeaderTimeout = 1, timeout
	return &http.Client{Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
