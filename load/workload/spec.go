package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tokenmeter/load/answer"
)

// Spec is a workload file: what is sent, and when. docs/workloads.md explains
// it, docs/workload.schema.json is its JSON Schema.
type Spec struct {
	Name      string `yaml:"name" doc:"what reports call the workload"`
	About     string `yaml:"about" doc:"one sentence: which question it answers"`
	Tokenizer string `yaml:"tokenizer" doc:"makes lengths exact: o200k_base, cl100k_base, or the path of the server's tokenizer.json; without one, lengths are fitted to the server's own count; it counts answers without usage, too"`
	Content
	Mix  []Class `yaml:"mix" doc:"several kinds of requests, each with its share; instead of the fields above"`
	When When    `yaml:"when" doc:"when requests are sent, and for how long; flags of the command line win"`
}

// Class is one kind of requests of a mix.
type Class struct {
	Name  string  `yaml:"name" required:"true" doc:"what reports call it"`
	Share float64 `yaml:"share" required:"true" doc:"weight among the others; they need not add up to 100"`
	Content
}

// Content is what requests of one kind hold.
type Content struct {
	Input  string `yaml:"input" doc:"tokens of made prompts: 512, uniform:100,2000, normal:512,64, lognormal:600,800,max=8000, exponential:300, file:lengths.csv, or shares: 40%:512/128,60%:4096/512 (input/output)"`
	Output string `yaml:"output" doc:"tokens to ask for, written like input; default 128 for made prompts, the server's choice for given ones"`
	Corpus string `yaml:"corpus" doc:"what made prompts consist of: words (default), prose, code, german, french, spanish, russian, chinese, japanese, arabic, hindi, or ids (random tokens of the tokenizer)"`

	File    string            `yaml:"file" doc:"prompts, conversations or a trace, beside the workload file; instead of input"`
	Format  string            `yaml:"format" enum:"auto|text|jsonl|csv|parquet|sharegpt|mooncake|aiperf|burstgpt|azure|bailian|weka|otlp|claude-code|codex|traffic" doc:"of that file; default auto: told by its first record"`
	Columns map[string]string `yaml:"columns" doc:"which of our columns (prompt, messages, input, output, time, session, model, priority, answer, hash_ids, system) is which column of the file"`
	TimeIn  string            `yaml:"time_in" enum:"s|ms|us|ns|iso" doc:"unit of the file's times; default: what the format says, else s"`
	Block   int64             `yaml:"block" doc:"tokens that one of hash_ids stands for; default: what the format says (mooncake 512, bailian 16)"`
	Order   string            `yaml:"order" enum:"file|random" doc:"in which records are sent; default file"`

	Sessions bool `yaml:"sessions" doc:"records of one session (column session; of bailian what chat_id and parent_chat_id tie together) wait for each other: each is due at its time, but not before the one before it has ended"`

	MaxGap   time.Duration `yaml:"max_gap" doc:"of recorded sessions of agents: a longer pause between requests is cut to this; default: all are kept"`
	Deadline time.Duration `yaml:"deadline" doc:"of recorded sessions of agents: how long one may take to be a success; default: as long as it likes"`

	System string  `yaml:"system" doc:"a system prompt, sent as it is"`
	Prefix *Prefix `yaml:"prefix" doc:"a beginning that made prompts share, before their own input"`

	Turns     string `yaml:"turns" doc:"turns of a conversation, like 4 or uniform:2,8; default 1"`
	NextInput string `yaml:"next_input" doc:"tokens of the user's later turns; default: like input"`
	Think     string `yaml:"think" doc:"pause before the next turn: 2s, exponential:5s, lognormal:8s,6s,max=60s; default none"`
	History   string `yaml:"history" enum:"recorded|live" doc:"what of the answers the next turn repeats: recorded (default) made or recorded ones, the same in every run; live what the server answered"`

	Batch string `yaml:"batch" doc:"texts in one request, written like turns, for embeddings and rerank; default 1"`
	Query string `yaml:"query" doc:"tokens of the query that documents are ranked by, written like input; default 16; of a file the first text of each request is the query"`

	Task     *TaskSpec     `yaml:"task" doc:"an agent's task of several requests that need each other; instead of input, output and turns"`
	Segments *SegmentsSpec `yaml:"segments" doc:"a medium that is played: one request for each stretch of it, due when the stretch has ended"`
	Images   *ImagesSpec   `yaml:"images" doc:"pictures in each request, made or your own, for models that see"`
	Video    *VideoSpec    `yaml:"video" doc:"videos in each request, made or your own, for models that see them"`
	Audio    string        `yaml:"audio" doc:"sound to be written down, for transcription, instead of input: a folder or a file, or seconds to make, like 10 or uniform:5,30"`

	CacheBust  string         `yaml:"cache_bust" enum:"run|request|off" doc:"what keeps a prefix cache from knowing prompts: run (default for made ones) new text in each run; request a word of its own in front of each request; off (default for given ones) nothing, so that two runs send the same"`
	Parameters map[string]any `yaml:"parameters" doc:"further fields of each request: temperature, tools, response_format, priority, …"`
	Models     []ModelShare   `yaml:"models" doc:"models, or adapters, that requests are spread over; instead of --model"`
	Check      *answer.Spec   `yaml:"check" doc:"what every answer must satisfy; a file may have a column answer instead"`
	Leave      *Leave         `yaml:"leave" doc:"users who hang up before the end"`
	Slow       *Slow          `yaml:"slow" doc:"users whose connection takes an answer slowly"`
}

// Prefix is a pool of beginnings.
type Prefix struct {
	Tokens string  `yaml:"tokens" required:"true" doc:"length of each, written like input"`
	Count  int64   `yaml:"count" doc:"how many different ones; default 1"`
	Skew   float64 `yaml:"skew" doc:"how unequally they are used: request share of the k-th is 1/k^skew; default 0, all alike"`
	As     string  `yaml:"as" enum:"system|user" doc:"the role that says it; default system"`
}

