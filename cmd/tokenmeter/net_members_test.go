//go:build !lean

package main

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tokenmeter/load/workload"
)

// netMembers are workload files for each member of a field that has members of its own. What
// stands in « | » is one thing without the member, or with another value, and one with it.
var netMembers = map[string]string{
	"mix.name":  "mix: [{name: «a|z», share: 1, input: 10, output: 3}]",
	"mix.share": "mix: [{name: a, share: «1|9», input: 10, output: 3}, {name: b, share: 1, input: 20, output: 3}]",

	"prefix.tokens": "input: 10\noutput: 3\nprefix: {tokens: «5|9»}",
	"prefix.count":  "input: 10\noutput: 3\nprefix: {tokens: 5«|, count: 3»}",
	"prefix.skew":   "input: 10\noutput: 3\nprefix: {tokens: 5, count: 9«|, skew: 3»}",
	"prefix.as":     "input: 10\noutput: 3\nprefix: {tokens: 5«|, as: user»}",

	"task.deadline":        "task: {«|deadline: 1ms, »steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], input: 5, output: 3}]}",
	"task.steps":           "task: {steps: [{name: a, input: 10, output: 3}«|, {name: b, input: 5}»]}",
	"task.steps.name":      "task: {steps: [{name: «a|z», input: 10, output: 3}, {name: b, input: 5, output: 3}, {name: c, after: [«a|z», b], input: 5, output: 3}]}",
	"task.steps.after":     "task: {steps: [{name: a, input: 10, output: 3}, {name: b, «|after: [a], »input: 5, output: 3}]}",
	"task.steps.tool":      "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], «|tool: 70ms, »input: 5, output: 3}]}",
	"task.steps.times":     "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], «|times: 3, »input: 5, output: 3}]}",
	"task.steps.parallel":  "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], «|parallel: 3, »input: 5, output: 3}]}",
	"task.steps.continues": "task: {steps: [{name: a, input: 10, output: 3}, {name: b, after: [a], «|continues: none, »input: 5, output: 3}]}",
	"task.steps.input":     "task: {steps: [{name: a, input: «10|14», output: 3}]}",
	"task.steps.output":    "task: {steps: [{name: a, input: 10«|, output: 3»}]}",

	"segments.every": "input: 5\noutput: 3\nsegments: {every: «50ms|90ms», count: 3}",
	"segments.count": "input: 5\noutput: 3\nsegments: {every: 50ms, count: «3|2»}",

	"images.count":  "input: 5\noutput: 3\nimages: {width: 16, height: 16«|, count: 2»}",
	"images.files":  "input: 5\noutput: 3\nimages: {«width: 16, height: 16|files: pictures/*.png»}",
	"images.width":  "input: 5\noutput: 3\nimages: {width: «16|24», height: 16}",
	"images.height": "input: 5\noutput: 3\nimages: {width: 16, height: «16|24»}",
	"video.seconds": "input: 5\noutput: 3\nvideo: {seconds: «1|2», width: 16, height: 16}",
	"video.count":   "input: 5\noutput: 3\nvideo: {seconds: 1, width: 16, height: 16«|, count: 2»}",
	"video.files":   "input: 5\noutput: 3\nvideo: {«seconds: 1, width: 16, height: 16|files: pictures/*.avi»}",
	"video.width":   "input: 5\noutput: 3\nvideo: {seconds: 1, width: «16|24», height: 16}",
	"video.height":  "input: 5\noutput: 3\nvideo: {seconds: 1, width: 16, height: «16|24»}",

	"models.name":  "input: 5\noutput: 3\nmodels: [{name: «a|b»}]",
	"models.share": "input: 5\noutput: 3\nmodels: [{name: a}, {name: b«|, share: 50»}]",

	"check.exact":       "input: 5\noutput: 3\ncheck: {regex: .«|, exact: nothing like it»}",
	"check.contains":    "input: 5\noutput: 3\ncheck: {regex: .«|, contains: nothing like it»}",
	"check.regex":       "input: 5\noutput: 3\ncheck: {regex: «.|^$»}",
	"check.number":      "input: 5\noutput: 3\ncheck: {regex: .«|, number: {value: 5}»}",
	"check.json_schema": "input: 5\noutput: 3\ncheck: {regex: .«|, json_schema: {type: object}»}",

	"leave.share":      "input: 5\noutput: 3\nleave: {share: «1%|100%», after: 20ms}",
	"leave.after":      "input: 5\noutput: 3\nleave: {share: 100%, after: «20ms|80ms»}",
	"leave.tokens":     "input: 5\noutput: 9\nleave: {share: 100%, after: 900ms«|, tokens: 2»}",
	"slow.share":       "input: 5\noutput: 3\nslow: {share: «0%|100%», bytes_per_s: 300}",
	"slow.bytes_per_s": "input: 5\noutput: 3\nslow: {share: 100%, bytes_per_s: «300|5000»}",

	"when.trace.speed": "file: trace.jsonl\nwhen: {requests: 2, trace: {speed: «1|3»}}",
	"when.trace.from":  "file: trace.jsonl\nwhen: {requests: 2, trace: {«|from: 20ms»}}",
	"when.trace.to":    "file: trace.jsonl\nwhen: {requests: 2, trace: {«|to: 20ms»}}",
}

