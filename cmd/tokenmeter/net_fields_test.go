//go:build !lean

package main

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"tokenmeter/load/workload"
)

// netContents are the kinds of workload files that fields meet.
var netContents = []struct{ name, api, text string }{
	{"made", "", "input: 10\noutput: 4"},
	{"conversation", "", "input: 10\noutput: 4\nturns: 3"},
	{"live conversation", "", "input: 10\noutput: 4\nturns: 3\nhistory: live"},
	{"task", "", "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], input: 10, output: 3}]}"},
	{"segments", "", "input: 10\noutput: 3\nsegments: {every: 100ms, count: 3}"},
	{"texts", "", "file: plain.txt"},
	{"records", "", "file: texts.jsonl"},
	{"data set", "", "file: sharegpt.json"},
	{"conversations of a file", "", "file: sharegpt.json\nturns: 2"},
	{"lengths", "", "file: trace.jsonl"},
	{"table", "", "file: azure.csv"},
	{"sessions by a column", "", "file: ids.jsonl\nsessions: true"},
	{"sessions recorded", "", "file: weka.json"},
	{"transcripts", "", "file: claude.jsonl"},
	{"embeddings", "embeddings", "input: 10\nbatch: 2"},
	{"rerank", "rerank", "input: 10\nbatch: 2"},
	{"sound", "transcription", "audio: 1"},
	{"speech", "speech", "input: 5"},
	{"mix", "", "mix: [{name: a, share: 2, input: 10, output: 3}, {name: b, share: 1, file: texts.jsonl}]"},
	{"mix of conversations", "", "mix: [{name: a, share: 2, input: 10, output: 3, turns: 2}, {name: b, share: 1, input: 7}]"},
}

// netLoads are what a workload file says of when.
var netLoads = map[string]string{
	"closed": "{concurrency: 2, requests: 6}", "open": "{rate: 20, requests: 6}", "stages": "{stages: \"200ms@20,200ms@5\"}", "by its times": "{trace: {}, requests: 2}",
	"streams": "{stages: \"200ms@1,200ms@2\", closed: true}",
}

// netFields are values of fields that differ from what is so without them; several, where
// one could be without effect by chance.
var netFields = map[string][]string{
	"name": {"x"}, "about": {"x"}, "tokenizer": {"o200k_base"},
	"input": {"17"}, "output": {"2"}, "corpus": {"code"}, "file": {"other.jsonl"}, "format": {"text", "mooncake"}, "columns": {"{prompt: other}", "{output: timestamp}"},
	"time_in": {"us"}, "block": {"4"}, "order": {"random"}, "sessions": {"true"}, "max_gap": {"10ms"}, "deadline": {"1ms"}, "system": {"be brief"},
	"prefix": {"{tokens: 5}"}, "turns": {"4"}, "next_input": {"3"}, "think": {"50ms"}, "history": {"live"}, "batch": {"3"}, "query": {"5"},
	"task": {"{steps: [{name: z, input: 5}]}"}, "segments": {"{every: 50ms, count: 2}"}, "images": {"{width: 16, height: 16}"}, "video": {"{seconds: 1, width: 16, height: 16}"},
	"audio": {"2"}, "cache_bust": {"request", "off", "run"}, "parameters": {"{temperature: 0.5}"}, "models": {"[{name: other}]"}, "check": {"{contains: x}"},
	"leave": {"{share: 100%, after: 20ms}"}, "slow": {"{share: 100%, bytes_per_s: 300}"}, "mix": {"[{name: q, share: 1, input: 3}]"},

	"when.concurrency": {"1"}, "when.rate": {"7"}, "when.stages": {"100ms@9"}, "when.closed": {"true"}, "when.arrival": {"poisson"}, "when.burstiness": {"0.2"},
	"when.pace": {"400ms"}, "when.trace": {"{speed: 3}", "{from: 20ms}", "{to: 20ms}"}, "when.prefill_concurrency": {"1"}, "when.requests": {"1"}, "when.duration": {"20ms"},
	"when.warmup": {"3"}, "when.ramp": {"150ms"}, "when.cooldown": {"300ms"}, "when.grace": {"1ms"}, "when.max_failures": {"1%"}, "when.until_precision": {"90%"},
}

// netBeside are flags that a field shows something with.
var netBeside = map[string][]string{"when.max_failures": {"--header", "X-Sim: fault=503=0.5", "--requests", "40"}}

// fieldNames are the fields of a workload file: of the content, and of when.
func netFieldNames(t *testing.T) (names []string) {
	var add func(of reflect.Type, before string)
	add = func(of reflect.Type, before string) {
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case f.Anonymous:
				add(f.Type, before)
			case name == "when":
				add(f.Type, "when.")
			case name != "":
				names = append(names, before+name)
			}
		}
	}
	add(reflect.TypeFor[workload.Spec](), "")
	return names
}

func TestNetOfFields(t *testing.T) {
	netFiles(t)
	missing := map[string][]string{}
	for _, content := range netContents {
		for _, load := range slices.Sorted(maps.Keys(netLoads)) {
			name := content.name + ", " + load
			t.Run(name, func(t *testing.T) {
				playFile := func(change, value string, more ...string) outcomeOf {
					text := withField(t, content.text+"\nwhen: "+netLoads[load], change, value)
					if err := os.WriteFile("x.yaml", []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					args := []string{"http://sim/v1", "--model", "sim", "--salt", "s", "--name", "n", "--workload", "x.yaml"}
					if content.api != "" {
						args = append(args, "--api", content.api)
					}
					return play(t, append(args, more...)...)
				}
				first := playFile("", "")
				if first.refused != "" {
					if load == "closed" || load == "open" {
						t.Fatal(first.refused)
					}
					t.Skip(first.refused)
				}
				if *netAll {
					if d := differs(first, playFile("", "")); d != "" {
						t.Logf("chance decides: %.200s", d)
					}
				}
				for _, field := range netFieldNames(t) {
					if load != "closed" && !strings.HasPrefix(field, "when.") {
						continue
					}
					values := netFields[field]
					if len(values) == 0 {
						t.Errorf("no value for %s", field)
					}
					for _, value := range values {
						if what := field + " " + value; !drawn(name, what) || allowed(what, name) {
							continue
						}
						before, more := first, netBeside[field]
						if more != nil {
							before = playFile("", "", more...)
						}
						if d := changes(before, func() outcomeOf { return playFile(field, value, more...) }); d == "" {
							missing[field+": "+value] = append(missing[field+": "+value], name)
						} else if testing.Verbose() {
							fmt.Printf("%s | %s: %s: %.150s\n", name, field, value, d)
						}
					}
				}
			})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s: nothing differs with %s", what, strings.Join(missing[what], "; "))
	}
}

// withField is a workload file with one field replaced.
func withField(t *testing.T, text, path, value string) string {
	t.Helper()
	if path == "" {
		return text
	}
	var all map[string]any
	var v any
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	at := all
	if inner, of := strings.CutPrefix(path, "when."); of {
		at, path = all["when"].(map[string]any), inner
	}
	at[path] = v
	out, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
