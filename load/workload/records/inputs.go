package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// AIPerf and GenAI-Perf write what they sent as one JSON object over all of it:
// {"data": [{"session_id": …, "payloads": [{…}, …]}, …]}. Source: InputsFile in
// aiperf/common/models of 0.13.0.

// wrapped is an element of its list.
type wrapped struct {
	Session  json.RawMessage   `json:"session_id"`
	Payloads []json.RawMessage `json:"payloads"`
	Payload  json.RawMessage   `json:"payload"` // GenAI-Perf's, a list too
}

// unwrapped returns a file with a record a line for each request of such a file, and
// of any other the file itself.
func unwrapped(in *os.File) (*os.File, error) {
	d, err := requestsOf(in)
	if err != nil || d == nil {
		return in, nil // what is wrong with it is told when it is read
	}
	defer in.Close()
	return temporary(func(out io.Writer) error {
		b := bufio.NewWriter(out)
		for d.More() {
			var w wrapped
			if err := d.Decode(&w); err != nil {
				return fmt.Errorf("data: %w", err)
			}
			if err := w.write(b); err != nil {
				return err
			}
		}
		if _, err := d.Token(); err != nil {
			return errors.New("the list under data does not end")
		}
		if err := nothingBehind(d); err != nil {
			return err
		}
		return b.Flush()
	})
}

// nothingBehind reads the rest of the object behind its list, in which no more requests may
// stand, nor behind it: they would be left out in silence.
func nothingBehind(d *json.Decoder) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("behind the list under data: %w", err)
		}
		if name == "data" {
			return errors.New("it has data twice, and one list is read")
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("the object around data does not end")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more stands behind the object: give each such file by itself")
	}
	return nil
}

// requestsOf stands before the first element of such a file's list; nil: it is another file.
func requestsOf(in io.ReaderAt) (*json.Decoder, error) {
	begin := func() (*json.Decoder, error) {
		d := json.NewDecoder(bufio.NewReader(io.NewSectionReader(in, 0, 1<<62)))
		for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('[')} {
			if t, err := d.Token(); err != nil || t != want {
				return nil, err
			}
		}
		return d, nil
	}
	d, err := begin()
	if err != nil || d == nil || !d.More() {
		return nil, err
	}
	var first wrapped
	if err := d.Decode(&first); err != nil || len(first.requests()) == 0 {
		return nil, err
	}
	return begin()
}

func (w *wrapped) requests() (all []json.RawMessage) {
	if w.Payloads == nil && json.Unmarshal(w.Payload, &all) == nil {
		return all
	}
	return w.Payloads
}

// write writes its requests as records with a payload, as AIPerf's other files have them.
func (w *wrapped) write(out io.Writer) error {
	for _, p := range w.requests() {
		line, err := json.Marshal(struct {
			Session json.RawMessage `json:"session_id,omitempty"`
			Payload json.RawMessage `json:"payload"`
		}{bytes.TrimSpace(w.Session), p})
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
