package published

import (
	"strconv"

	"tokenmeter/physics/sim"
)

// columns are the figures of a trial behind its number of streams.
var columns = []struct {
	name, title string
	of          func(sim.Trial) *float64
}{
	{"ttft_ms", "TTFT ms", func(t sim.Trial) *float64 { return &t.TTFT }},
	{"queue_ms", "of it queue", func(t sim.Trial) *float64 { return &t.Queue }},
	{"tpot_ms", "TPOT ms", func(t sim.Trial) *float64 { return t.TPOT }},
	{"decode_tps", "tokens/s of a stream", func(t sim.Trial) *float64 { return t.DecodeTPS }},
	{"early_tps", "at its start", func(t sim.Trial) *float64 { return t.Early }},
	{"late_tps", "at its end", func(t sim.Trial) *float64 { return t.Late }},
	{"words_per_s", "words/s", func(t sim.Trial) *float64 { return t.WordsPerS }},
	{"system_output_tps", "tokens/s of all", func(t sim.Trial) *float64 { return &t.SystemTPS }},
}

// value is a figure of a trial by its name in JSON.
func value(t sim.Trial, name string) *float64 {
	for _, c := range columns {
		if c.name == name {
			return c.of(t)
		}
	}
	return nil
}

// TrialTable shows trials, one a row.
func TrialTable(trials []sim.Trial) Table {
	t := Table{Head: []string{"streams"}}
	for _, c := range columns {
		t.Head = append(t.Head, c.title)
	}
	for _, trial := range trials {
		row := []string{strconv.Itoa(trial.Streams)}
		for _, c := range columns {
			cell := "–"
			if v := c.of(trial); v != nil {
				cell = figure(*v)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TrialRecords are the same with all their digits, for programs; what was not
// measured is empty.
func TrialRecords(trials []sim.Trial) [][]string {
	head := []string{"streams"}
	for _, c := range columns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for _, trial := range trials {
		row := []string{strconv.Itoa(trial.Streams)}
		for _, c := range columns {
			cell := ""
			if v := c.of(trial); v != nil {
				cell = strconv.FormatFloat(*v, 'g', -1, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}
