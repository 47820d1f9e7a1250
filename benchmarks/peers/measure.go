//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sample is what a client's process tree had used at a moment.
type sample struct {
	atNS  int64 // CLOCK_MONOTONIC
	cpuNS int64 // user and system time since the start, ended processes included
	rss   int64 // bytes; pages shared by processes count for each
}

// watch samples a process tree until done is closed, then hands the samples over.
func watch(pid int, done <-chan struct{}) []sample {
	var samples []sample
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var tree []int
	for i := 0; ; i++ {
		if i%5 == 0 {
			tree = descendants(pid)
		}
		if s := sampleOf(tree); len(samples) == 0 || s.cpuNS >= samples[len(samples)-1].cpuNS {
			samples = append(samples, s) // else a process has just ended, and nobody waited for it yet
		}
		select {
		case <-done:
			return samples
		case <-tick.C:
		}
	}
}

// descendants are a process and all that came from it and live.
func descendants(pid int) []int {
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		lists, _ := filepath.Glob("/proc/" + strconv.Itoa(tree[i]) + "/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for child := range strings.FieldsSeq(string(text)) {
				if n, err := strconv.Atoi(child); err == nil && !slices.Contains(tree, n) {
					tree = append(tree, n)
				}
			}
		}
	}
	return tree
}

func sampleOf(tree []int) sample {
	s := sample{atNS: clockNS(unix.CLOCK_MONOTONIC)}
	for _, pid := range tree {
		s.cpuNS += clockNS(processClock(pid)) + endedChildrenNS(pid)
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if field := strings.Fields(string(text)); len(field) > 1 {
			pages, _ := strconv.ParseInt(field[1], 10, 64)
			s.rss += pages * int64(os.Getpagesize())
		}
	}
	return s
}

// processClock is the clock of another process's CPU time, exact to the
// nanosecond where /proc has ticks of 10 ms.
func processClock(pid int) int32 { return int32(^pid<<3 | 2) }

// clockNS is 0 for the clock of a process that is gone.
func clockNS(clock int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return t.Nano()
}

// endedChildrenNS is what a process's ended and waited-for children took.
func endedChildrenNS(pid int) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	field := strings.Fields(rest)
	if len(field) < 15 {
		return 0
	}
	user, _ := strconv.ParseInt(field[13], 10, 64)
	system, _ := strconv.ParseInt(field[14], 10, 64)
	return (user + system) * int64(time.Second) / 100
}

// cpuBetween is the CPU time from one moment to another, in seconds.
func cpuBetween(samples []sample, fromNS, toNS int64) float64 {
	return float64(cpuAt(samples, toNS)-cpuAt(samples, fromNS)) / 1e9
}

func cpuAt(samples []sample, at int64) int64 {
	i := slices.IndexFunc(samples, func(s sample) bool { return s.atNS >= at })
	switch {
	case i < 0:
		return samples[len(samples)-1].cpuNS
	case i == 0:
		return samples[0].cpuNS
	}
	a, b := samples[i-1], samples[i]
	part := float64(at-a.atNS) / float64(b.atNS-a.atNS)
	return a.cpuNS + int64(part*float64(b.cpuNS-a.cpuNS))
}

func peakRSS(samples []sample) (most int64) {
	for _, s := range samples {
		most = max(most, s.rss)
	}
	return most
}

// ticks are the times of one core in /proc/stat.
type ticks struct{ busy, steal, all float64 }

// coreTicks reads a core's; the zero value when they cannot be read.
func coreTicks(cpu int) (t ticks) {
	text, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(text)) {
		field := strings.Fields(line)
		if field[0] != "cpu"+strconv.Itoa(cpu) {
			continue
		}
		for i, f := range field[1:min(len(field), 9)] {
			x, _ := strconv.ParseFloat(f, 64)
			t.all += x
			switch i {
			case 3, 4: // idle, waiting for a disk
			case 7:
				t.steal += x
			default:
				t.busy += x
			}
		}
	}
	return t
}

func loadAverage() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	x, _ := strconv.ParseFloat(one, 64)
	return x
}
