//go:build !lean

package main

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/load/translate"
	"tokenmeter/reader/typeset"
)

type translateCmd struct {
	Line []string `arg:"" passthrough:"" name:"command" help:"The command line of another load generator, behind --, or in quotes."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (translateCmd) Help() string {
	return "Prints the command of tokenmeter that does the same, and below it, as comments, what has no equal or means something else. Known are " + translate.Names() + ".\n\n" +
		"    tokenmeter translate -- vllm bench serve --model m --num-prompts 100 --request-rate 5"
}

// Run translates.
func (c *translateCmd) Run(a *app) error {
	line := c.Line
	if len(line) > 0 && line[0] == "--" {
		line = line[1:]
	}
	if len(line) == 1 { // in quotes, as a whole
		words, err := translate.Split(line[0])
		if err != nil {
			return err
		}
		line = words
	}
	out, err := translate.Of(secret.RedactArgs(line))
	if err != nil {
		return err
	}
	text := typeset.CommandLine(append([]string{"tokenmeter"}, out.Args...)) + "\n"
	for _, n := range out.Notes {
		text += fmt.Sprintf("# %s\n", strings.ReplaceAll(n, "\n", " "))
	}
	_, err = io.WriteString(a.stdout, printable.Lines(text))
	return err
}
