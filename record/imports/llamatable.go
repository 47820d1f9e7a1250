package imports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

const (
	llamaMarkdown = "| model "
	llamaCSV      = "build_commit,"
)

// isLLAMABenchTable tells llama-bench's tables, -o md and -o csv. In front of the first
// stands what ggml says of its devices, where a terminal was copied.
func isLLAMABenchTable(head []byte) bool {
	if bytes.HasPrefix(head, []byte(llamaCSV)) {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		return bytes.Contains(line, []byte("avg_ts"))
	}
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte(llamaMarkdown)) {
			return bytes.Contains(line, []byte(" t/s |"))
		}
	}
	return false
}

// llamaTest is a row of a table: the mean over an unknown number of repetitions.
type llamaTest struct {
	at                 int64
	name, model        string
	began              time.Time
	ts, tsSD, ns, nsSD timeline.Opt[float64] // tokens a second, and nanoseconds of a repetition
}

// llamaBenchTable reads the tables, which have no repetition, only their mean and
// deviation. Source: llama.cpp, tools/llama-bench/llama-bench.cpp (MIT).
func llamaBenchTable(in *Input, m *run.Run) error {
	t := newTold(in, 0)
	read := llamaMarkdownRows
	if bytes.HasPrefix(in.data, []byte(llamaCSV)) {
		read = llamaCSVRows
	}
	tests, err := read(in, t)
	if err == nil {
		err = t.err
	}
	if err != nil {
		return err
	}
	names := make([]string, len(tests))
	for i := range tests {
		names[i] = tests[i].name
	}
	part, err := in.part(names)
	if err != nil {
		return err
	}
	test := &tests[part]
	t.at = test.at
	m.Name, m.Target.Model, m.Started = test.name, test.model, test.began
	prompt := strings.HasPrefix(test.name, "pp") && !strings.Contains(test.name, "+")
	whole := "e2e_ms"
	if prompt { // its time is TTFT, as in the JSON files
		whole = "ttft_ms"
		t.Throughput.SystemInputTPS = test.ts
	} else if !strings.Contains(test.name, "+") {
		t.Throughput.SystemOutputTPS = test.ts // one stream, laid end to end
		t.stat("e2e_tps", "mean", test.ts, 1)
		t.stat("e2e_tps", "sd", test.tsSD, 1)
	}
	t.stat(whole, "mean", test.ns, 1e-6)
	t.stat(whole, "sd", test.nsSD, 1e-6)
	in.note("llama-bench -o json has every repetition")
	return t.into(m)
}

func llamaMarkdownRows(in *Input, t *told) (tests []llamaTest, err error) {
	var columns []string
	err = in.lines(func(at int64, line string) error {
		if !strings.HasPrefix(line, "|") {
			return nil
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case columns == nil, cells[0] == columns[0]: // of another run, too
			columns = cells
			return nil
		case strings.HasPrefix(cells[0], "---"):
			return nil
		case len(cells) != len(columns):
			return in.at(at, fmt.Errorf("the row has %d columns and the table's head %d", len(cells), len(columns)))
		}
		test := llamaTest{at: at}
		for i, name := range columns {
			switch name {
			case "model":
				test.model = cells[i]
			case "test":
				test.name = cells[i]
			case "t/s":
				mean, sd := meanAndDeviation(cells[i])
				v, ok := jsonNumber(mean)
				if !ok {
					return in.at(at, fmt.Errorf("t/s is %q, no number", cells[i]))
				}
				test.ts = t.sensible(v, "t/s")
				if v, ok := jsonNumber(sd); ok {
					test.tsSD = t.sensible(v, "t/s")
				}
			}
		}
		tests = append(tests, test)
		return nil
	})
	if err == nil && len(tests) == 0 {
		err = in.at(int64(len(in.data)), errors.New("the table has no row"))
	}
	return tests, err
}

// meanAndDeviation parts "5.00 ± 0.10", whatever stands for the sign where a terminal or an
// editor has no ±: +/-, or the letters that its bytes are in another code page.
func meanAndDeviation(cell string) (mean, sd string) {
	digits := func(r rune) bool { return r == '.' || r >= '0' && r <= '9' }
	mean = strings.TrimRightFunc(cell, digits)
	sd = cell[len(mean):]
	mean = strings.TrimRightFunc(mean, func(r rune) bool { return !digits(r) && (r >= utf8.RuneSelf || strings.ContainsRune(" +/-", r)) })
	if mean == "" || mean == cell[:len(cell)-len(sd)] { // nothing stands between
		return cell, ""
	}
	return mean, sd
}

func llamaCSVRows(in *Input, t *told) (tests []llamaTest, err error) {
	text := &short{from: bytes.NewReader(in.data), left: mostRow, over: errRow}
	rows := csv.NewReader(text)
	columns, err := rows.Read()
	for err == nil {
		at := rows.InputOffset()
		var row []string
		text.left = mostRow
		if row, err = rows.Read(); err != nil {
			break
		}
		test := llamaTest{at: at}
		var v llamaBenchRow
		figures := map[string]*timeline.Opt[float64]{"avg_ts": &test.ts, "stddev_ts": &test.tsSD, "avg_ns": &test.ns, "stddev_ns": &test.nsSD}
		counts := map[string]**float64{"n_prompt": &v.Prompt, "n_gen": &v.Gen, "n_depth": &v.Depth}
		for i, name := range columns {
			figure, counted := figures[name], counts[name]
			switch {
			case name == "model_type":
				test.model = row[i]
			case name == "test_time":
				if began, err := parseTime(row[i]); err == nil {
					test.began = began
				}
			case figure != nil || counted != nil:
				x, ok := jsonNumber(row[i])
				if !ok {
					return nil, in.at(at, fmt.Errorf("%s is %q, no number", name, row[i]))
				}
				if figure != nil {
					*figure = t.sensible(x, name)
				} else {
					*counted = &x
				}
			}
		}
		test.name = v.name()
		tests = append(tests, test)
	}
	var broken *csv.ParseError
	switch {
	case errors.As(err, &broken):
		return nil, fmt.Errorf("%s:%d:%d: %w", in.Name, broken.Line, max(broken.Column, 1), broken.Err)
	case err != io.EOF:
		return nil, in.at(0, err)
	case len(tests) == 0:
		return nil, in.at(int64(len(in.data)), errors.New("the table has no row"))
	}
	return tests, nil
}
