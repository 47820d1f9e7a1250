//go:build lean

package main

import (
	"fmt"

	"tokenmeter/record/imports"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

func readServerReadings(files []*imports.Input, _ float64, _ *span, _ *run.Run) ([]metric.ServerSample, error) {
	if len(files) > 0 {
		return nil, fmt.Errorf("%s: this build can't lay readings beside requests (tag lean); build without the tag: go build ./cmd/tokenmeter", files[0].Name)
	}
	return nil, nil
}
