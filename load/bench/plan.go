// Package bench drives a workload on a schedule through a client, records every
// request in a run folder and judges the measurement itself.
package bench

import (
	"io"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// Plan is everything a run is made from. The command line fills it; a program
// that embeds tokenmeter fills it itself. What concerns one thing stands together:
// the load, the content, the conditions, the output. Only Client's target is needed: the
// zero value of every other field means the default that is written there.
type Plan struct {
	Name    string
	Tags    map[string]string
	Command []string // as typed; secrets are removed before it is written
	Version string   // of the program, for run.json

	Client client.Config // target, key, limits; Clock is set by Run
	Model  string        // empty: asked from the server

	Load
	Content
	Conditions
	Output

	// Hardware is what the server runs on; nil: nothing is known.
	Hardware *metric.Hardware
	// RTT asks for TTFT without the network; nil: nobody does.
	RTT *metric.RTT
	// Pricing says what things cost; nil: nothing is known.
	Pricing *cost.Pricing
	// Timers waits on Go's timers rather than in the kernel: less exact, but it
	// follows the virtual time of testing/synctest.
	Timers bool

	defaultInput  bool // InputTokens was not asked for
	defaultOutput bool // OutputTokens was not asked for
}

// Load is when requests are sent, and for how long. Rate > 0, stages or a trace are
// an open loop; else a closed loop of Concurrency streams.
type Load struct {
	Concurrency  int            // streams, default 8; with Rate a cap on requests in flight, default none
	Rate         float64        // requests a second
	Stages       schedule.Curve // a rate that changes; with StagesClosed a number of streams
	StagesClosed bool
	// Trace plays the times of the workload's file; nil: the load is the above.
	Trace      *schedule.Trace
	Arrival    string  // constant (default) | poisson | gamma | uniform
	Burstiness float64 // shape of gamma arrivals; 0 means 1
	Requests   int     // measured requests; 0: no bound
	// EveryStream begins an item for each stream of a closed loop, however few Requests
	// were asked for: conversations hold several, so that some streams would have none.
	EveryStream bool
	Duration    time.Duration // of measuring; 0: no bound, or 30 s when Requests has none either
	// UntilPrecision ends the run early, once the medians of TTFT, TPOT and E2E
	// are known to within ±this share at 95 % confidence; 0: not.
	UntilPrecision float64
	Warmup         Warmup
	// WarmupMost ends the warm-up, also in the middle of a request; 0: no bound. It
	// stands apart from Warmup, whose zero value is the default.
	WarmupMost time.Duration
	Grace      time.Duration // for requests in flight when Duration is over; 0 means 30 s, below 0 none
	Workers    int           // generator threads with disjoint shares; default 1
	// Ramp lets the load grow from nothing before the measured part, Cooldown
	// lets it go on after it, until what is measured has ended.
	Ramp, Cooldown time.Duration
	// Pace is the least time between the starts of two requests of a user: two items of
	// a stream, two turns of a conversation.
	Pace time.Duration
	// Prefills caps the requests that wait for their first token; 0: no cap.
	Prefills int
	// MaxFailures ends the run when a larger share of requests fails; 0: never.
	MaxFailures float64
}

// Content is what is sent, and what is done with the answers: Workload, or else
// Prompt, or made prompts.
type Content struct {
	Workload     workload.Workload
	Prompt       string // one fixed prompt
	InputTokens  string // a distribution, default "256"; an asked one must be kept by the server's count
	Batch        string // texts in a request, a distribution, for APIs that answer several at once; default 1
	OutputTokens string // default "128" for made prompts, else the server's choice
	IgnoreEOS    bool
	NoStream     bool
	Seed         uint64 // fixes lengths and arrival times
	Salt         string // makes the words of the prompts; empty: a new one for the run
	// Extra are further fields of each request; null leaves one out that is sent else.
	Extra map[string]any
	// Session says how a server learns which requests are of one session.
	Session Session
	// Tokenizer counts answers whose usage the server does not tell, Norm counts
	// all of them beside the server's own count; nil: nobody does.
	Tokenizer, Norm workload.Tokenizer
	// ReadsAnswers: the workload checks answers, or goes on with them.
	ReadsAnswers bool
	// Readers are speeds, in tokens a second, at which answers are read: the run
	// says how much of their time such readers wait.
	Readers []float64
}

// Conditions are what the run is judged by, and what must hold for it to begin or
// to go on.
type Conditions struct {
	Objectives    []objective.Objective
	AllowLowN     bool
	AllowISLDrift bool
	// CompensateTemplate leaves out of made prompts what the server's chat
	// template was seen to add, so that its count is the asked one.
	CompensateTemplate bool
	Preflight          string // none | get (default) | probe
	WaitReady          time.Duration
	// KeepGoing measures although the server refused every request of the warm-up.
	KeepGoing bool
}

// Output is where a run is written, and who looks on.
type Output struct {
	Out     string // run folder; empty: under ./runs by time and name
	Force   bool
	Capture bool
	// Ready is called when the server was found ready, before the folder is made; its
	// error ends the run. nil: nothing is to be done.
	Ready func() error
	// Each sees every measured request when it has ended, one at a time. It ends
	// the run by returning false; what is in flight is cut off then.
	Each func(Ended) bool
	// Beside makes what looks at the server from beside the run; nil: nothing does.
	Beside func(client.Config) Beside
	// Control makes what acts on the server around the run; nil: nothing does.
	Control func(client.Config) Control
	// Progress receives a snapshot a few times a second; nil: nobody looks.
	Progress func(Snapshot)
	Log      io.Writer // warnings while running; nil: none
}

// Warmup is how many requests, or how long, are sent before measuring. The zero
// value is the default: 4 requests before a closed loop; before an open one none, or one where
// the lengths of made prompts have to be fitted.
type Warmup struct {
	Requests int
	Duration time.Duration
	Off      bool
}

// Tails are percentiles so far, in ms.
type Tails struct{ P50, P95, P99 timeline.Opt[float64] }

// Snapshot is the state of a run at one moment, from sketches, for a person who waits.
type Snapshot struct {
	Phase                 timeline.Phase // a ramp is warm-up, too
	Elapsed               time.Duration  // since the phase began, or the ramp to it
	Done, Failed, Planned int64          // Planned 0: bounded by time
	InFlight              int64
	TTFT, TPOT            Tails
	OutputTPS             timeline.Opt[float64]
	RequestsPerS          timeline.Opt[float64] // answered ones
	Objectives            []Standing
	Left                  timeline.Opt[time.Duration]
	Trust                 string // "valid", or "suspect:send_late"
}
