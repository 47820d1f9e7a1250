package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/cmdline"
	"tokenmeter/base/secret"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
)

// axis is one thing that a sweep varies.
type axis struct {
	flag    string // of bench, without dashes; empty for a field of the workload
	name    string // in results: the flag with _ for -, or the field
	values  []string
	numbers []float64 // the same; nil unless all are numbers
}

// shown is a value as results may hold it.
func (x *axis) shown(i int) string {
	switch x.flag {
	case "url", "proxy":
		return secret.RedactURL(x.values[i])
	case "header":
		return secret.RedactHeaderLine(x.values[i])
	}
	return x.values[i]
}

// number is the place of a value on an axis of a chart.
func (x *axis) number(i int) float64 {
	if x.numbers != nil {
		return x.numbers[i]
	}
	return float64(i + 1)
}

const mostCells = 1000

// mostRuns bounds what repeats make of them.
const mostRuns = 100_000

// axes takes the lists out of the flags, so that bench's own reading of them
// sees one value.
func (c *sweepCmd) axes(check *checker) (axes []axis) {
	for _, f := range []struct {
		flag  string
		text  *string
		whole bool
	}{
		{"concurrency", &c.Concurrency, true},
		{"rate", &c.Rate, false},
		{"input-tokens", &c.InputTokens, true},
		{"output-tokens", &c.OutputTokens, true},
	} {
		if !isList(*f.text) {
			continue
		}
		values, err := sweep.ParseList(*f.text, f.whole)
		if err != nil {
			check.addf("--%s: %w", f.flag, err)
		} else if c.Find && (f.flag == "concurrency" || f.flag == "rate") {
			check.addf("--%s takes one value with --find, which chooses the load itself", f.flag)
		}
		*f.text = ""
		if len(values) > 0 {
			axes = append(axes, numeric(f.flag, values))
			*f.text = axes[len(axes)-1].values[0]
		}
	}
	if depths := c.depths(check); len(depths) > 0 {
		axes = append(axes, numeric(sweep.Depth, depths))
	}
	for _, text := range c.Vary {
		if x, ok := c.varied(text, check); ok {
			axes = append(axes, x)
			if x.flag == "url" && c.URL == "" {
				c.URL = x.values[0]
			}
		}
	}
	for i, x := range axes {
		if slices.ContainsFunc(axes[:i], func(o axis) bool { return o.name == x.name }) {
			check.addf("%s is varied twice: leave one of the lists out", x.name)
		}
	}
	if len(axes) == 0 && !c.Find && c.Method == "" && len(check.errs) == 0 {
		axes = c.one(check)
	}
	return axes
}

// depths is the list of --depth, in which 0 is a value too.
func (c *sweepCmd) depths(check *checker) (all []float64) {
	if c.Depth == "" {
		return nil
	}
	for _, part := range strings.Split(c.Depth, ",") {
		if strings.TrimSpace(part) == "0" {
			all = append(all, 0)
			continue
		}
		values, err := sweep.ParseList(part, true)
		if err != nil {
			check.addf("--depth: %w", err)
			return nil
		}
		all = append(all, values...)
	}
	if len(all) > mostCells {
		check.addf("--depth: %d depths, at most %d", len(all), mostCells)
	}
	return all
}

// one value is a list too: of the load, if one was named.
func (c *sweepCmd) one(check *checker) []axis {
	switch {
	case c.Rate != "":
		return []axis{numeric("rate", []float64{check.number("--rate", c.Rate, "2.5")})}
	case c.Concurrency != "":
		return []axis{numeric("concurrency", []float64{float64(check.count("--concurrency", c.Concurrency, 1))})}
	}
	check.addf("nothing is swept: give a list, like --concurrency 1,2,4,8, or --find with an objective, or --method")
	return nil
}

