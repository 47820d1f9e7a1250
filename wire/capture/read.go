package capture

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tokenmeter/base/limitio"
	"tokenmeter/record/timeline"
)

// What a capture may hold, before it is more likely no capture at all.
const (
	maxLine  = 64 << 20
	maxBytes = 512 << 20 // unpacked
)

// reader reads a capture's lines.
type reader struct {
	name string
	in   *bufio.Reader
	at   int   // number of the line read last
	read int64 // bytes of the lines

	line        []byte // read last, as it is in the file
	before, sum uint32 // of what is above it, and with it
}

func (c *reader) fail(at int, err error) error {
	name := cmp.Or(c.name, "capture")
	return fmt.Errorf("%s:%d: %w", name, at, err)
}

// next returns the next line that is not blank; io.EOF at the end.
func (c *reader) next() ([]byte, error) {
	for {
		data, err := limitio.Line(c.in, maxLine)
		if len(data) == 0 && err != nil {
			return nil, err
		}
		c.at++
		c.line, c.before, c.sum = data, c.sum, crc32.Update(c.sum, castagnoli, data)
		if c.read += int64(len(data)); c.read > maxBytes {
			return nil, errLong
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

var errLong = errors.New("the capture is longer than 512 MiB")

func (c *reader) head() (*head, error) {
	if magic, _ := c.in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(c.in)
		if err != nil {
			return nil, c.fail(1, err)
		}
		c.in = bufio.NewReader(z)
	}
	if mark, _ := c.in.Peek(3); string(mark) == "\xef\xbb\xbf" { // an editor's byte order mark
		_, _ = c.in.Discard(len(mark))
	}
	data, err := c.next()
	if err == io.EOF {
		return nil, c.fail(1, errors.New("the capture is empty"))
	} else if err != nil {
		return nil, c.fail(c.at+1, err)
	}
	h := new(head)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, c.fail(c.at, fmt.Errorf("the first line is no capture head: %w", jsonWords(err)))
	}
	if h.Capture != Version {
		return nil, c.fail(c.at, fmt.Errorf(`the first line must say "capture":%q, found %q`, Version, h.Capture))
	}
	if h.Clock != "" && h.Clock != timeline.Kernel && h.Clock != timeline.User {
		return nil, c.fail(c.at, fmt.Errorf("clock %q is unknown; it is kernel or user", h.Clock))
	}
	if err := h.check(); err != nil {
		return nil, c.fail(c.at, err)
	}
	return h, nil
}

// check refuses what no recording can have written: it would end up in a record.
func (h *head) check() error {
	if h.Status != 0 && (h.Status < 100 || h.Status > 999) {
		return fmt.Errorf("status %d is none; it is a number of three digits, or 0 when no response came", h.Status)
	}
	for _, f := range []struct {
		name  string
		value opt
	}{{"head_ms", h.Head}, {"dns_ms", h.DNS}, {"connect_ms", h.Connect}, {"tls_ms", h.TLS}, {"sent_ms", h.Sent}, {"retry_after_ms", h.RetryAfter}} {
		if f.value.Or(0) < 0 {
			return fmt.Errorf("%s is negative", f.name)
		}
	}
	if h.Attempts < 0 || h.ConnRetries < 0 || h.Redirects < 0 || h.Ordinal < 0 || h.Worker < 0 ||
		h.Requested.Or(0) < 0 || h.Inputs.Or(0) < 0 || h.Chars.Or(0) < 0 || h.Audio.Or(0) < 0 || h.Images.Or(0) < 0 || h.Pictures.Or(0) < 0 || h.Videos.Or(0) < 0 || h.Media.Or(0) < 0 || h.Turn.Or(0) < 0 || h.Step.Or(0) < 0 {
		return errors.New("attempts, conn_retries, redirects, ordinal, worker, requested_tokens, turn and step can't be negative")
	}
	return nil
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
			return nil, c.fail(c.at, jsonWords(err))
		}
		if err := l.check(last); err != nil {
			return nil, c.fail(c.at, err)
		}
		if l.End != "" {
			if err := verify(c.before, c.line); err != nil {
				return nil, c.fail(c.at, err)
			}
		}
		last = *l.T
		lines = append(lines, l)
	}
}

// jsonWords says what is wrong with a line without the names of our types.
func jsonWords(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("%s: %s does not belong there", cmp.Or(kind.Field, "the line"), kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON: %w at byte %d", err, syntax.Offset)
	}
	return err
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
