// Package run is the run folder: a journal while the run goes on, Parquet with
// every event afterwards, and run.json with manifest and summary. Every
// command that reads results reads them through this package.
package run

import (
	"net/url"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Schema names the version of run.json.
const Schema = "tokenmeter.run/v1"

// Run is run.json: what was done, under which conditions, and what came out.
type Run struct {
	Dir      string            `json:"-"` // the folder it was read from or written to; not part of the file
	Schema   string            `json:"schema"`
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Tags     map[string]string `json:"tags"`
	Parts    []string          `json:"parts,omitempty"` // IDs of the runs that it was merged of, and of theirs
	Started  time.Time         `json:"started"`
	Finished *time.Time        `json:"finished"`
	Undated  bool              `json:"undated,omitempty"` // no file tells when it began: it is dated by the file that was imported
	Partial  bool              `json:"partial"`
	Version  string            `json:"version"`
	Command  []string          `json:"command"` // secrets removed
	Seed     uint64            `json:"seed"`
	// MonotonicZeroNS ties due_s and start_s to CLOCK_MONOTONIC; 0 where unknown.
	MonotonicZeroNS int64 `json:"monotonic_zero_ns"`

	Environment Environment     `json:"environment"`
	Target      Target          `json:"target"`
	Load        Load            `json:"load"`
	Workload    Workload        `json:"workload"`
	Tokenizer   *string         `json:"tokenizer"`
	Objectives  []string        `json:"objectives"`
	Client      validity.Client `json:"client"`
	// Pricing is what the user said things cost; null when nothing was said.
	Pricing *cost.Pricing `json:"pricing"`
	// Hardware is what the server runs on, as the user said; null when nothing was said.
	Hardware *metric.Hardware `json:"hardware"`
	// RTT asks for TTFT without the network; null: nobody did.
	RTT *metric.RTT `json:"rtt"`
	// AllowLowN and AllowISLDrift are the user's word that a small sample or a
	// shifted input length is meant.
	AllowLowN     bool `json:"allow_low_n"`
	AllowISLDrift bool `json:"allow_isl_drift"`
	// Noticed are warnings of the program that made the run. They lead the
	// warnings of the summary, which is computed anew from the records.
	Noticed []metric.Warning `json:"noticed"`

	// Told is what another tool's file says of a run whose requests are in no file;
	// null for every other run.
	Told *Told `json:"told,omitempty"`

	// Published is what a router said of its providers' speeds when a run of probes
	// began.
	Published []Published `json:"published,omitempty"`

	// Control is what was done to the server around the run, in that order.
	Control []Act `json:"control"`

	// ServerSamples are for who draws them; see Folder.ServerSamples.
	ServerSamples []metric.ServerSample `json:"-"`

	metric.Summary
	Validity validity.Validity  `json:"validity"`
	Goodput  *objective.Goodput `json:"goodput"` // null without objectives

	// Files has the sum of each finished file beside run.json, Checksum that of
	// run.json's own content. Both are empty where the files are damaged.
	Files    map[string]string `json:"files,omitempty"`
	Checksum string            `json:"checksum,omitempty"`
}

// Act is one thing that was done to the server around a run: a command, a cache that
// was emptied, its profiler.
type Act struct {
	Name  string                `json:"name"` // before_point | after_point | reset_cache | profile
	Does  string                `json:"does"` // the command, or the request: POST /reset_prefix_cache; secrets removed
	FromS float64               `json:"from_s"`
	ToS   timeline.Opt[float64] `json:"to_s"` // both on the run's clock; null where it never ended
	OK    bool                  `json:"ok"`
	Says  string                `json:"says"`  // what went wrong, or what is to know; secrets removed
	Files string                `json:"files"` // where its files are, as the user said; empty: nobody said
	// Found are the files that the profiler wrote meanwhile, as far as they are on the
	// machine that measured; null where none is, as where only the server can reach them.
	Found []ProfileFile `json:"found"`
}

// ProfileFile is a file of a profiler.
type ProfileFile struct {
	Path  string `json:"path"` // from the run's folder, with slashes; or absolute, outside of it
	Bytes int64  `json:"bytes"`
}

// Profiled reports whether the server's profiler ran: one that could not be stopped did,
// one that could not be started did not.
func (a *Act) Profiled() bool { return a.Name == "profile" && (a.OK || !a.ToS.OK()) }

// Environment is the machine that made the load.
type Environment struct {
	OS        string                `json:"os"`
	Kernel    string                `json:"kernel"`
	CPUs      int                   `json:"cpus"`
	MaxProcs  int                   `json:"gomaxprocs"` // cores the program used at once
	CPUModel  string                `json:"cpu_model"`
	Go        string                `json:"go"`
	Container bool                  `json:"container"`
	CPUQuota  timeline.Opt[float64] `json:"cpu_quota"` // cores; null without a limit
	Load1     timeline.Opt[float64] `json:"load1"`     // load average at the start
}

// Target is the server as it was reached.
type Target struct {
	URL    string `json:"url"` // the final URL; secrets removed
	API    string `json:"api"`
	Model  string `json:"model"`
	Server string `json:"server"` // engine and version where known
}

// Published are percentiles of other people's requests in half an hour, as a router
// tells them of one of its providers. Null: it did not say.
type Published struct {
	At       time.Time             `json:"at"` // when it was asked
	Provider string                `json:"provider"`
	Tag      string                `json:"tag"` // tells apart what one provider serves in several ways
	TTFTP50  timeline.Opt[float64] `json:"ttft_ms_p50"`
	TTFTP90  timeline.Opt[float64] `json:"ttft_ms_p90"`
	TPSP50   timeline.Opt[float64] `json:"tps_p50"` // tokens of its own count a second
	TPSP90   timeline.Opt[float64] `json:"tps_p90"`
}

// Local reports whether the server is on the machine that measured it, as far as its
// URL tells.
func (t *Target) Local() bool {
	u, err := url.Parse(t.URL)
	return err == nil && (u.Scheme == "unix" || secret.Loopback(u.Hostname()))
}

// Load is when requests were sent.
type Load struct {
	Kind        string                `json:"kind"` // closed | open; empty where it is not known
	Concurrency timeline.Opt[int64]   `json:"concurrency"`
	RatePerS    timeline.Opt[float64] `json:"rate_per_s"`
	Arrival     string                `json:"arrival"` // closed | constant | poisson | …
	Requests    timeline.Opt[int64]   `json:"requests"`
	DurationS   timeline.Opt[float64] `json:"duration_s"`
	Warmup      string                `json:"warmup"`
	Workers     int                   `json:"workers"`
	NoKeepAlive bool                  `json:"no_keepalive"` // a connection for every request
	PerSession  bool                  `json:"connection_per_session"`
	// Burstiness is the shape of gamma arrivals: 1 is Poisson, below it they are burstier; null for others.
	Burstiness timeline.Opt[float64] `json:"burstiness"`
	// Stages is a rate, or in a closed loop a number of streams, that changes.
	Stages string                `json:"stages"`
	Speed  timeline.Opt[float64] `json:"trace_speed"` // of a trace that is played; null without one
	// FromS and ToS are where in its own time a trace was begun and ended; null: its begin, its end.
	FromS     timeline.Opt[float64] `json:"trace_from_s"`
	ToS       timeline.Opt[float64] `json:"trace_to_s"`
	RampS     timeline.Opt[float64] `json:"ramp_s"`     // the load grew for so long before what was measured
	CooldownS timeline.Opt[float64] `json:"cooldown_s"` // and went on for at most so long after it
	// PrefillConcurrency caps the requests that wait for their first token.
	PrefillConcurrency timeline.Opt[int64] `json:"prefill_concurrency"`
	// PaceS is the least time between the starts of two requests of a user.
	PaceS timeline.Opt[float64] `json:"pace_s"`
	// Retries is how often a refused request was sent again at most; null where it is not known.
	Retries timeline.Opt[int64] `json:"retries"`
	// RetryBudget is the share of the requests that all of these were at most; 0: there was no such
	// bound; null where it is not known, as of runs from before it was kept.
	RetryBudget timeline.Opt[float64] `json:"retry_budget"`
	// Together are the loads of the runs that were merged, in words, where they don't add
	// up to one load.
	Together []string `json:"together,omitempty"`
}

// Workload is what was sent.
type Workload struct {
	Kind          string              `json:"kind"` // prompt | prompts | synthetic
	Source        string              `json:"source"`
	InputTokens   string              `json:"input_tokens"` // the asked distribution
	OutputTokens  string              `json:"output_tokens"`
	Batch         string              `json:"batch"` // texts in a request, the asked distribution; empty: 1
	Salt          string              `json:"salt"`
	UniquePrompts timeline.Opt[int64] `json:"unique_prompts"`
	// PromptsUnique: no prompt was meant to be sent twice.
	PromptsUnique bool `json:"prompts_unique"`
	// PromptsMade: no prompt is the user's own words.
	PromptsMade bool `json:"prompts_made"`
	// AskedInput is the mean of the asked input lengths, in tokens.
	AskedInput timeline.Opt[float64] `json:"asked_input"`
	// UserInput is the mean length of our own text, TemplateOverhead what the
	// server's chat template adds to it; null where they were not measured.
	UserInput        timeline.Opt[float64] `json:"user_input"`
	TemplateOverhead timeline.Opt[float64] `json:"template_overhead"`
	// TemplateCompensated: our text was made shorter by the overhead.
	TemplateCompensated bool     `json:"template_compensated"`
	Name                string   `json:"name"`      // of a workload file or scenario
	Classes             []string `json:"classes"`   // of a mix
	SegmentS            float64  `json:"segment_s"` // length of a media segment; 0: none
	// Readers are speeds, in tokens a second, at which answers are read.
	Readers []float64 `json:"readers"`
	// TaskDeadlineS is how long a task may take to be a success.
	TaskDeadlineS timeline.Opt[float64] `json:"task_deadline_s"`
	// OutputIsCap: the asked output length is an upper limit, not a demand.
	OutputIsCap bool `json:"output_is_cap"`
	// NoStream: answers were asked for whole, not as streams; null where that is not told, as
	// of another tool's file and of runs from before it was kept, which tell no Parameters,
	// shape of gamma arrivals and part of a trace either.
	NoStream timeline.Opt[bool] `json:"no_stream"`
	// Parameters are the further fields of each request, JSON; secrets removed. Empty: none.
	Parameters string `json:"parameters"`
	// Users are those who hang up or read slowly, in words; "none" where nobody does, empty where it is not known.
	Users string `json:"users"`
}

// Wordless reports whether every answer was vectors, scores, sound or pictures, which have no
// first token and no pace. Where nothing succeeded the API says it.
func (r *Run) Wordless() bool {
	if r.Requests.OK == 0 {
		return timeline.ProductOf(r.Target.API).Wordless()
	}
	return r.Metrics["inputs"].N+r.Metrics["ttfa_ms"].N+r.Metrics["images"].N >= r.Requests.OK && r.Metrics["ttft_ms"].N == 0
}

// Hears reports whether every answer was the text of sound whose length is known.
func (r *Run) Hears() bool {
	return r.Requests.OK > 0 && !r.Speaks() && r.Metrics["rtf"].N >= r.Requests.OK
}

// Speaks reports whether every answer was sound.
func (r *Run) Speaks() bool {
	if r.Requests.OK == 0 {
		return timeline.ProductOf(r.Target.API) == timeline.Speech
	}
	return r.Metrics["ttfa_ms"].N >= r.Requests.OK
}

// Draws reports whether every answer was pictures.
func (r *Run) Draws() bool {
	if r.Requests.OK == 0 {
		return timeline.ProductOf(r.Target.API) == timeline.Pictures
	}
	return r.Metrics["images"].N >= r.Requests.OK
}