// TaskSpec is an agent's task.
type TaskSpec struct {
	Deadline time.Duration `yaml:"deadline" doc:"how long a task may take to be a success; default: as long as it likes"`
	Steps    []StepSpec    `yaml:"steps" required:"true" doc:"the requests, in any order"`
}

// StepSpec is one kind of step.
type StepSpec struct {
	Name      string   `yaml:"name" required:"true" doc:"what other steps call it"`
	After     []string `yaml:"after" doc:"steps that must have ended"`
	Tool      string   `yaml:"tool" doc:"how long a tool works between them and this step, written like think"`
	Times     string   `yaml:"times" doc:"how many of it follow each other, like uniform:2,6; default 1"`
	Parallel  string   `yaml:"parallel" doc:"how many of it run side by side; default 1"`
	Continues string   `yaml:"continues" doc:"the step whose conversation goes on; default: the one in after if there is one; none begins a new one"`
	Input     string   `yaml:"input" required:"true" doc:"tokens of what it adds"`
	Output    string   `yaml:"output" doc:"tokens to ask for; default 128"`
}

// SegmentsSpec is a medium that is played.
type SegmentsSpec struct {
	Every time.Duration `yaml:"every" required:"true" doc:"length of a segment"`
	Count string        `yaml:"count" required:"true" doc:"how many segments a medium has, written like turns"`
}

// ImagesSpec is the pictures that go with a prompt: how many, and made or given.
type ImagesSpec struct {
	Count  string `yaml:"count" doc:"how many in a request, written like turns; default 1"`
	Files  string `yaml:"files" doc:"your own instead of made ones: a folder or a pattern, beside the workload file"`
	Width  int    `yaml:"width" doc:"in pixels; default 512"`
	Height int    `yaml:"height" doc:"in pixels; default 512"`
}

// VideoSpec is the videos that go with a prompt.
type VideoSpec struct {
	Seconds int `yaml:"seconds" doc:"how long a made one plays, at a picture a second; default 8"`
	ImagesSpec
}

// ModelShare is a model and how often it is asked.
type ModelShare struct {
	Name  string  `yaml:"name" required:"true" doc:"as the server calls it"`
	Share float64 `yaml:"share" doc:"weight among the others; default 1"`
}

// Leave is users who hang up.
type Leave struct {
	Share  Share  `yaml:"share" required:"true" doc:"how many do, like 5%"`
	After  string `yaml:"after" doc:"how long after the request was due, written like think"`
	Tokens string `yaml:"tokens" doc:"after how many pieces of text, written like input"`
}

// Slow is users who read slowly.
type Slow struct {
	Share       Share `yaml:"share" required:"true" doc:"how many do, like 5%"`
	BytesPerSec int64 `yaml:"bytes_per_s" required:"true" doc:"how much they take; a token costs about 200 bytes on the way"`
}

// When is when requests are sent, and for how long.
type When struct {
	Concurrency int           `yaml:"concurrency" doc:"streams of a closed loop (conversations, tasks); with a rate the cap on requests in flight"`
	Rate        float64       `yaml:"rate" doc:"open loop: requests, conversations or tasks that start each second"`
	Stages      string        `yaml:"stages" doc:"a rate that changes: 1m@5,2m@5..50; without rate and with closed true, streams"`
	Closed      bool          `yaml:"closed" doc:"the stages are streams of a closed loop"`
	Arrival     string        `yaml:"arrival" enum:"constant|poisson|gamma|uniform" doc:"gaps between arrivals of an open loop; default constant"`
	Burstiness  float64       `yaml:"burstiness" doc:"shape of gamma gaps: 1 is Poisson, less is burstier"`
	Pace        time.Duration `yaml:"pace" doc:"least time between the starts of two requests of one user of a closed loop, turns of a conversation too; users begin spread over it"`
	Trace       *TraceSpec    `yaml:"trace" doc:"how the times of a trace are played; a file with times is played by them unless a load is given"`
	Prefills    int           `yaml:"prefill_concurrency" doc:"cap on requests that wait for their first token"`

	Requests int           `yaml:"requests" doc:"measure so many requests; a conversation, task or session that has begun is sent to its end"`
	Duration time.Duration `yaml:"duration" doc:"measure so long"`
	Warmup   string        `yaml:"warmup" doc:"requests, or how long, before all else"`
	Ramp     time.Duration `yaml:"ramp" doc:"the load grows from nothing for so long, before what is measured"`
	Cooldown time.Duration `yaml:"cooldown" doc:"the load goes on for at most so long, until what is measured has ended"`
	Grace    time.Duration `yaml:"grace" doc:"how long requests in flight may finish"`
	Failures Share         `yaml:"max_failures" doc:"stop when a larger share of requests fails, like 10%"`
	Precise  Share         `yaml:"until_precision" doc:"stop when the medians are known to within this share, like 2%"`
}

// TraceSpec is how a trace is played.
type TraceSpec struct {
	Speed float64       `yaml:"speed" doc:"2 plays it in half the time; default 1"`
	From  time.Duration `yaml:"from" doc:"start so long after the file's first record, in the trace's own time"`
	To    time.Duration `yaml:"to" doc:"end so long after the first record; default its end"`
}

// Share is a part of a whole, from 0 to 1; written 5% or 0.05.
type Share float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Share) UnmarshalText(text []byte) error {
	bare, percent := strings.CutSuffix(string(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(bare), 64)
	if percent {
		x /= 100
	}
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return fmt.Errorf("%q is no share; write 5%% or 0.05", text)
	}
	*s = Share(x)
	return nil
}
