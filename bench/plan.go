// Package bench drives a workload on a schedule through a client, records every
// request in a run folder and judges the measurement itself.
package bench

import (
	"io"
	"time"

	"tokenmeter/client"
	"tokenmeter/objective"
	"tokenmeter/timeline"
)

// Plan is everything a run is made from. The command line fills it; a program
// that embeds tokenmeter fills it itself.
type Plan struct {
	Name    string
	Tags    map[string]string
	Command []string // as typed; secrets are removed before it is written

	Client client.Config // target, key, limits; Clock is set by Run
	Model  string        // empty: asked from the server

	// Load. Rate > 0 is an open loop; else a closed loop of Concurrency streams.
	Concurrency int
	Rate        float64       // requests a second
	Arrival     string        // constant | poisson
	Requests    int           // 0: no bound
	Duration    time.Duration // 0: no bound
	Warmup      Warmup
	Grace       time.Duration // for requests in flight at the end
	Workers     int

	// What is sent.
	Prompt       string   // one fixed prompt; empty: see Prompts
	Prompts      []string // in turn; empty: synthetic
	InputTokens  string   // a distribution, "256" or "uniform:128,512"
	OutputTokens string
	IgnoreEOS    bool
	NoStream     bool
	Seed         uint64
	Salt         string // empty: a new one for the run
	Extra        map[string]any

	Objectives    []objective.Objective
	AllowLowN     bool
	AllowISLDrift bool
	Preflight     string // none | get | probe
	WaitReady     time.Duration

	Out     string // run folder; empty: under ./runs by time and name
	Force   bool
	Capture bool

	// Progress receives a snapshot a few times a second; nil: nobody looks.
	Progress func(Snapshot)
	Log      io.Writer // warnings while running; nil: none
}

// Warmup is how many requests, or how long, are sent before measuring.
type Warmup struct {
	Requests int
	Duration time.Duration
}

// Snapshot is the state of a run at one moment, from sketches, for a person who waits.
type Snapshot struct {
	Phase                 timeline.Phase
	Elapsed               time.Duration
	Done, Failed, Planned int64 // Planned 0: bounded by time
	InFlight              int64
	TTFTP50, TTFTP95      timeline.Opt[float64] // ms
	TPOTP50, TPOTP99      timeline.Opt[float64] // ms
	OutputTPS             timeline.Opt[float64]
	Left                  timeline.Opt[time.Duration]
	Trust                 string // "valid", or "suspect:drift"
}
