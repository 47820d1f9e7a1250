//go:build !lean

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// netFiles writes the files that the loads below name, and goes where they are.
func netFiles(t *testing.T) {
	t.Helper()
	from, err := filepath.Abs("../../load/workload")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"trace.jsonl":   `{"timestamp":0,"input_length":30,"output_length":4}` + "\n" + `{"timestamp":30,"input_length":40,"output_length":5}` + "\n" + `{"timestamp":400,"input_length":20,"output_length":3}` + "\n",
		"texts.jsonl":   `{"prompt":"how high is it"}` + "\n" + `{"prompt":"how far is it from here"}` + "\n" + `{"prompt":"why","output_tokens":3}` + "\n",
		"plain.txt":     "how high is it\nhow far is it from here\nwhere\nwhen\nwhy is it so\nand what then\n",
		"checks.jsonl":  `{"prompt":"What is 6 times 7?","answer":42}` + "\n",
		"turns.yaml":    "input: 10\noutput: 4\nturns: 3\nthink: 100ms\nwhen: {concurrency: 2, requests: 8}\n",
		"task.yaml":     "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], tool: 100ms, input: 10, output: 3}]}\nwhen: {concurrency: 2, requests: 8}\n",
		"segments.yaml": "input: 10\noutput: 3\nsegments: {every: 200ms, count: 3}\nwhen: {concurrency: 2, requests: 8}\n",
		"mix.yaml":      "mix: [{name: a, share: 2, input: 10, output: 3}, {name: b, share: 1, file: texts.jsonl}]\nwhen: {rate: 20, requests: 8}\n",
		"closed.yaml":   "input: 10\noutput: 3\nwhen: {concurrency: 2, requests: 8}\n",
		"ids.jsonl":     `{"session_id":"x","timestamp":0,"input_length":20,"output_length":4}` + "\n" + `{"session_id":"x","timestamp":300,"input_length":30,"output_length":5}` + "\n" + `{"session_id":"y","timestamp":350,"input_length":30,"output_length":5}` + "\n",
		"other.jsonl":   `{"prompt":"quite another one","other":"and this"}` + "\n",
		"weka.json": `{"id":"a","models":["m"],"block_size":8,"requests":[{"t":0.0,"type":"s","model":"m","in":16,"out":3,"hash_ids":[0,1],"api_time":0.05},` +
			`{"t":0.4,"type":"s","model":"m","in":32,"out":4,"hash_ids":[0,1,2,3],"api_time":0.05}]}` + "\n" +
			`{"id":"b","models":["m"],"block_size":8,"requests":[{"t":0.0,"type":"s","model":"m","in":24,"out":3,"hash_ids":[0,1,2],"api_time":0.05},` +
			`{"t":0.3,"type":"s","model":"m","in":32,"out":4,"hash_ids":[0,1,2,3],"api_time":0.05}]}` + "\n",
		"prices.yaml":   "per_million: {input: 3, output: 15}\n",
		"sessions.yaml": "file: ids.jsonl\nsessions: true\n",
		"vector.yaml":   "input: 10\nbatch: 3\nwhen: {concurrency: 2, requests: 8}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]string{"sharegpt.json": "testdata/sharegpt.json", "azure.csv": "testdata/azure2023.csv", "claude.jsonl": "sessions/testdata/claude.jsonl"} {
		data, err := os.ReadFile(filepath.Join(from, of))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// netKinds are the kinds of loads and of contents that flags meet.
var netKinds = []struct{ name, args string }{
	{"closed", "--concurrency 2 --requests 8 --output-tokens 5"},
	{"closed, by time", "--concurrency 2 --duration 300ms --output-tokens 5"},
	{"open", "--rate 20 --requests 8 --output-tokens 5"},
	{"open, poisson, capped", "--rate 20 --duration 400ms --arrival poisson --concurrency 2 --output-tokens 5"},
	{"stages", "--stages 300ms@20,300ms@5 --output-tokens 5"},
	{"stages of streams", "--stages 300ms@2,300ms@3_streams --output-tokens 5"},
	{"trace", "--workload trace.jsonl"},
	{"trace, closed", "--workload trace.jsonl --concurrency 2 --requests 8"},
	{"trace, at a rate", "--workload azure.csv --rate 20 --requests 8"},
	{"sessions recorded", "--workload weka.json"},
	{"sessions recorded, closed", "--workload weka.json --concurrency 2 --requests 8"},
	{"sessions by a column", "--workload sessions.yaml"},
	{"conversations", "--workload turns.yaml"},
	{"conversations, open", "--workload turns.yaml --rate 5"},
	{"task", "--workload task.yaml"},
	{"task, open", "--workload task.yaml --rate 5"},
	{"segments", "--workload segments.yaml"},
	{"mix", "--workload mix.yaml"},
	{"workload", "--workload closed.yaml"},
	{"scenario", "--scenario research --set input=20 --set output=4 --requests 8"},
	{"prompt", "--prompt hello --concurrency 2 --requests 8"},
	{"prompts", "--prompts texts.jsonl --concurrency 2 --requests 8"},
	{"prompts of a trace", "--prompts trace.jsonl --concurrency 2 --requests 8"},
	{"texts", "--workload plain.txt --concurrency 2 --requests 8"},
	{"data set", "--workload sharegpt.json --concurrency 2 --requests 8"},
	{"checked", "--check checks.jsonl --concurrency 2 --requests 12 --output-tokens 5"},
	{"pictures", "--images 16x16 --concurrency 2 --requests 8 --output-tokens 5"},
	{"video", "--video 1x16x16 --concurrency 2 --requests 8 --output-tokens 5"},
	{"embeddings", "--api embeddings --concurrency 2 --requests 8"},
	{"embeddings of a file", "--api embeddings --workload vector.yaml"},
	{"rerank", "--api rerank --batch 3 --concurrency 2 --requests 8"},
	{"transcription", "--api transcription --audio 1 --concurrency 2 --requests 8"},
	{"speech", "--api speech --input-tokens 5 --concurrency 1 --requests 8"},
	{"anthropic", "--api anthropic --concurrency 2 --requests 8 --output-tokens 5"},
	{"completions", "--api openai-completions --concurrency 2 --requests 8 --output-tokens 5"},
	{"realtime", "--api realtime --concurrency 1 --requests 8 --output-tokens 5"},
}

// netFlag is a flag with a value that differs from what is so without it. with are flags
// that it is of, which both runs have.
type netFlag struct{ flag, value, with string }

var netFlags = []netFlag{
	{"requests", "2", ""}, {"duration", "45ms", ""}, {"until-precision", "90%", "--duration 1m --requests 900"}, {"concurrency", "1", ""}, {"rate", "7", ""},
	{"stages", "200ms@9", ""}, {"stages", "200ms@1 streams", ""}, {"arrival", "poisson", ""}, {"arrival", "uniform", "--rate 9"},
	{"burstiness", "0.2", "--arrival gamma"}, {"burstiness", "0.2", ""}, {"warmup", "3", ""}, {"warmup", "40ms", ""}, {"ramp", "200ms", ""},
	{"pace", "700ms", ""}, {"cooldown", "300ms", "--duration 200ms"}, {"grace", "0s", "--duration 200ms"}, {"max-failures", "1%", "--header X-Sim:_fault=503=0.5 --requests 40"}, {"prefill-concurrency", "1", ""}, {"speedup", "3", ""},
	{"workload", "closed.yaml", ""}, {"scenario", "hobbyist", ""}, {"set", "input=7", ""}, {"set", "when.requests=2", ""}, {"prompt", "hi there", ""}, {"prompts", "texts.jsonl", ""},
	{"input-tokens", "33", ""}, {"batch", "2", ""}, {"audio", "2", ""}, {"images", "2x24x24", ""}, {"video", "2x24x24", ""}, {"output-tokens", "3", ""},
	{"tokenizer", "o200k_base", ""}, {"norm-tokenizer", "cl100k_base", ""}, {"compensate-template", "", ""}, {"check", "checks.jsonl", ""}, {"salt", "other", ""}, {"ignore-eos", "", ""},
	{"parameters", `{"temperature":0.5}`, ""}, {"no-stream", "", ""}, {"allow-empty", "", "--header X-Sim:_fault=empty --requests 9"}, {"seed", "9", ""},
	{"timeout", "50ms", ""}, {"ttft-timeout", "10ms", ""}, {"idle-timeout", "3ms", ""}, {"retries", "2", "--header X-Sim:_fault=503=0.5 --requests 20"},
	{"retry-budget", "1%", "--header X-Sim:_fault=503=0.5 --requests 20 --retries 2"}, {"retry-budget", "1%", ""},
	{"session-header", "X-Other", ""}, {"session-field", "user", ""}, {"session-echo", "x-token", ""}, {"connection", "per-session", ""},
	{"objective", "p50 e2e < 1ms", ""}, {"allow-low-n", "", "--objective p99_e2e_<_1s"}, {"rtt", "3ms", ""}, {"consume", "10", ""}, {"prices", "prices.yaml", ""},
	{"gpu-hour", "2", ""}, {"gpus", "2", "--gpu-hour 2"}, {"gpus", "2", ""}, {"name", "other", ""}, {"tag", "a=b", ""}, {"capture", "", ""}, {"keep-text", "", ""},
	{"api", "anthropic", ""}, {"model", "other", ""}, {"header", "X-A: b", ""}, {"no-keepalive", "", ""}, {"http2", "", ""}, {"preflight", "probe", ""},
}

// netElsewhere are flags of which a simulated server in memory shows nothing, with what
// holds them.
var netElsewhere = map[string]string{
	"help": "the help", "format": "output", "quiet": "output", "no-color": "output", "log-level": "output", "html": "output: a page", "out": "where the run is", "force": "replaces a run",
	"demo": "a server of its own", "dry-run": "nothing is sent", "wait-ready": "the server is ready", "workers": "the same load from several threads; run.json tells them",
	"client": "how replies are read: wire/client", "connect-timeout": "connections in memory take no time: wire/client",
	"api-key-env": "key_test.go", "api-key-file": "key_test.go", "ca-file": "connection_test.go", "cert": "connection_test.go", "key": "connection_test.go", "insecure": "connection_test.go",
	"proxy": "connection_test.go", "follow-redirects": "connection_test.go",
	"strict": "exit codes", "allow-isl-drift": "lengths that the server counts otherwise; run.json tells it",
	"server-metrics": "beside the run", "telemetry": "bench_telemetry_test.go", "telemetry-key-env": "bench_telemetry_test.go", "hardware": "hardware_test.go",
	"before-point": "load/control", "after-point": "load/control", "reset-cache": "load/control", "server-profile": "load/control", "profile-at": "load/control",
	"profile-for": "load/control", "profile-files": "load/control", "control-limit": "load/control",
	"repeat": "several runs", "interleave": "several runs", "gate": "several runs", "canary": "several runs",
}

// netPairs are pairs that show nothing for a reason: a flag, or a field with its value, and
// the kinds; one that begins with a comma is the end of a name.
var netPairs = []struct{ what, kinds, reason string }{
	{"--warmup 40ms", "open; stages; trace, at a rate; conversations, open; task, open; mix", "one request, as without it"},
	{"--prefill-concurrency", "speech; realtime", "one stream waits for no other"},
	{"--cooldown", "speech; realtime", "one stream has ended what is measured before it begins anew"},
	{"--concurrency 1", "speech; realtime", "so it is already"},
	{"--cooldown", "conversations; sessions recorded; sessions recorded, closed", "what is measured ends before another session begins"},
	{"--grace", "trace; sessions recorded; sessions recorded, closed; sessions by a column", "nothing is in flight then"},
	{"--max-failures", "task, open; realtime", "fewer than 20 requests; the simulator's faults are of requests with heads of their own"},
	{"--max-failures", "conversations; conversations, open", "one that fails ends its conversation: chance decides whether 20 are sent"},
	{"--retries", "realtime", "the simulator's faults are of requests with heads of their own"},
	{"--retry-budget", "realtime", "the simulator's faults are of requests with heads of their own"},
	{"--salt", "prompt; prompts; texts; data set", "given prompts are the same with any; both runs say so"},
	{"--session-echo", "", "the simulated server names no session: load/bench/session_test.go"},
	{"about", "", "for people who read the file"},
	{"cache_bust run", "made, closed; conversation, closed; live conversation, closed; task, closed; segments, closed; lengths, closed; table, closed; sessions by a column, closed; sessions recorded, closed; transcripts, closed; embeddings, closed; rerank, closed; speech, closed", "so it is without"},
	{"cache_bust off", "texts, closed; records, closed; data set, closed; conversations of a file, closed", "so it is without"},
	{"history live", "transcripts, closed", "its second request comes after what is looked at"},
	{"when.trace {speed: 3}", "transcripts, streams; transcripts, stages", "its second request comes after what is looked at"},
	{"when.closed", ", streams", "so it is already"},
	{"when.cooldown", ", streams; , by its times; transcripts, closed; table, closed", "what is measured ends before anything else begins"},
	{"when.grace", ", streams; , stages; , by its times", "nothing is in flight when the stages end, or all of it ends"},
	{"when.max_failures", "conversation, closed; conversation, open; live conversation, closed; live conversation, open; transcripts, closed; transcripts, open", "fewer than 20 requests, as one that fails ends its conversation"},
	{"when.requests", "sessions by a column, by its times", "a session that was begun goes on to its end"},
	{"when.pace", "sessions recorded, streams; transcripts, streams", "less is looked at"},
	{"when.pace", "sessions recorded, by its times; transcripts, by its times", "it is between the sessions of a user, who has one here"},
	{"history live", "live conversation, closed", "so it is already"},
	{"when.concurrency", "sessions by a column, by its times", "no more are in flight"},
	{"when.prefill_concurrency", "sessions by a column, by its times", "no more are in flight"},
	{"when.trace {to: 20ms}", "sessions by a column, by its times", "the second session begins after what is asked for"},
	{"when.cooldown", "conversations of a file, closed; segments, closed", "what is measured ends before anything else begins"},
	{"time_in us", "table, closed", "times are not played in a closed loop"},
	{"turns 4", "conversations of a file, closed", "the file has conversations of two turns"},
	{"when.max_failures", ", streams; , stages; , by its times", "fewer than 20 requests"},
	{"format mooncake", "records, closed", "read in the same way"},
	{"format text", "texts, closed", "so it is without"},
	{"sessions true", "sessions by a column, closed", "so it is already"},
	{"--connection", "", "the same requests on other connections: load/bench/session_connections_test.go"},
	{"--idle-timeout", "embeddings; embeddings of a file; rerank", "replies are whole"},
}

func allowed(what, kind string) bool {
	name, _, _ := strings.Cut(what, " ")
	return slices.ContainsFunc(netPairs, func(p struct{ what, kinds, reason string }) bool {
		return (p.what == name || p.what == what) && (p.kinds == "" || slices.ContainsFunc(strings.Split(p.kinds, "; "), func(k string) bool { return k == kind || strings.HasPrefix(k, ", ") && strings.HasSuffix(kind, k) }))
	})
}

// Every flag of bench is in the net, or stands elsewhere with a reason.
func TestNetHasEveryFlag(t *testing.T) {
	line, err := newParser().Parse([]string{"bench"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range line.Command.Visible() {
		in := slices.ContainsFunc(netFlags, func(n netFlag) bool { return n.flag == f.Name })
		if _, out := netElsewhere[f.Name]; in == out {
			t.Errorf("--%s: give it a value in netFlags, or a reason in netElsewhere", f.Name)
		}
	}
}

// spaced are the arguments in a text, in which _ stands for a space within one.
func spaced(text string) []string {
	fields := strings.Fields(text)
	for i := range fields {
		if !strings.Contains(fields[i], ".yaml") && !strings.HasPrefix(fields[i], "-") {
			fields[i] = strings.ReplaceAll(fields[i], "_", " ")
		}
	}
	return fields
}

// Every flag changes what is sent or measured, is refused, or is named in a word, whatever
// the load.
func TestNetOfFlags(t *testing.T) {
	netFiles(t)
	missing := map[string][]string{}
	for _, kind := range netKinds {
		t.Run(kind.name, func(t *testing.T) {
			url := "http://sim/v1"
			if strings.Contains(kind.args, "realtime") {
				url = "ws://sim"
			}
			base := append([]string{url, "--model", "sim", "--salt", "s", "--name", "n"}, spaced(kind.args)...)
			known := map[string]outcomeOf{}
			for i, f := range netFlags {
				what := strings.TrimSpace(fmt.Sprintf("--%s %s %s", f.flag, f.value, f.with))
				if !drawn(kind.name, what) || strings.Contains(kind.args, "--"+f.flag+" "+f.value) || allowed(what, kind.name) {
					continue
				}
				with := append(slices.Clone(base), spaced(f.with)...)
				before, ok := known[f.with]
				if !ok {
					before = play(t, with...)
					known[f.with] = before
					if *netAll && !strings.Contains(f.with, "fault") {
						if d := differs(before, play(t, with...)); d != "" {
							t.Logf("chance decides: %.200s", d)
						}
					}
				}
				if before.refused != "" {
					if f.with == "" && i == 0 {
						t.Fatal(before.refused)
					}
					continue
				}
				args := append(slices.Clone(with), "--"+f.flag)
				if f.value != "" {
					args = append(args, f.value)
				}
				if d := changes(before, func() outcomeOf { return play(t, args...) }); d == "" {
					missing[what] = append(missing[what], kind.name)
				} else if testing.Verbose() {
					fmt.Printf("%s | %s: %.150s\n", kind.name, what, d)
				}
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s: nothing differs with %s", what, strings.Join(missing[what], "; "))
	}
}

// changes is where what is played differs from before. Where streams end at one instant,
// chance says which goes on: only what never differs is without effect.
func changes(before outcomeOf, play func() outcomeOf) (d string) {
	for range 5 {
		if d = differs(before, play()); d != "" {
			break
		}
	}
	return d
}

// differs is where two outcomes differ; empty: they don't.
func differs(a, b outcomeOf) string {
	if a.refused != b.refused {
		return "refused: " + b.refused
	}
	if !slices.Equal(a.sent, b.sent) {
		for i := range b.sent {
			if i >= len(a.sent) || a.sent[i] != b.sent[i] {
				return fmt.Sprintf("sent: %d, %d %q", len(a.sent), len(b.sent), b.sent[i])
			}
		}
		return fmt.Sprintf("sent: %d, %d", len(a.sent), len(b.sent))
	}
	if !slices.Equal(a.said, b.said) {
		return fmt.Sprintf("said: %q", b.said)
	}
	x, y := strings.Split(a.measured, "\n"), strings.Split(b.measured, "\n")
	for i := range y {
		if i >= len(x) || x[i] != y[i] {
			return "measured: " + y[i]
		}
	}
	return ""
}
