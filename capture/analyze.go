package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"tokenmeter/api"
	"tokenmeter/timeline"
	"tokenmeter/wire"
)

// Options are the choices of an analysis.
type Options struct {
	Name   string   // of the file, for messages
	API    *api.API // nil: the one that the capture names, else found from its bytes
	Stream api.StreamOptions
}

// Analyze reads one capture and returns its timeline, exact to the capture's
// times. An error names file and line; whatever the reply itself was is in the
// timeline's outcome.
func Analyze(r io.Reader, opts Options) (*timeline.Timeline, error) {
	c := &reader{name: opts.Name, in: bufio.NewReaderSize(r, 64<<10)}
	h, err := c.head()
	if err != nil {
		return nil, err
	}
	lines, err := c.lines()
	if err != nil {
		return nil, err
	}
	a := opts.API
	if a == nil {
		if a, err = apiOf(h, lines); err != nil {
			return nil, c.fail(1, err)
		}
	}
	return replay(h, lines, a, opts.Stream), nil
}

// replay drives a stream with the capture's times.
func replay(h *head, lines []line, a *api.API, opts api.StreamOptions) *timeline.Timeline {
	tl := h.timeline(a)
	s := api.NewStream(tl, a, opts)
	end := line{T: new(micros), End: "cut"}
	if n := len(lines); n > 0 && lines[n-1].End != "" {
		end, lines = lines[n-1], lines[:n-1]
	} else if n > 0 {
		end.T = lines[n-1].T
	}
	if h.Status != 0 {
		at := *end.T
		if len(lines) > 0 {
			at = *lines[0].T
		}
		s.Head(int64(h.Head.Or(at)), api.Head{Status: h.Status, Header: http.Header(h.Headers)})
	}
	for _, l := range lines {
		s.Read(int64(*l.T), int64(l.Lag), l.bytes())
	}
	var cause error
	if end.Cause != "" {
		cause = errors.New(end.Cause)
	}
	s.End(int64(*end.T), ends[end.End], http.Header(end.Trailers), cause)
	tl.ClockStepUS = toOpt(end.ClockStep)
	if after := toOpt(h.RetryAfter); after.OK() && !tl.RetryAfterUS.OK() {
		tl.RetryAfterUS = after
	}
	if end.Error != nil {
		tl.Fail(end.Error.Class, end.Error.Message)
	}
	return tl
}

func (l *line) bytes() []byte {
	if l.Data != nil {
		return []byte(*l.Data)
	}
	return l.B64
}

// timeline starts the record with what the first line tells.
func (h *head) timeline(a *api.API) *timeline.Timeline {
	tl := timeline.New()
	asked, requested, model := readRequest(h.Request, a)
	tl.API = a.Name
	tl.Request, tl.ID, tl.Worker = h.Ordinal, h.ID, h.Worker
	tl.Session, tl.Turn, tl.Task, tl.Step, tl.Parent = h.Session, h.Turn, h.Task, h.Step, h.Parent
	if tl.Model = h.Model; tl.Model == "" {
		tl.Model = model
	}
	tl.Asked = h.Asked.Or(asked)
	if tl.Requested = h.Requested; !tl.Requested.OK() {
		tl.Requested = requested
	}
	if h.Phase != "" {
		tl.Phase = h.Phase
	}
	if h.Clock != "" {
		tl.Clock = h.Clock
	}
	if h.Due != nil {
		tl.DueUS = int64(*h.Due)
	}
	tl.StartUS = tl.DueUS
	if h.Start != nil {
		tl.StartUS = int64(*h.Start)
	}
	tl.DNSUS, tl.ConnectUS, tl.TLSUS = toOpt(h.DNS), toOpt(h.Connect), toOpt(h.TLS)
	tl.SentUS = toOpt(h.Sent)
	tl.Reused, tl.Remote = h.Reused, h.Remote
	tl.Attempts, tl.ConnRetries, tl.Redirects = max(h.Attempts, 1), h.ConnRetries, h.Redirects
	tl.Flags = h.Flags
	return tl
}

