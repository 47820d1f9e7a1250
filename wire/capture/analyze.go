package capture

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/framing"
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
	tl.Inputs, tl.Chars, tl.AudioUS, tl.Images = h.Inputs, h.Chars, h.Audio, h.Images
	tl.ImageSize, tl.InputImages, tl.Videos, tl.MediaBytes = h.ImageSize, h.Pictures, h.Videos, h.Media
	tl.SortImages()
	tl.Phase = cmp.Or(h.Phase, tl.Phase)
	tl.Clock = cmp.Or(h.Clock, tl.Clock)
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
	coding, err := framing.NewDecoder(http.Header(h.Headers).Values("Content-Encoding")...)
	if err != nil {
		return nil
	}
	for _, l := range lines {
		if len(body) >= enough {
			break
		}
		if coding == nil {
			_ = take(l.bytes())
		} else if coding.Feed(l.bytes(), take) != nil {
			break
		}
	}
	if coding != nil {
		coding.Close()
	}
	return body
}
