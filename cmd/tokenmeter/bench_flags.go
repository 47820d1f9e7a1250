package main

import (
	"strings"

	"tokenmeter/base/cmdline"

	"tokenmeter/wire/api"
)

// benchCmd holds the flags as they were typed: what is wrong with them is told
// all at once, which a parser that stops at the first error can't do.
type benchCmd struct {
	targetFlags `embed:""`

	searchesRate bool     // an open loop whose rate a search chooses
	sweeps       bool     // it is a point of a sweep
	aside        []string // fields of the workload that flags of other names replace

	Demo      bool   `group:"target" help:"Measure the built-in simulated server instead of a URL."`
	WaitReady string `group:"target" placeholder:"TIME" help:"Wait for the server to be ready, for at most this long."`
	Preflight string `group:"target" placeholder:"KIND" help:"Look at the server first: none, get (only GETs) or probe (one short completion, not recorded). Default: get."`
	DryRun    bool   `group:"target" help:"Print the first request as a curl command and send nothing (bench only)."`

	Requests           string `aliases:"request-count,num-prompts" group:"load" placeholder:"N" help:"Number of requests to measure. A conversation or task that has begun is sent to its end. With --duration, whichever comes first."`
	Duration           string `group:"load" placeholder:"TIME" help:"How long to measure. Default: 30s without --requests."`
	UntilPrecision     string `group:"load" placeholder:"P" help:"End early once the medians of TTFT, TPOT and E2E are known to within this share, like 2%."`
	Concurrency        string `aliases:"max-concurrency,sessions" group:"load" placeholder:"N" help:"Streams of a closed loop (default 8), or sessions at once; with --rate the cap on requests in flight (default none)."`
	Rate               string `aliases:"request-rate" group:"load" placeholder:"R" help:"Open loop: so many requests a second, whether or not earlier ones have ended."`
	Stages             string `group:"load" placeholder:"LIST" help:"A rate that changes: 1m@5,2m@5..50 is a minute at 5/s and two minutes on the way to 50. With \" streams\" behind it, the streams of a closed loop."`
	Arrival            string `group:"load" placeholder:"KIND" help:"Of an open loop: constant, poisson, gamma or uniform. Default: constant."`
	Burstiness         string `group:"load" placeholder:"X" help:"Shape of gamma arrivals: 1 is Poisson, less is burstier."`
	Warmup             string `group:"load" placeholder:"N|TIME" help:"Requests, or how long, before measuring; 0 for none. Default: 4 in a closed loop; in an open one none, or 1 to fit the lengths of made prompts."`
	Ramp               string `group:"load" placeholder:"TIME" help:"Time in which the load grows from nothing, before the measurement begins."`
	Pace               string `group:"load" placeholder:"TIME" help:"Of users in a closed loop: one request, or turn, every so long; the first ones spread over that time."`
	Cooldown           string `group:"load" placeholder:"TIME" help:"Keep the load up after the measurement, for at most this long, until the measured requests have ended."`
	Grace              string `group:"load" placeholder:"TIME" help:"How long requests in flight may finish after the duration. Default: 30s."`
	MaxFailures        string `group:"load" placeholder:"P" help:"End when a larger share of requests fails, like 10%: exit code 1. Looked at from 20 requests on."`
	PrefillConcurrency string `name:"prefill-concurrency" group:"load" placeholder:"N" help:"Cap on requests that wait for their first token. The wait for a place is part of the latency."`
	Speedup            string `group:"load" placeholder:"X" help:"Play a trace X times as fast."`
	Workers            string `group:"load" placeholder:"N" help:"Generator threads with disjoint shares of the load. Default: 1."`

	Workload           string   `group:"content" placeholder:"FILE|NAME" help:"What to send and when: a workload file (YAML), a file of prompts or a trace (text, JSONL, CSV, Parquet, ShareGPT, Mooncake, BurstGPT, Azure, Bailian, sessions of agents), or one of ${scenarios}. See docs/workloads.md."`
	Scenario           string   `group:"content" placeholder:"NAME" help:"A workload with the promises that belong to it: ${scenarios}."`
	Set                []string `group:"content" sep:"none" placeholder:"FIELD=VALUE" help:"Replace a field of the workload, like prefix.tokens=512 or mix.rag.share=3. Repeatable."`
	Prompt             string   `group:"content" placeholder:"TEXT" help:"Send this prompt every time."`
	Prompts            string   `group:"content" placeholder:"FILE" help:"Send the prompts of a file in turn: text or JSON, one a line."`
	InputTokens        string   `aliases:"isl" group:"content" placeholder:"DIST" help:"Length of made prompts: 256, uniform:128,512, normal:256,32, lognormal:256,128, exponential:256, file:FILE, or shares of input/output: 40%:512/128,60%:4096/512. Default: 256."`
	Batch              string   `group:"content" placeholder:"DIST" help:"Texts in a request, written like --input-tokens, for --api embeddings and rerank. Default: 1."`
	Audio              string   `group:"content" placeholder:"DIR|DIST" help:"Sound to be sent, for --api transcription or realtime: a folder of recordings, or seconds to make, like 10 or uniform:5,30."`
	Images             string   `group:"content" placeholder:"[N×]W×H|DIR" help:"Pictures with each prompt, for models that see: made ones of noise, like 2x1024x1024, or one of a folder's."`
	Video              string   `group:"content" placeholder:"S×W×H|DIR" help:"A video with each prompt: made, so many seconds of W×H pixels, like 8x640x360, or one of a folder's."`
	OutputTokens       string   `aliases:"osl" group:"content" placeholder:"DIST" help:"Length to ask for. Default: 128 for made prompts, else the server's choice."`
	Tokenizer          string   `group:"content" placeholder:"NAME|FILE" help:"The server's tokenizer: makes lengths exact and counts answers without usage. ${tokenizers}, or a tokenizer.json."`
	NormTokenizer      string   `name:"norm-tokenizer" group:"content" placeholder:"NAME|FILE" help:"Count answers by this tokenizer too, to compare models with different ones, like o200k_base."`
	CompensateTemplate bool     `name:"compensate-template" group:"content" help:"Make prompts shorter by what the server's chat template adds, so that its count is the asked one."`
	Check              string   `group:"content" placeholder:"FILE" help:"Quality beside speed: weave in requests whose answers are known, one in ten, from a file with prompt and answer."`
	Salt               string   `group:"content" placeholder:"TEXT" help:"Repeat the very prompts of a run with the same seed and salt. The server may still have them cached."`
	IgnoreEOS          bool     `name:"ignore-eos" group:"content" help:"Ask the server to go on to the asked length (vLLM and its like)."`
	Parameters         string   `aliases:"extra-body" group:"content" placeholder:"JSON" help:"Extra fields of each request, like '{\"temperature\": 0}'. null leaves out a field that is otherwise sent."`
	NoStream           bool     `group:"content" help:"Ask for whole replies. Only E2E can be measured then."`
	AllowEmpty         bool     `group:"content" help:"An empty reply is no failure."`
	Seed               string   `group:"content" placeholder:"N" help:"Fixes lengths and arrival times. Default: 0."`

	Timeout        string `group:"limits" placeholder:"TIME" help:"Of a whole request. Default: 10m. 0 is off."`
	TTFTTimeout    string `name:"ttft-timeout" group:"limits" placeholder:"TIME" help:"Give up when no token came. Default: off."`
	IdleTimeout    string `group:"limits" placeholder:"TIME" help:"Give up when no further token came, whatever heartbeats do. Default: 2m. 0 is off."`
	ConnectTimeout string `group:"limits" placeholder:"TIME" help:"For name, connection and TLS. Default: 10s."`
	Retries        string `group:"limits" placeholder:"N" help:"Tries after HTTP 429, 503 and 529, when Retry-After (or retry-after-ms) says, else after 0.5 s, 1 s, 2 s, … The wait counts as latency. Default: 0."`
	RetryBudget    string `group:"limits" placeholder:"P" help:"All retries together are at most this share of the requests, like 20%. Default: no bound but --retries."`

	SessionHeader []string `name:"session-header" group:"connection" sep:"none" placeholder:"NAME" help:"Header that carries the id of a conversation, task or session on each of its requests, for routers; X-Dynamo-Session-ID brings its parent's too. Repeatable; none sends none. Default: X-Session-ID."`
	SessionField  []string `name:"session-field" group:"connection" sep:"none" placeholder:"NAME" help:"Field of the body that carries it, like prompt_cache_key or user. Repeatable."`
	SessionEcho   []string `name:"session-echo" group:"connection" sep:"none" placeholder:"NAME" help:"Header by which the server names a session in its replies, like x-session-token: it is sent back with the next request. Repeatable."`

	Connection string `name:"connection" group:"connection" placeholder:"WHOSE" default:"auto" enum:"auto,pooled,per-session" help:"Whose connections requests go on: everybody's (pooled), or their own conversation's, task's or session's (per-session), as agents' clients have; opening it is then part of its first TTFT. Default: pooled, over a WebSocket per-session."`

	Client string `name:"client" group:"connection" placeholder:"FORM" help:"How replies are read: reactor (all streams in one loop; Linux, http:// only), plain (a goroutine a stream) or auto. Default: auto, the reactor where it can be."`

	Objective     []string `aliases:"goodput" group:"judging" sep:"none" placeholder:"TEXT" help:"A promise to hold the run to, like \"p99 tpot < 120ms\". Repeatable. One that is missed makes the exit code 1."`
	Strict        bool     `negatable:"" group:"judging" help:"Exit code 4 when nothing was decided: the measurement is invalid, or an objective is open. On by itself where CI is set."`
	AllowLowN     bool     `name:"allow-low-n" group:"judging" help:"Let objectives on percentiles count although there are too few requests for them."`
	AllowISLDrift bool     `name:"allow-isl-drift" group:"judging" help:"Go on although prompts are not as long as asked; the run is then suspect at worst, not invalid."`

	RTT     string `name:"rtt" group:"judging" placeholder:"auto|TIME" help:"Say TTFT without the network too: less a round trip to the server, as given, or with auto the shortest TCP connect of the run. The TTFT that was seen stays."`
	Consume string `group:"judging" placeholder:"RATE" help:"Say how long somebody waits who reads answers at so many tokens a second, like 10; several with commas."`
	Prices  string `group:"judging" placeholder:"FILE" help:"What things cost: a YAML file with GPU hours and token prices. See docs/cost.md."`
	GPUHour string `name:"gpu-hour" group:"judging" placeholder:"USD" help:"Price of one GPU for an hour."`
	GPUs    string `name:"gpus" group:"judging" placeholder:"N" help:"GPUs that serve. Default: 1."`

	Out      string   `group:"results" placeholder:"DIR" help:"The run's folder. Default: ./runs/TIME-NAME."`
	Force    bool     `group:"results" help:"Replace the run that --out holds."`
	Name     string   `group:"results" placeholder:"TEXT" help:"Name of the run."`
	Tag      []string `group:"results" sep:"none" placeholder:"NAME[=VALUE]" help:"A label of the run. Repeatable."`
	HTML     pageFlag `name:"html" group:"results" help:"Write a page: report.html, or --html=FILE."`
	Capture  bool     `group:"results" help:"Keep the raw streams in the run's folder, for analyze."`
	KeepText bool     `group:"results" help:"Keep the text of the replies."`

	besideFlags `embed:""`
	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (benchCmd) Help() string {
	return `Without load flags: 4 requests of warm-up, then 8 streams in a closed loop for 30 s, each with a prompt of its own of about 256 tokens and 128 tokens to answer.

Times have a unit: 500ms, 30s, 2m. Results go to stdout and into the run's folder, progress goes to stderr.

Ctrl-C stops, saves and summarises; a second one leaves at once.

Exit codes: 0 done; 1 an objective was missed, or --max-failures ended the run; 2 wrong usage; 3 the target failed; 4 nothing was decided (the measurement is invalid, an objective is open) and --strict was given; 5 results could not be written; 130 interrupted.`
}

var benchGroups = []cmdline.Group{
	{Key: "target", Title: "Target:"},
	{Key: "load", Title: "Load:"},
	{Key: "content", Title: "What is sent:"},
	{Key: "limits", Title: "Limits of a request:"},
	{Key: "connection", Title: "Connection:"},
	{Key: "sweep", Title: "Sweep:"},
	{Key: "turns", Title: "Repeats, and servers in turns:"},
	{Key: "control", Title: "Before, meanwhile and after:"},
	{Key: "judging", Title: "Judging:"},
	{Key: "results", Title: "Results:"},
	{Key: "output", Title: "Output:"},
}

func apiNames() string {
	names := make([]string, len(api.All))
	for i, a := range api.All {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}
