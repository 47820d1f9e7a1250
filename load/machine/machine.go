// Package machine watches the computer that makes the load: how busy its
// processors were, what a hypervisor or a quota took away, how long the garbage
// collector stopped the program, how many files and ports there are. A late
// client must not pass for a slow server.
package machine

import (
	"io/fs"
	"os"
	"runtime"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Machine reads the system's counters. The zero value is unusable; see This.
type Machine struct {
	root fs.FS // the root directory; tests give their own
}

// This is the machine the program runs on.
func This() *Machine { return &Machine{root: os.DirFS("/")} }

// Sample holds the counters at one moment. Only differences mean something.
type Sample struct {
	at      time.Time
	cpu     ticks
	group   group
	pauses  pauses
	process time.Duration // CPU time of this process
}

// Sample reads the counters. It takes well under a millisecond.
func (m *Machine) Sample() Sample {
	return Sample{
		at:      time.Now(),
		cpu:     m.ticks(),
		group:   m.group(),
		pauses:  readPauses(),
		process: clock.ProcessTime(),
	}
}

// Usage says what happened between two samples. Ratios are within [0, 1].
type Usage struct {
	CPUBusy          timeline.Opt[float64] // of the cores the program may use
	Steal            timeline.Opt[float64] // taken by a hypervisor; empty where unknown
	Throttled        timeline.Opt[float64] // time stopped by a CPU quota; empty without one
	ThrottledPeriods timeline.Opt[int64]   // periods of the quota in which that happened
	GCPauseMaxMS     timeline.Opt[float64] // longest stop by the garbage collector
}

// minTicks is the fewest clock ticks (10 ms each) that a ratio is made from.
const minTicks = 10

// Until returns what happened between a and the later sample b.
func (a Sample) Until(b Sample) Usage {
	var u Usage
	wall := b.at.Sub(a.at)
	if wall <= 0 {
		return u
	}
	cores := float64(runtime.GOMAXPROCS(0))
	if total := b.cpu.total - a.cpu.total; b.cpu.total > a.cpu.total && total >= minTicks {
		u.CPUBusy = ratio(float64(total)-float64(b.cpu.idle-a.cpu.idle), float64(total))
		u.Steal = ratio(float64(b.cpu.steal-a.cpu.steal), float64(total))
	} else if b.process > a.process && wall >= 10*time.Millisecond {
		u.CPUBusy = ratio(float64(b.process-a.process), float64(wall)*cores)
	}
	if ms, ok := a.pauses.longestUntil(b.pauses); ok {
		u.GCPauseMaxMS = timeline.Some(ms)
	}
	quota, limited := b.group.quota.Get()
	if !limited {
		return u
	}
	if used := b.group.usage - a.group.usage; used > 0 && wall >= 10*time.Millisecond {
		busy := ratio(float64(used), quota*float64(wall))
		if busy.Or(0) > u.CPUBusy.Or(0) {
			u.CPUBusy = busy
		}
	}
	if b.group.hasStat {
		// The kernel adds up the stopped time of every core.
		u.Throttled = ratio(float64(b.group.throttled-a.group.throttled), cores*float64(wall))
		u.ThrottledPeriods = timeline.Some(max(b.group.periods-a.group.periods, 0))
	}
	return u
}

func ratio(part, whole float64) timeline.Opt[float64] {
	if !(whole > 0) {
		return timeline.Opt[float64]{}
	}
	return timeline.Some(min(max(part/whole, 0), 1))
}

// Client writes the usage into what validity judges.
func (u Usage) Client(c *validity.Client) {
	c.CPUBusy, c.Steal, c.GCPauseMaxMS = u.CPUBusy, u.Steal, u.GCPauseMaxMS
	c.Throttled, c.ThrottledPeriods = u.Throttled, u.ThrottledPeriods
}
