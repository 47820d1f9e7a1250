package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// everyday is the first screen of help for a command with more flags than anybody reads:
// three examples and the flags that most people need. --help-all has the others.
type everyday struct {
	examples string
	flags    []string
}

var firstScreens = map[string]everyday{
	"bench": {`Examples:

    tokenmeter bench http://localhost:8000
    tokenmeter bench http://localhost:8000 --rate 5 --duration 2m --objective "p95 ttft < 500ms"
    tokenmeter bench http://localhost:8000 --prompts chat.jsonl --concurrency 32 --html`,
		[]string{"help", "concurrency", "rate", "duration", "requests", "input-tokens", "output-tokens", "prompts", "model", "api-key-env", "objective", "out", "html", "format"}},
	"sweep": {`Examples:

    tokenmeter sweep http://localhost:8000 --concurrency 1..64 --objective "p95 ttft < 500ms"
    tokenmeter sweep http://localhost:8000 --find --objective "p95 ttft < 500ms"
    tokenmeter sweep http://localhost:8000 --input-tokens 128..8192 --concurrency 1,8 --html`,
		[]string{"help", "concurrency", "rate", "input-tokens", "output-tokens", "find", "objective", "duration", "requests", "out", "html"}},
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

// printHelp prints the first screen of a command that has one, else all.
func printHelp(all bool) kong.HelpPrinter {
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		node := ctx.Selected()
		if node == nil || all {
			return kong.DefaultHelpPrinter(options, ctx)
		}
		first, ok := firstScreens[node.Name]
		if !ok {
			return kong.DefaultHelpPrinter(options, ctx)
		}
		left := 0
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				f.Group = nil
				if !slices.Contains(first.flags, f.Name) {
					f.Hidden = true
					left++
				} else {
					f.Help, _, _ = strings.Cut(f.Help, ". ") // the rest is in --help-all
				}
			}
		}
		node.Detail = first.examples
		if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintf(ctx.Stdout, "\ntokenmeter %s %s shows the other %d flags, by group, and the exit codes.\n", node.Name, helpAll, left)
		return err
	}
}
