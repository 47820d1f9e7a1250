//go:build !lean

package main

// rare are commands that few need. The build tag lean leaves them out.
type rare struct {
	Translate translateCmd `cmd:"" help:"Say which command of ours does what another load generator's does."`
	Rerun     rerunCmd     `cmd:"" help:"Repeat a run from its folder: the same command, prompts and times."`
	History   historyCmd   `cmd:"" help:"List the runs of a folder, find the best, show and compare them by name."`
	Merge     mergeCmd     `cmd:"" help:"Make one run of several that ran at the same time, request by request."`
}