// netMembersElsewhere are held by other tests, as the simulated server's answers show nothing
// of them.
var netMembersElsewhere = map[string]string{
	"check.number.value": "load/answer", "check.number.tolerance": "load/answer",
	"check.judge": "load/bench", "check.judge.url": "load/bench", "check.judge.model": "load/bench", "check.judge.api_key_env": "load/bench",
	"check.judge.prompt": "load/answer", "check.judge.pass": "load/answer",
}

// netMemberNames are the members of those fields of a workload file that have some.
func netMemberNames() (names []string) {
	var add func(of reflect.Type, before string, inner bool)
	add = func(of reflect.Type, before string, inner bool) {
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			as := f.Type
			for as.Kind() == reflect.Pointer || as.Kind() == reflect.Slice {
				as = as.Elem()
			}
			switch {
			case f.Anonymous && before == "mix.": // they are the fields of the file
			case f.Anonymous:
				add(as, before, inner)
			case name == "":
			default:
				if inner {
					names = append(names, before+name)
				}
				if as.Kind() == reflect.Struct {
					add(as, before+name+".", name != "when" || inner)
				}
			}
		}
	}
	add(reflect.TypeFor[workload.Spec](), "", false)
	return names
}

// Every member of a field changes what is sent or measured, is refused, or is named in a word.
func TestNetOfMembers(t *testing.T) {
	names := netMemberNames()
	for _, name := range slices.Sorted(maps.Keys(netMembers)) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is no member of a field", name)
		}
	}
	netFiles(t)
	if err := os.Mkdir("pictures", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.png", "a.avi"} {
		if err := os.WriteFile("pictures/"+name, []byte("\x89PNG\r\n\x1a\nRIFF"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		text, in := netMembers[name]
		if _, out := netMembersElsewhere[name]; in == out {
			t.Errorf("%s: give it a file in netMembers, or a reason in netMembersElsewhere", name)
		}
		if !in {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(text, "when:") {
				text += "\nwhen: {concurrency: 2, requests: 6}"
			}
			playWith := func(side int) outcomeOf {
				if err := os.WriteFile("x.yaml", []byte(eitherOf(text, side)), 0o600); err != nil {
					t.Fatal(err)
				}
				return play(t, "http://sim/v1", "--model", "sim", "--salt", "s", "--name", "n", "--workload", "x.yaml", "--keep-text")
			}
			before := playWith(0)
			if before.refused != "" {
				t.Fatal(before.refused)
			}
			if d := changes(before, func() outcomeOf { return playWith(1) }); d == "" {
				t.Error("nothing differs with it")
			} else if testing.Verbose() {
				t.Logf("%.150s", d)
			}
		})
	}
}

// eitherOf takes one side of each « | » in a text.
func eitherOf(text string, side int) string {
	for {
		before, rest, found := strings.Cut(text, "«")
		if !found {
			return text
		}
		choice, after, _ := strings.Cut(rest, "»")
		text = before + strings.SplitN(choice, "|", 2)[side] + after
	}
}
