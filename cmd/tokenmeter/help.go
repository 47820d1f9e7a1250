package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/cmdline"
)

// everyday is what the first screen of a command's help shows: three examples, and where
// there are more flags than anybody reads, those that most people need. --help-all has
// the others.
type everyday struct {
	examples string // a line each, without the program's name
	flags    string // names; empty: as many as there is room for
}

var firstScreens = map[string]everyday{
	"bench": {`bench http://localhost:8000
bench http://localhost:8000 --rate 5 --duration 2m --objective "p95 ttft < 500ms"
bench http://localhost:8000 --prompts chat.jsonl --concurrency 32 --html`,
		"help concurrency rate duration requests input-tokens output-tokens prompts model api-key-env objective out html format"},
	"sweep": {`sweep http://localhost:8000 --concurrency 1..64 --objective "p95 ttft < 500ms"
sweep http://localhost:8000 --find --objective "p95 ttft < 500ms"
sweep http://localhost:8000 --input-tokens 128..8192 --concurrency 1,8 --html`,
		"help concurrency rate input-tokens output-tokens find objective duration requests out html"},
	"compare": {`compare runs/main runs/pr --gate "p99 tpot +5%" --gate "error rate < 1%"
compare A1 A2 A3 A4 vs B1 B2 B3 B4 --html compare.html
compare runs/pr --baseline baseline.json --strict`, "help baseline save-baseline gate strict within metric html junit format"},
	"report": {`report runs/a
report runs/a --html report.html
report runs/a --lens vllm,aiperf`, ""},
	"import": {`import profile_export.jsonl
import benchmarks.json --from guidellm --out runs/theirs
import results.json --objective "p95 ttft < 500ms"`, ""},
	"export": {`export runs/a --as csv --out requests.csv
export runs/a --as jsonl --out -
export runs/a --as vllm --out result.json`, ""},
	"analyze": {`analyze runs/a/capture/000001.capture.jsonl
analyze *.capture.jsonl
analyze stream.capture.jsonl --format json`, ""},
	"doctor": {`doctor
doctor http://localhost:8000
doctor http://localhost:8000 --probe`, "help api model api-key-env probe header timeout format"},
	"explain": {`explain tpot
explain client_lag
explain http_429`, ""},
	"sim": {`sim
sim --preset llama-3.1-8b/h100 --truth truth.jsonl
sim --like llama.cpp --fault stall=2%:for=3s`,
		"help listen preset truth model seed output-tokens speed like usage template-tokens letters-per-token try fault"},
	"tokens": {`tokens prompt.txt
tokens --text "How many are these?" --encode
tokens --tokenizer tokenizer.json --jsonl prompts.jsonl`, ""},
	"workload show": {`workload show chat
workload show mix.yaml
workload show prompts.jsonl --format json`, ""},
	"workload validate": {`workload validate mix.yaml
workload validate trace.jsonl
workload validate prompts.jsonl --format json`, ""},
	"version": {`version
version --format json
version --quiet`, ""},
	"licenses": {`licenses
licenses --quiet
licenses --no-color`, ""},
	"completion": {`completion bash
completion zsh
completion fish`, ""},
}

// helpAll asks for every flag. It is taken out of the line before it is parsed, as help is
// printed while it is.
const helpAll = "--help-all"

// wholeHelp turns --help-all into --help, and reports that it was there.
func wholeHelp(args []string) ([]string, bool) {
	at := slices.Index(args, helpAll)
	if dashes := slices.Index(args, "--"); at < 0 || dashes >= 0 && dashes < at {
		return args, false
	}
	args = slices.Clone(args)
	args[at] = "--help"
	return args, true
}

// firstScreen is how many lines help may have that was not asked for whole.
const firstScreen = 40

// helpOf is a command's examples with as much of its help as fits on the first
// screen: the text and the exit codes, else every flag, else their first sentences, else
// those that most people need.
func helpOf(c *cmdline.Command, all bool, width int) string {
	name := c.Path()
	first, ok := firstScreens[name]
	if !ok {
		first, ok = serviceScreens[name]
	}
	if !ok || all {
		return c.Usage(width)
	}
	examples := "Examples:\n\n"
	for line := range strings.Lines(first.examples) {
		examples += "    tokenmeter " + line
	}
	text := c.Detail
	for level := 0; ; level++ {
		c.Detail = examples
		switch level {
		case 0:
			c.Detail = examples + "\n\n" + text
		case 2, 3:
			fewer(c, first.flags, level == 3)
		}
		page := c.Usage(width)
		if level > 0 {
			codes := ""
			if strings.Contains(text, "Exit codes:") {
				codes = ", and the exit codes"
			}
			page += fmt.Sprintf("\ntokenmeter %s %s shows all: every flag, by group%s.\n", name, helpAll, codes)
		}
		if level == 3 || first.flags == "" && strings.Count(page, "\n") <= firstScreen {
			return page
		}
	}
}

// fewer leaves the first sentence of each flag's text, and hides the flags that every
// command has; of those named, where some are, it leaves only them.
func fewer(c *cmdline.Command, named string, only bool) {
	for _, f := range c.Visible() {
		f.Group = ""
		f.Help, _, _ = strings.Cut(f.Help, ". ")
		f.Help = strings.TrimSuffix(f.Help, ".")
		f.Hidden = slices.Contains([]string{"quiet", "no-color", "log-level"}, f.Name) ||
			only && named != "" && !slices.Contains(strings.Fields(named), f.Name)
	}
}

// columns is how wide the help may be: as COLUMNS says, or as the terminal is, and no
// wider than lines that are easily read.
func (a *app) columns() int {
	wide, _ := a.env("COLUMNS")
	n, err := strconv.Atoi(wide)
	if err != nil {
		n = a.screen(a.stdout, true).width
	}
	return min(n, 100)
}
