//go:build lean

package main

import (
	"tokenmeter/load/bench"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/wire/client"
)

type besideFlags struct{}

// Nobody is told of requests.
func (*benchCmd) tells() bool { return false }

func (*benchCmd) checkTelemetry(*checker) {}

func (*benchCmd) telemetry(*app, *bench.Plan) (func(*run.Run), error) { return func(*run.Run) {}, nil }

func (*benchCmd) beside(*checker) func(client.Config) bench.Beside { return nil }

func (*benchCmd) control(*checker) func(client.Config) bench.Control { return nil }

// hardware knows none.
func (*benchCmd) hardware(*checker) *metric.Hardware { return nil }
