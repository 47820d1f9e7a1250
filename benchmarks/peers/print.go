//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// String is one round on one line, for who waits.
func (r *row) String() string {
	if r.Failure != "" {
		return fmt.Sprintf("%-15s %5d streams: failed: %s", r.Peer, r.Streams, r.Failure)
	}
	return fmt.Sprintf("%-15s %5d streams: TTFT %+.3f ms (p99 %+.3f), CPU %.2f s/M, %s MB, load %.1f",
		r.Peer, r.Streams, r.TTFT.Mean, r.TTFT.P99, r.CPUPerMillion, megabytes(r.PeakRSS), r.LoadAverage)
}

const head = `
Errors in ms: what the client measured less what the server did, mean / p50 / p99 over requests; of ITL, its size over all gaps between tokens. † the client keeps no times of tokens: the error of each request's mean gap. CPU: user and system seconds of all the client's processes for a million tokens, while measuring. Memory: the sum of its processes' resident sets at its peak. Rate: achieved by asked. Start: from its start to its first completion. Load: the machine's load average before the round; steal and others: shares of the client's core that the hypervisor and other programs took.

`

// print writes a table for each number of streams, and one of what the clients
// report themselves.
func (b *bench) print(w io.Writer) error {
	var out strings.Builder
	out.WriteString(head)
	for _, n := range b.levels() {
		l := b.loadOf(n)
		fmt.Fprintf(&out, "### %d streams (%v between tokens, %d tokens a reply, %d requests)\n\n", n, l.Gap, l.Tokens, l.Requests)
		out.WriteString("| client | TTFT | ITL | E2E | CPU s/M tokens | memory MB | rate % | start s | load | steal % | others % | rounds |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		b.each(n, func(p *peer, rows []*row) { out.WriteString(line(p, rows)) })
		out.WriteString("\nAs the clients report it (mean / p50 / p99 less the truth's):\n\n| client | TTFT | ITL | E2E |\n|---|---|---|---|\n")
		b.each(n, func(p *peer, rows []*row) {
			fmt.Fprintf(&out, "| %s %s | %s | %s | %s |\n", p.name, b.versions[p.name],
				published(rows, "ttft"), published(rows, "itl"), published(rows, "e2e"))
		})
		out.WriteString("\n")
	}
	b.notes(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

func (b *bench) notes(out *strings.Builder) {
	for i := range peers {
		if why := b.missing[peers[i].name]; why != "" {
			fmt.Fprintf(out, "- %s is left out: %s\n", peers[i].name, why)
		}
	}
	for _, r := range b.rows {
		if r.Failure != "" {
			first, _, _ := strings.Cut(r.Failure, "\n")
			fmt.Fprintf(out, "- %s failed at %d streams, round %d: %s\n", r.Peer, r.Streams, r.Repeat+1, first)
		}
	}
}

func (b *bench) levels() []int {
	var all []int
	for _, r := range b.rows {
		if !slices.Contains(all, r.Streams) {
			all = append(all, r.Streams)
		}
	}
	slices.Sort(all)
	return all
}

func (b *bench) loadOf(streams int) load {
	i := slices.IndexFunc(b.rows, func(r *row) bool { return r.Streams == streams })
	return b.rows[i].Load
}

// each calls back for the clients that have rounds at a level.
func (b *bench) each(streams int, f func(*peer, []*row)) {
	for i := range peers {
		var rows []*row
		for _, r := range b.rows {
			if r.Peer == peers[i].name && r.Streams == streams && r.Failure == "" {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			f(&peers[i], rows)
		}
	}
}

func line(p *peer, rows []*row) string {
	itl := triple(rows, func(r *row) figures { return r.Mean }) + " †"
	if rows[0].ITL != nil {
		itl = triple(rows, func(r *row) figures { return *cmp.Or(r.ITL, &figures{}) })
	}
	num := func(f func(*row) float64) string { return short(median(rows, f)) }
	return fmt.Sprintf("| %s %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |\n", p.name, rows[0].Version,
		triple(rows, func(r *row) figures { return r.TTFT }), itl, triple(rows, func(r *row) figures { return r.E2E }),
		num(func(r *row) float64 { return r.CPUPerMillion }), num(func(r *row) float64 { return float64(r.PeakRSS) / (1 << 20) }),
		num(func(r *row) float64 { return 100 * r.RateShare }), num(func(r *row) float64 { return r.StartUpS }),
		num(func(r *row) float64 { return r.LoadAverage }), num(func(r *row) float64 { return 100 * r.StealShare }), num(func(r *row) float64 { return 100 * r.OthersShare }), len(rows))
}

func published(rows []*row, name string) string {
	if _, ok := rows[0].Published[name]; !ok {
		return "–"
	}
	return triple(rows, func(r *row) figures { return r.Published[name] })
}

// triple is the medians of three figures over rounds.
func triple(rows []*row, f func(*row) figures) string {
	return short(median(rows, func(r *row) float64 { return f(r).Mean })) + " / " +
		short(median(rows, func(r *row) float64 { return f(r).P50 })) + " / " +
		short(median(rows, func(r *row) float64 { return f(r).P99 }))
}

func median(rows []*row, f func(*row) float64) float64 {
	all := make([]float64, len(rows))
	for i, r := range rows {
		all[i] = f(r)
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// short has three digits that count, or three decimals.
func short(x float64) string {
	a := math.Abs(x)
	switch {
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func megabytes(n int64) string { return short(float64(n) / (1 << 20)) }
