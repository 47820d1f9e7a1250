//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
)

// LLMeter is a library: llmeter.py drives it, with a thread for each stream. It
// has closed loops only, and keeps the first and the last token of a request.
var llmeterPeer = peer{
	name:    "llmeter",
	times:   "first and last token",
	version: func(s *setting) (string, error) { return s.pinned("llmeter", "llmeter") },
	command: func(j *job) ([]string, error) {
		python, err := j.tool("llmeter", "python")
		if err != nil {
			return nil, err
		}
		script, err := sourceFile("drive_llmeter.py")
		return []string{python, script, j.url + "/v1", strconv.Itoa(j.Streams), strconv.Itoa(j.Requests / j.Streams),
			strconv.Itoa(j.Tokens), strconv.FormatFloat(j.reply().Seconds(), 'g', -1, 64), j.file("out")}, err
	},
	read: func(j *job) (*measured, error) {
		m := &measured{published: map[string]figures{}}
		var stats map[string]any
		if err := readJSON(j.file("out/measured/stats.json"), &stats); err != nil {
			return nil, err
		}
		for as, name := range map[string]string{"ttft": "time_to_first_token", "e2e": "time_to_last_token", "itl": "time_per_output_token"} {
			ms := func(stat string) float64 { x, _ := stats[name+"-"+stat].(float64); return x * 1000 }
			if ms("average") > 0 {
				m.published[as] = figures{ms("average"), ms("p50"), ms("p99")}
			}
		}
		f, err := os.Open(j.file("out/measured/responses.jsonl"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := json.NewDecoder(bufio.NewReader(f))
		for lines.More() {
			var x struct {
				ID    string   `json:"id"`
				First *float64 `json:"time_to_first_token"`
				Last  *float64 `json:"time_to_last_token"`
				Error *string  `json:"error"`
			}
			if err := lines.Decode(&x); err != nil {
				return nil, err
			}
			if x.Error == nil && x.First != nil && x.Last != nil {
				m.requests = append(m.requests, request{id: x.ID, firstMS: *x.First * 1000, lastMS: *x.Last * 1000})
			}
		}
		return m, nil
	},
}
