//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is a server that is probed.
type target struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// kind is a probe of the suite, as check.py reads it too.
type kind struct {
	Name   string `json:"name"`
	Input  int64  `json:"input"`
	Output int64  `json:"output"`
	PerDay int    `json:"per_day"`
	Rest   string `json:"rest"`
	IdleS  int    `json:"idle_s"`
	Many   int    `json:"parallel"`
	Ask    bool   `json:"ask"`
}

// suite is the default one as far as an hour has room for it: the long prompts
// several times, and cold starts after four minutes.
var suite = []kind{
	{Name: "light", Input: 100, Output: 64, PerDay: 1440, Ask: true},
	{Name: "1k-short", Input: 1000, Output: 64, PerDay: 96, Ask: true},
	{Name: "10k-short", Input: 10_000, Output: 64, PerDay: 192, Ask: true},
	{Name: "1k-long", Input: 1000, Output: 300, PerDay: 96},
	{Name: "10k-long", Input: 10_000, Output: 300, PerDay: 48},
	{Name: "30k-short", Input: 30_000, Output: 64, PerDay: 24, Ask: true},
	{Name: "image", Input: 1000, Output: 64, PerDay: 24, Ask: true, Rest: ", images: 1"},
	{Name: "parallel", Input: 1000, Output: 200, PerDay: 24, Many: 10, Rest: ", parallel: 10"},
	{Name: "cold", Input: 100, Output: 64, PerDay: 48, Ask: true, IdleS: int(coldIdle.Seconds()), Rest: ", idle: " + coldIdle.String()},
}

// Dollars for a million tokens of every model.
const (
	priceInput  = 1
	priceOutput = 60
)

// config is the daemon's.
type config struct {
	Dir, Listen, Admin string
	Targets            []target
}

func (c *config) write() error {
	var b, prices strings.Builder
	fmt.Fprintf(&b, "listeners: [{name: main, listen: \"%s\"}]\nadmin: {listen: \"%s\"}\nroutes: [{name: chat, upstreams: [{name: slow}]}]\nupstreams:\n", c.Listen, c.Admin)
	for _, t := range c.Targets {
		fmt.Fprintf(&b, "  - {name: %s, url: \"%s\"}\n", t.Name, t.URL)
	}
	fmt.Fprintf(&b, "prices: %[1]s/prices.yaml\nstore: %[1]s/store.db\nrows: {folder: %[1]s/rows}\nprobes:\n  folder: %[1]s/probes\n  targets:\n", c.Dir)
	prices.WriteString("models:\n")
	for _, t := range c.Targets {
		fmt.Fprintf(&b, "    - {name: %[1]s, upstream: %[1]s, model: %[1]s}\n", t.Name)
		fmt.Fprintf(&prices, "  %[1]s: {input: %[2]d, cached_read: %[2]d, output: %[3]d}\n", t.Name, priceInput, priceOutput)
	}
	b.WriteString("  suite:\n")
	for _, k := range suite {
		fmt.Fprintf(&b, "    - {name: %s, input: %d, output: %d, per_day: %d, ask: %t%s}\n", k.Name, k.Input, k.Output, k.PerDay, k.Ask, k.Rest)
	}
	fmt.Fprintf(&b, "  budget: {tokens: %d, usd: %g}\n", *tokens, *usd)
	if err := os.WriteFile(filepath.Join(c.Dir, "prices.yaml"), []byte(prices.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, "tokenmeter.yaml"), []byte(b.String()), 0o644)
}

// keep writes what a command prints to a file.
func (c *config) keep(name, program string, args ...string) error {
	out, err := os.Create(filepath.Join(c.Dir, name))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// after keeps what the commands make of the folder: the rows of each run, and the
// medians.
func (w *world) after(c *config) error {
	runs, err := filepath.Glob(filepath.Join(w.dir, "probes", "*", "*", "run.json"))
	if err != nil {
		return err
	}
	for i, name := range runs {
		if err := c.keep(fmt.Sprintf("rows-%d.jsonl", i), *binary, "export", filepath.Dir(name)); err != nil {
			return err
		}
	}
	return c.keep("medians.json", *binary, "probe", "--out", filepath.Join(w.dir, "probes"), "--window", *window, "--format", "json")
}
