//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

var tokenmeterPeer = peer{
	name:  "tokenmeter",
	times: "tokens",
	version: func(s *setting) (string, error) {
		bin := filepath.Join(s.bin, "tokenmeter")
		here, err := sourceFile("main.go")
		if err != nil {
			return "", err
		}
		build := exec.Command("go", "build", "-o", bin, "tokenmeter/cmd/tokenmeter")
		build.Dir = filepath.Dir(here)
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("it does not build: %w\n%s", err, out)
		}
		commit := exec.Command("git", "describe", "--always", "--dirty")
		commit.Dir = build.Dir
		out, err := commit.Output()
		return strings.TrimSpace(string(out)), err
	},
	command: func(j *job) ([]string, error) {
		return []string{filepath.Join(j.bin, "tokenmeter"), "bench", j.url,
			"--rate", strconv.FormatFloat(j.rate(), 'g', -1, 64), "--requests", strconv.Itoa(j.Requests),
			"--concurrency", strconv.Itoa(j.cap()), "--warmup", j.reply().String(),
			"--input-tokens", "16", "--output-tokens", strconv.Itoa(j.Tokens), "--ignore-eos",
			"--out", j.file("run"), "--quiet", "--format", "json"}, nil
	},
	read: func(j *job) (*measured, error) {
		folder, err := run.Open(j.file("run"))
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		sum := folder.Run()
		m := &measured{published: map[string]figures{}}
		for tl, err := range folder.Timelines() {
			if err != nil {
				return nil, err
			}
			if r, ok := requestOf(tl, sum.MonotonicZeroNS); ok {
				m.requests = append(m.requests, r)
			}
		}
		for name, as := range map[string]string{"ttft_ms": "ttft", "itl_ms": "itl", "e2e_ms": "e2e"} {
			if f, ok := figuresOf(sum.Metrics[name]); ok {
				m.published[as] = f
			}
		}
		return m, nil
	},
}

// requestOf counts from when the client began with a request, as the others do,
// not from when it was due nor from when it was written.
func requestOf(tl *timeline.Timeline, zeroNS int64) (request, bool) {
	if tl.Phase != timeline.Measure || tl.Outcome != timeline.OK {
		return request{}, false
	}
	start := tl.StartUS - tl.DueUS
	r := request{id: tl.ID, sentNS: zeroNS + tl.StartUS*1000}
	for ev := range tl.Events.Generation() {
		r.atMS = append(r.atMS, float64(ev.AtUS-start)/1000)
	}
	if len(r.atMS) == 0 {
		return r, false
	}
	r.firstMS, r.lastMS = r.atMS[0], r.atMS[len(r.atMS)-1]
	return r, true
}

func figuresOf(d metric.Dist) (figures, bool) {
	mean, ok := d.Mean.Get()
	p50, _ := d.P50.Get()
	p99, _ := d.P99.Get()
	return figures{mean, p50, p99}, ok
}
