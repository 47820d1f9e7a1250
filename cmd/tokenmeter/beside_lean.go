//go:build lean

package main

import (
	"tokenmeter/load/bench"
	"tokenmeter/wire/client"
)

type besideFlags struct{}

func (*benchCmd) beside(*checker) func(client.Config) bench.Beside { return nil }
