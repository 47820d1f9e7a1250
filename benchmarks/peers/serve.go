//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"time"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/physics/sim"
)

// truth is what the server did for one request. Times are CLOCK_MONOTONIC.
type truth struct {
	ID         string  `json:"id"`
	ReceivedNS int64   `json:"received_ns"`
	WriteNS    []int64 `json:"write_ns"` // of each token, before the call
	EndNS      int64   `json:"end_ns"`
	LateNS     int64   `json:"late_ns"` // the latest of its writes after it was due
}

// serve answers until its stdin is closed, then writes what it did. Nothing is
// written before, so that the server's core is the server's.
func serve(truthFile string, tokens int, first, gap time.Duration) error {
	var truths []truth
	server := sim.New(sim.Config{
		Model: "sim", Vocabulary: "numbered", Overhead: first, DecodeBase: gap, OutputTokens: tokens,
		OnTruth: func(t sim.Truth) {
			if t.Status != 200 || t.Outcome != "done" || slices.Contains(t.WriteNS, -1) {
				return
			}
			x := truth{ID: t.ID, ReceivedNS: t.ReceivedNS, WriteNS: t.WriteNS, EndNS: t.EndNS}
			for i, due := range t.DueNS {
				x.LateNS = max(x.LateNS, t.WriteNS[i]-due)
			}
			truths = append(truths, x)
		},
	})
	if err := harness.Serve(server); err != nil {
		return err
	}
	f, err := os.Create(truthFile)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	e := json.NewEncoder(w)
	for i := range truths {
		if err := e.Encode(&truths[i]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