// apiOf finds the API of a capture: named, else by its bytes, else by its
// request; openai-chat when nothing tells.
func apiOf(h *head, lines []line) (*api.API, error) {
	if h.API != "" {
		return api.ByName(h.API)
	}
	if a := api.Recognise(startOf(h, lines)); a != nil {
		return a, nil
	}
	var body map[string]any
	if json.Unmarshal(h.Request, &body) == nil {
		if _, ok := body["prompt"]; ok {
			return api.OpenAICompletions, nil
		}
	}
	return api.OpenAIChat, nil
}

// startOf is the start of the body after content decoding.
func startOf(h *head, lines []line) []byte {
	const enough = 64 << 10
	var body []byte
	take := func(p []byte) error { body = append(body, p...); return nil }
	coding, err := wire.NewDecoder(http.Header(h.Headers).Get("Content-Encoding"))
	if err != nil {
		return nil
	}
	for _, l := range lines {
		if len(body) >= enough {
			break
		}
		if coding == nil {
			take(l.bytes())
		} else if coding.Feed(l.bytes(), take) != nil {
			break
		}
	}
	if coding != nil {
		coding.Close()
	}
	return body
}

// reader reads a capture's lines.
type reader struct {
	name string
	in   *bufio.Reader
	at   int // number of the line read last
}

func (c *reader) fail(at int, err error) error {
	name := c.name
	if name == "" {
		name = "capture"
	}
	return fmt.Errorf("%s:%d: %w", name, at, err)
}

// next returns the next line that is not blank; io.EOF at the end.
func (c *reader) next() ([]byte, error) {
	for {
		data, err := c.in.ReadBytes('\n')
		if len(data) == 0 && err != nil {
			return nil, err
		}
		c.at++
		if data = bytes.TrimSpace(data); len(data) > 0 {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (c *reader) head() (*head, error) {
	if magic, _ := c.in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(c.in)
		if err != nil {
			return nil, c.fail(1, err)
		}
		c.in = bufio.NewReader(z)
	}
	data, err := c.next()
	if err == io.EOF {
		return nil, c.fail(1, errors.New("the capture is empty"))
	} else if err != nil {
		return nil, c.fail(c.at+1, err)
	}
	h := new(head)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, c.fail(c.at, fmt.Errorf("the first line is no capture head: %w", err))
	}
	if h.Capture != Version {
		return nil, c.fail(c.at, fmt.Errorf(`the first line must say "capture":%q, found %q`, Version, h.Capture))
	}
	if h.Clock != "" && h.Clock != timeline.Kernel && h.Clock != timeline.User {
		return nil, c.fail(c.at, fmt.Errorf("clock %q is unknown; it is kernel or user", h.Clock))
	}
	return h, nil
}

// lines reads what follows the head. The last line may be missing.
func (c *reader) lines() ([]line, error) {
	var lines []line
	var last micros
	for {
		data, err := c.next()
		if err == io.EOF {
			return lines, nil
		} else if err != nil {
			return nil, c.fail(c.at+1, err)
		}
		if n := len(lines); n > 0 && lines[n-1].End != "" {
			return nil, c.fail(c.at, errors.New("there is a line after the end of the body"))
		}
		var l line
		if err := json.Unmarshal(data, &l); err != nil {
			return nil, c.fail(c.at, err)
		}
		if err := l.check(last); err != nil {
			return nil, c.fail(c.at, err)
		}
		last = *l.T
		lines = append(lines, l)
	}
}

func (l *line) check(last micros) error {
	switch {
	case l.T == nil:
		return errors.New("t_ms is missing")
	case *l.T < last:
		return fmt.Errorf("t_ms runs backwards: %s after %s", decimal(int64(*l.T), 3), decimal(int64(last), 3))
	case l.Lag < 0:
		return errors.New("lag_ms is negative")
	case l.End == "" && l.Data == nil && l.B64 == nil:
		return errors.New("a read has data or b64, the last line has end; this line has none of them")
	case l.End != "" && (l.Data != nil || l.B64 != nil):
		return errors.New("the last line carries no data")
	case l.Data != nil && l.B64 != nil:
		return errors.New("a read has data or b64, not both")
	}
	if _, ok := ends[l.End]; l.End != "" && !ok {
		return fmt.Errorf("end %q is unknown", l.End)
	}
	return nil
}