func numeric(flag string, values []float64) axis {
	x := axis{flag: flag, name: strings.ReplaceAll(flag, "-", "_"), numbers: values}
	for _, v := range values {
		x.values = append(x.values, strconv.FormatFloat(v, 'g', 6, 64))
	}
	if flag != "rate" {
		for i, v := range values {
			x.values[i] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return x
}

// varied reads a --vary: a flag of bench or a field of the workload.
func (c *sweepCmd) varied(text string, check *checker) (x axis, ok bool) {
	name, list, ok := strings.Cut(text, "=")
	name = strings.TrimLeft(strings.TrimSpace(name), "-")
	if !ok || name == "" || strings.TrimSpace(list) == "" {
		check.addf("--vary %q: write NAME=LIST, like arrival=constant,poisson", text)
		return x, false
	}
	x = axis{name: strings.ReplaceAll(name, "-", "_")}
	if variable(&c.benchCmd, name) != nil {
		x.flag = name
	} else {
		x.name = name
		if c.Workload == "" && c.Scenario == "" {
			check.addf("--vary %s: that is no flag of the target, the load or what is sent; with --workload or --scenario it may be a field of the workload", name)
			return x, false
		}
	}
	if isList(list) || isNumber(strings.TrimSpace(list)) {
		if values, err := sweep.ParseList(list, false); err == nil {
			n := numeric(x.flag, values)
			x.values, x.numbers = n.values, values
			return x, true
		}
	}
	for _, v := range strings.Split(list, ",") {
		if v = strings.TrimSpace(v); v == "" {
			check.addf("--vary %s: a value is missing in %q", name, list)
			return x, false
		}
		x.values = append(x.values, v)
	}
	return x, true
}

// variableGroups are the flags that may differ between the points of a sweep.
var variableGroups = []string{"target", "load", "content", "limits", "connection"}

// fixedFlags are of the sweep as a whole.
var fixedFlags = []string{"demo", "dry-run", "set"}

// variable is a flag of bench that may differ between points; nil: there is none of that name.
func variable(c *benchCmd, name string) *cmdline.Flag {
	f := cmdline.Field(c, name)
	if f == nil || name != "url" && !slices.Contains(variableGroups, f.Group) || slices.Contains(fixedFlags, name) {
		return nil
	}
	return f
}

// with is the command with one flag, or field of the workload, replaced.
func (x *axis) with(c *benchCmd, value string) error {
	if x.flag == "" {
		c.Set = append(slices.Clone(c.Set), x.name+"="+value)
		return nil
	}
	if variable(c, x.flag).Set(value) != nil { // only what is true or false can be wrong
		return fmt.Errorf("--vary %s: %q: give true or false", x.flag, value)
	}
	return nil
}

// main is the axis that curves are drawn over: the load, if it is varied.
func mainAxis(axes []axis) int {
	for _, name := range []string{sweep.Rate, sweep.Concurrency} {
		if i := slices.IndexFunc(axes, func(x axis) bool { return x.name == name }); i >= 0 {
			return i
		}
	}
	return 0
}

// cells are the points of the sweep: every combination, or with --paired the
// first values together, the second ones, and so on.
func (c *sweepCmd) cells(a *app, axes []axis, check *checker) (cells []sweep.Cell) {
	if len(axes) == 0 || len(check.errs) > 0 {
		return nil
	}
	n, main := 1, mainAxis(axes)
	for _, x := range axes {
		if c.Paired && len(x.values) != len(axes[0].values) {
			check.addf("--paired: %s has %d values and %s has %d", axes[0].name, len(axes[0].values), x.name, len(x.values))
			return nil
		}
		n *= len(x.values)
	}
	if c.Paired {
		n = len(axes[0].values)
	}
	if n > mostCells {
		check.addf("the lists make %d points: at most %d", n, mostCells)
		return nil
	}
	for k := range n {
		at := places(axes, k, main, c.Paired)
		cell, err := c.cell(a, axes, at, main)
		if err != nil {
			check.add(err)
			return nil
		}
		cells = append(cells, cell)
	}
	return cells
}

// places are the places of the k-th combination in the lists; that of the main
// axis changes fastest.
func places(axes []axis, k, main int, paired bool) []int {
	at := make([]int, len(axes))
	if paired {
		for i := range at {
			at[i] = k
		}
		return at
	}
	at[main] = k % len(axes[main].values)
	k /= len(axes[main].values)
	for i := len(axes) - 1; i >= 0; i-- {
		if i != main {
			at[i] = k % len(axes[i].values)
			k /= len(axes[i].values)
		}
	}
	return at
}

func (c *sweepCmd) cell(a *app, axes []axis, at []int, main int) (cell sweep.Cell, err error) {
	one := c.benchCmd
	cell.Value, cell.Text = axes[main].number(at[main]), axes[main].shown(at[main])
	for i := range axes {
		value := axes[i].values[at[i]]
		if err := axes[i].with(&one, value); err != nil {
			return cell, err
		}
		if len(axes) > 1 {
			cell.Settings = append(cell.Settings, result.Setting{Name: axes[i].name, Value: axes[i].shown(at[i])})
		}
	}
	if cell.Plan, err = one.plan(a); err != nil {
		return cell, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	cell.Plan.Name = ""
	return cell, nil
}
