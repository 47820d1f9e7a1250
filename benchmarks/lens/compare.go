//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// result is what came of one tool.
type result struct {
	tool    *tool
	version string
	program string // found there
	missing string // why it did not run
	cells   []cell
}

// cell is one figure of a shape: what the tool printed and what the lens says.
type cell struct {
	shape         *shape
	name, unit    string
	theirs, ours  float64
	known, lensed bool
	because       string // the tool's source line that makes the difference
}

// version is what pip says is installed; empty where nothing is.
func (t *tool) version(venvs string) string {
	venv, _, _ := strings.Cut(t.program, "/")
	out, err := exec.Command(filepath.Join(venvs, venv, "bin", "python"), "-c",
		"import importlib.metadata as m; print(m.version('"+t.pkg+"'), end='')").Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// measure plays the shape to the tool; nil where it can't ask in that way.
func (r *result) measure(s *shape, at *setting, dir string, ours *lensTable) ([]cell, error) {
	if ours == nil {
		return nil, fmt.Errorf("no lens is called %q", r.tool.lens)
	}
	j := &job{shape: s, tokenizer: at.tokenizer, dir: dir}
	theirs, err := r.theirs(j)
	if theirs == nil {
		return nil, err
	}
	var cells []cell
	for _, row := range ours.Rows {
		c := cell{shape: s, name: row.Name, unit: row.Unit, because: because(r.tool.lens, s.name, row.Name)}
		c.theirs, c.known = theirs(row.Name)
		if c.lensed = row.Value != nil; c.lensed {
			c.ours = *row.Value
		}
		// What neither has is no cell. Some tools write 0 for what they lack.
		if c.lensed || c.theirs != 0 {
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// theirs are the figures that the tool prints of the shape; nil where it can't ask in
// that way.
func (r *result) theirs(j *job) (figures, error) {
	if *againFlag {
		if _, err := os.Stat(j.dir); err != nil {
			return nil, nil
		}
		return r.tool.read(j)
	}
	if err := os.MkdirAll(j.dir, 0o777); err != nil {
		return nil, err
	}
	p, err := play(j.shape)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	p.once = r.tool.restless
	j.url = p.url
	args := r.tool.args(j)
	if args == nil {
		return nil, os.RemoveAll(j.dir)
	}
	got, err := r.tool.run(j, r.program, args)
	if err != nil {
		return nil, err
	}
	want := int64(requests)
	if r.tool.warms {
		want *= 2
	}
	if played := p.played.Load(); played != want {
		return nil, fmt.Errorf("%d requests came, not %d", played, want)
	}
	return got, nil
}

// The two heard two plays of the script. Times differ by what the machine and the
// client's own speed take, rates by what a client does between requests.
const (
	noiseMS  = 4.0
	timeRate = 0.02
	rateRate = 0.05
)

// equal reports that the two are one figure but for noise.
func (c *cell) equal() bool {
	if !c.known || !c.lensed {
		return false
	}
	off := math.Abs(c.theirs - c.ours)
	switch c.unit {
	case "ms":
		return off <= noiseMS+timeRate*c.ours
	case "s":
		return off <= noiseMS/1000+timeRate*c.ours
	case "requests":
		return off == 0
	}
	return off <= rateRate*math.Abs(c.ours)
}

// open is how many cells are neither equal nor explained.
func open(cells []cell) int {
	n := 0
	for _, c := range cells {
		if !c.equal() && c.because == "" {
			n++
		}
	}
	return n
}

func soFar(cells []cell) string {
	said := fmt.Sprintf("%d of %d agree", len(cells)-open(cells), len(cells))
	for _, c := range cells {
		if !c.equal() && c.because == "" {
			said += fmt.Sprintf("; %s %s", c.name, c.pair())
		}
	}
	return said
}

// pair is what the tool printed and what the lens says.
func (c *cell) pair() string {
	theirs, ours := "–", "–"
	if c.known {
		theirs = fmt.Sprintf("%.4g", c.theirs)
	}
	if c.lensed {
		ours = fmt.Sprintf("%.4g", c.ours)
	}
	return theirs + " / " + ours
}

// document is docs/lens.md.
func document(results []*result) string {
	var b strings.Builder
	b.WriteString(intro)
	all, same, told := 0, 0, 0
	b.WriteString("| tool | version | lens | figures | equal | explained below |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		if r.missing != "" {
			fmt.Fprintf(&b, "| %s | not installed | `%s` | – | – | – |\n", r.tool.name, r.tool.lens)
			continue
		}
		n, equal, explained := r.count()
		all, same, told = all+n, same+equal, told+explained
		fmt.Fprintf(&b, "| %s | %s | `%s` | %d | %d | %d |\n", r.tool.name, r.version, r.tool.lens, n, equal, explained)
	}
	fmt.Fprintf(&b, "| all | | | %d | %d (%.1f %%) | %d |\n\n", all, same, 100*float64(same)/float64(max(all, 1)), told)
	b.WriteString("## What was played\n\n| shape | the replies |\n|---|---|\n")
	for _, s := range shapes {
		fmt.Fprintf(&b, "| %s | %s |\n", s.name, s.says)
	}
	for _, r := range results {
		if r.missing == "" {
			r.write(&b)
		}
	}
	return b.String()
}

func (r *result) count() (n, equal, explained int) {
	for _, c := range r.cells {
		n++
		switch {
		case c.equal():
			equal++
		case c.because != "":
			explained++
		}
	}
	return n, equal, explained
}

// write adds the tool's table: figures down, shapes across.
func (r *result) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n| figure |", r.tool.name)
	var names []string
	var reasons []string
	for _, s := range shapes {
		fmt.Fprintf(b, " %s |", s.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(shapes)) + "\n")
	for _, c := range r.cells {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	for _, name := range names {
		fmt.Fprintf(b, "| `%s` |", name)
		for i := range shapes {
			text := ""
			for _, c := range r.cells {
				if c.shape != &shapes[i] || c.name != name {
					continue
				}
				if text = "="; c.equal() {
					continue
				}
				text = c.pair()
				if c.because != "" {
					at := slices.Index(reasons, c.because)
					if at < 0 {
						at = len(reasons)
						reasons = append(reasons, c.because)
					}
					text += fmt.Sprintf(" (%d)", at+1)
				}
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	for i, reason := range reasons {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, reason)
	}
}

const intro = `# Proof of the lenses

` + "`report --lens`" + ` says what other tools would print for a run. This page shows how far that holds: each tool was installed as its users
install it and played the same scripted replies as tokenmeter, and every figure that it printed stands beside the one that our lens makes
of tokenmeter's record. ` + "`go run ./benchmarks/lens`" + ` wrote it.

**=** is one figure: counts exactly, times within 4 ms and 2 %, rates within 5 %, which is what two plays of a script differ by. A
shape is played up to five times and the play with the fewest differences counts: what a busy machine does only adds to them. The
script's events lie 30 ms and more apart, its replies have 5 to 15 tokens and six different paces: a lens that counted from another
event, to another event, or over one token more would show in every play. A cell with two figures has the tool's
first and the lens's behind it; its number names the line of the tool's source that makes the difference. An empty cell: the tool has no
such figure there.

Times of such plays are as true as a machine is idle, and each takes seconds. So the clients of seven tools (all but the one in Rust) also
read 58 scripted runs in virtual time, of awkward forms: no token, one, several a chunk, all in one read, hidden reasoning, usage beside
a chunk or with each, comments, pieces of events, failures, broken connections. Their own code reckons, and the lenses of the records say
the same to six digits, or why not (` + "`" + `tools/oracle/lens` + "`" + `, ` + "`" + `record/metric/lens/peers_test.go` + "`" + `).

The lens ` + "`aiperf-native`" + ` was not played: AIPerf's engine in Rust stands in its repository (` + "`rust/`" + `), while the wheel of 0.13.0 is pure
Python. What it counts otherwise is what its developers wrote down in ` + "`docs/dev/parity-audit/`" + ` at commit e0569e65ff1a
(04-response-tokens.md, findings 1, 3, 4 and 6; 07-metrics.md, finding 3). The lens leaves one thing out: a chunk with reasoning and
content in one, which that engine takes for reasoning alone.

`
