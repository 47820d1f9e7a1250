package imports

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// csvColumns are the columns that are read. Others are passed over.
var csvColumns = []string{"start_s", "due_s", "sent_ms", "ttft_ms", "e2e_ms", "input_tokens", "output_tokens", "error", "outcome", "phase", "model", "id", "session"}

func isCSV(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	fields := strings.FieldsFunc(string(line), func(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == '\r' || r == '"' })
	return slices.Contains(fields, "e2e_ms") && (slices.Contains(fields, "start_s") || slices.Contains(fields, "due_s"))
}

func readCSV(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	rows := &short{from: bytes.NewReader(in.data), over: errRow}
	table := csv.NewReader(rows)
	table.ReuseRecord = true
	if line, _, _ := bytes.Cut(in.data, []byte("\n")); bytes.Count(line, []byte(";")) > bytes.Count(line, []byte(",")) {
		table.Comma = ';'
	} else if bytes.Count(line, []byte("\t")) > bytes.Count(line, []byte(",")) {
		table.Comma = '\t'
	}
	columns := map[string]int{}
	var all []*request
	for {
		rows.left = mostRow
		at := table.InputOffset()
		row, err := table.Read()
		if err == io.EOF {
			break
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			return m, fmt.Errorf("%s:%d:%d: %w", in.Name, parse.Line, parse.Column, parse.Err)
		} else if err != nil {
			return m, fmt.Errorf("%s: %w", in.Name, err)
		}
		if len(columns) == 0 {
			for i, name := range row {
				if slices.Contains(csvColumns, name) {
					columns[name] = i
				}
			}
			continue
		}
		r, err := csvRequest(in, at, table, row, columns)
		if err != nil {
			return m, err
		}
		if err := in.fits(r.at, len(all)); err != nil {
			return m, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return m, in.at(0, errors.New("the table has no row"))
	}
	err := emit(in, &m.Load, all, add)
	return m, err
}

func csvRequest(in *Input, at int64, table *csv.Reader, row []string, columns map[string]int) (*request, error) {
	r := unknown(at)
	var fault error
	text := func(name string) string {
		if i, ok := columns[name]; ok && i < len(row) {
			return strings.Clone(row[i])
		}
		return ""
	}
	number := func(name string) *float64 {
		value := text(name)
		if value == "" {
			return nil
		}
		v, err := strconv.ParseFloat(value, 64)
		if (err != nil || strings.Contains(value, "_")) && fault == nil { // 1_0 is Go's
			line, column := table.FieldPos(columns[name])
			fault = fmt.Errorf("%s:%d:%d: %s is %q, no number", in.Name, line, column, name, value)
		}
		return &v
	}
	r.start, r.due = known(cmp.Or(number("start_s"), number("due_s")), 1), known(number("due_s"), 1)
	r.first, r.e2e, r.sent = known(number("ttft_ms"), 1000), known(number("e2e_ms"), 1000), known(number("sent_ms"), 1000)
	if waited := r.start - r.due; waited > 0 { // as of our own tables, times are since due then
		r.first, r.e2e, r.sent = r.first-waited, r.e2e-waited, r.sent-waited
		if r.first < 0 || r.e2e < 0 {
			return nil, in.at(at, errors.New("with due_s and start_s times are since due, and this request has a token before it was sent: leave one of the columns out"))
		}
	}
	r.input, r.output = count(number("input_tokens")), count(number("output_tokens"))
	r.streamed = r.first == r.first
	r.model, r.id, r.session, r.failure = text("model"), text("id"), text("session"), failure(text("error"))
	if p := timeline.Phase(text("phase")); !p.Counts() {
		r.phase = p
	}
	o := strings.ToLower(text("outcome"))
	status, notOne := strconv.Atoi(o)
	switch {
	case notOne == nil && status >= 100 && status < 600:
		r.fine, r.status = status >= 200 && status < 300, status
	case o == string(timeline.OK), o == "success", o == "succeeded":
		r.fine = true // vectors have no tokens either
	case slices.Contains(timeline.Outcomes, timeline.Outcome(o)):
		r.class = timeline.Outcome(o)
		r.failure = cmp.Or(strings.TrimPrefix(r.failure, o+": "), o)
	default:
		r.failure = cmp.Or(r.failure, failure(text("outcome")))
	}
	return r, fault
}
