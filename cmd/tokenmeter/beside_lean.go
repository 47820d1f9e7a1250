//go:build lean

package main

import (
	"tokenmeter/load/bench"
	"tokenmeter/record/metric"
	"tokenmeter/wire/client"
)

type besideFlags struct{}

func (*benchCmd) beside(*checker) func(client.Config) bench.Beside { return nil }

func (*benchCmd) control(*checker) func(client.Config) bench.Control { return nil }

// hardware knows none.
func (*benchCmd) hardware(*checker) *metric.Hardware { return nil }
